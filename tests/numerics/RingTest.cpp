// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generation with a ring of keys, which wraps many times, beside a cache that
// keeps all of them.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

#include <cmath>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct RingScheme {
  const char *name, *clauses;
  int64_t reach; // keys before its own that a query sees
  bool canBeEncoded = true;
};

constexpr int64_t batch = 3, heads = 4, kvHeads = 2, headDim = 24,
                  valueDim = 10;
/// The most tokens of a step, and of a sequence.
constexpr int64_t mostTokens = 16, room = 340;

const RingScheme schemes[] = {
    {"plain", "mask(#posenc.window<left = 20>)", 20},
    {"own_key", "mask(#posenc.window<left = 0>)", 0},
    {"rope_alibi",
     "mask(#posenc.window<left = 20>) encode [#posenc.rope<base = 100.0>, "
     "#posenc.alibi]",
     20},
    {"t5", "mask(#posenc.window<left = 31>) encode [#posenc.t5_bias]", 31},
    {"chunk",
     "mask(#posenc.chunk<size = 24>) positions(#posenc.iota<offset = 7>) "
     "encode [#posenc.rope]",
     23},
    {"chunk_window",
     "mask(#posenc.all<[#posenc.chunk<size = 40>, #posenc.window<left = "
     "17>]>) encode [#posenc.qk_norm<kind = rms, over = all_heads, epsilon = "
     "1.0e-6>, #posenc.rope]",
     17},
    {"sinks",
     "mask(#posenc.window<left = 20>) encode [#posenc.rope, "
     "#posenc.attention_sink]",
     20},
    {"shaw",
     "mask(#posenc.window<left = 12>) encode [#posenc.shaw<max_distance = 8>]",
     12},
    {"transformer_xl",
     "mask(#posenc.window<left = 20>) encode [#posenc.transformer_xl]", 20},
    {"temperature",
     "mask(#posenc.window<left = 20>) encode [#posenc.rope, "
     "#posenc.query_temperature]",
     20},
    {"dynamic_ntk",
     "mask(#posenc.window<left = 20>) encode [#posenc.rope<scaling = "
     "#posenc.dynamic_ntk<factor = 2.0, original_length = 16>>]",
     20, false},
    {"rerope",
     "mask(#posenc.window<left = 30>) encode [#posenc.rerope<window = 9>]", 30,
     false},
    {"cope",
     "mask(#posenc.window<left = 20>) encode [#posenc.cope<positions = 16>]",
     20},
};

/// One kernel and what its cache holds.
struct Cache {
  LoadedKernel kernel;
  RealTensor k, v;

  std::string load(const RingScheme &scheme, StringRef storage,
                   const std::string &isa) {
    return kernel.load(("posenc.kernel @generate heads(" + Twine(heads) +
                        ") kv_heads(" + Twine(kvHeads) + ") head_dim(" +
                        Twine(headDim) + ") value_dim(" + Twine(valueDim) +
                        ") " + storage + " " + scheme.clauses)
                           .str(),
                       isa);
  }
  /// Slots that were never written are NaN.
  void clear(int64_t slots) {
    k.shape = {batch, kvHeads, slots, headDim};
    v.shape = {batch, kvHeads, slots, valueDim};
    for (RealTensor *cache : {&k, &v})
      cache->data.assign(batch * kvHeads * slots * cache->shape.back(),
                         std::nan(""));
  }
};

/// Appends and attends in steps.
class Generation {
public:
  Generation(const RingScheme &scheme, bool isPacked, bool isEncoded,
             StringRef types, posenc_pool *pool)
      : scheme(scheme), isPacked(isPacked), isEncoded(isEncoded),
        types(types.str()), pool(pool) {}

  std::string run(const std::string &isa);

private:
  struct Step {
    int64_t tokens[batch], lengths[batch];
  };

  std::string getStorage(StringRef keys) const {
    return (Twine(isPacked ? "queries(packed) " : "") + "keys(" + keys +
            ") key_cache(" + (isEncoded ? "encoded) " : "raw) ") + types)
        .str();
  }
  Step advance(int64_t index);
  RealTensor makeTokens(const Step &step, int64_t width, int64_t dim);
  ReferenceInputs makeInputs(const Step &step) const;
  std::string append(Cache &cache, ReferenceInputs inputs) const;
  std::string attend(const ReferenceInputs &inputs, int64_t index);

  const RingScheme &scheme;
  bool isPacked, isEncoded;
  std::string types;
  posenc_pool *pool;
  std::mt19937 random{17};
  int64_t lengths[batch] = {};
  StringMap<RealTensor> tables;
  Cache ring, whole;
};
} // namespace

/// From 1 to 16 tokens, one by one at times; packed sequences go their own
/// ways.
Generation::Step Generation::advance(int64_t index) {
  Step step;
  for (int64_t b = 0; b < batch; ++b) {
    if (isPacked || b == 0)
      step.tokens[b] = index % 3 ? random() % (mostTokens + 1) : 1;
    else
      step.tokens[b] = step.tokens[0];
    if (!isPacked)
      step.tokens[b] = std::max<int64_t>(step.tokens[b], 1);
    lengths[b] += step.tokens[b];
    // Taking tokens back makes lengths differ; before a ring wraps it has them.
    if (!isPacked && index == 1)
      lengths[b] = std::max(lengths[b] - 3 * b, step.tokens[b]);
    step.lengths[b] = lengths[b];
  }
  return step;
}

RealTensor Generation::makeTokens(const Step &step, int64_t width,
                                  int64_t dim) {
  SmallVector<int64_t> shape = {batch, width, step.tokens[0], dim};
  if (isPacked) {
    int64_t all = 1; // a row of no sequence
    for (int64_t tokens : step.tokens)
      all += tokens;
    shape = {all, width, dim};
  }
  RealTensor tensor = makeRandom(random, shape);
  const KernelTensor &query = ring.kernel.compiled.tensors.front();
  if (query.storage)
    for (double &value : tensor.data)
      value = query.fromBits(query.toBits(static_cast<float>(value)));
  return tensor;
}

ReferenceInputs Generation::makeInputs(const Step &step) const {
  ReferenceInputs inputs;
  inputs.tables = tables;
  IntTensor bounds{{batch + 1}, {0}};
  for (int64_t tokens : step.tokens)
    bounds.data.push_back(bounds.data.back() + tokens);
  if (isPacked)
    inputs.positions["cu_seqlens_q"] = bounds;
  inputs.positions["key_lengths"] = {
      {batch}, std::vector<int64_t>(step.lengths, step.lengths + batch)};
  return inputs;
}

/// The new keys and values; the ring is compared with the reference, which
/// leaves NaN where nothing was written.
std::string Generation::append(Cache &cache, ReferenceInputs inputs) const {
  inputs.kCache = cache.k;
  inputs.vCache = cache.v;
  ArrayRef<KernelTensor> described = cache.kernel.compiled.appendTensors;
  CallTensors tensors(described, inputs, Arrangement::Blhd, /*wantLse=*/false);
  posenc_call call = POSENC_CALL_INIT;
  call.pool = pool;
  if (cache.kernel.native->append(tensors.getArguments(), &call))
    return std::string("append: ") + posenc_last_error();
  AppendOutputs wanted =
      cantFail(evaluateAppend(cache.kernel.spec->getAppend(), inputs));
  for (auto [name, held, expected] :
       {std::tuple("k_cache", &cache.k, &wanted.kCache),
        {"v_cache", &cache.v, &wanted.vCache}}) {
    std::vector<float> got = tensors.read(name);
    RealTensor written = *expected;
    for (size_t x = 0; x < got.size(); ++x) {
      if (std::isnan(got[x]) != std::isnan(expected->data[x]))
        return (Twine(name) + "[" + Twine(x) + "] was " +
                (std::isnan(got[x]) ? "not " : "") + "written")
            .str();
      if (std::isnan(got[x]))
        written.data[x] = got[x] = 0;
    }
    Accuracy accuracy = measureCache(
        written, got, described[name[0] == 'k' ? 2 : 3].getRoundoff());
    if (!accuracy.isAccurate())
      return accuracy.describe(name);
    got = tensors.read(name);
    held->data.assign(got.begin(), got.end());
  }
  return tensors.check();
}

std::string Generation::attend(const ReferenceInputs &inputs, int64_t index) {
  ReferenceInputs inRing = inputs, inWhole = inputs;
  inRing.k = ring.k;
  inRing.v = ring.v;
  inWhole.k = whole.k;
  inWhole.v = whole.v;
  // The reference multiplies weights of 0.
  for (RealTensor *tensor : {&inWhole.k, &inWhole.v})
    for (double &value : tensor->data)
      value = std::isnan(value) ? 0 : value;
  NativeCall call;
  call.pool = index % 2 ? pool : nullptr;
  call.ownScratch = index % 4 == 2;
  call.prepared = index % 5 == 4;
  call.arrangement = index % 3 ? Arrangement::Blhd : Arrangement::Padded;
  call.wantLse = ring.kernel.spec->getKernel().exportsLse();
  if (std::string problem = checkNative(ring.kernel, inRing, call);
      !problem.empty())
    return "ring: " + problem;
  // Encoded keys in f32 are those of the other cache to the bit.
  ReferenceOutputs wanted = evaluate(whole.kernel.spec->getKernel(), inWhole);
  NativeResults results;
  std::string problem = callNative(ring.kernel, inRing, call, results);
  if (!problem.empty())
    return problem;
  if (isPacked) // rows of no sequence are not written
    for (float &value : results.o)
      value = std::isnan(value) ? 0 : value;
  if (isPacked && ring.kernel.getRounding().outputs != 0) {
    int64_t row = heads * valueDim;
    std::fill(results.o.end() - row, results.o.end(), 0.0f);
  }
  Accuracy accuracy =
      measureOutput(wanted, results.o, ring.kernel.getRounding());
  return accuracy.isAccurate() ? ""
                               : "against all keys: " + accuracy.describe("o");
}

std::string Generation::run(const std::string &isa) {
  std::string problem = ring.load(scheme, getStorage("ring"), isa);
  if (problem.empty())
    problem = whole.load(scheme, getStorage("lengths"), isa);
  if (!problem.empty())
    return problem;
  tables = numerics::makeInputs(
               whole.kernel.spec->getKernel(),
               {batch, heads, kvHeads, 1, room, headDim, valueDim}, 5)
               .tables;
  // As small as the longest step allows.
  ring.clear(scheme.reach + mostTokens);
  whole.clear(room);
  for (int64_t index = 0;; ++index) {
    Step step = advance(index);
    for (int64_t length : step.lengths)
      if (length > room)
        return "";
    ReferenceInputs inputs = makeInputs(step);
    ReferenceInputs added = inputs;
    added.k = makeTokens(step, kvHeads, headDim);
    added.v = makeTokens(step, kvHeads, valueDim);
    inputs.q = makeTokens(step, heads, headDim);
    for (Cache *cache : {&ring, &whole})
      if (problem = append(*cache, added); !problem.empty())
        return "step " + std::to_string(index) + ": " + problem;
    if (problem = attend(inputs, index); !problem.empty())
      return "step " + std::to_string(index) + ": " + problem;
  }
}

/// More new tokens than slots: the last ones stay.
static std::string appendTooMany(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem =
      kernel.load("posenc.kernel @much heads(2) head_dim(8) keys(ring) "
                  "key_cache(encoded) mask(#posenc.window<left = 3>) "
                  "encode [#posenc.rope]",
                  isa);
  if (!problem.empty())
    return problem;
  constexpr int64_t slots = 7, tokens = 600;
  std::mt19937 random(3);
  ReferenceInputs inputs;
  inputs.k = makeRandom(random, {1, 2, tokens, 8});
  inputs.v = makeRandom(random, {1, 2, tokens, 8});
  inputs.kCache = makeRandom(random, {1, 2, slots, 8});
  inputs.vCache = makeRandom(random, {1, 2, slots, 8});
  inputs.positions["key_lengths"] = {{1}, {tokens + 4}};
  CallTensors tensors(kernel.compiled.appendTensors, inputs,
                      Arrangement::Compact, false);
  if (kernel.native->append(tensors.getArguments(), nullptr))
    return posenc_last_error();
  std::vector<float> values = tensors.read("v_cache");
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = tokens - slots; i < tokens; ++i)
      for (int64_t c = 0; c < 8; ++c) {
        int64_t slot = (i + 4) % slots;
        if (values[(h * slots + slot) * 8 + c] !=
            inputs.v.data[(h * tokens + i) * 8 + c])
          return ("slot " + Twine(slot) + " does not hold token " + Twine(i))
              .str();
      }
  AppendOutputs wanted =
      cantFail(evaluateAppend(kernel.spec->getAppend(), inputs));
  Accuracy accuracy = measureCache(wanted.kCache, tensors.read("k_cache"), 0);
  return accuracy.isAccurate() ? tensors.check() : accuracy.describe("k_cache");
}

/// A long way from the start distances are what they were: only slots count.
static std::string goFar(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem =
      kernel.load("posenc.kernel @far heads(4) kv_heads(2) head_dim(16) "
                  "keys(ring) mask(#posenc.window<left = 30>) encode "
                  "[#posenc.alibi, #posenc.t5_bias]",
                  isa);
  if (!problem.empty())
    return problem;
  constexpr int64_t slots = 40;
  ReferenceInputs inputs =
      makeInputs(kernel.spec->getKernel(), {2, 4, 2, 5, slots, 16, 16}, 9);
  std::mt19937 random(4);
  for (RealTensor *tensor : {&inputs.k, &inputs.v})
    *tensor = makeRandom(random, {2, 2, slots, 16});
  NativeResults near, far;
  inputs.positions["key_lengths"].data = {slots + 11, slots + 12};
  problem = callNative(kernel, inputs, {}, near);
  if (!problem.empty())
    return problem;
  for (int64_t &length : inputs.positions["key_lengths"].data)
    length += slots * ((int64_t{1} << 30) / slots - 3);
  problem = callNative(kernel, inputs, {}, far);
  if (problem.empty() && (near.o != far.o || near.lse != far.lse))
    problem = "results differ";
  // The reference, too, takes time for the slots only.
  return problem.empty() ? checkNative(kernel, inputs, {}) : problem;
}

void posenc::numerics::testRings(TestRun &run, const std::string &isa,
                                 posenc_pool *pool) {
  for (const RingScheme &scheme : schemes)
    for (bool isPacked : {false, true})
      for (bool isEncoded : {false, true})
        for (StringRef types : {"", "dtype(bf16)", "kv_dtype(f16)"}) {
          if (isEncoded && !scheme.canBeEncoded)
            continue;
          if (!types.empty() && StringRef(scheme.name) != "rope_alibi")
            continue;
          run.test("ring/" + isa + "/" + scheme.name +
                       (isPacked ? "/packed" : "/dense") +
                       (isEncoded ? "/encoded/" : "/raw/") + types,
                   [&]() -> std::string {
                     return Generation(scheme, isPacked, isEncoded, types, pool)
                         .run(isa);
                   });
        }
  run.test("ring/" + isa + "/too_many", [&] { return appendTooMany(isa); });
  run.test("ring/" + isa + "/far", [&] { return goFar(isa); });
}
