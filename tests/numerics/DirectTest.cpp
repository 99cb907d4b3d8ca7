// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference against a formula of each scheme, written without the
// compiler's primitives: an error of an expansion would show here.
#include "Fixture.h"
#include "TestRun.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The inputs of one call by index, and where query rows stand.
struct Call {
  const ReferenceInputs &in;
  Extents e;
  bool topLeft = false;

  double q(int64_t b, int64_t h, int64_t i, int64_t c) const {
    return in.q.data[((b * e.heads + h) * e.queryLen + i) * e.headDim + c];
  }
  double k(int64_t b, int64_t h, int64_t j, int64_t c) const {
    int64_t group = e.heads / e.kvHeads;
    return in.k
        .data[((b * e.kvHeads + h / group) * e.keyLen + j) * e.headDim + c];
  }
  double v(int64_t b, int64_t h, int64_t j, int64_t c) const {
    int64_t group = e.heads / e.kvHeads;
    return in.v
        .data[((b * e.kvHeads + h / group) * e.keyLen + j) * e.valueDim + c];
  }
  double table(StringRef name, size_t index) const {
    return in.tables.find(name)->second.data[index];
  }
  double dot(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t c = 0; c < e.headDim; ++c)
      sum += q(b, h, i, c) * k(b, h, j, c);
    return sum;
  }
  double scaledDot(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return dot(b, h, i, j) / std::sqrt(double(e.headDim));
  }
  /// The storage index of the key that query row i stands at.
  int64_t place(int64_t i) const {
    return topLeft ? i : i + e.keyLen - e.queryLen;
  }
  int64_t distance(int64_t i, int64_t j) const { return place(i) - j; }
};

/// S_ij of a head, before the mask.
using Formula =
    std::function<double(const Call &, int64_t, int64_t, int64_t, int64_t)>;

struct DirectCase {
  const char *name;
  const char *clauses;
  Formula score;
  double tolerance = 1e-11;
};

//===----------------------------------------------------------------------===//
// The schemes
//===----------------------------------------------------------------------===//

/// RoPE as a complex inner product: Re(q conj(k) e^(i (p_i - p_j) w)).
struct RotaryFormula {
  double base = 1e4;
  bool interleaved = false;
  int64_t first = 0, dims = 0; // 0: all
  bool fromTensor = false;

  double operator()(const Call &call, int64_t b, int64_t h, int64_t i,
                    int64_t j) const {
    using Complex = std::complex<double>;
    int64_t n = dims ? dims : call.e.headDim;
    double delta = call.distance(i, j);
    if (fromTensor) {
      const int64_t *p =
          &call.in.positions.find("positions")->second.data[b * call.e.keyLen];
      delta = p[call.place(i)] - p[j];
    }
    double sum = 0;
    for (int64_t c = 0; c < call.e.headDim; ++c)
      if (c < first || c >= first + n)
        sum += call.q(b, h, i, c) * call.k(b, h, j, c);
    for (int64_t p = 0; p < n / 2; ++p) {
      int64_t x = first + (interleaved ? 2 * p : p);
      int64_t y = first + (interleaved ? 2 * p + 1 : p + n / 2);
      Complex query(call.q(b, h, i, x), call.q(b, h, i, y));
      Complex key(call.k(b, h, j, x), call.k(b, h, j, y));
      double angle = delta * std::exp(-2.0 * p / n * std::log(base));
      sum += (query * std::conj(key) * std::polar(1.0, angle)).real();
    }
    return sum / std::sqrt(double(call.e.headDim));
  }
};

/// get_slopes of the authors' code, recursive as there.
std::vector<double> getSlopes(int64_t heads, double maxExponent) {
  double exponent = std::log2(double(heads));
  if (exponent == std::floor(exponent)) {
    std::vector<double> slopes;
    double start = std::pow(2, -maxExponent / heads);
    for (int64_t h = 0; h < heads; ++h)
      slopes.push_back(start * std::pow(start, double(h)));
    return slopes;
  }
  int64_t closest = int64_t(1) << int64_t(std::floor(exponent));
  std::vector<double> slopes = getSlopes(closest, maxExponent);
  std::vector<double> finer = getSlopes(2 * closest, maxExponent);
  for (size_t x = 0; slopes.size() < size_t(heads); x += 2)
    slopes.push_back(finer[x]);
  return slopes;
}

struct LinearBiasFormula {
  bool symmetric = false;
  double maxExponent = 8;

  double operator()(const Call &call, int64_t b, int64_t h, int64_t i,
                    int64_t j) const {
    double delta = call.distance(i, j);
    return call.scaledDot(b, h, i, j) -
           getSlopes(call.e.heads, maxExponent)[h] *
               (symmetric ? std::abs(delta) : delta);
  }
};

/// _relative_position_bucket of Hugging Face's T5.
int64_t getBucket(int64_t relative, bool bidirectional, int64_t buckets,
                  int64_t maxDistance) {
  int64_t bucket = 0;
  if (bidirectional) {
    buckets /= 2;
    bucket = relative > 0 ? buckets : 0;
    relative = std::abs(relative);
  } else {
    relative = -std::min<int64_t>(relative, 0);
  }
  int64_t exact = buckets / 2;
  if (relative < exact)
    return bucket + relative;
  // Exact powers sit on a border: the nudge is below any other distance to it.
  double large = exact + std::trunc(std::log(double(relative) / exact) /
                                        std::log(double(maxDistance) / exact) *
                                        (buckets - exact) +
                                    1e-9);
  return bucket + std::min(int64_t(large), buckets - 1);
}

struct BucketFormula {
  bool bidirectional = false;
  int64_t buckets = 32, maxDistance = 128;

  double operator()(const Call &call, int64_t b, int64_t h, int64_t i,
                    int64_t j) const {
    int64_t bucket =
        getBucket(-call.distance(i, j), bidirectional, buckets, maxDistance);
    return call.dot(b, h, i, j) +
           call.table("t5_bias.table", bucket * call.e.heads + h);
  }
};

struct ClippedFormula {
  int64_t max;
  bool queryMinusKey = false;

  double operator()(const Call &call, int64_t b, int64_t h, int64_t i,
                    int64_t j) const {
    int64_t d = queryMinusKey ? call.distance(i, j) : -call.distance(i, j);
    int64_t row = std::max(-max, std::min(max, d)) + max;
    return call.scaledDot(b, h, i, j) +
           call.table("toeplitz_bias.table", row * call.e.heads + h);
  }
};

struct DenseFormula {
  const char *name;
  bool oneHead = false;

  double operator()(const Call &call, int64_t b, int64_t h, int64_t i,
                    int64_t j) const {
    double bias = call.table(
        name, ((oneHead ? 0 : h) * call.e.queryLen + i) * call.e.keyLen + j);
    return bias <= -1e30 ? -infinity : call.scaledDot(b, h, i, j) + bias;
  }
};

} // namespace

static const DirectCase directCases[] = {
    {"none", "",
     [](const Call &call, int64_t b, int64_t h, int64_t i, int64_t j) {
       return call.scaledDot(b, h, i, j);
     }},
    {"scale", "scale(-0.3)",
     [](const Call &call, int64_t b, int64_t h, int64_t i, int64_t j) {
       return -0.3 * call.dot(b, h, i, j);
     }},
    {"rope_half", "encode [#posenc.rope<base = 100>]", RotaryFormula{100}},
    {"rope_interleaved",
     "encode [#posenc.rope<base = 5.0e5, pairing = interleaved>]",
     RotaryFormula{5e5, true}},
    {"rope_partial_first", "encode [#posenc.rope<dims = 4>]",
     RotaryFormula{1e4, false, 0, 4}},
    {"rope_partial_last",
     "encode [#posenc.rope<dims = 6, placement = last, pairing = interleaved>]",
     RotaryFormula{1e4, true, 4, 6}},
    {"rope_offset",
     "positions(#posenc.iota<offset = 1000>) encode [#posenc.rope]",
     RotaryFormula{}, 1e-9},
    {"rope_positions",
     "positions(#posenc.position_tensor) encode [#posenc.rope<base = 100>]",
     RotaryFormula{100, false, 0, 0, true}},
    {"alibi_symmetric", "encode [#posenc.alibi<form = symmetric>]",
     LinearBiasFormula{true}},
    {"alibi_causal", "mask(#posenc.causal) encode [#posenc.alibi]",
     LinearBiasFormula{}},
    {"alibi_exponent",
     "encode [#posenc.alibi<form = symmetric, max_exponent = 16.0>]",
     LinearBiasFormula{true, 16}},
    {"t5_bidirectional",
     "scale(1.0) encode [#posenc.t5_bias<direction = bidirectional>]",
     BucketFormula{true}},
    {"t5_causal", "mask(#posenc.causal) scale(1.0) encode [#posenc.t5_bias]",
     BucketFormula{}},
    {"t5_causal_buckets_full_mask",
     "scale(1.0) encode [#posenc.t5_bias<buckets = 7, max_distance = 40>]",
     BucketFormula{false, 7, 40}},
    {"toeplitz_key_minus_query",
     "encode [#posenc.toeplitz_bias<max_distance = 9>]", ClippedFormula{9}},
    {"toeplitz_query_minus_key",
     "encode [#posenc.toeplitz_bias<max_distance = 200, orientation = "
     "query_minus_key>]",
     ClippedFormula{200, true}},
    {"toeplitz_one_row", "encode [#posenc.toeplitz_bias<max_distance = 0>]",
     ClippedFormula{0}},
    {"dense", "encode [#posenc.dense_bias]", DenseFormula{"bias"}},
    {"dense_one_head", "encode [#posenc.dense_bias<name = \"one\">]",
     DenseFormula{"one", true}},
    {"rope_alibi_dense",
     "encode [#posenc.rope, #posenc.alibi<form = symmetric>, "
     "#posenc.dense_bias]",
     [](const Call &call, int64_t b, int64_t h, int64_t i, int64_t j) {
       double plain = call.scaledDot(b, h, i, j);
       return RotaryFormula{}(call, b, h, i, j) +
              (LinearBiasFormula{true}(call, b, h, i, j) - plain) +
              (DenseFormula{"bias"}(call, b, h, i, j) - plain);
     }},
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Softmax attention in the order of its definition.
static ReferenceOutputs attend(const Call &call, bool causal,
                               const Formula &score) {
  const Extents &e = call.e;
  ReferenceOutputs result;
  result.o.shape = {e.batch, e.heads, e.queryLen, e.valueDim};
  result.lse.shape = {e.batch, e.heads, e.queryLen};
  result.scores.shape = {e.batch, e.heads, e.queryLen, e.keyLen};
  for (int64_t b = 0; b < e.batch; ++b)
    for (int64_t h = 0; h < e.heads; ++h)
      for (int64_t i = 0; i < e.queryLen; ++i) {
        std::vector<double> row(e.keyLen);
        for (int64_t j = 0; j < e.keyLen; ++j)
          row[j] = causal && call.distance(i, j) < 0 ? -infinity
                                                     : score(call, b, h, i, j);
        double sum = 0;
        for (double s : row)
          sum += std::exp(s);
        for (int64_t c = 0; c < e.valueDim; ++c) {
          double output = 0;
          for (int64_t j = 0; j < e.keyLen; ++j)
            output += std::exp(row[j]) * call.v(b, h, j, c);
          result.o.data.push_back(sum == 0 ? 0 : output / sum);
        }
        result.lse.data.push_back(std::log(sum));
        result.scores.data.insert(result.scores.data.end(), row.begin(),
                                  row.end());
      }
  return result;
}

static std::string runCase(const DirectCase &example, Extents e, bool causal,
                           bool topLeft) {
  StringRef clauses = example.clauses;
  std::string text =
      ("posenc.kernel @direct heads(" + Twine(e.heads) + ") kv_heads(" +
       Twine(e.kvHeads) + ") head_dim(" + Twine(e.headDim) + ") value_dim(" +
       Twine(e.valueDim) + ") ")
          .str();
  StringRef rest = clauses;
  rest.consume_front("mask(#posenc.causal)");
  std::string mask = causal ? topLeft ? "mask(#posenc.causal<top_left>) "
                                      : "mask(#posenc.causal) "
                            : "";
  // Without a mask positions are bottom-right aligned unless they say so.
  std::string positions;
  if (!causal && topLeft)
    positions = "positions(#posenc.iota<align = top_left>) ";
  Spec spec(text + mask + positions + rest.str());
  ReferenceInputs inputs = makeInputs(spec.getKernel(), e, 1);
  // Some masked pairs, in each of the ways to say it.
  for (auto &entry : inputs.tables)
    if (entry.second.shape.size() == 3)
      for (size_t x = 0; x < entry.second.data.size(); ++x)
        if (x % 5 == 3)
          entry.second.data[x] = x % 2 ? -infinity : -1e30;
  Call call{inputs, e, topLeft};
  ReferenceOutputs wanted = attend(call, causal, example.score);
  ReferenceOutputs got = evaluate(spec.getKernel(), inputs);
  double tolerance = example.tolerance;
  std::string problem = compare("scores", got.scores, wanted.scores, tolerance);
  if (problem.empty())
    problem = compare("output", got.o, wanted.o, tolerance);
  if (problem.empty())
    problem = compare("lse", got.lse, wanted.lse, tolerance);
  return problem;
}

void posenc::numerics::testDirect(TestRun &run) {
  constexpr std::pair<int64_t, int64_t> lengths[] = {
      {1, 1}, {1, 7}, {5, 5}, {7, 13}, {13, 7}, {3, 0}, {0, 5}, {35, 201}};
  constexpr std::pair<int64_t, int64_t> heads[] = {{1, 1}, {6, 3}, {5, 5}};
  for (const DirectCase &example : directCases) {
    StringRef clauses = example.clauses;
    bool needsCausal = clauses.contains("mask(");
    bool needsKeys = clauses.contains("position_tensor");
    for (bool causal : {false, true})
      for (bool topLeft : {false, true})
        for (auto [queryLen, keyLen] : lengths)
          for (auto [h, kv] : heads) {
            if ((needsCausal && !causal) || (needsKeys && queryLen > keyLen) ||
                (topLeft && clauses.contains("positions(")))
              continue;
            Extents e{2, h, kv, queryLen, keyLen, 10, 3};
            run.test(Twine("direct/") + example.name +
                         (causal ? "/causal" : "/full") +
                         (topLeft ? "/top_left" : "/bottom_right") +
                         "/Lq=" + Twine(queryLen) + "/Lk=" + Twine(keyLen) +
                         "/H=" + Twine(h) + "/Hkv=" + Twine(kv),
                     [&] { return runCase(example, e, causal, topLeft); });
          }
  }
}
