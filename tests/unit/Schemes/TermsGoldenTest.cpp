// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of golden.json that belong to biases, content terms, scores and
// normalisers.
#include "TermsFixture.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace posenc;
using namespace llvm;

namespace {

/// tab(rows, columns, seed) of the golden file under another shape; axes
/// swapped if `isTransposed`.
struct Table {
  const char *name;
  std::vector<int64_t> shape;
  int rows, columns, seed;
  bool isTransposed = false;

  RealTensor build() const {
    RealTensor tensor;
    tensor.shape.assign(shape.begin(), shape.end());
    auto at = [&](int r, int c) {
      return ((seed * (r * columns + c + 1)) % 13 - 6) / 8.0;
    };
    int outer = isTransposed ? columns : rows;
    int inner = isTransposed ? rows : columns;
    for (int a = 0; a < outer; ++a)
      for (int b = 0; b < inner; ++b)
        tensor.data.push_back(isTransposed ? at(b, a) : at(a, b));
    return tensor;
  }
};

struct Row {
  const char *name;
  std::string clauses; // after the mask
  std::vector<Table> tables = {};
  /// Tables of given numbers.
  std::vector<std::pair<const char *, RealTensor>> numbers = {};
};

RealTensor numbers(std::vector<int64_t> shape, std::vector<double> data) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data = std::move(data);
  return tensor;
}

RealTensor identity() {
  RealTensor tensor = numbers({4, 1, 4}, std::vector<double>(16));
  for (int i = 0; i < 4; ++i)
    tensor.data[5 * i] = 1;
  return tensor;
}

std::vector<Row> makeRows() {
  std::vector<Table> xl{{"x.u", {2, 4}, 2, 4, 3}, {"x.v", {2, 4}, 2, 4, 5}};
  std::vector<Table> deberta{{"deberta.keys", {6, 1, 4}, 6, 4, 3},
                             {"deberta.queries", {6, 1, 4}, 6, 4, 7}};
  std::vector<Table> tupe{{"tupe.queries", {5, 1, 4}, 5, 4, 3},
                          {"tupe.keys", {5, 1, 4}, 5, 4, 7}};
  std::vector<std::pair<const char *, RealTensor>> theta{
      {"tupe.theta1", numbers({1}, {0.375})},
      {"tupe.theta2", numbers({1}, {-0.25})}};
  std::vector<Table> tupeR = tupe;
  tupeR.push_back({"tupe.table", {33, 2}, 33, 2, 5});
  return {
      {"alibi_causal", "#posenc.alibi"},
      {"alibi_sym", "#posenc.alibi<form = symmetric>"},
      {"alibi_falcon_scaled", "#posenc.alibi<site = inside>"},
      {"kerple_log",
       "#posenc.kerple",
       {},
       {{"kerple.p", numbers({2}, {1.5, 0.5})},
        {"kerple.a", numbers({2}, {0.25, 1})}}},
      {"kerple_power",
       "#posenc.kerple<kind = power>",
       {},
       {{"kerple.p", numbers({2}, {1.5, 0.5})},
        {"kerple.a", numbers({2}, {0.25, 1})}}},
      {"fire",
       "#posenc.fire<hidden = 4, length = 2.0>",
       {{"fire.w1", {4}, 1, 4, 3},
        {"fire.b1", {4}, 1, 4, 5},
        {"fire.w2", {4, 2}, 2, 4, 7, true},
        {"fire.b2", {2}, 1, 2, 9}}},
      {"sandwich", "#posenc.sandwich"},
      {"shaw_full",
       "#posenc.shaw<max_distance = 2>",
       {{"shaw.keys", {5, 4}, 5, 4, 3}, {"shaw.values", {5, 4}, 5, 4, 7}}},
      {"transformer_xl",
       "#posenc.transformer_xl<model_dim = 4, name = \"x\">",
       xl,
       {{"x.w", identity()}}},
      {"xlnet_bi",
       "#posenc.xlnet<model_dim = 4, name = \"x\">",
       xl,
       {{"x.w", identity()}}},
      {"tener_code", "#posenc.tener<name = \"x\">", xl},
      {"tener_paper", "#posenc.tener<law = paper, name = \"x\">", xl},
      {"deberta_v1", "#posenc.deberta<max_distance = 3>", deberta},
      {"deberta_paper_p2c",
       "#posenc.deberta<max_distance = 3, p2c_index = paper>", deberta},
      {"tupe_a", "#posenc.tupe<length = 5>", tupe, theta},
      {"tupe_r", "#posenc.tupe<length = 5, variant = relative>", tupeR, theta},
      {"beit_cls_2x2",
       "#posenc.beit_bias<height = 2, width = 2>",
       {{"beit_bias.table", {12, 2}, 12, 2, 5}}},
      {"softcap2_causal", "#posenc.softcap<cap = 2.0>"},
      {"sink", "#posenc.attention_sink<values = [0.5, -1.0]>"},
      {"cope",
       "#posenc.cope<positions = 4>",
       {{"cope.embedding", {4, 4}, 4, 4, 5, true}}},
      {"fox",
       "#posenc.fox",
       {},
       {{"fox.gates", numbers({1, 2, 5}, {-0.5, 0.25, 1, 2, 0.75, 3, -0.25, 0.5,
                                          1.5, 0})}}},
      {"retnet_parallel_before_groupnorm", "#posenc.retention"},
      {"dape_alibi",
       "#posenc.alibi, #posenc.dape<hidden = 3>",
       {{"dape.w1", {4, 3}, 4, 3, 3},
        {"dape.b1", {3}, 1, 3, 5},
        {"dape.w2", {3, 2}, 3, 2, 7},
        {"dape.b2", {2}, 1, 2, 9}}},
  };
}

/// [h][n][c] to h n c; null is a masked pair.
std::vector<double> readArray(const json::Array &heads) {
  std::vector<double> result;
  for (const json::Value &head : heads)
    for (const json::Value &row : *head.getAsArray())
      for (const json::Value &value : *row.getAsArray())
        result.push_back(value.getAsNumber().value_or(masked));
  return result;
}

class TermsGoldenTest : public TermsTest {
protected:
  void SetUp() override {
    auto buffer = MemoryBuffer::getFile(POSENC_GOLDEN);
    ASSERT_TRUE(static_cast<bool>(buffer));
    file = cantFail(json::parse((*buffer)->getBuffer()));
  }
  const json::Object &getRow(const char *name) const {
    return *file.getAsObject()->getObject(name);
  }
  void prepare(const std::string &text) {
    make(text, {1, 2, 2, 5, 5, 4, 4});
    const json::Object &given = getRow("_inputs");
    inputs.q.data = readArray(*given.getArray("Q"));
    inputs.k.data = readArray(*given.getArray("K"));
    inputs.v.data = readArray(*given.getArray("V"));
  }
  static void expectClose(const std::vector<double> &numbers,
                          const std::vector<double> &wanted) {
    ASSERT_EQ(numbers.size(), wanted.size());
    for (size_t n = 0; n < numbers.size(); ++n)
      if (numbers[n] != wanted[n]) {
        EXPECT_NEAR(numbers[n], wanted[n], 1e-12) << "number " << n;
      }
  }

  json::Value file = nullptr;
};

TEST_F(TermsGoldenTest, Rows) {
  for (const Row &row : makeRows()) {
    SCOPED_TRACE(row.name);
    const json::Object &wanted = getRow(row.name);
    const json::Array *logits = wanted.getArray("logits");
    bool isFull = logits && llvm::none_of(readArray(*logits), [](double x) {
                    return x == masked;
                  });
    prepare((isFull ? "" : "mask(#posenc.causal) ") +
            ("encode [" + row.clauses + "]"));
    for (const Table &table : row.tables)
      inputs.tables[table.name] = table.build();
    for (const auto &[name, tensor] : row.numbers)
      inputs.tables[name] = tensor;
    evaluate();
    if (logits)
      expectClose(got.scores.data, readArray(*logits));
    expectClose(got.o.data, readArray(*wanted.getArray("out")));
  }
}

/// Published as weights, the rest and the output without it.
TEST_F(TermsGoldenTest, StickBreaking) {
  const json::Object &wanted = getRow("stick_breaking");
  prepare("mask(#posenc.causal) encode [#posenc.stick_breaking]");
  evaluate();
  std::vector<double> weights, rest;
  for (double score : got.scores.data)
    weights.push_back(std::exp(score));
  expectClose(weights, readArray(*wanted.getArray("weights")));
  std::vector<double> output =
      readArray(*wanted.getArray("out_without_remainder"));
  expectClose(got.o.data, output);
  for (const json::Value &head : *wanted.getArray("remainder"))
    for (const json::Value &value : *head.getAsArray())
      rest.push_back(*value.getAsNumber());
  prepare(
      "mask(#posenc.causal) encode [#posenc.stick_breaking<remainder = value>]");
  evaluate();
  for (size_t n = 0; n < output.size(); ++n)
    output[n] += rest[n / 4] * inputs.v.data[n];
  expectClose(got.o.data, output);
}

} // namespace
