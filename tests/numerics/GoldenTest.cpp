// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference and kernels against the numbers of golden.json, which come from
// implementations of each scheme's publication.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <limits>
#include <set>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {

/// A table of the golden file's generator.
struct GoldenTable {
  const char *name;
  RealTensor numbers;
};

struct GoldenRow {
  const char *name;
  std::string clauses; // after `heads(2) head_dim(4)`
  std::vector<GoldenTable> tables = {};
};

} // namespace

static RealTensor makeTensor(ArrayRef<int64_t> shape, ArrayRef<double> data) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data = data.vec();
  return tensor;
}

/// tab(rows, columns, seed) of the golden file under the shape of an operand.
static GoldenTable table(const char *name, ArrayRef<int64_t> shape,
                         int64_t rows, int64_t columns, int64_t seed) {
  std::vector<double> data;
  for (int64_t i = 1; i <= rows * columns; ++i)
    data.push_back(((seed * i) % 13 - 6) / 8.0);
  return {name, makeTensor(shape, data)};
}

/// The same with its axes swapped.
static GoldenTable transposed(const char *name, int64_t rows, int64_t columns,
                              int64_t seed) {
  GoldenTable from = table(name, {columns, rows}, rows, columns, seed);
  std::vector<double> data;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      data.push_back(from.numbers.data[r * columns + c]);
  from.numbers.data = data;
  return from;
}

static std::vector<GoldenRow> makeRows() {
  auto encode = [](const std::string &list) {
    return "encode [#posenc." + list + "]";
  };
  auto causal = [&](const std::string &list) {
    return "mask(#posenc.causal) " + encode(list);
  };
  auto scaled = [&](const std::string &base, const std::string &law) {
    return causal("rope<" + base + "scaling = #posenc." + law + ">");
  };
  std::vector<GoldenTable> kerple{{"kerple.p", makeTensor({2}, {1.5, 0.5})},
                                  {"kerple.a", makeTensor({2}, {0.25, 1})}};
  std::vector<GoldenTable> offsets{table("x.u", {2, 4}, 2, 4, 3),
                                   table("x.v", {2, 4}, 2, 4, 5)};
  std::vector<GoldenTable> projected = offsets;
  projected.push_back({"x.w", makeTensor({4, 1, 4}, {1, 0, 0, 0, 0, 1, 0, 0, //
                                                     0, 0, 1, 0, 0, 0, 0, 1})});
  std::vector<GoldenTable> deberta{
      table("deberta.keys", {6, 1, 4}, 6, 4, 3),
      table("deberta.queries", {6, 1, 4}, 6, 4, 7)};
  std::vector<GoldenTable> tupe{table("tupe.queries", {5, 1, 4}, 5, 4, 3),
                                table("tupe.keys", {5, 1, 4}, 5, 4, 7),
                                {"tupe.theta1", makeTensor({1}, {0.375})},
                                {"tupe.theta2", makeTensor({1}, {-0.25})}};
  std::vector<GoldenTable> tupeR = tupe;
  tupeR.push_back(table("tupe.table", {33, 2}, 33, 2, 5));
  return {
      // Without positions, masks
      {"nope_causal", causal("nope")},
      {"nope_full", ""},
      {"swa2", "mask(#posenc.window<left = 1>)"},
      {"chunk2", "mask(#posenc.chunk<size = 2>)"},
      // Rotations
      {"rope_half", causal("rope")},
      {"rope_interleaved", causal("rope<pairing = interleaved>")},
      {"rope_partial2_half", causal("rope<dims = 2>")},
      {"rope_abf500k_half", causal("rope<base = 5.0e5>")},
      {"rope_proportional_half", scaled("", "proportional<fraction = 0.5>")},
      {"rope_pi2_half", scaled("", "linear_scaling<factor = 2.0>")},
      {"rope_ntk2_half", scaled("", "ntk<alpha = 2.0>")},
      {"rope_yarn_half", scaled("", "yarn<factor = 2.0, original_length = 8>")},
      {"rope_llama3_half",
       scaled("base = 100.0, ", "llama3<original_length = 100>")},
      {"rope_longrope_half",
       scaled("", "longrope<long_factor = [1.5, 3.0], factor = 4.0, "
                  "original_length = 8, select = long>")},
      {"xpos_interleaved", causal("xpos<scale_base = 4.0>")},
      {"mrope_sections_1_1_0", "positions(#posenc.position_tensor<axes = 3>) " +
                                   causal("mrope<sections = [1, 1, 0]>")},
      {"rerope_w2", causal("rerope<window = 2>")},
      {"leaky_rerope_w2_k2", causal("leaky_rerope<window = 2, leak = 2.0>")},
      {"selfextend_g2_w2", causal("self_extend<group = 2, window = 2>")},
      // Norms and temperatures
      {"keynorm", causal("key_norm")},
      {"qknorm_l2_g10",
       "scale(10.0) " + causal("qk_norm<kind = l2, epsilon = 0.0>")},
      {"llama4_temp", causal("query_temperature<floor_scale = 2.0>")},
      {"logn", causal("log_n<length = 3>")},
      // Biases
      {"alibi_causal", causal("alibi")},
      {"alibi_sym", encode("alibi<form = symmetric>")},
      {"alibi_falcon_scaled", causal("alibi<site = inside>")},
      {"t5_bidir",
       "scale(1.0) " + encode("t5_bias<buckets = 8, max_distance = 16, "
                              "direction = bidirectional>"),
       {table("t5_bias.table", {8, 2}, 8, 2, 5)}},
      {"t5_causal",
       "scale(1.0) " + causal("t5_bias<buckets = 8, max_distance = 16>"),
       {table("t5_bias.table", {8, 2}, 8, 2, 5)}},
      {"kerple_log", causal("kerple"), kerple},
      {"kerple_power", causal("kerple<kind = power>"), kerple},
      {"fire",
       causal("fire<hidden = 4, length = 2.0>"),
       {table("fire.w1", {4}, 1, 4, 3), table("fire.b1", {4}, 1, 4, 5),
        transposed("fire.w2", 2, 4, 7), table("fire.b2", {2}, 1, 2, 9)}},
      {"sandwich", causal("sandwich")},
      {"tupe_a", encode("tupe<length = 5>"), tupe},
      {"tupe_r", encode("tupe<length = 5, variant = relative>"), tupeR},
      {"beit_cls_2x2",
       encode("beit_bias<height = 2, width = 2>"),
       {table("beit_bias.table", {12, 2}, 12, 2, 5)}},
      {"dape_alibi",
       causal("alibi, #posenc.dape<hidden = 3>"),
       {table("dape.w1", {4, 3}, 4, 3, 3), table("dape.b1", {3}, 1, 3, 5),
        table("dape.w2", {3, 2}, 3, 2, 7), table("dape.b2", {2}, 1, 2, 9)}},
      // Terms of content and distance
      {"shaw_full",
       encode("shaw<max_distance = 2>"),
       {table("shaw.keys", {5, 4}, 5, 4, 3),
        table("shaw.values", {5, 4}, 5, 4, 7)}},
      {"transformer_xl", causal("transformer_xl<model_dim = 4, name = \"x\">"),
       projected},
      {"xlnet_bi", encode("xlnet<model_dim = 4, name = \"x\">"), projected},
      {"tener_code", encode("tener<name = \"x\">"), offsets},
      {"tener_paper", encode("tener<law = paper, name = \"x\">"), offsets},
      {"deberta_v1", encode("deberta<max_distance = 3>"), deberta},
      {"deberta_paper_p2c",
       encode("deberta<max_distance = 3, p2c_index = paper>"), deberta},
      // Scores and weights
      {"softcap2_causal", causal("softcap<cap = 2.0>")},
      {"sink", causal("attention_sink<values = [0.5, -1.0]>")},
      {"cope",
       causal("cope<positions = 4>"),
       {transposed("cope.embedding", 4, 4, 5)}},
      {"fox",
       causal("fox"),
       {{"fox.gates", makeTensor({1, 2, 5}, {-0.5, 0.25, 1, 2, 0.75, //
                                             3, -0.25, 0.5, 1.5, 0})}}},
      {"retnet_parallel_before_groupnorm", causal("retention")},
      {"stick_breaking", causal("stick_breaking")},
      {"stick_breaking", causal("stick_breaking<remainder = value>")},
  };
}

/// [h][n][c] or [h][n] to [1, h, n, c] or [1, h, n]; null is a masked pair.
static RealTensor readArray(const json::Array &heads) {
  RealTensor tensor;
  int64_t rows = heads[0].getAsArray()->size();
  tensor.shape = {1, static_cast<int64_t>(heads.size()), rows};
  auto push = [&](const json::Value &value) {
    tensor.data.push_back(
        value.getAsNumber().value_or(-std::numeric_limits<double>::infinity()));
  };
  for (const json::Value &head : heads)
    for (const json::Value &row : *head.getAsArray()) {
      const json::Array *values = row.getAsArray();
      if (!values) {
        push(row);
        continue;
      }
      tensor.shape.resize(4);
      tensor.shape[3] = values->size();
      for (const json::Value &value : *values)
        push(value);
    }
  return tensor;
}

static ReferenceInputs makeInputs(const GoldenRow &row,
                                  const json::Object &golden) {
  const json::Object &given = *golden.getObject("_inputs");
  ReferenceInputs inputs;
  inputs.q = readArray(*given.getArray("Q"));
  inputs.k = readArray(*given.getArray("K"));
  inputs.v = readArray(*given.getArray("V"));
  for (const GoldenTable &table : row.tables)
    inputs.tables[table.name] = table.numbers;
  if (const json::Array *tokens =
          golden.getObject(row.name)->getArray("pos_thw")) {
    IntTensor &positions = inputs.positions["positions"];
    positions.shape = {3, 1, static_cast<int64_t>(tokens->size())};
    for (int axis = 0; axis < 3; ++axis)
      for (const json::Value &token : *tokens)
        positions.data.push_back(*(*token.getAsArray())[axis].getAsInteger());
  }
  return inputs;
}

/// What is published of a row's output.
static RealTensor readOutput(const GoldenRow &row,
                             const json::Object &published,
                             const RealTensor &values) {
  if (const json::Array *output = published.getArray("out"))
    return readArray(*output);
  // Stick breaking is published without its remainder and with that apart.
  RealTensor output = readArray(*published.getArray("out_without_remainder"));
  RealTensor rest = readArray(*published.getArray("remainder"));
  if (StringRef(row.clauses).contains("remainder = value"))
    for (size_t x = 0; x < output.data.size(); ++x)
      output.data[x] += rest.data[x / output.shape.back()] * values.data[x];
  return output;
}

static std::string checkReference(const json::Object &published,
                                  ReferenceOutputs got,
                                  const RealTensor &output) {
  std::string problem;
  if (const json::Array *scores = published.getArray("logits"))
    problem = compare("logits", got.scores, readArray(*scores), 1e-12);
  if (const json::Array *weights = published.getArray("weights")) {
    for (double &score : got.scores.data)
      score = std::exp(score);
    problem = compare("weights", got.scores, readArray(*weights), 1e-12);
  }
  return problem.empty() ? compare("output", got.o, output, 1e-12) : problem;
}

/// The published output takes the reference's place.
static std::string checkKernel(const LoadedKernel &kernel,
                               const ReferenceInputs &inputs,
                               ReferenceOutputs reference,
                               const RealTensor &output) {
  NativeCall call;
  call.wantLse = false;
  NativeResults results;
  std::string problem = callNative(kernel, inputs, call, results);
  if (!problem.empty())
    return problem;
  reference.o = output;
  Accuracy accuracy = measureOutput(reference, results.o);
  return accuracy.isAccurate() ? "" : accuracy.describe("o");
}

/// Every row of the file has a kernel here, and the other way round.
static std::string checkNames(const json::Object &golden,
                              ArrayRef<GoldenRow> rows) {
  std::set<std::string> published, known;
  for (const auto &entry : golden)
    if (StringRef name = entry.first; !name.starts_with("_"))
      published.insert(name.str());
  for (const GoldenRow &row : rows)
    known.insert(row.name);
  for (const std::string &name : published)
    if (!known.count(name))
      return "no kernel computes " + name;
  for (const std::string &name : known)
    if (!published.count(name))
      return name + " is not in the file";
  return "";
}

void posenc::numerics::testGolden(TestRun &run, ArrayRef<std::string> isas) {
  auto buffer = MemoryBuffer::getFile(POSENC_NUMERICS_GOLDEN);
  if (!buffer)
    report_fatal_error("cannot read " POSENC_NUMERICS_GOLDEN);
  json::Value file = cantFail(json::parse((*buffer)->getBuffer()));
  const json::Object &golden = *file.getAsObject();
  std::vector<GoldenRow> rows = makeRows();
  run.test("golden/names", [&] { return checkNames(golden, rows); });
  for (auto [index, row] : enumerate(rows)) {
    const json::Object *published = golden.getObject(row.name);
    if (!published)
      continue; // said above
    std::string text =
        "posenc.kernel @golden heads(2) head_dim(4) " + row.clauses;
    ReferenceInputs inputs = ::makeInputs(row, golden);
    RealTensor output = readOutput(row, *published, inputs.v);
    run.test("golden/reference/" + Twine(row.name), [&] {
      return checkReference(*published,
                            evaluate(Spec(text).getKernel(), inputs), output);
    });
    const std::string &isa = isas[index % isas.size()];
    runGuarded(run, ("golden/native/" + Twine(row.name) + "/" + isa).str(),
               [&]() -> std::string {
                 LoadedKernel kernel;
                 std::string problem = kernel.load(text, isa);
                 if (!problem.empty())
                   return problem;
                 return checkKernel(kernel, inputs,
                                    evaluate(kernel.spec->getKernel(), inputs),
                                    output);
               });
  }
}
