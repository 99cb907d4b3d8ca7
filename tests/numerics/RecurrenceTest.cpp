// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences in calls of a few tokens each with a state between them, compared
// with attention over all keys at once.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct RecurrentScheme {
  const char *name, *clauses;
  bool divides = false;
};

struct Sizes {
  const char *name;
  int64_t heads, kvHeads, headDim, valueDim;
};
} // namespace

static const RecurrentScheme schemes[] = {
    {"retention", "encode [#posenc.retention<score_norm = off>]"},
    {"retention_plain", "encode [#posenc.retention<rotation = off, decay_norm "
                        "= off, score_norm = off, first_exponent = 1.0>]"},
    {"linear", "encode [#posenc.linear_attention]", true},
    {"linear_rope",
     "encode [#posenc.linear_attention<map = relu, epsilon = 1.0e-6>, "
     "#posenc.rope<base = 100.0, pairing = interleaved>]",
     true},
    {"linear_decay",
     "encode [#posenc.linear_attention<epsilon = 0.5>, "
     "#posenc.retention_decay<decay = operands>, #posenc.rope]",
     true},
    {"norm_rope",
     "positions(#posenc.iota<offset = 7>) encode "
     "[#posenc.qk_norm<gain = head_channel, over = all_heads>, #posenc.rope, "
     "#posenc.retention<rotation = off, decay_norm = off, score_norm = off>]"},
    {"positions",
     "positions(#posenc.position_tensor) encode "
     "[#posenc.linear_attention, #posenc.rope<base = 50.0>]",
     true},
};

static const Sizes sizes[] = {
    {"gqa", 4, 2, 16, 24}, {"odd", 2, 2, 6, 5}, {"large", 1, 1, 72, 40}};

/// All that numbers and maps of bodies may be.
static const char *const body = R"mlir({
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %g = posenc.table law(#posenc.operand<"body.gamma">) : !posenc.table<head>
  %c = posenc.table law(#posenc.operand<"one.factor">) : !posenc.table<head>
  %t = posenc.table law(#posenc.operand<"key.slopes">) : !posenc.table<batch, head, key>
  %n = posenc.vector_norm %k rms over(head) epsilon(1.0e-3) added : !posenc.key
  %r = posenc.relation %i, %j law(#posenc.difference<key_minus_query>)
  %s = posenc.dot %q, %k scale(0.3)
  %s2 = posenc.dot %q, %n scale(-0.2)
  %s3 = posenc.map %s2(%t, %i) : !posenc.table<batch, head, key>, !posenc.coord {
  ^bb0(%x: f64, %factor: f64, %p: f64):
    %one = arith.constant 1.0 : f64
    %p1 = arith.addf %p, %one : f64
    %y = arith.mulf %x, %factor : f64
    %z = arith.divf %y, %p1 : f64
    %m = arith.negf %z : f64
    posenc.yield %m : f64
  }
  %a = posenc.add %s, %s3
  %d = posenc.map %a(%r, %g, %c) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
  ^bb0(%x: f64, %distance: f64, %gamma: f64, %factor: f64):
    %l = math.log %gamma : f64
    %f2 = arith.mulf %factor, %factor : f64
    %e = arith.mulf %distance, %l : f64
    %e2 = arith.subf %e, %f2 : f64
    %w = math.exp %e2 : f64
    %y = arith.divf %x, %w : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %d mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";

namespace {
constexpr int64_t batch = 3;

/// One kernel with a state, and the same over all keys.
class Chain {
public:
  Chain(StringRef text, Sizes sizes, bool isPacked, StringRef types)
      : text(text.str()), sizes(sizes), isPacked(isPacked), types(types.str()) {
  }

  std::string load(const std::string &isa) {
    whole = std::make_unique<Spec>(makeText(""));
    return kernel.load(
        makeText(isPacked ? "queries(packed) keys(state)" : "keys(state)"),
        isa);
  }
  /// The lengths of the calls; packed sequences have others.
  std::string run(ArrayRef<int64_t> steps, posenc_pool *pool);

private:
  std::string makeText(StringRef storage) const {
    StringRef clauses = text;
    bool isBody = clauses.starts_with("{");
    return ("posenc.kernel @recur heads(" + Twine(sizes.heads) + ") kv_heads(" +
            Twine(sizes.kvHeads) + ") head_dim(" + Twine(sizes.headDim) +
            ") value_dim(" + Twine(sizes.valueDim) + ") " + types + " " +
            storage + (isBody ? " " : " mask(#posenc.causal) ") + clauses)
        .str();
  }
  int64_t countTokens(int64_t sequence, int64_t tokens) const {
    const int64_t counts[] = {tokens, tokens / 3,
                              std::max<int64_t>(tokens - 1, 0)};
    return isPacked ? counts[sequence] : tokens;
  }
  ReferenceInputs makeCall(int64_t tokens) const;
  std::string step(int64_t tokens, const NativeCall &call);
  std::string checkRows(const ReferenceInputs &inputs,
                        const NativeResults &results) const;

  std::string text;
  Sizes sizes;
  bool isPacked;
  std::string types;
  LoadedKernel kernel;
  std::unique_ptr<Spec> whole;
  ReferenceInputs all;
  ReferenceOutputs wanted;
  int64_t lengths[batch] = {};
  RealTensor state, sums;
};
} // namespace

/// Rows [begin, begin + count) of the tokens of each sequence: of axis 2, or of
/// one of two axes.
static RealTensor cutTokens(const RealTensor &from, ArrayRef<int64_t> begins,
                            ArrayRef<int64_t> counts, size_t axis) {
  RealTensor result;
  for (int64_t b = 0; b < batch; ++b) {
    RealTensor part =
        slice(slice(from, 0, b, b + 1), axis, begins[b], begins[b] + counts[b]);
    result.shape = part.shape;
    result.data.insert(result.data.end(), part.data.begin(), part.data.end());
  }
  result.shape[0] = batch;
  return result;
}

/// [B, H, L, D] of unequal lengths to [T, H, D].
static RealTensor pack(const RealTensor &from, ArrayRef<int64_t> begins,
                       ArrayRef<int64_t> counts) {
  RealTensor result;
  int64_t heads = from.shape[1], length = from.shape[2], dim = from.shape[3];
  int64_t rows = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < counts[b]; ++i, ++rows)
      for (int64_t h = 0; h < heads; ++h) {
        auto row = from.data.begin() +
                   ((b * heads + h) * length + begins[b] + i) * dim;
        result.data.insert(result.data.end(), row, row + dim);
      }
  result.shape = {rows, heads, dim};
  return result;
}

ReferenceInputs Chain::makeCall(int64_t tokens) const {
  SmallVector<int64_t> begins, counts;
  ReferenceInputs inputs;
  IntTensor bounds{{batch + 1}, {0}}, ends{{batch}, {}};
  for (int64_t b = 0; b < batch; ++b) {
    begins.push_back(lengths[b]);
    counts.push_back(countTokens(b, tokens));
    bounds.data.push_back(bounds.data.back() + counts[b]);
    ends.data.push_back(begins[b] + counts[b]);
  }
  for (auto [from, to] :
       {std::pair(&all.q, &inputs.q), {&all.k, &inputs.k}, {&all.v, &inputs.v}})
    *to = isPacked ? pack(*from, begins, counts)
                   : cutTokens(*from, begins, counts, 2);
  for (const auto &entry : all.tables) {
    const RealTensor &table = entry.second;
    bool isOfKeys = table.shape.size() == 3 && table.shape[0] == batch;
    RealTensor packed = table; // [B, H, L, 1]
    packed.shape.push_back(1);
    if (isOfKeys && isPacked) {
      // [H, T] of [T, H, 1]
      RealTensor rows = pack(packed, begins, counts), turned;
      turned.shape = {rows.shape[1], rows.shape[0]};
      for (int64_t h = 0; h < rows.shape[1]; ++h)
        for (int64_t t = 0; t < rows.shape[0]; ++t)
          turned.data.push_back(rows.data[t * rows.shape[1] + h]);
      inputs.tables[entry.first()] = turned;
    } else {
      inputs.tables[entry.first()] =
          isOfKeys ? cutTokens(table, begins, counts, 2) : table;
    }
  }
  for (const auto &entry : all.positions) {
    IntTensor &positions = inputs.positions[entry.first()];
    int64_t length = entry.second.shape[1];
    for (int64_t b = 0; b < batch; ++b) {
      auto first = entry.second.data.begin() + b * length + begins[b];
      positions.data.insert(positions.data.end(), first, first + counts[b]);
    }
    if (isPacked)
      positions.shape = {bounds.data.back()};
    else
      positions.shape = {batch, tokens};
  }
  inputs.positions["key_lengths"] = ends;
  if (isPacked)
    inputs.positions["cu_seqlens_q"] = bounds;
  if (!state.data.empty())
    inputs.tables["state_in"] = state;
  if (!sums.data.empty())
    inputs.tables["sums_in"] = sums;
  return inputs;
}

/// The rows of a call are those of the whole.
std::string Chain::checkRows(const ReferenceInputs &inputs,
                             const NativeResults &results) const {
  SmallVector<int64_t> begins, counts;
  for (int64_t b = 0; b < batch; ++b) {
    counts.push_back(
        isPacked ? inputs.positions.find("cu_seqlens_q")->second.data[b + 1] -
                       inputs.positions.find("cu_seqlens_q")->second.data[b]
                 : inputs.q.shape[2]);
    begins.push_back(lengths[b]);
  }
  ReferenceOutputs rows;
  for (auto [from, to] : {std::pair(&wanted.o, &rows.o),
                          {&wanted.maxScore, &rows.maxScore},
                          {&wanted.maxValue, &rows.maxValue}}) {
    RealTensor whole = *from;
    if (whole.shape.size() == 3)
      whole.shape.push_back(1);
    *to = isPacked ? pack(whole, begins, counts)
                   : cutTokens(whole, begins, counts, 2);
  }
  Accuracy accuracy = measureOutput(rows, results.o, kernel.getRounding());
  return accuracy.isAccurate() ? ""
                               : "against all keys: " + accuracy.describe("o");
}

static void keep(const RealTensor &like, ArrayRef<float> numbers,
                 RealTensor &tensor) {
  tensor.shape = like.shape;
  tensor.data.assign(numbers.begin(), numbers.end());
}

std::string Chain::step(int64_t tokens, const NativeCall &call) {
  ReferenceInputs inputs = makeCall(tokens);
  if (std::string problem = checkNative(kernel, inputs, call); !problem.empty())
    return problem;
  NativeResults results;
  if (std::string problem = callNative(kernel, inputs, call, results);
      !problem.empty())
    return problem;
  if (std::string problem = checkRows(inputs, results); !problem.empty())
    return problem;
  ReferenceOutputs shapes = evaluate(kernel.spec->getKernel(), inputs);
  keep(shapes.state, results.state, state);
  keep(shapes.sums, results.sums, sums);
  for (int64_t b = 0; b < batch; ++b)
    lengths[b] += countTokens(b, tokens);
  return "";
}

std::string Chain::run(ArrayRef<int64_t> steps, posenc_pool *pool) {
  int64_t length = 0;
  for (int64_t tokens : steps)
    length += tokens;
  all = makeInputs(whole->getKernel(),
                   {batch, sizes.heads, sizes.kvHeads, length, length,
                    sizes.headDim, sizes.valueDim},
                   static_cast<unsigned>(12 + length));
  wanted = evaluate(whole->getKernel(), all);
  std::fill(std::begin(lengths), std::end(lengths), 0);
  state = sums = RealTensor();
  for (auto [index, tokens] : enumerate(steps)) {
    NativeCall call;
    call.wantLse = false;
    call.pool = index % 2 ? pool : nullptr;
    call.prepared = index % 3 == 1;
    call.ownScratch = index % 4 == 2;
    call.arrangement = static_cast<Arrangement>(index % 4);
    if (std::string problem = step(tokens, call); !problem.empty())
      return ("call " + Twine(index) + " of " + Twine(tokens) +
              " tokens: " + problem)
          .str();
  }
  return "";
}

/// The lengths of calls, about those of chunks, and one by one.
static std::vector<std::vector<int64_t>> makeSteps() {
  return {{1, 63, 64, 65, 0, 16, 17, 128, 200},
          {3, 1, 1, 1, 1, 1, 1, 1, 15, 1, 1, 33, 1},
          {130}};
}

//===----------------------------------------------------------------------===//
// A few more questions
//===----------------------------------------------------------------------===//

/// One thread, compact, a state of its own.
static const NativeCall withoutLse = {Arrangement::Compact, nullptr,
                                      /*wantLse=*/false};

static LoadedKernel &getSmall(const std::string &isa, std::string &problem) {
  static StringMap<LoadedKernel> kernels;
  LoadedKernel &kernel = kernels[isa];
  problem = kernel.loadOnce(
      "posenc.kernel @small heads(2) head_dim(8) value_dim(4) keys(state) "
      "mask(#posenc.causal) encode [#posenc.linear_attention, "
      "#posenc.retention_decay, #posenc.rope]",
      isa);
  return kernel;
}

static ReferenceInputs makeSmall(const LoadedKernel &kernel) {
  ReferenceInputs inputs =
      makeInputs(kernel.spec->getKernel(), {2, 2, 2, 5, 5, 8, 4}, 3);
  inputs.positions["key_lengths"].data = {9, 5};
  return inputs;
}

/// A state may be written where it was read.
static std::string writeInPlace(const std::string &isa) {
  std::string problem;
  LoadedKernel &kernel = getSmall(isa, problem);
  if (!problem.empty())
    return problem;
  ReferenceInputs inputs = makeSmall(kernel);
  NativeResults apart;
  problem = callNative(kernel, inputs, withoutLse, apart);
  if (!problem.empty())
    return problem;
  CallTensors tensors(kernel.compiled.tensors, inputs, Arrangement::Compact,
                      /*wantLse=*/false);
  NativeKernel::Arguments arguments = tensors.getArguments();
  StringMap<std::vector<float>> held;
  StringMap<DLTensor> places;
  SmallVector<std::pair<StringRef, StringRef>> names = {
      {"state_in", "state_out"}, {"sums_in", "sums_out"}};
  for (auto [from, to] : names) {
    const RealTensor &before = inputs.tables.find(from)->second;
    held[from].assign(before.data.begin(), before.data.end());
    DLTensor &tensor = places[from];
    tensor = {};
    tensor.data = held[from].data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(before.shape.size());
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = const_cast<int64_t *>(before.shape.data());
    for (auto [index, described] : enumerate(kernel.compiled.tensors))
      if (described.name == from || described.name == to)
        arguments.set(index, &tensor);
  }
  if (kernel.native->run(arguments, nullptr))
    return posenc_last_error();
  if (tensors.read("o") != apart.o || held["state_in"] != apart.state ||
      held["sums_in"] != apart.sums)
    return "the results are others than with a state of their own";
  return "";
}

/// A sequence without earlier tokens begins with an empty state, and so does
/// every one where there is none.
static std::string beginEmpty(const std::string &isa) {
  std::string problem;
  LoadedKernel &kernel = getSmall(isa, problem);
  if (!problem.empty())
    return problem;
  ReferenceInputs inputs = makeSmall(kernel), empty = inputs;
  for (const char *name : {"state_in", "sums_in"})
    empty.tables.erase(name);
  NativeResults resumed, begun;
  problem = callNative(kernel, inputs, withoutLse, resumed);
  if (problem.empty())
    problem = callNative(kernel, empty, withoutLse, begun);
  if (!problem.empty())
    return problem;
  auto isSame = [](const std::vector<float> &x, const std::vector<float> &y,
                   bool isSecond) {
    size_t half = x.size() / 2;
    return std::equal(x.begin() + half * isSecond,
                      x.begin() + half * (1 + isSecond),
                      y.begin() + half * isSecond);
  };
  if (isSame(resumed.o, begun.o, false) ||
      isSame(resumed.state, begun.state, false))
    return "the state of a sequence with earlier tokens changes nothing";
  if (!isSame(resumed.o, begun.o, true) ||
      !isSame(resumed.state, begun.state, true) ||
      !isSame(resumed.sums, begun.sums, true))
    return "a sequence without earlier tokens has a state";
  return "";
}

/// Tables of decays are those of any tokens before a call.
static std::string reusePrepared(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem = kernel.load(
      "posenc.kernel @decays heads(2) head_dim(8) keys(state) "
      "mask(#posenc.causal) encode [#posenc.retention<rotation = off, "
      "decay_norm = off, score_norm = off>]",
      isa);
  if (!problem.empty())
    return problem;
  ReferenceInputs inputs =
      makeInputs(kernel.spec->getKernel(), {2, 2, 2, 5, 5, 8, 8}, 3);
  std::vector<char> prepared;
  for (int64_t earlier : {0, 5, 900}) {
    inputs.positions["key_lengths"].data = {5 + earlier, 5 + earlier};
    NativeResults wanted;
    problem = callNative(kernel, inputs, withoutLse, wanted);
    if (!problem.empty())
      return problem;
    CallTensors tensors(kernel.compiled.tensors, inputs, Arrangement::Compact,
                        /*wantLse=*/false);
    const NativeKernel::Arguments &arguments = tensors.getArguments();
    posenc_call call = POSENC_CALL_INIT;
    if (prepared.empty()) {
      prepared.resize(kernel.native->preparedBytes(arguments));
      if (kernel.native->prepare(arguments, prepared.data(), prepared.size()))
        return posenc_last_error();
    }
    call.prepared = prepared.data();
    if (kernel.native->run(arguments, &call))
      return posenc_last_error();
    if (tensors.read("o") != wanted.o)
      return "tables of other lengths give other results";
  }
  return "";
}

/// Arguments that are wrong, and what is said of them.
static std::string refuse(const std::string &isa) {
  std::string problem;
  LoadedKernel &kernel = getSmall(isa, problem);
  if (!problem.empty())
    return problem;
  struct Wrong {
    const char *sentence;
    function_ref<void(ReferenceInputs &)> change;
  };
  auto setShape = [](RealTensor &tensor, ArrayRef<int64_t> shape) {
    tensor.shape.assign(shape.begin(), shape.end());
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    tensor.data.assign(count, 0);
  };
  auto setState = [&](ReferenceInputs &in) {
    setShape(in.tables["state_in"], {2, 2, 8, 5});
  };
  auto setHeads = [&](ReferenceInputs &in) {
    setShape(in.tables["sums_in"], {2, 1, 8});
  };
  auto setBatch = [&](ReferenceInputs &in) {
    setShape(in.tables["sums_in"], {3, 2, 8});
  };
  auto setRank = [&](ReferenceInputs &in) {
    setShape(in.tables["state_in"], {2, 2, 32});
  };
  auto setKeys = [&](ReferenceInputs &in) { setShape(in.k, {2, 2, 6, 8}); };
  auto setShort = [&](ReferenceInputs &in) {
    in.positions["key_lengths"].data = {9, 4};
  };
  auto setNegative = [&](ReferenceInputs &in) {
    in.positions["key_lengths"].data = {9, -1};
  };
  const Wrong wrongs[] = {
      {"state_in has extent 5 on axis 3, but must have 4", setState},
      {"sums_in has extent 1 on axis 1 (H), but must have 2", setHeads},
      {"sums_in has extent 3 on axis 0 (B), but must have 2", setBatch},
      {"state_in has rank 3, but must have 4", setRank},
      {"k has extent 6 on axis 2 (Lq), but must have 5 like axis 2 of q",
       setKeys},
      {"sequence 1 has 5 new tokens, but key_lengths holds 4 for it, and must "
       "count them too",
       setShort},
      {"key_lengths holds -1 at 1, but must have from 0 to 1073741824",
       setNegative},
  };
  for (const Wrong &wrong : wrongs) {
    ReferenceInputs inputs = makeSmall(kernel);
    wrong.change(inputs);
    CallTensors tensors(kernel.compiled.tensors, inputs, Arrangement::Compact,
                        /*wantLse=*/false);
    posenc_status status = kernel.native->run(tensors.getArguments(), nullptr);
    if (!status || !StringRef(posenc_last_error()).contains(wrong.sentence))
      return (Twine("expected '") + wrong.sentence + "', but got '" +
              (status ? posenc_last_error() : "success") + "'")
          .str();
    if (std::string problem = tensors.check(); !problem.empty())
      return problem;
  }
  return "";
}

/// What decays in a few tokens is 0, and what does not decay stays.
static std::string decayFar(const std::string &isa) {
  LoadedKernel kernel;
  Spec whole(
      "posenc.kernel @far heads(4) head_dim(8) mask(#posenc.causal) "
      "encode [#posenc.retention<first_exponent = 0.5, score_norm = off, "
      "decay_norm = off>, #posenc.retention_decay<decay = operands>]");
  std::string problem =
      kernel.load("posenc.kernel @far heads(4) head_dim(8) keys(state) "
                  "mask(#posenc.causal) encode [#posenc.retention<"
                  "first_exponent = 0.5, score_norm = off, decay_norm = off>, "
                  "#posenc.retention_decay<decay = operands>]",
                  isa);
  if (!problem.empty())
    return problem;
  ReferenceInputs inputs =
      makeInputs(whole.getKernel(), {1, 4, 4, 400, 400, 8, 8}, 5);
  inputs.tables["retention_decay.gamma"].data = {1e-4, 0.3, 1, 0.9999f};
  ReferenceOutputs wanted = evaluate(whole.getKernel(), inputs);
  inputs.positions["key_lengths"] = {{1}, {400}};
  NativeResults results;
  problem = callNative(kernel, inputs, withoutLse, results);
  if (!problem.empty())
    return problem;
  Accuracy accuracy = measureOutput(wanted, results.o);
  return accuracy.isAccurate() ? checkNative(kernel, inputs, withoutLse)
                               : accuracy.describe("o");
}

/// A shard of heads has the decays of its own.
static std::string takeShard(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem = kernel.load(
      "posenc.kernel @shard heads(6) kv_heads(3) head_dim(8) keys(state) "
      "mask(#posenc.causal) encode [#posenc.retention<score_norm = off>]",
      isa);
  for (auto [heads, first] :
       {std::pair<int64_t, int64_t>{2, 0}, {2, 4}, {4, 2}, {6, 0}}) {
    if (!problem.empty())
      return problem;
    ReferenceInputs inputs = makeInputs(kernel.spec->getKernel(),
                                        {2, heads, heads / 2, 70, 70, 8, 8}, 5);
    inputs.positions["key_lengths"].data = {70, 90};
    inputs.firstHead = first;
    problem = checkNative(kernel, inputs, withoutLse);
  }
  return problem;
}

/// What may stand beside each other in a kernel that has a state, at random.
static std::string chooseClauses(std::mt19937 &random) {
  auto choose = [&](ArrayRef<const char *> list) -> std::string {
    return list[random() % list.size()];
  };
  std::string clauses =
      choose({"encode [", "positions(#posenc.iota<offset = 1000>) encode [",
              "positions(#posenc.position_tensor) encode ["});
  bool isCounted = !StringRef(clauses).contains("tensor");
  clauses += choose({"", "#posenc.qk_norm<gain = channel>, ",
                     "#posenc.qk_norm<kind = l2, epsilon = 1.0>, ",
                     "#posenc.rope<base = 100.0, pairing = interleaved>, "});
  clauses +=
      choose({"#posenc.linear_attention", "#posenc.linear_attention<map = exp>",
              "#posenc.linear_attention<map = relu, epsilon = 0.125>"});
  clauses += choose(
      {"",
       ", #posenc.rope<name = \"turned\", base = 30.0, pairing = interleaved>",
       ", #posenc.rope<name = \"turned\", dims = 4, pairing = interleaved>"});
  if (isCounted)
    clauses += choose({"", ", #posenc.retention_decay",
                       ", #posenc.retention_decay<first_exponent = 0.5>",
                       ", #posenc.retention_decay<decay = operands>"});
  return clauses + "]";
}

static std::string runRandom(unsigned seed, const std::string &isa,
                             posenc_pool *pool) {
  std::mt19937 random(seed);
  std::string clauses = chooseClauses(random);
  Sizes drawn = sizes[random() % 3];
  drawn.valueDim = 1 + random() % 70;
  bool isPacked = random() % 2;
  std::vector<int64_t> steps;
  for (int64_t count = 2 + random() % 4; count > 0; --count)
    steps.push_back(random() % (random() % 2 ? 3 : 150));
  Chain chain(clauses, drawn, isPacked, "");
  std::string problem = chain.load(isa);
  if (problem.empty())
    problem = chain.run(steps, pool);
  return problem.empty() ? "" : clauses + ": " + problem;
}

void posenc::numerics::testRecurrences(TestRun &run, const std::string &isa,
                                       posenc_pool *pool) {
  auto test = [&](const Twine &name, StringRef text, Sizes sizes, bool isPacked,
                  StringRef types) {
    run.test("recurrence/" + isa + "/" + name + "/" + sizes.name +
                 (isPacked ? "/packed/" : "/dense/") + types,
             [&]() -> std::string {
               Chain chain(text, sizes, isPacked, types);
               std::string problem = chain.load(isa);
               for (const std::vector<int64_t> &steps : makeSteps())
                 if (problem.empty())
                   problem = chain.run(steps, pool);
               return problem;
             });
  };
  for (auto [index, scheme] : enumerate(schemes))
    for (bool isPacked : {false, true})
      test(scheme.name, scheme.clauses, sizes[(index + isPacked) % 3], isPacked,
           "");
  for (StringRef types :
       {"dtype(bf16)", "kv_dtype(f16)", "dtype(f16) table_dtype(bf16)"})
    test("linear_decay", schemes[4].clauses, sizes[0], false, types);
  test("body", body, sizes[0], false, "");
  test("body", body, sizes[1], true, "");
  for (unsigned seed = 1; seed <= 8; ++seed)
    run.test("recurrence/" + isa + "/random/" + Twine(seed),
             [&] { return runRandom(seed, isa, pool); });
  run.test("recurrence/" + isa + "/in_place",
           [&] { return writeInPlace(isa); });
  run.test("recurrence/" + isa + "/empty", [&] { return beginEmpty(isa); });
  run.test("recurrence/" + isa + "/prepared",
           [&] { return reusePrepared(isa); });
  run.test("recurrence/" + isa + "/refused", [&] { return refuse(isa); });
  run.test("recurrence/" + isa + "/far", [&] { return decayFar(isa); });
  run.test("recurrence/" + isa + "/shard", [&] { return takeShard(isa); });
}
