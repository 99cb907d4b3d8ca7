// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and values that are appended to a cache in steps, and attention over it.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Reference/Accuracy.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/InitLLVM.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct Scheme {
  const char *name, *clauses;
  bool canBeEncoded = true;
  int64_t heads = 4, kvHeads = 2;
};

/// What a kernel is, but for its encodings.
struct Storage {
  const char *name, *clauses;
  bool isPacked, isPaged;
};

constexpr int64_t batch = 3, headDim = 24, valueDim = 10, capacity = 330;

const Scheme schemes[] = {
    {"nope", ""},
    {"alibi", "encode [#posenc.alibi]"},
    {"rope", "encode [#posenc.rope<base = 100.0>]"},
    {"rope_part", "encode [#posenc.rope<pairing = interleaved, dims = 8, "
                  "placement = last>, #posenc.t5_bias]"},
    {"rope_offset", "positions(#posenc.iota<offset = 7>) encode [#posenc.rope, "
                    "#posenc.alibi]"},
    {"rope_positions", "positions(#posenc.position_tensor) encode "
                       "[#posenc.rope]"},
    {"rope_own_queries",
     "positions(#posenc.position_tensor<queries = \"query_positions\">) encode "
     "[#posenc.rope]"},
    {"mrope", "positions(#posenc.position_tensor<axes = 3>) encode "
              "[#posenc.mrope<sections = [4, 4, 4]>]"},
    {"axial", "encode [#posenc.axial_rope<grid_width = 5>]"},
    {"norm", "encode [#posenc.qk_norm<kind = rms, gain = channel, epsilon = "
             "1.0e-6>, #posenc.rope]"},
    {"norm_all_heads", "encode [#posenc.qk_norm<kind = rms, over = all_heads, "
                       "epsilon = 1.0e-6>, #posenc.rope]"},
    {"gain_by_head",
     "encode [#posenc.qk_norm<kind = rms, over = all_heads, gain = "
     "head_channel, epsilon = 1.0e-6>, #posenc.rope]",
     true, 2, 2},
    {"xpos", "encode [#posenc.xpos]"},
    {"fope", "encode [#posenc.fope]", true, 2, 2},
    {"rope_learned", "encode [#posenc.rope<frequencies = operand>]"},
    {"dynamic_ntk",
     "encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, "
     "original_length = 16>>]",
     false},
    {"rerope", "encode [#posenc.rerope<window = 9>]", false},
};

const Storage storages[] = {
    {"lengths", "keys(lengths)", false, false},
    {"paged", "keys(paged)", false, true},
    {"packed_lengths", "queries(packed) keys(lengths)", true, false},
    {"packed_paged", "queries(packed) keys(paged)", true, true},
};

std::string makeText(const Scheme &scheme, const Storage &storage,
                     StringRef types, bool isEncoded) {
  return ("posenc.kernel @cached heads(" + Twine(scheme.heads) + ") kv_heads(" +
          Twine(scheme.kvHeads) + ") head_dim(" + Twine(headDim) +
          ") value_dim(" + Twine(valueDim) + ") " + types + " " +
          storage.clauses + " key_cache(" + (isEncoded ? "encoded" : "raw") +
          ") mask(#posenc.causal) " + scheme.clauses)
      .str();
}

/// Tokens that are appended to each sequence, and its length with them: shorter
/// than before where tokens were taken back.
struct Step {
  int64_t tokens[batch], lengths[batch];
};
const Step denseSteps[] = {
    {{5, 5, 5}, {5, 5, 5}}, {{1, 1, 1}, {6, 3, 6}}, {{3, 3, 3}, {9, 6, 9}}};
const Step packedSteps[] = {{{5, 0, 7}, {5, 0, 7}},
                            {{1, 1, 1}, {6, 1, 8}},
                            {{3, 0, 301}, {9, 1, 309}},
                            {{1, 11, 1}, {10, 12, 310}}};

/// A cache that is filled in steps, by the compiled kernel and by the
/// reference.
class CacheRun {
public:
  CacheRun(const LoadedKernel &kernel, const Spec &raw, const Storage &storage,
           const Scheme &scheme, bool isEncoded)
      : kernel(kernel), raw(raw), storage(storage), scheme(scheme),
        isEncoded(isEncoded) {
    Extents extents = {batch,    scheme.heads, scheme.kvHeads, 2,
                       capacity, headDim,      valueDim};
    attention = makeInputs(raw.getKernel(), extents, 5);
    rawKeys = attention.k;
    kCache = attention.k;
    vCache = attention.v;
  }

  std::string run(posenc_pool *pool) {
    ArrayRef<Step> steps = storage.isPacked ? ArrayRef<Step>(packedSteps)
                                            : ArrayRef<Step>(denseSteps);
    for (auto [index, step] : enumerate(steps))
      if (std::string problem = append(index, step, pool); !problem.empty())
        return "step " + std::to_string(index) + ": " + problem;
    return attend(steps.back());
  }

private:
  KernelOp getAppend() { return kernel.spec->getAppend(); }

  ReferenceInputs makeStep(size_t index, const Step &step);
  std::string append(size_t index, const Step &step, posenc_pool *pool);
  /// What a call writes to, by name.
  using Caches = StringMap<std::vector<float>>;
  std::string callAppend(const ReferenceInputs &inputs, posenc_pool *pool,
                         size_t index, Caches &caches);
  std::string compareCache(StringRef name, ArrayRef<float> got,
                           const RealTensor &wanted, const RealTensor &before,
                           const RealTensor &marked, bool isExact);
  std::string attend(const Step &last);

  const LoadedKernel &kernel;
  const Spec &raw;
  const Storage &storage;
  const Scheme &scheme;
  bool isEncoded;
  /// Inputs of attention over raw keys, whose tables and positions all kernels
  /// have.
  ReferenceInputs attention;
  /// What the caches hold, and the keys as they were appended.
  RealTensor kCache, vCache, rawKeys;
};
} // namespace

/// Rows of the same tokens: [B, heads, n, dim] or [T, heads, dim].
static RealTensor makeTokens(std::mt19937 &random, bool isPacked, int64_t heads,
                             const Step &step, int64_t dim,
                             const KernelTensor &storage) {
  SmallVector<int64_t> shape = {batch, heads, step.tokens[0], dim};
  if (isPacked) {
    int64_t all = 2; // rows of no sequence
    for (int64_t tokens : step.tokens)
      all += tokens;
    shape = {all, heads, dim};
  }
  RealTensor tensor = makeRandom(random, shape);
  if (storage.storage)
    for (double &value : tensor.data)
      value = storage.fromBits(storage.toBits(static_cast<float>(value)));
  return tensor;
}

ReferenceInputs CacheRun::makeStep(size_t index, const Step &step) {
  std::mt19937 random(index + 11);
  ReferenceInputs inputs;
  ArrayRef<KernelTensor> tensors = kernel.compiled.appendTensors;
  inputs.k = makeTokens(random, storage.isPacked, scheme.kvHeads, step, headDim,
                        tensors[0]);
  inputs.v = makeTokens(random, storage.isPacked, scheme.kvHeads, step,
                        valueDim, tensors[1]);
  inputs.kCache = kCache;
  inputs.vCache = vCache;
  inputs.tables = attention.tables;
  IntTensor bounds{{batch + 1}, {0}}, lengths{{batch}, {}};
  for (int64_t b = 0; b < batch; ++b) {
    bounds.data.push_back(bounds.data.back() + step.tokens[b]);
    lengths.data.push_back(step.lengths[b]);
  }
  inputs.positions["key_lengths"] = lengths;
  attention.positions["key_lengths"] = lengths;
  if (storage.isPacked)
    inputs.positions["cu_seqlens_q"] = bounds;
  if (storage.isPaged)
    inputs.positions["page_table"] = attention.positions["page_table"];
  auto all = attention.positions.find("positions");
  if (all == attention.positions.end())
    return inputs;
  // Those of the keys that the tokens become.
  IntTensor positions;
  int64_t axes = all->second.data.size() / (batch * capacity);
  if (axes > 1)
    positions.shape.push_back(axes);
  if (storage.isPacked)
    positions.shape.push_back(inputs.k.shape[0]);
  else
    positions.shape.append({batch, step.tokens[0]});
  for (int64_t axis = 0; axis < axes; ++axis) {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < step.tokens[b]; ++i)
        positions.data.push_back(
            all->second.data[(axis * batch + b) * capacity + step.lengths[b] -
                             step.tokens[b] + i]);
    if (storage.isPacked)
      positions.data.insert(positions.data.end(), 2, 0);
  }
  inputs.positions["positions"] = positions;
  return inputs;
}

std::string CacheRun::callAppend(const ReferenceInputs &inputs,
                                 posenc_pool *pool, size_t index,
                                 Caches &caches) {
  static constexpr Arrangement arrangements[] = {
      Arrangement::Compact, Arrangement::Padded, Arrangement::Blhd};
  CallTensors tensors(kernel.compiled.appendTensors, inputs,
                      arrangements[index % 3], /*wantLse=*/false);
  posenc_call call = POSENC_CALL_INIT;
  call.pool = pool;
  std::vector<char> scratch;
  if (index % 2) {
    scratch.resize(
        kernel.native->appendScratchBytes(tensors.getArguments(), &call));
    call.scratch_bytes = scratch.size();
    call.scratch = scratch.empty() ? nullptr : scratch.data();
  }
  if (posenc_status status =
          kernel.native->append(tensors.getArguments(), &call))
    return std::string("append failed: ") + posenc_status_string(status) +
           ": " + posenc_last_error();
  for (const KernelTensor &tensor : kernel.compiled.appendTensors)
    if (tensor.isCache)
      caches[tensor.name] = tensors.read(tensor.name);
  return tensors.check();
}

/// New rows are those that differ from a cache of NaN; others keep their bits.
std::string CacheRun::compareCache(StringRef name, ArrayRef<float> got,
                                   const RealTensor &wanted,
                                   const RealTensor &before,
                                   const RealTensor &marked, bool isExact) {
  auto tensor =
      find_if(kernel.compiled.appendTensors,
              [&](const KernelTensor &tensor) { return tensor.name == name; });
  for (size_t x = 0; x < got.size(); ++x) {
    bool isNew = !std::isnan(marked.data[x]);
    if (isNew && !isExact)
      continue;
    double expected = isNew ? wanted.data[x] : before.data[x];
    if (isNew && tensor->storage)
      expected = tensor->fromBits(tensor->toBits(static_cast<float>(expected)));
    if (got[x] != expected)
      return (name + "[" + Twine(x) + "] is " + std::to_string(got[x]) +
              ", but must be " + std::to_string(expected) +
              (isNew ? "" : " as before"))
          .str();
  }
  Accuracy accuracy =
      tensor->hasCodes()
          ? measureCodes(wanted, got, tensor->storage.isInteger())
      : name.ends_with("_scales")
          ? measureScales(wanted, got)
          : measureCache(wanted, got, tensor->getRoundoff());
  return accuracy.isAccurate() ? "" : accuracy.describe(name);
}

std::string CacheRun::append(size_t index, const Step &step,
                             posenc_pool *pool) {
  ReferenceInputs inputs = makeStep(index, step);
  AppendOutputs wanted = cantFail(evaluateAppend(getAppend(), inputs));
  ReferenceInputs emptied = inputs;
  auto empty = [](RealTensor &cache) {
    std::fill(cache.data.begin(), cache.data.end(), std::nan(""));
  };
  empty(emptied.kCache);
  empty(emptied.vCache);
  bool hasTokenScales = !wanted.kScales.data.empty();
  if (hasTokenScales) {
    empty(emptied.tables["k_scales"]);
    empty(emptied.tables["v_scales"]);
  }
  AppendOutputs marked = cantFail(evaluateAppend(getAppend(), emptied));
  Caches caches, again;
  std::string problem = callAppend(inputs, pool, index, caches);
  if (problem.empty())
    problem = callAppend(inputs, nullptr, index + 1, again);
  if (!problem.empty())
    return problem;
  for (const auto &entry : caches)
    if (entry.second != again[entry.first()])
      return "the result depends on threads, strides or scratch";
  struct Cache {
    const char *name;
    const RealTensor &wanted, &marked;
    RealTensor &held;
    bool isExact;
  };
  std::vector<Cache> held = {
      {"k_cache", wanted.kCache, marked.kCache, kCache, !isEncoded},
      {"v_cache", wanted.vCache, marked.vCache, vCache, true}};
  if (hasTokenScales) {
    held.push_back({"k_scales", wanted.kScales, marked.kScales,
                    attention.tables["k_scales"], !isEncoded});
    held.push_back({"v_scales", wanted.vScales, marked.vScales,
                    attention.tables["v_scales"], true});
  }
  for (Cache &cache : held) {
    problem = compareCache(cache.name, caches[cache.name], cache.wanted,
                           cache.held, cache.marked, cache.isExact);
    if (!problem.empty())
      return problem;
  }
  for (Cache &cache : held)
    cache.held.data.assign(caches[cache.name].begin(),
                           caches[cache.name].end());
  if (kernel.compiled.tensors[1].hasCodes())
    return "";
  // The same tokens in a cache of raw keys.
  inputs.kCache = rawKeys;
  rawKeys = cantFail(evaluateAppend(raw.getAppend(), inputs)).kCache;
  return "";
}

std::string CacheRun::attend(const Step &last) {
  if (storage.isPacked) {
    // As a step of decoding: the last tokens, but none of sequence 1.
    std::mt19937 random(3);
    attention.q = makeRandom(random, {3, scheme.heads, headDim});
    attention.positions["cu_seqlens_q"] = {{batch + 1}, {0, 1, 1, 3}};
    if (attention.positions.contains("query_positions"))
      attention.positions["query_positions"] = {{3}, {5, 8, 9}};
    for (double &value : attention.q.data)
      value = kernel.compiled.tensors[0].storage
                  ? kernel.compiled.tensors[0].fromBits(
                        kernel.compiled.tensors[0].toBits(float(value)))
                  : value;
  }
  ReferenceInputs cached = attention;
  cached.k = kCache;
  cached.v = vCache;
  if (std::string problem = checkNative(kernel, cached, {}); !problem.empty())
    return "attention over the cache: " + problem;
  if (kernel.compiled.tensors[1].storage)
    return "";
  // One call with the keys as they were.
  NativeResults results;
  std::string problem = callNative(kernel, cached, {}, results);
  if (!problem.empty())
    return problem;
  ReferenceInputs whole = attention;
  whole.k = rawKeys;
  whole.v = vCache;
  Accuracy accuracy = measureOutput(evaluate(raw.getKernel(), whole), results.o,
                                    kernel.getRounding());
  return accuracy.isAccurate() ? ""
                               : "against one call: " + accuracy.describe("o");
}

static void testCaches(TestRun &run, const std::string &isa,
                       posenc_pool *pool) {
  for (const Scheme &scheme : schemes)
    for (size_t index = 0; index < std::size(storages); ++index)
      for (bool isEncoded : {false, true}) {
        const Storage &storage = storages[index];
        if (isEncoded && !scheme.canBeEncoded)
          continue;
        // Types change with the storage; 32 bits come with each.
        for (StringRef types :
             {StringRef(), StringRef(index % 2 ? "dtype(bf16)" : "dtype(f16)"),
              StringRef(index < 2 ? "kv_dtype(bf16)"
                                  : "dtype(bf16) kv_dtype(f16)"),
              StringRef(index % 2 ? "kv_dtype(i8) kv_scales(token)"
                                  : "dtype(bf16) kv_dtype(i8) kv_scales(head)"),
              StringRef(index % 2
                            ? "kv_dtype(f8E4M3FN) kv_scales(head)"
                            : "dtype(f16) kv_dtype(f8E4M3FN) kv_scales(token)"),
              StringRef(index % 2 ? "dtype(bf16) kv_dtype(f8E4M3FN) "
                                    "kv_scales(token)"
                                  : "kv_dtype(i8) kv_scales(token)")}) {
          if (!types.empty() && StringRef(scheme.name) != "rope" &&
              StringRef(scheme.name) != "norm_all_heads")
            continue;
          run.test("append/" + isa + "/" + scheme.name + "/" + storage.name +
                       (isEncoded ? "/encoded/" : "/raw/") + types,
                   [&]() -> std::string {
                     LoadedKernel kernel;
                     std::string problem = kernel.load(
                         makeText(scheme, storage, types, isEncoded), isa);
                     if (!problem.empty())
                       return problem;
                     Spec raw(makeText(scheme, storage, types, false));
                     return CacheRun(kernel, raw, storage, scheme, isEncoded)
                         .run(pool);
                   });
        }
      }
}

/// A shard's heads, and one that reads all heads.
static void testHeads(TestRun &run, const std::string &isa) {
  run.test("append/" + isa + "/heads", [&]() -> std::string {
    LoadedKernel kernel;
    std::string problem =
        kernel.load("posenc.kernel @shard heads(6) kv_heads(3) head_dim(8) "
                    "keys(lengths) key_cache(encoded) encode [#posenc.rope]",
                    isa);
    if (!problem.empty())
      return problem;
    for (auto [heads, first] :
         {std::pair<int64_t, int64_t>{1, 0}, {2, 2}, {3, 0}}) {
      ReferenceInputs inputs;
      std::mt19937 random(1);
      inputs.k = makeRandom(random, {2, heads, 4, 8});
      inputs.v = makeRandom(random, {2, heads, 4, 8});
      inputs.kCache = makeRandom(random, {2, heads, 9, 8});
      inputs.vCache = makeRandom(random, {2, heads, 9, 8});
      inputs.positions["key_lengths"] = {{2}, {4, 9}};
      inputs.firstHead = first;
      CallTensors tensors(kernel.compiled.appendTensors, inputs,
                          Arrangement::Blhd, false);
      posenc_call call = POSENC_CALL_INIT;
      call.first_head = static_cast<int32_t>(first);
      if (kernel.native->append(tensors.getArguments(), &call))
        return posenc_last_error();
      AppendOutputs wanted =
          cantFail(evaluateAppend(kernel.spec->getAppend(), inputs));
      RealTensor got = wanted.kCache;
      std::vector<float> keys = tensors.read("k_cache");
      got.data.assign(keys.begin(), keys.end());
      problem = compare("k_cache", got, wanted.kCache, 1e-5);
      if (!problem.empty())
        return problem;
    }
    return "";
  });
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options = parseOptions(argc, argv, "posenc's tests of caches\n");
  TestRun run(options);
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  std::vector<std::string> isas = findInstructionSets(run);
  for (const std::string &name : reverse(isas)) {
    testRecurrences(run, name, pool);
    // What caches hold is the same on all.
    if (isas.size() > 2 && name == isas.front())
      continue;
    testCaches(run, name, pool);
    testHeads(run, name);
    testRings(run, name, pool);
    testStreaming(run, name);
  }
  return run.finish();
}
