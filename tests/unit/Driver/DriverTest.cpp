// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host programs against the reference, over kinds of kernels, shapes, layouts
// and options of a call.
#include "FakeTile.h"
#include "Problem.h"

#include <gtest/gtest.h>

using namespace posenc::test;

namespace {

/// A body with constant tables of every order of axes, and with tables over
/// queries and keys.
std::string makeTables(const std::string &positions, const std::string &terms) {
  return "{\n"
         "^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n"
         "%i = posenc.position query law(" +
         positions + ")\n%j = posenc.position key law(" + positions + R"mlir()
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 1>)
  %t0 = posenc.table law(#posenc.constants<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]>) : !posenc.table<head, row>
  %t1 = posenc.table law(#posenc.constants<[1.2, 0.2, 0.8, 0.1, 0.7, 0.6, 0.3, 0.4, 1.0, 1.1, 0.5, 0.9]>) : !posenc.table<row, head>
  %t2 = posenc.table law(#posenc.constants<[0.3, -1.0, 0.7]>) : !posenc.table<row>
  %b = posenc.bias(%r, %t0, %t1, %t2) : !posenc.relation, !posenc.table<head, row>, !posenc.table<row, head>, !posenc.table<row> {
  ^bb0(%x: f64, %x0: f64, %x1: f64, %x2: f64):
    %y = arith.mulf %x0, %x1 : f64
    %z = arith.addf %y, %x2 : f64
    posenc.yield %z : f64
  }
  %s = posenc.dot %q, %k scale(0.5)
  %u = posenc.add %s, %b
)mlir" + terms +
         R"mlir(
  %p = posenc.normalize softmax %w
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";
}

const char *const sideTables = R"mlir(
  %t3 = posenc.table law(#posenc.operand<"by_query">) : !posenc.table<query>
  %t4 = posenc.table law(#posenc.operand<"by_key">) : !posenc.table<key, head>
  %c = posenc.bias(%t3, %t4) : !posenc.table<query>, !posenc.table<key, head> {
  ^bb0(%x3: f64, %x4: f64):
    %y = arith.mulf %x3, %x4 : f64
    posenc.yield %y : f64
  }
  %w = posenc.add %u, %c)mlir";

struct Spec {
  const char *name;
  std::string clauses;              // of a kernel of 4 heads and 2 key heads
  bool needsKeysForQueries = false; // Lq <= Lk
  bool isLong = false;              // takes long: fewer lengths
};

void PrintTo(const Spec &spec, std::ostream *stream) { *stream << spec.name; }

const Spec specs[] = {
    {"Plain", "value_dim(6)"},
    {"Causal", "mask(#posenc.causal)"},
    {"CausalTopLeft", "mask(#posenc.causal<top_left>) no_lse"},
    {"Window", "mask(#posenc.window<left = 20>) encode [#posenc.alibi<>]"},
    {"WindowTopLeft",
     "mask(#posenc.window<left = 3, right = 9, align = top_left>)"},
    {"Chunk", "mask(#posenc.chunk<size = 30>)"},
    {"WindowAndChunk", "mask(#posenc.all<[#posenc.window<left = 25>, "
                       "#posenc.chunk<size = 40>]>)"},
    {"Rotary", "mask(#posenc.causal) encode [#posenc.rope<base = 100.0>]"},
    {"RotaryTopLeft", "positions(#posenc.iota<offset = 5, align = top_left>) "
                      "encode [#posenc.rope<dims = 4, placement = last>]"},
    {"RotaryPositions",
     "positions(#posenc.position_tensor) encode "
     "[#posenc.rope<pairing = interleaved>]",
     true},
    {"KernelHeadStrip", "mask(#posenc.causal) encode [#posenc.alibi<>]"},
    {"CallHeadStrip", "encode [#posenc.t5_bias<buckets = 8, max_distance = "
                      "20, direction = bidirectional>]"},
    {"TopLeftStrip", "mask(#posenc.causal<top_left>) encode "
                     "[#posenc.toeplitz_bias<max_distance = 9>]"},
    {"TwoStrips", "encode [#posenc.alibi<form = symmetric>, #posenc.t5_bias<>, "
                  "#posenc.rope<>]"},
    {"DenseBias", "encode [#posenc.dense_bias<name = \"bias\">]"},
    {"PositionBias",
     "positions(#posenc.position_tensor<align = top_left>) "
     "encode [#posenc.alibi<form = symmetric>, "
     "#posenc.t5_bias<>]",
     true},
    {"OwnQueries",
     "mask(#posenc.window<left = 6, right = 0, by = position>) "
     "positions(#posenc.position_tensor<queries = \"at\">) encode "
     "[#posenc.rope<base = 100.0>, #posenc.t5_bias<>]"},
    {"CausalSegments",
     "mask(#posenc.all<[#posenc.window<left = 50>, "
     "#posenc.segments]>)",
     true},
    {"PrefixOrWindow", "mask(#posenc.any<[#posenc.window<left = 9, right = 2, "
                       "by = position>, #posenc.prefix]>) positions("
                       "#posenc.iota<offset = 5>) encode [#posenc.alibi<form = "
                       "symmetric>]"},
    {"Dropout", "dropout(0.4)"},
    {"CausalDropout", "mask(#posenc.causal) dropout(0.25) encode "
                      "[#posenc.rope<base = 100.0>, #posenc.alibi<>]"},
    {"ConstantTables", makeTables("#posenc.position_tensor", sideTables), true},
    {"ConstantStrip", makeTables("#posenc.iota<offset = 3>",
                                 "%w = posenc.select %u mask(#posenc.causal)")},
};

/// Sequences of different lengths, with terms of every kind of prepared table.
std::vector<Spec> makeSequenceSpecs() {
  struct Clauses {
    const char *name, *text;
  };
  const Clauses storages[] = {
      {"Lengths", "keys(lengths)"},
      {"Packed", "queries(packed) keys(packed)"},
      {"PackedQueries", "queries(packed)"},
      {"PackedQueriesLengths", "queries(packed) keys(lengths)"},
      {"PackedKeys", "keys(packed)"},
      {"Paged", "keys(paged)"},
      {"PackedQueriesPaged", "queries(packed) keys(paged)"},
  };
  const Clauses kernels[] = {
      {"Causal", "mask(#posenc.causal) encode [#posenc.rope<base = 100.0>, "
                 "#posenc.alibi<>]"},
      {"TopLeft", "mask(#posenc.window<left = 9, right = 3, align = top_left>) "
                  "positions(#posenc.iota<offset = 5, align = top_left>) "
                  "encode [#posenc.rope<>, #posenc.t5_bias<buckets = 8, "
                  "max_distance = 20, direction = bidirectional>]"},
      {"Positions",
       "positions(#posenc.position_tensor) encode [#posenc.rope<>, "
       "#posenc.alibi<form = symmetric>]"},
      {"Gates", "mask(#posenc.causal) encode [#posenc.fox]"},
      {"Length", "encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = "
                 "2.0, original_length = 16>>]"},
  };
  std::vector<Spec> specs;
  size_t turn = 0;
  for (const Clauses &storage : storages)
    for (const Clauses &kernel : kernels) {
      // Every other pair: each storage meets both kinds of positions.
      if (turn++ % 2)
        continue;
      static std::vector<std::unique_ptr<std::string>> names;
      names.push_back(std::make_unique<std::string>(std::string(storage.name) +
                                                    kernel.name));
      std::string name = kernel.name;
      specs.push_back({names.back()->c_str(),
                       std::string(storage.text) + " " + kernel.text,
                       name == "Positions" || name == "Gates",
                       /*isLong=*/true});
    }
  // Rotations of the queries alone.
  specs.push_back({"EncodedPaged",
                   "queries(packed) keys(paged) key_cache(encoded) "
                   "mask(#posenc.causal) encode [#posenc.rope<base = 100.0>, "
                   "#posenc.alibi<>]",
                   false, true});
  specs.push_back(
      {"EncodedTopLeft",
       "keys(lengths) key_cache(encoded) "
       "mask(#posenc.window<left = 9, right = 3, align = top_left>) "
       "positions(#posenc.iota<offset = 5, align = top_left>) "
       "encode [#posenc.rope<>]",
       false, true});
  specs.push_back({"EncodedPositions",
                   "queries(packed) keys(lengths) key_cache(encoded) "
                   "positions(#posenc.position_tensor) encode [#posenc.rope<>]",
                   true, true});
  // Pairs are those of sequences, wherever these lie.
  specs.push_back({"DroppedPaged",
                   "queries(packed) keys(paged) mask(#posenc.causal) "
                   "dropout(0.25) encode [#posenc.rope<base = 100.0>]",
                   false, true});
  specs.push_back({"DroppedPacked", "queries(packed) keys(packed) dropout(0.5)",
                   false, true});
  specs.push_back({"DroppedRing",
                   "keys(ring) mask(#posenc.window<left = 9>) dropout(0.25)",
                   false, true});
  specs.push_back({"DroppedListed",
                   "queries(packed) keys(lengths) mask(#posenc.causal) "
                   "blocks(#posenc.block_list<queries = 5, keys = 7>) "
                   "dropout(0.25)",
                   false, true});
  // Keys that are there from one on, and runs of listed ones.
  specs.push_back({"Ring",
                   "keys(ring) mask(#posenc.window<left = 9>) "
                   "positions(#posenc.iota<offset = 5>) encode "
                   "[#posenc.rope<base = 100.0>, #posenc.alibi<>]",
                   false, true});
  specs.push_back({"EncodedRing",
                   "queries(packed) keys(ring) key_cache(encoded) "
                   "mask(#posenc.chunk<size = 13>) encode [#posenc.rope<>]",
                   false, true});
  specs.push_back({"Listed",
                   "queries(packed) keys(lengths) mask(#posenc.causal) "
                   "blocks(#posenc.block_list<queries = 5, keys = 7>) encode "
                   "[#posenc.rope<>, #posenc.alibi<>]",
                   false, true});
  specs.push_back({"ListedSegments",
                   "keys(lengths) mask(#posenc.segments) "
                   "blocks(#posenc.block_list<queries = 16, keys = 9>)",
                   true, true});
  return specs;
}

class Driver : public ::testing::TestWithParam<Spec> {
protected:
  HostProgram &getProgram() {
    static std::map<std::string, std::unique_ptr<HostProgram>> programs;
    auto &program = programs[GetParam().name];
    if (!program)
      program = std::make_unique<HostProgram>(
          "posenc.kernel @k heads(4) kv_heads(2) head_dim(8) " +
              GetParam().clauses,
          std::vector<std::string>{"x86-64-avx512", "x86-64"});
    return *program;
  }

  void expect(Shape shape, const CallOptions &options = {}) {
    if (GetParam().needsKeysForQueries)
      shape.keyLen = std::max(shape.keyLen, shape.queryLen);
    EXPECT_EQ(check(getProgram(), shape, options), "")
        << "B " << shape.batch << ", H " << shape.heads << ", Lq "
        << shape.queryLen << ", Lk " << shape.keyLen;
  }

  void SetUp() override { unsetenv("POSENC_ISA"); }
  void TearDown() override { unsetenv("POSENC_ISA"); }
};

TEST_P(Driver, AllLengths) {
  for (const char *isa : {"x86-64", ""}) {
    setenv("POSENC_ISA", isa, 1);
    for (int64_t queryLen : {0, 1, 5, 48, 49, 100, 160})
      for (int64_t keyLen : {0, 1, 5, 48, 49, 100})
        if (!GetParam().isLong || (queryLen != 5 && keyLen != 48))
          expect({1, 0, queryLen, keyLen});
  }
}

// Few rows against many keys: parts of the keys are merged.
TEST_P(Driver, LongKeys) {
  for (const char *isa : {"x86-64", ""}) {
    setenv("POSENC_ISA", isa, 1);
    expect({1, 0, 1, 2047});
    expect({1, 0, 1, 2048});
    expect({2, 0, 3, 5000});
  }
  expect({4, 0, 2, 4500}); // sequences of all lengths, if they differ
  CallOptions options;
  options.threads = 3;
  options.usesPrepared = true;
  expect({1, 0, 1, 5000}, options);
  options.bringsScratch = true;
  expect({1, 0, 2, 3001}, options);
}

TEST_P(Driver, Batches) {
  expect({3, 0, 50, 40});
  expect({6, 0, 7, 100});
  expect({0, 0, 50, 40});
}

TEST_P(Driver, Threads) {
  CallOptions options;
  options.threads = 2;
  expect({2, 0, 100, 90}, options);
  options.threads = 7;
  expect({2, 0, 100, 600}, options);
}

TEST_P(Driver, Strides) {
  CallOptions options;
  options.isStrided = true;
  expect({2, 0, 49, 37}, options);
}

TEST_P(Driver, WithoutLogSumExp) {
  CallOptions options;
  options.wantsLse = false;
  expect({2, 0, 49, 37}, options);
}

TEST_P(Driver, Shard) {
  CallOptions options;
  options.firstHead = 2;
  expect({2, 2, 49, 37}, options);
  options.sharesHeads = true;
  expect({2, 2, 49, 37}, options);
}

TEST_P(Driver, PreparedBuffer) {
  CallOptions options;
  options.usesPrepared = true;
  expect({2, 0, 49, 37}, options);
  expect({1, 0, 3, 70}, options);
  options.firstHead = 2;
  options.threads = 3;
  expect({2, 2, 49, 37}, options);
}

TEST_P(Driver, CallersScratch) {
  CallOptions options;
  options.bringsScratch = true;
  options.threads = 2;
  expect({2, 0, 49, 37}, options);
  options.usesPrepared = true;
  expect({2, 0, 49, 37}, options);
}

// Offsets beyond 2^31 elements: keys come in runs, rows in pieces.
TEST_P(Driver, LongStrides) {
  CallOptions options;
  options.keyStride = (int64_t(1) << 27) - 5; // 17 keys
  std::string error = check(getProgram(), {1, 2, 3, 53}, options);
  if (error == "not enough address space")
    GTEST_SKIP() << error;
  if (GetParam().clauses.find("keys(paged)") != std::string::npos) {
    EXPECT_NE(error.find("k has pages"), std::string::npos) << error;
    EXPECT_NE(error.find("pages that span"), std::string::npos) << error;
    return;
  }
  if (GetParam().clauses.find("keys(ring)") != std::string::npos) {
    EXPECT_NE(error.find("k has slots that span"), std::string::npos) << error;
    return;
  }
  EXPECT_EQ(error, "");
  options.keyStride = int64_t(1) << 29; // 4 keys, less than a block
  EXPECT_EQ(check(getProgram(), {1, 2, 3, 13}, options), "");
  options.keyStride = 0;
  options.queryStride = int64_t(1) << 28;
  EXPECT_EQ(check(getProgram(), {1, 2, 13, 20}, options), "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Driver, ::testing::ValuesIn(specs),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Sequences, Driver,
                         ::testing::ValuesIn(makeSequenceSpecs()),
                         [](const auto &info) { return info.param.name; });

// Blocks are of 16 keys, and rows see 11 keys.
TEST(DriverWork, HiddenBlocksAreSkipped) {
  HostProgram program("posenc.kernel @k heads(1) head_dim(8) mask("
                      "#posenc.window<left = 10, right = 0, by = position>)",
                      {"x86-64"});
  FakeTile::pairs = 0;
  EXPECT_EQ(check(program, {1, 1, 480, 600}), "");
  EXPECT_GE(FakeTile::pairs, 480 * 11);
  EXPECT_LE(FakeTile::pairs, 480 * (48 + 10 + 2 * 16));
}

// Tiles of several heads turn keys as they read them; others keep those of the
// call.
TEST(DriverWork, FewQueriesKeepNoKeys) {
  HostProgram program("posenc.kernel @k heads(4) kv_heads(2) head_dim(8) "
                      "encode [#posenc.rope<base = 100.0>]",
                      {"x86-64"});
  constexpr size_t kept = size_t(2) * 8192 * 8 * sizeof(float);
  EXPECT_LT(getScratchBytes(program, {1, 0, 1, 8192}), kept);
  EXPECT_LT(getScratchBytes(program, {1, 0, 16, 8192}), kept);
  EXPECT_GE(getScratchBytes(program, {1, 0, 17, 8192}), kept);
}

// Heads so far apart that offsets from one to the next would leave no room for
// keys have tiles of their own.
TEST(DriverWork, HeadsFarApart) {
  HostProgram program("posenc.kernel @k heads(4) kv_heads(2) head_dim(8) "
                      "encode [#posenc.rope<base = 100.0>]",
                      {"x86-64"});
  constexpr size_t kept = size_t(2) * 300 * 8 * sizeof(float);
  Shape shape = {1, 0, 3, 300};
  CallOptions options;
  options.bringsScratch = true;
  for (auto [stride, fits] :
       {std::pair(int64_t(1) << 28, true), {int64_t(1) << 29, false}}) {
    options.headStride = stride;
    std::string error = check(program, shape, options);
    if (error == "not enough address space")
      GTEST_SKIP() << error;
    EXPECT_EQ(error, "") << stride;
    EXPECT_EQ(getScratchBytes(program, shape, options) < kept, fits) << stride;
  }
}

TEST(DriverErrors, SizesOfWrongArgumentsAre0) {
  HostProgram program("posenc.kernel @k heads(1) head_dim(8)", {"x86-64"});
  EXPECT_EQ(program.preparedBytes(nullptr), 0u);
  EXPECT_EQ(program.scratchBytes(nullptr, nullptr), 0u);
  EXPECT_EQ(program.prepare(nullptr, nullptr, 0), POSENC_INVALID_ARGUMENT);
  EXPECT_EQ(program.run(nullptr, nullptr), POSENC_INVALID_ARGUMENT);
}

/// Rows of one new token of one head in a cache of two keys.
TEST(DriverAppend, WritesTransformedKeys) {
  for (const char *policy : {"raw", "encoded"}) {
    HostProgram program(
        std::string("posenc.kernel @k heads(1) head_dim(2) keys(lengths) "
                    "key_cache(") +
            policy +
            ") {\n"
            "^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n"
            "%two = posenc.row_scale %k() : !posenc.key {\n"
            "^bb0:\n"
            "  %c = arith.constant 2.0 : f64\n"
            "  posenc.yield %c : f64\n"
            "}\n"
            "%s = posenc.dot %q, %two scale(1.0)\n"
            "%p = posenc.normalize softmax %s\n"
            "%o = posenc.weighted_sum %p, %v\n"
            "posenc.yield %o : !posenc.output\n"
            "}",
        {"x86-64-avx512", "x86-64"});
    float k[] = {3, 4}, v[] = {5, 6}, keys[] = {7, 7, 7, 7},
          values[] = {8, 8, 8, 8};
    int32_t lengths[] = {2};
    int64_t shape[] = {1, 1, 1, 2}, cacheShape[] = {1, 1, 2, 2}, batch[] = {1};
    auto view = [](void *data, int64_t *shape, int rank, uint8_t code) {
      DLTensor tensor = {};
      tensor.data = data;
      tensor.device = {kDLCPU, 0};
      tensor.ndim = rank;
      tensor.dtype = {code, 32, 1};
      tensor.shape = shape;
      return tensor;
    };
    DLTensor tensors[] = {
        view(k, shape, 4, kDLFloat), view(v, shape, 4, kDLFloat),
        view(keys, cacheShape, 4, kDLFloat),
        view(values, cacheShape, 4, kDLFloat), view(lengths, batch, 1, kDLInt)};
    uintptr_t args[6] = {sizeof(args)};
    for (int i = 0; i < 5; ++i)
      args[i + 1] = reinterpret_cast<uintptr_t>(&tensors[i]);
    ASSERT_EQ(program.append(args, nullptr), POSENC_OK) << posenc_last_error();
    float factor = policy[0] == 'e' ? 2 : 1;
    EXPECT_EQ(keys[2], factor * 3);
    EXPECT_EQ(keys[3], factor * 4);
    EXPECT_EQ(values[2], 5);
    EXPECT_EQ(values[3], 6);
    for (int i : {0, 1}) {
      EXPECT_EQ(keys[i], 7);
      EXPECT_EQ(values[i], 8);
    }
    // No new token: nothing to do. Wrong arguments: no size.
    EXPECT_EQ(program.appendScratchBytes(args, nullptr) > 0, policy[0] == 'e');
    lengths[0] = 0;
    EXPECT_EQ(program.append(args, nullptr), POSENC_OUT_OF_RANGE);
    shape[2] = 0;
    EXPECT_EQ(program.append(args, nullptr), POSENC_OK);
    EXPECT_EQ(program.append(nullptr, nullptr), POSENC_INVALID_ARGUMENT);
    EXPECT_EQ(program.appendScratchBytes(nullptr, nullptr), 0u);
  }
}

} // namespace
