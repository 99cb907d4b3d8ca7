// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled kernels against the reference: lengths, layouts, threads, buffers.
#include "NativeCall.h"
#include "NativeSpecs.h"
#include "Pairwise.h"
#include "TermSpecs.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"

#include <cmath>
#include <limits>
#include <tuple>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Tests of one kind
//===----------------------------------------------------------------------===//

/// The guards see what they must.
static void testGuards(TestRun &run) {
  auto writeAt = [](int64_t word, bool isOutput) {
    auto buffer = std::make_shared<GuardedBuffer>(12);
    Layout layout;
    layout.strides = {5, 1}; // rows at 1 .. 3 and 6 .. 8
    layout.offset = 1;
    GuardedTensor tensor(buffer, {2, 3}, layout, /*isInteger=*/false);
    if (isOutput)
      tensor.allowWrite();
    else
      tensor.write(ArrayRef<double>{1, 2, 3, 4, 5, 6});
    buffer->remember();
    buffer->data()[word] = 0;
    return buffer->check();
  };
  run.test("native/guards", [&]() -> std::string {
    for (int64_t word = -64; word < 12; ++word)
      for (bool isOutput : {false, true}) {
        bool isElement = (word >= 1 && word <= 3) || (word >= 6 && word <= 8);
        if (writeAt(word, isOutput).empty() != (isOutput && isElement))
          return "word " + std::to_string(word) + " is not guarded right";
      }
    return "";
  });
}

/// A tensor-parallel shard of a kernel's heads.
static void testShards(TestRun &run, const std::string &isa) {
  LoadedKernel kernel;
  for (auto [begin, count] :
       {std::pair<int64_t, int64_t>{0, 2}, {2, 4}, {4, 2}, {0, 6}, {6, 0}})
    for (bool prepared : {false, true}) {
      std::string name = "native/shard/" + isa +
                         "/first=" + std::to_string(begin) +
                         "/heads=" + std::to_string(count) +
                         "/prepared=" + std::to_string(prepared);
      runGuarded(run, name, [&, begin = begin, count = count]() -> std::string {
        if (std::string problem = kernel.loadOnce(
                "posenc.kernel @shard heads(6) kv_heads(3) head_dim(16) "
                "mask(#posenc.causal) encode [#posenc.rope, #posenc.alibi, "
                "#posenc.t5_bias, #posenc.dense_bias]",
                isa);
            !problem.empty())
          return problem;
        ReferenceInputs inputs = makeInputs(
            kernel.spec->getKernel(), {2, count, count / 2, 50, 70, 16, 16}, 1);
        inputs.firstHead = begin;
        NativeCall call;
        call.prepared = prepared;
        return checkNative(kernel, inputs, call);
      });
    }
}

/// NaN and infinities in one row stay in what depends on it.
static void testNotFinite(TestRun &run, const std::string &isa) {
  LoadedKernel kernel;
  constexpr int64_t length = 70, dims = 8, at = 33;
  // What row 33 has, and whether row i may be finite.
  struct Case {
    const char *name;
    RealTensor ReferenceInputs::*tensor;
    double value;
    bool laterRows; // also the rows that see key 33
  };
  for (const Case &c :
       {Case{"nan_query", &ReferenceInputs::q, std::nan(""), false},
        {"inf_query", &ReferenceInputs::q, infinity, false},
        {"nan_key", &ReferenceInputs::k, std::nan(""), true},
        {"nan_value", &ReferenceInputs::v, std::nan(""), true},
        {"inf_value", &ReferenceInputs::v, infinity, true}})
    runGuarded(
        run, "native/not_finite/" + isa + "/" + c.name, [&]() -> std::string {
          if (std::string problem =
                  kernel.loadOnce("posenc.kernel @special heads(1) head_dim(8) "
                                  "mask(#posenc.causal) "
                                  "encode [#posenc.rope, #posenc.alibi]",
                                  isa);
              !problem.empty())
            return problem;
          ReferenceInputs inputs =
              makeInputs(kernel.spec->getKernel(),
                         {1, 1, 1, length, length, dims, dims}, 1);
          ReferenceInputs changed = inputs;
          for (int64_t x = 0; x < dims; ++x)
            (changed.*c.tensor).data[at * dims + x] = c.value;
          NativeResults before, after;
          std::string problem = callNative(kernel, inputs, {}, before);
          if (problem.empty())
            problem = callNative(kernel, changed, {}, after);
          if (!problem.empty())
            return problem;
          for (int64_t i = 0; i < length; ++i)
            for (int64_t x = 0; x < dims; ++x) {
              bool isTouched = i == at || (c.laterRows && i > at);
              bool isFinite = std::isfinite(after.o[i * dims + x]);
              // A row before the changed one may share a block of keys with
              // it: a weight of 0 times NaN is NaN, and the values are the
              // caller's.
              bool mayShow = c.tensor == &ReferenceInputs::v && i < at;
              if (isTouched ? isFinite
                            : !mayShow && after.o[i * dims + x] !=
                                              before.o[i * dims + x])
                return "row " + std::to_string(i) +
                       (isTouched ? " is finite" : " changed");
            }
          return "";
        });
}

/// Makes of the inputs what sums in f32 can keep to the rule of accuracy, which
/// knows the final scores only: a row that sees no score of twice the deviation
/// gets small queries. See docs/testing.md.
static void condition(KernelOp kernel, double deviation,
                      ReferenceInputs &inputs) {
  ReferenceOutputs outputs = evaluate(kernel, inputs);
  MutableArrayRef<double> queries = inputs.q.data;
  size_t dims = inputs.q.shape.back();
  for (size_t row = 0; row < outputs.maxScore.data.size(); ++row)
    if (outputs.maxScore.data[row] < 2 * deviation)
      for (double &value : queries.slice(row * dims, dims))
        value = static_cast<float>(value / deviation);
}

/// Scores of unscaled products, as of T5.
static void testLargeScores(TestRun &run, const std::string &isa) {
  for (int64_t dims : {64, 128, 256})
    for (StringRef mask : {"full", "causal"}) {
      LoadedKernel kernel;
      // Queries like the keys, and larger ones.
      for (double deviation : {std::sqrt(double(dims)), 30.0, 60.0})
        runGuarded(
            run,
            ("native/large_scores/" + isa + "/D=" + Twine(dims) + "/" + mask +
             "/deviation=" + Twine(static_cast<int>(deviation)))
                .str(),
            [&]() -> std::string {
              if (std::string problem = kernel.loadOnce(
                      ("posenc.kernel @large heads(2) head_dim(" + Twine(dims) +
                       ") scale(1.0) mask(#posenc." + mask +
                       ") encode [#posenc.t5_bias<direction = "
                       "bidirectional>]")
                          .str(),
                      isa);
                  !problem.empty())
                return problem;
              KernelOp op = kernel.spec->getKernel();
              ReferenceInputs inputs =
                  makeInputs(op, {1, 2, 2, 320, 320, dims, dims}, 1);
              for (double &value : inputs.q.data)
                value = static_cast<float>(value * deviation /
                                           std::sqrt(double(dims)));
              condition(op, deviation, inputs);
              return checkNative(kernel, inputs, {});
            });
    }
}

/// Few queries against many keys, whose parts are computed apart and merged.
static void testLongKeys(TestRun &run, const std::string &isa) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  static constexpr std::pair<const char *, const char *> kernels[] = {
      {"plain", ""},
      {"causal", "mask(#posenc.causal) encode [#posenc.rope, #posenc.alibi]"},
      {"sinks",
       "mask(#posenc.causal<top_left>) encode [#posenc.attention_sink]"},
      {"window", "mask(#posenc.window<left = 2100>) encode [#posenc.t5_bias]"},
  };
  for (auto [name, clauses] : kernels) {
    LoadedKernel kernel;
    for (auto [queryLen, keyLen] : {std::pair<int64_t, int64_t>{1, 2047},
                                    {1, 2048},
                                    {2, 4100},
                                    {49, 2500}})
      runGuarded(run,
                 ("native/long_keys/" + isa + "/" + Twine(name) +
                  "/Lq=" + Twine(queryLen) + "/Lk=" + Twine(keyLen))
                     .str(),
                 [&, queryLen = queryLen, keyLen = keyLen,
                  clauses = clauses]() -> std::string {
                   if (std::string problem = kernel.loadOnce(
                           ("posenc.kernel @long_keys heads(4) kv_heads(2) "
                            "head_dim(16) " +
                            Twine(clauses))
                               .str(),
                           isa);
                       !problem.empty())
                     return problem;
                   NativeCall call;
                   call.pool = pool;
                   call.prepared = call.ownScratch = queryLen == 2;
                   return checkNative(
                       kernel,
                       makeInputs(kernel.spec->getKernel(),
                                  {1, 4, 2, queryLen, keyLen, 16, 16}, 3),
                       call);
                 });
  }
}

/// Every code as the value of the only key: the output is its number times the
/// scale.
static void testCodes(TestRun &run, const std::string &isa) {
  for (const char *type : {"i8", "f8E4M3FN"})
    run.test("native/codes/" + isa + "/" + type, [&]() -> std::string {
      LoadedKernel kernel;
      std::string problem =
          kernel.load(("posenc.kernel @codes heads(1) head_dim(2) "
                       "value_dim(256) kv_scales(token) kv_dtype(" +
                       Twine(type) + ")")
                          .str(),
                      isa);
      if (!problem.empty())
        return problem;
      ReferenceInputs inputs =
          makeInputs(kernel.spec->getKernel(), {1, 1, 1, 1, 1, 2, 256}, 1);
      const KernelTensor &values = kernel.compiled.tensors[2];
      inputs.tables["v_scales"].data = {0.375};
      for (int code = 0; code < 256; ++code)
        inputs.v.data[code] = values.fromBits(code);
      NativeResults results;
      problem = callNative(kernel, inputs, {}, results);
      if (!problem.empty())
        return problem;
      for (int code = 0; code < 256; ++code) {
        double wanted = 0.375 * inputs.v.data[code];
        if (results.o[code] != wanted &&
            !(std::isnan(wanted) && std::isnan(results.o[code])))
          return "code " + std::to_string(code) + " gives " +
                 std::to_string(results.o[code]) + ", but must give " +
                 std::to_string(wanted);
      }
      return "";
    });
}

/// Ways to read keys, values, operands and positions, of the types that these
/// may have.
static void testTypes(TestRun &run, const std::string &isa) {
  static constexpr std::pair<const char *, const char *> kernels[] = {
      {"i8", "kv_dtype(i8) kv_scales(token) mask(#posenc.causal) encode "
             "[#posenc.rope]"},
      {"f8", "kv_dtype(f8E4M3FN) kv_scales(head) mask(#posenc.causal)"},
      {"i8_all_heads",
       "kv_dtype(i8) kv_scales(token) encode [#posenc.qk_norm<kind = rms, over "
       "= all_heads, epsilon = 1.0e-6>, #posenc.rope]"},
      {"f8_paged_all_heads",
       "keys(paged) kv_dtype(f8E4M3FN) kv_scales(token) encode "
       "[#posenc.qk_norm<kind = rms, over = all_heads, epsilon = 1.0e-6>]"},
      {"f8_own_values",
       "kv_dtype(f8E4M3FN) kv_scales(token) mask(#posenc.causal) encode "
       "[#posenc.stick_breaking<kind = attend_current, remainder = value>]"},
      {"i8_paged_own_values",
       "keys(paged) kv_dtype(i8) kv_scales(token) mask(#posenc.causal) encode "
       "[#posenc.stick_breaking<kind = attend_current, remainder = value>]"},
      {"i8_paged_head", "keys(paged) kv_dtype(i8) kv_scales(head) "
                        "mask(#posenc.causal) encode [#posenc.alibi]"},
      {"bf16_dense_bias", "table_dtype(bf16) encode [#posenc.dense_bias]"},
      {"f16_dense_bias", "table_dtype(f16) encode [#posenc.dense_bias]"},
      {"bf16_bucket", "table_dtype(bf16) encode [#posenc.t5_bias]"},
      {"f16_slopes", "table_dtype(f16) encode [#posenc.alibi<form = symmetric, "
                     "slopes = operands>]"},
      {"bf16_shaw", "table_dtype(bf16) dtype(bf16) encode "
                    "[#posenc.shaw<max_distance = 8>]"},
      {"f16_sink", "table_dtype(f16) encode [#posenc.attention_sink]"},
      {"bf16_gates", "table_dtype(bf16) mask(#posenc.causal) encode "
                     "[#posenc.fox]"},
      {"f16_frequencies", "table_dtype(f16) encode "
                          "[#posenc.rope<frequencies = operand>]"},
      {"bf16_gains", "table_dtype(bf16) encode [#posenc.qk_norm<kind = rms, "
                     "gain = channel, epsilon = 1.0e-6>]"},
      {"f16_network", "table_dtype(f16) encode [#posenc.alibi<form = "
                      "symmetric>, #posenc.dape<hidden = 5>]"},
      {"bf16_projected", "table_dtype(bf16) mask(#posenc.causal) encode "
                         "[#posenc.transformer_xl]"},
      {"bf16_mask", "table_dtype(bf16) mask(#posenc.segments) encode "
                    "[#posenc.t5_bias]"},
      {"positions", "mask(#posenc.window<left = 50, by = position>) "
                    "positions(#posenc.position_tensor<queries = \"at\">) "
                    "encode [#posenc.rope, #posenc.alibi<form = symmetric>]"},
      {"axes", "positions(#posenc.position_tensor<axes = 3>) encode "
               "[#posenc.mrope<sections = [4, 4, 4]>]"},
  };
  static constexpr Arrangement arrangements[] = {
      Arrangement::Compact, Arrangement::Padded, Arrangement::Blhd};
  for (auto [name, clauses] : kernels) {
    LoadedKernel kernel;
    for (auto [turn, arrangement] : enumerate(arrangements))
      runGuarded(
          run, ("native/types/" + isa + "/" + name + "/" + Twine(turn)).str(),
          [&, clauses = clauses, turn = turn,
           arrangement = arrangement]() -> std::string {
            if (std::string problem = kernel.loadOnce(
                    ("posenc.kernel @typed heads(4) kv_heads(2) head_dim(24) "
                     "value_dim(10) " +
                     Twine(clauses))
                        .str(),
                    isa);
                !problem.empty())
              return problem;
            NativeCall call;
            call.arrangement = arrangement;
            call.prepared = turn == 1;
            call.wantLse = kernel.spec->getKernel().exportsLse();
            static constexpr int64_t sizes[][3] = {
                {1, 1, 35}, {3, 53, 130}, {2, 2, 2500}};
            auto [batch, queryLen, keyLen] = sizes[turn];
            return checkNative(
                kernel,
                makeInputs(kernel.spec->getKernel(),
                           {batch, 4, 2, queryLen, keyLen, 24, 10}, 5),
                call);
          });
  }
}

/// Masks that hide whole blocks of keys from a tile, wherever they are.
static void testMasks(TestRun &run, const std::string &isa) {
  static constexpr std::pair<const char *, const char *> kernels[] = {
      {"segments", "mask(#posenc.segments)"},
      {"causal_segments", "mask(#posenc.all<[#posenc.causal, "
                          "#posenc.segments]>) encode [#posenc.rope]"},
      {"window_segments", "mask(#posenc.all<[#posenc.window<left = 300, right "
                          "= 9>, #posenc.segments]>)"},
      {"window_by_position",
       "mask(#posenc.window<left = 70, right = 3, by = position>) "
       "positions(#posenc.position_tensor) encode [#posenc.alibi<form = "
       "symmetric>]"},
      {"own_queries", "mask(#posenc.window<right = 0, by = position>) "
                      "positions(#posenc.position_tensor<queries = \"at\">) "
                      "encode [#posenc.rope, #posenc.alibi]"},
      {"chunk_by_position", "mask(#posenc.chunk<size = 90, by = position>) "
                            "positions(#posenc.iota<offset = 17>)"},
      {"prefix", "mask(#posenc.prefix)"},
      {"operand_window", "mask(#posenc.operand_window) encode [#posenc.alibi]"},
      {"operand_window_right",
       "mask(#posenc.any<[#posenc.operand_window<right = 40>, "
       "#posenc.segments]>)"},
      {"either", "mask(#posenc.any<[#posenc.window<left = 30>, "
                 "#posenc.segments<name = \"segment\">]>)"},
      {"permutation", "mask(#posenc.permutation)"},
      {"group", "mask(#posenc.group<size = 64>) encode [#posenc.t5_bias]"},
      {"lengths", "mask(#posenc.all<[#posenc.causal, #posenc.segments]>) "
                  "keys(lengths)"},
      {"packed", "mask(#posenc.all<[#posenc.causal, #posenc.segments]>) "
                 "queries(packed) keys(packed) dtype(bf16)"},
  };
  static constexpr int64_t sizes[][3] = {
      {1, 1, 1}, {2, 53, 300}, {3, 5, 900}, {1, 700, 700}, {1, 2, 4000}};
  for (auto [name, clauses] : kernels) {
    LoadedKernel kernel;
    for (auto [batch, queryLen, keyLen] : sizes)
      runGuarded(run,
                 ("native/masks/" + isa + "/" + Twine(name) +
                  "/B=" + Twine(batch) + "/Lq=" + Twine(queryLen) +
                  "/Lk=" + Twine(keyLen))
                     .str(),
                 [&, batch = batch, queryLen = queryLen, keyLen = keyLen,
                  clauses = clauses]() -> std::string {
                   if (std::string problem = kernel.loadOnce(
                           ("posenc.kernel @masked heads(4) kv_heads(2) "
                            "head_dim(16) value_dim(10) " +
                            Twine(clauses))
                               .str(),
                           isa);
                       !problem.empty())
                     return problem;
                   NativeCall call;
                   call.wantLse = true;
                   return checkNative(
                       kernel,
                       makeInputs(kernel.spec->getKernel(),
                                  {batch, 4, 2, queryLen, keyLen, 16, 10}, 6),
                       call);
                 });
  }
}

/// Each kind of term of level 2, at lengths beside those of tiles and blocks.
static void testTerms(TestRun &run, ArrayRef<std::string> isas, bool full) {
  static constexpr int64_t sizes[][2] = {
      {1, 1}, {3, 70}, {53, 53}, {20, 310}, {100, 40}, {130, 300}, {2, 2600}};
  for (auto [index, spec] : llvm::enumerate(getTermSpecs()))
    for (auto [place, isa] : llvm::enumerate(isas)) {
      // One instruction set each, unless all are asked for.
      if (!full && index % isas.size() != place)
        continue;
      LoadedKernel kernel;
      for (auto [queryLen, keyLen] : sizes) {
        if (spec.hasOwnPlace && queryLen > keyLen)
          continue;
        runGuarded(run,
                   ("native/terms/" + Twine(spec.name) + "/" + isa +
                    "/Lq=" + Twine(queryLen) + "/Lk=" + Twine(keyLen))
                       .str(),
                   [&, &spec = spec, &isa = isa, queryLen = queryLen,
                    keyLen = keyLen]() -> std::string {
                     if (std::string problem =
                             kernel.loadOnce(getText(spec), isa);
                         !problem.empty())
                       return problem;
                     NativeCall call;
                     call.prepared = queryLen == 20;
                     call.wantLse = kernel.spec->getKernel().exportsLse();
                     return checkNative(
                         kernel,
                         makeInputs(kernel.spec->getKernel(),
                                    {2, spec.heads, spec.kvHeads, queryLen,
                                     keyLen, termHeadDim, termValueDim},
                                    7, spec.magnitude),
                         call);
                   });
      }
    }
}

/// Biases of low rank with every law of positions and way to store sequences,
/// and for some of the heads.
static void testFactors(TestRun &run, ArrayRef<std::string> isas, bool full) {
  static constexpr StringRef biases[] = {
      "encode [#posenc.tupe<length = 90>]",
      "mask(#posenc.causal) encode [#posenc.rope, #posenc.tupe<variant = "
      "relative, length = 90, theta = rows>]",
      "mask(#posenc.causal<top_left>) positions(#posenc.iota<offset = 3, align "
      "= top_left>) encode [#posenc.tupe<length = 90>, #posenc.softcap<cap = "
      "5.0>]",
      "positions(#posenc.position_tensor) encode [#posenc.sandwich<direction = "
      "bidirectional>]",
      "positions(#posenc.position_tensor<queries = \"own\">) encode "
      "[#posenc.sandwich<direction = bidirectional>, #posenc.rope]"};
  static constexpr StringRef storages[] = {"",
                                           "keys(lengths)",
                                           "queries(packed) keys(packed)",
                                           "queries(packed) keys(lengths)",
                                           "queries(packed) keys(paged)",
                                           "keys(paged) kv_dtype(bf16)"};
  struct Shard {
    int64_t first, heads;
  };
  static constexpr Shard shards[] = {{0, 6}, {2, 4}, {4, 2}};
  static constexpr int64_t sizes[][2] = {{1, 1}, {1, 300}, {50, 70}, {53, 53}};
  for (auto [bias, clauses] : enumerate(biases))
    for (auto [number, storage] : enumerate(storages))
      for (auto [place, isa] : enumerate(isas)) {
        // One instruction set each, unless all are asked for.
        if (!full && (bias + number) % isas.size() != place)
          continue;
        LoadedKernel kernel;
        for (auto [queryLen, keyLen] : sizes)
          for (const Shard &shard : shards)
            runGuarded(run,
                       ("native/factors/" + Twine(bias) + "/" + storage + "/" +
                        isa + "/Lq=" + Twine(queryLen) +
                        "/Lk=" + Twine(keyLen) + "/first=" + Twine(shard.first))
                           .str(),
                       [&, &clauses = clauses, &storage = storage, &isa = isa,
                        queryLen = queryLen, keyLen = keyLen]() -> std::string {
                         if (std::string problem = kernel.loadOnce(
                                 ("posenc.kernel @factors heads(6) "
                                  "kv_heads(3) head_dim(16) " +
                                  storage + " " + clauses)
                                     .str(),
                                 isa);
                             !problem.empty())
                           return problem;
                         ReferenceInputs inputs =
                             makeInputs(kernel.spec->getKernel(),
                                        {2, shard.heads, shard.heads / 2,
                                         queryLen, keyLen, 16, 16},
                                        5, 0.5);
                         inputs.firstHead = shard.first;
                         NativeCall call;
                         call.prepared = shard.first == 2;
                         call.wantLse = true;
                         return checkNative(kernel, inputs, call);
                       });
      }
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

static constexpr int64_t lengths[] = {0,  1,   2,   47,  48,  49, 64,
                                      97, 255, 256, 257, 300, 520};
static constexpr const char *arrangements[] = {"compact", "blhd", "packed",
                                               "padded"};
/// Of the scores without biases.
static constexpr double deviations[] = {1, 16, 60};

namespace {

/// Choices of a test, as indices.
enum Choice {
  SpecIndex,
  QueryLen,
  KeyLen,
  Batch,
  Arranged,
  Threads,
  Lse,
  Prepared,
  Scratch,
  Deviation,
  NumChoices
};

class Grid {
public:
  Grid(std::vector<NativeSpec> specs, bool full);
  void run(TestRun &run);

private:
  bool isValid(ArrayRef<size_t> row) const;
  std::string getName(ArrayRef<size_t> row) const;
  ReferenceInputs makeInputs(KernelOp kernel, ArrayRef<size_t> row,
                             unsigned seed) const;

  std::vector<NativeSpec> specs;
  std::vector<std::vector<size_t>> rows; // in the order of the specs
};

} // namespace

bool Grid::isValid(ArrayRef<size_t> row) const {
  const NativeSpec &spec = specs[row[SpecIndex]];
  StringRef text = spec.text;
  // A map may make small scores of large ones, whose rounding it keeps.
  bool fitsLarge = !text.contains("posenc.map");
  return (!spec.hasPositions || row[QueryLen] <= row[KeyLen]) &&
         (!text.contains("no_lse") || !row[Lse]) &&
         (fitsLarge || !row[Deviation]);
}

Grid::Grid(std::vector<NativeSpec> kernels, bool full)
    : specs(std::move(kernels)) {
  std::vector<size_t> counts(NumChoices, 2);
  counts[SpecIndex] = specs.size();
  counts[QueryLen] = counts[KeyLen] = std::size(lengths);
  counts[Arranged] = std::size(arrangements);
  counts[Deviation] = std::size(deviations);
  auto valid = [&](ArrayRef<size_t> row) { return isValid(row); };
  rows = coverPairs(counts, valid);
  if (full)
    for (size_t spec = 0; spec < specs.size(); ++spec)
      for (size_t q = 0; q < std::size(lengths); ++q)
        for (size_t k = 0; k < std::size(lengths); ++k) {
          std::vector<size_t> row = {spec, q, k};
          size_t turn = rows.size(); // the other choices take turns
          for (size_t choice = Batch; choice < NumChoices; ++choice) {
            row.push_back(turn % counts[choice]);
            turn /= counts[choice];
          }
          if (isValid(row))
            rows.push_back(row);
        }
  // A kernel's rows together, so that it is loaded once.
  llvm::sort(rows, [](const auto &x, const auto &y) {
    return std::tie(x[SpecIndex], x) < std::tie(y[SpecIndex], y);
  });
}

std::string Grid::getName(ArrayRef<size_t> row) const {
  return ("native/run/" + specs[row[SpecIndex]].name + "/B=" +
          Twine(row[Batch] + 1) + "/Lq=" + Twine(lengths[row[QueryLen]]) +
          "/Lk=" + Twine(lengths[row[KeyLen]]) + "/" +
          arrangements[row[Arranged]] +
          "/threads=" + (row[Threads] ? "3" : "1") + "/lse=" + Twine(row[Lse]) +
          "/prepared=" + Twine(row[Prepared]) +
          "/own_scratch=" + Twine(row[Scratch]) +
          "/deviation=" + Twine(static_cast<int>(deviations[row[Deviation]])))
      .str();
}

ReferenceInputs Grid::makeInputs(KernelOp kernel, ArrayRef<size_t> row,
                                 unsigned seed) const {
  const NativeSpec &spec = specs[row[SpecIndex]];
  double deviation = deviations[row[Deviation]];
  int64_t queryLen = lengths[row[QueryLen]], keyLen = lengths[row[KeyLen]];
  ReferenceInputs inputs = numerics::makeInputs(
      kernel,
      {static_cast<int64_t>(row[Batch] + 1), spec.heads, spec.kvHeads, queryLen,
       keyLen, spec.headDim, spec.valueDim},
      seed);
  double scale = 1;
  kernel.walk([&](DotOp dot) { scale = dot.getScale().convertToDouble(); });
  double factor = deviation / std::abs(scale) / std::sqrt(double(spec.headDim));
  for (double &value : inputs.q.data)
    value = static_cast<float>(value * factor);
  // In a table of pairs row 1 sees nothing, and others not all; masked in each
  // of the three ways.
  for (const OperandTensor &operand : kernel.getOperandTensors()) {
    if (!is_contained(operand.axes, TableAxis::query) ||
        !is_contained(operand.axes, TableAxis::key))
      continue;
    std::vector<double> &table = inputs.tables[operand.name].data;
    for (size_t x = 0; x < table.size(); ++x)
      if (static_cast<int64_t>(x) / keyLen % queryLen == 1 || x % 7 == 3)
        table[x] = x % 3 == 0   ? -infinity
                   : x % 3 == 1 ? -1e30
                                : std::numeric_limits<float>::lowest();
  }
  if (deviation > 1)
    condition(kernel, deviation, inputs);
  return inputs;
}

void Grid::run(TestRun &run) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });

  auto at = rows.begin();
  for (size_t x = 0; x < specs.size(); ++x) {
    const NativeSpec &spec = specs[x];
    LoadedKernel kernel;
    std::optional<std::string> problem; // what load() said
    auto loadOnce = [&] {
      if (!problem)
        problem = kernel.load(spec.text, spec.isa);
      return *problem;
    };
    runGuarded(run, "native/compile/" + spec.name, loadOnce);
    for (; at != rows.end() && (*at)[SpecIndex] == x; ++at) {
      const std::vector<size_t> &row = *at;
      std::string name = getName(row);
      // A kernel that does not compile has failed once, above.
      if (!run.isSelected(name) || !loadOnce().empty())
        continue;
      runGuarded(run, name, [&] {
        NativeCall call;
        call.arrangement = static_cast<Arrangement>(row[Arranged]);
        call.pool = row[Threads] ? pool : nullptr;
        call.wantLse = row[Lse];
        call.prepared = row[Prepared];
        call.ownScratch = row[Scratch];
        unsigned seed = at - rows.begin();
        return checkNative(
            kernel, makeInputs(kernel.spec->getKernel(), row, seed), call);
      });
    }
  }
}

void posenc::numerics::testNative(TestRun &run, ArrayRef<std::string> isas,
                                  bool full) {
  testGuards(run);
  for (const std::string &isa : isas) {
    testShards(run, isa);
    testNotFinite(run, isa);
    testLargeScores(run, isa);
    testLongKeys(run, isa);
    testCodes(run, isa);
    testTypes(run, isa);
    testMasks(run, isa);
  }
  testTerms(run, isas, full);
  testFactors(run, isas, full);
  Grid(makeNativeSpecs(isas, full), full).run(run);
}
