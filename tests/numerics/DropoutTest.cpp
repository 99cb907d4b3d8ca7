// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention dropout: the reference against a direct formula, kernels against
// the reference, and the exported mask against both.
#include "NativeCall.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct DropoutSpec {
  const char *name, *clauses;
  /// A call has at most as many queries as keys.
  bool needsKeys = false;
};

/// Sizes of all specifications here.
constexpr int64_t heads = 4, kvHeads = 2, headDim = 16, valueDim = 10;
} // namespace

static const DropoutSpec specs[] = {
    {"plain", "dropout(0.1)"},
    {"causal", "mask(#posenc.causal) dropout(0.5) encode [#posenc.rope, "
               "#posenc.alibi]"},
    {"almost_all", "dropout(0.9999)"},
    {"window", "mask(#posenc.window<left = 90, right = 5>) dropout(0.3) "
               "encode [#posenc.rope]"},
    {"sinks", "mask(#posenc.causal) dropout(0.2) encode "
              "[#posenc.attention_sink]"},
    {"values", "dropout(0.25) encode [#posenc.shaw<max_distance = 8>]"},
    {"values_far", "mask(#posenc.causal) dropout(0.25) encode "
                   "[#posenc.shaw<max_distance = 30>]"},
    {"sticks",
     "mask(#posenc.causal) dropout(0.25) encode "
     "[#posenc.stick_breaking<remainder = value>]",
     true},
    {"linear", "mask(#posenc.causal) dropout(0.3) encode "
               "[#posenc.linear_attention]"},
    {"retention", "mask(#posenc.causal) dropout(0.3) encode "
                  "[#posenc.retention]"},
    {"talking", "dropout(0.3) encode [#posenc.dape]"},
    {"segments",
     "mask(#posenc.all<[#posenc.causal, #posenc.segments]>) "
     "dropout(0.3)",
     true},
    {"bf16", "mask(#posenc.causal) dtype(bf16) dropout(0.3)"},
    {"f16_cache", "kv_dtype(f16) dropout(0.3)"},
    {"packed", "mask(#posenc.causal) queries(packed) keys(packed) "
               "dropout(0.3)"},
    {"paged", "mask(#posenc.causal) queries(packed) keys(paged) "
              "key_cache(encoded) dropout(0.3) encode [#posenc.rope]"},
    {"ring", "mask(#posenc.window<left = 200>) keys(ring) dropout(0.3)"},
    {"codes", "keys(lengths) kv_dtype(i8) kv_scales(head) dropout(0.3)"},
    {"listed", "mask(#posenc.causal) dropout(0.3) "
               "blocks(#posenc.block_list<queries = 16, keys = 13>)"},
};

static std::string getText(StringRef clauses, int64_t values = valueDim) {
  return ("posenc.kernel @dropped heads(4) kv_heads(2) head_dim(16) "
          "value_dim(" +
          Twine(values) + ") " + clauses)
      .str();
}

static ReferenceInputs makeCall(KernelOp kernel, ArrayRef<int64_t> sizes,
                                int64_t values = valueDim) {
  ReferenceInputs inputs = makeInputs(
      kernel, {sizes[0], heads, kvHeads, sizes[1], sizes[2], headDim, values},
      static_cast<unsigned>(sizes[1] + sizes[2]));
  inputs.seed = 0x0123456789abcdef;
  inputs.offset = 0xfedcba9876543210;
  return inputs;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

namespace {
struct Mask {
  std::vector<uint8_t> kept; // [B, H, Lq, Lk]
  std::string problem;
};
} // namespace

static Mask exportMask(double probability, std::vector<int64_t> shape,
                       const posenc_call &call, int64_t firstBatch = 0) {
  Mask mask;
  mask.kept.assign(std::accumulate(shape.begin(), shape.end(), int64_t{1},
                                   std::multiplies<>()),
                   2);
  DLTensor tensor = {};
  tensor.data = mask.kept.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 4;
  tensor.dtype = {kDLUInt, 8, 1};
  tensor.shape = shape.data();
  if (posenc_dropout_mask(probability, firstBatch, &call, &tensor))
    mask.problem = posenc_last_error();
  return mask;
}

static posenc_call makeOptions(const ReferenceInputs &inputs) {
  posenc_call call = POSENC_CALL_INIT;
  call.first_head = static_cast<int32_t>(inputs.firstHead);
  call.seed = inputs.seed;
  call.offset = inputs.offset;
  return call;
}

/// Philox4x32-10 as the paper writes it.
static std::array<uint32_t, 4> drawWords(std::array<uint32_t, 4> x,
                                         uint64_t seed) {
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    uint64_t l = x[0] * uint64_t{0xD2511F53}, r = x[2] * uint64_t{0xCD9E8D57};
    x = {uint32_t(r >> 32) ^ x[1] ^ k0, uint32_t(r),
         uint32_t(l >> 32) ^ x[3] ^ k1, uint32_t(l)};
  }
  return x;
}

/// The random number of a pair by the words of posenc.drop_weights.
static double drawPair(const ReferenceInputs &inputs, int64_t b, int64_t h,
                       int64_t place, int64_t j) {
  auto r = drawWords({uint32_t(inputs.offset), uint32_t(inputs.offset >> 32),
                      uint32_t(b), uint32_t(inputs.firstHead + h)},
                     inputs.seed);
  auto words =
      drawWords({uint32_t(j / 4), uint32_t(place), r[0], r[1]}, inputs.seed);
  return words[j % 4] * 0x1p-32;
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

/// Weights of the same kernel without dropout, from values that are rows of the
/// identity: then o = sum_j w_ij keep_ij / (1 - p) v_j.
static void testFormula(TestRun &run) {
  struct Kernel {
    const char *name, *clauses;
  };
  const Kernel kernels[] = {
      {"softmax", "mask(#posenc.causal)"},
      {"sinks", "mask(#posenc.causal) encode [#posenc.attention_sink]"},
      {"linear", "mask(#posenc.causal) encode [#posenc.linear_attention]"},
      {"retention", "mask(#posenc.causal) encode [#posenc.retention]"}};
  constexpr int64_t queries = 9, keys = 21;
  constexpr double p = 0.3;
  for (const Kernel &kernel : kernels)
    run.test(std::string("dropout/formula/") + kernel.name, [&] {
      Spec weights(getText(kernel.clauses, keys));
      Spec dropped(
          getText(std::string(kernel.clauses) + " dropout(0.3)", keys));
      ReferenceInputs inputs =
          makeCall(dropped.getKernel(), {2, queries, keys}, keys);
      ReferenceInputs unit = inputs;
      for (size_t x = 0; x < unit.v.data.size(); ++x)
        unit.v.data[x] = x / keys % keys == x % keys;
      ReferenceOutputs w = evaluate(weights.getKernel(), unit);
      ReferenceOutputs got = evaluate(dropped.getKernel(), inputs);
      RealTensor wanted = got.o;
      for (size_t row = 0; row < wanted.data.size() / keys; ++row)
        for (int64_t c = 0; c < keys; ++c) {
          int64_t i = row % queries, h = row / queries % heads,
                  b = row / queries / heads;
          double sum = 0;
          for (int64_t j = 0; j < keys; ++j)
            if (drawPair(inputs, b, h, i + keys - queries, j) >= p)
              sum +=
                  w.o.data[row * keys + j] / (1 - p) *
                  inputs.v.data[((b * kvHeads + h / 2) * keys + j) * keys + c];
          wanted.data[row * keys + c] = sum;
        }
      std::string problem = compare("o", got.o, wanted, 1e-12);
      return problem.empty() ? compare("lse", got.lse, w.lse, 0) : problem;
    });
}

/// Rows of a sequence that are computed in pieces, in whatever order.
static void testPieces(TestRun &run) {
  for (StringRef clauses :
       {"dropout(0.3) encode [#posenc.rope]", "dropout(0.7)"})
    run.test("dropout/pieces/" + clauses, [&]() -> std::string {
      Spec spec(getText(("mask(#posenc.causal) " + clauses).str()));
      ReferenceInputs inputs = makeCall(spec.getKernel(), {2, 40, 40});
      ReferenceOutputs whole = evaluate(spec.getKernel(), inputs);
      for (auto [begin, end] :
           {std::pair<int64_t, int64_t>{0, 7}, {7, 8}, {8, 37}, {39, 40}}) {
        ReferenceInputs piece = inputs;
        piece.q = slice(inputs.q, 2, begin, end);
        piece.k = slice(inputs.k, 2, 0, end);
        piece.v = slice(inputs.v, 2, 0, end);
        ReferenceOutputs part = evaluate(spec.getKernel(), piece);
        if (std::string problem =
                compare("o", part.o, slice(whole.o, 2, begin, end), 1e-12);
            !problem.empty())
          return problem;
      }
      return "";
    });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static void testNativeDropout(TestRun &run, const std::string &isa,
                              posenc_pool *pool) {
  // Odd ones, some long enough for parts of the keys.
  const std::vector<int64_t> sizes[] = {
      {1, 1, 1},    {2, 1, 77},   {1, 5, 4},    {2, 33, 33}, {1, 50, 70},
      {1, 130, 67}, {1, 3, 2500}, {2, 70, 301}, {1, 0, 9},   {1, 9, 0}};
  for (const DropoutSpec &spec : specs) {
    LoadedKernel kernel;
    for (const std::vector<int64_t> &shape : sizes) {
      if (spec.needsKeys && shape[1] > shape[2])
        continue;
      bool isLarge = shape[2] > 1000 || shape[1] == 0;
      std::string name = std::string("dropout/native/") + isa + "/" +
                         spec.name + "/Lq=" + std::to_string(shape[1]) +
                         "/Lk=" + std::to_string(shape[2]);
      runGuarded(run, name, [&]() -> std::string {
        if (std::string problem = kernel.loadOnce(getText(spec.clauses), isa);
            !problem.empty())
          return problem;
        KernelOp op = kernel.spec->getKernel();
        NativeCall call;
        call.wantLse = op.exportsLse();
        call.pool = pool;
        call.arrangement = isLarge ? Arrangement::Compact : Arrangement::Padded;
        return checkNative(kernel, makeCall(op, shape), call);
      });
    }
  }
}

/// Heads of a shard have the numbers of the whole kernel.
static void testShard(TestRun &run, const std::string &isa) {
  runGuarded(run, "dropout/shard/" + isa, [&]() -> std::string {
    LoadedKernel kernel;
    if (std::string problem = kernel.load(getText("dropout(0.5)"), isa);
        !problem.empty())
      return problem;
    ReferenceInputs inputs =
        makeInputs(kernel.spec->getKernel(),
                   {1, 2, 1, 20, 30, headDim, valueDim}, /*seed=*/1);
    inputs.firstHead = 2;
    inputs.seed = 5;
    return checkNative(kernel, inputs, {});
  });
}

/// With values that are rows of the identity outputs are weights.
static void testExport(TestRun &run, const std::string &isa,
                       posenc_pool *pool) {
  constexpr int64_t queries = 37, keys = 90;
  for (StringRef storage : {"", "dtype(bf16)", "keys(lengths)", "keys(paged)"})
    runGuarded(
        run, ("dropout/export/" + isa + "/" + storage).str(),
        [&]() -> std::string {
          LoadedKernel kernel;
          if (std::string problem = kernel.load(
                  getText(("dropout(0.4) " + storage).str(), keys), isa);
              !problem.empty())
            return problem;
          ReferenceInputs inputs =
              makeCall(kernel.spec->getKernel(), {3, queries, keys}, keys);
          std::vector<int64_t> lengths(3, keys);
          if (!storage.empty() && storage != "dtype(bf16)") {
            auto &given = inputs.positions["key_lengths"].data;
            lengths.assign(given.begin(), given.end());
          }
          // Row j of the values is that of the identity wherever it is stored.
          bool isPaged = storage == "keys(paged)";
          const RealTensor &shape = inputs.v;
          for (size_t x = 0; x < inputs.v.data.size(); ++x)
            inputs.v.data[x] =
                !isPaged && static_cast<int64_t>(x / keys) % keys ==
                                static_cast<int64_t>(x % keys);
          if (isPaged) {
            int64_t pageSize = shape.shape[1];
            const IntTensor &table = inputs.positions["page_table"];
            for (int64_t b = 0; b < 3; ++b)
              for (int64_t j = 0; j < lengths[b]; ++j)
                for (int64_t h = 0; h < kvHeads; ++h) {
                  int64_t page = table.data[b * table.shape[1] + j / pageSize];
                  int64_t row = (page * pageSize + j % pageSize) * kvHeads + h;
                  inputs.v.data[row * keys + j] = 1;
                }
          }
          NativeResults results;
          NativeCall call;
          call.pool = pool;
          if (std::string problem = callNative(kernel, inputs, call, results);
              !problem.empty())
            return problem;
          posenc_call options = makeOptions(inputs);
          options.pool = pool;
          for (int64_t b = 0; b < 3; ++b) {
            Mask mask =
                exportMask(0.4, {1, heads, queries, lengths[b]}, options, b);
            if (!mask.problem.empty())
              return mask.problem;
            for (size_t x = 0; x < mask.kept.size(); ++x) {
              int64_t row = b * heads * queries + x / lengths[b];
              bool isKept = results.o[row * keys + x % lengths[b]] != 0;
              if (isKept != mask.kept[x])
                return "the mask of batch entry " + std::to_string(b) +
                       " differs at element " + std::to_string(x);
            }
          }
          return "";
        });
}

/// A kernel that drops nothing is the kernel without the clause.
static void testNothing(TestRun &run, const std::string &isa) {
  runGuarded(run, "dropout/nothing/" + isa, [&]() -> std::string {
    NativeResults results[2];
    for (bool drops : {false, true}) {
      LoadedKernel kernel;
      if (std::string problem =
              kernel.load(getText(drops ? "dropout(0.0)" : ""), isa);
          !problem.empty())
        return problem;
      if (std::string problem = callNative(
              kernel, makeCall(kernel.spec->getKernel(), {2, 50, 60}), {},
              results[drops]);
          !problem.empty())
        return problem;
    }
    return results[0].o == results[1].o && results[0].lse == results[1].lse
               ? ""
               : "the results differ";
  });
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// Says whether `count` of `trials` is farther than 5 deviations from the mean.
static std::string checkBinomial(StringRef what, double count, double trials,
                                 double p) {
  double deviation = std::sqrt(trials * p * (1 - p));
  if (std::abs(count - trials * p) <= 5 * deviation)
    return "";
  std::string text;
  raw_string_ostream(text) << what << ": " << count << " of " << trials
                           << " with probability " << p;
  return text;
}

static void testStatistics(TestRun &run) {
  const std::vector<int64_t> shape = {2, 3, 64, 500};
  constexpr int64_t head = 64 * 500;
  for (double p : {0.0, 0.01, 0.1, 0.5, 0.99})
    run.test("dropout/statistics/p=" + std::to_string(p), [&]() -> std::string {
      posenc_call call = POSENC_CALL_INIT;
      call.seed = 42;
      std::vector<std::vector<uint8_t>> masks; // of heads
      auto add = [&](const posenc_call &call, int64_t firstBatch) {
        Mask mask = exportMask(p, shape, call, firstBatch);
        for (size_t at = 0; at < mask.kept.size(); at += head)
          masks.emplace_back(mask.kept.begin() + at,
                             mask.kept.begin() + at + head);
        return mask.problem;
      };
      std::string problem = add(call, 0);
      for (auto [seed, offset, firstHead, batch] :
           {std::tuple<uint64_t, uint64_t, int32_t, int64_t>{43, 0, 0, 0},
            {uint64_t{42} << 32, 0, 0, 0},
            {42, 1, 0, 0},
            {42, uint64_t{1} << 32, 0, 0},
            {42, 0, 3, 0},
            {42, 0, 0, 2}}) {
        call.seed = seed;
        call.offset = offset;
        call.first_head = firstHead;
        if (problem.empty())
          problem = add(call, batch);
      }
      for (size_t a = 0; a < masks.size() && problem.empty(); ++a) {
        double kept = std::accumulate(masks[a].begin(), masks[a].end(), 0.0);
        problem = checkBinomial("kept", kept, head, 1 - p);
        // No two heads have anything in common.
        for (size_t b = 0; b < a && problem.empty(); ++b) {
          double both = 0;
          for (int64_t x = 0; x < head; ++x)
            both += masks[a][x] & masks[b][x];
          problem =
              checkBinomial("kept in both", both, head, (1 - p) * (1 - p));
        }
        // Nor neighbouring keys and rows.
        for (int64_t step : {1, 4, 500}) {
          double both = 0;
          for (int64_t x = 0; x + step < head; ++x)
            both += masks[a][x] & masks[a][x + step];
          if (problem.empty())
            problem = checkBinomial("kept together", both, head - step,
                                    (1 - p) * (1 - p));
        }
      }
      return problem;
    });
}

/// Shards and batch entries of a mask are those of the whole.
static void testMaskParts(TestRun &run) {
  run.test("dropout/mask_parts", [&]() -> std::string {
    posenc_call call = POSENC_CALL_INIT;
    call.seed = 7;
    Mask whole = exportMask(0.4, {3, 4, 5, 11}, call);
    call.first_head = 2;
    Mask part = exportMask(0.4, {1, 2, 5, 11}, call, 1);
    size_t begin = (1 * 4 + 2) * 5 * 11;
    if (!std::equal(part.kept.begin(), part.kept.end(),
                    whole.kept.begin() + begin))
      return "a shard's mask differs";
    // The last rows, over the same keys.
    Mask rows = exportMask(0.4, {1, 2, 2, 11}, call, 1);
    for (int64_t h = 0; h < 2; ++h)
      if (!std::equal(rows.kept.begin() + h * 22,
                      rows.kept.begin() + (h + 1) * 22,
                      part.kept.begin() + h * 55 + 33))
        return "the last rows' mask differs";
    return "";
  });
}

void posenc::numerics::testDropout(TestRun &run, ArrayRef<std::string> isas) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  testFormula(run);
  testPieces(run);
  testStatistics(run);
  testMaskParts(run);
  for (const std::string &isa : isas) {
    testNativeDropout(run, isa, pool);
    testShard(run, isa);
    testExport(run, isa, pool);
    testNothing(run, isa);
  }
}
