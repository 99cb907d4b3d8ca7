// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Norms of queries and keys, against their formulas.
#include "SchemeTest.h"

using namespace posenc;

namespace {

class NormTest : public SchemeTest {
protected:
  static Vector rms(Vector x, double epsilon) {
    double scale = 1 / std::sqrt(dot(x, x) / x.size() + epsilon);
    for (double &value : x)
      value *= scale;
    return x;
  }
  static Vector l2(Vector x, double floor) {
    double scale = 1 / std::max(std::sqrt(dot(x, x)), floor);
    for (double &value : x)
      value *= scale;
    return x;
  }
  static Vector layer(Vector x, double epsilon) {
    double mean = 0;
    for (double value : x)
      mean += value / x.size();
    for (double &value : x)
      value -= mean;
    return rms(x, epsilon);
  }
  /// x * (offset + gain[from ..])
  static Vector weigh(Vector x, const RealTensor &gain, int from,
                      double offset = 0) {
    for (size_t c = 0; c < x.size(); ++c)
      x[c] *= offset + gain.data[from + c];
    return x;
  }
  Vector rotated(const Vector &x, int p) const {
    return turn(x, true, 0, D / 2,
                [=](int k) { return p * std::pow(10000, -2.0 * k / D); });
  }
};

TEST_F(NormTest, L2WithLearnedScale) {
  make(2, 2, 1, 7, 11, 6);
  inputs.q.data.assign(inputs.q.data.size(), 0); // the floor is seen
  for (size_t n = 0; n < inputs.q.data.size(); n += 5)
    inputs.q.data[n] = 0.25;
  RealTensor &g = table("qk_norm.scale", {2});
  auto score = [&](bool isLog) {
    return [=, &g](int b, int h, int i, int j) {
      double scale = isLog ? std::exp(g.data[h]) : g.data[h];
      return scale * dot(l2(query(b, h, i), 0.3), l2(key(b, h, j), 0.3));
    };
  };
  std::string norm = "encode [#posenc.qk_norm<kind = l2, epsilon = 0.3, "
                     "epsilon_site = floor, score_scale = ";
  expectScores(norm + "learned>]", score(false));
  expectScores(norm + "learned_log>]", score(true));
}

TEST_F(NormTest, RmsBeforeAndAfterTheRotation) {
  make(2, 4, 2, 9, 13, 8);
  RealTensor &gq = table("qk_norm.query_gain", {8});
  RealTensor &gk = table("qk_norm.key_gain", {8});
  auto before = [&](double offset) {
    return [=, &gq, &gk](int b, int h, int i, int j) {
      Vector q = weigh(rms(query(b, h, i), 1e-6), gq, 0, offset);
      Vector k = weigh(rms(key(b, h, j), 1e-6), gk, 0, offset);
      return dot(rotated(q, at(i)), rotated(k, j)) / std::sqrt(8.0);
    };
  };
  expectScores("encode [#posenc.qk_norm<gain = channel>, #posenc.rope]",
               before(0));
  expectScores("encode [#posenc.qk_norm<preset = \"qwen3\">, #posenc.rope]",
               before(0));
  expectScores("encode [#posenc.qk_norm<preset = \"gemma3\">, #posenc.rope]",
               before(1));
  expectScores("encode [#posenc.rope, #posenc.qk_norm<gain = channel>]",
               [&](int b, int h, int i, int j) {
                 Vector q = rms(rotated(query(b, h, i), at(i)), 1e-6);
                 Vector k = rms(rotated(key(b, h, j), j), 1e-6);
                 return dot(weigh(q, gq, 0), weigh(k, gk, 0)) / std::sqrt(8.0);
               });
  expectScores("encode [#posenc.rope, #posenc.qk_norm<preset = \"llama4\">]",
               [&](int b, int h, int i, int j) {
                 Vector q = rms(query(b, h, i), 1e-5);
                 Vector k = rms(key(b, h, j), 1e-5);
                 return dot(rotated(q, at(i)), rotated(k, j)) / std::sqrt(8.0);
               });
}

TEST_F(NormTest, Layer) {
  make(1, 2, 2, 5, 8, 6);
  RealTensor &gq = table("qk_norm.query_gain", {6});
  RealTensor &gk = table("qk_norm.key_gain", {6});
  RealTensor &bq = table("qk_norm.query_bias", {6});
  RealTensor &bk = table("qk_norm.key_bias", {6});
  auto plus = [](Vector x, const RealTensor &bias) {
    for (size_t c = 0; c < x.size(); ++c)
      x[c] += bias.data[c];
    return x;
  };
  expectScores("encode [#posenc.qk_norm<preset = \"persimmon\">]",
               [&](int b, int h, int i, int j) {
                 return dot(plus(weigh(layer(query(b, h, i), 1e-5), gq, 0), bq),
                            plus(weigh(layer(key(b, h, j), 1e-5), gk, 0), bk)) /
                        std::sqrt(6.0);
               });
  RealTensor &hq = table("qk_norm.query_gain", {2, 6});
  RealTensor &hk = table("qk_norm.key_gain", {2, 6});
  expectScores("encode [#posenc.qk_norm<preset = \"cohere\">]",
               [&](int b, int h, int i, int j) {
                 return dot(weigh(layer(query(b, h, i), 1e-5), hq, 6 * h),
                            weigh(layer(key(b, h, j), 1e-5), hk, 6 * h)) /
                        std::sqrt(6.0);
               });
}

TEST_F(NormTest, RmsOverAllHeads) {
  make(2, 4, 2, 6, 10, 4);
  RealTensor &gq = table("qk_norm.query_gain", {4, 4});
  RealTensor &gk = table("qk_norm.key_gain", {4, 4});
  expectScores("encode [#posenc.qk_norm<preset = \"olmo2\">]",
               [&](int b, int h, int i, int j) {
                 double q2 = 0,
                        k2 = 0; // the mean over the heads that there are
                 for (int g = 0; g < 4; ++g)
                   q2 += dot(query(b, g, i), query(b, g, i)) / 16;
                 for (int g = 0; g < 4; g += 2)
                   k2 += dot(key(b, g, j), key(b, g, j)) / 8;
                 double scale = 1 / std::sqrt((q2 + 1e-6) * (k2 + 1e-6));
                 return scale *
                        dot(weigh(query(b, h, i), gq, 4 * h),
                            weigh(key(b, h, j), gk, 4 * h)) /
                        2;
               });
}

TEST_F(NormTest, KeyNormAndCosine) {
  make(2, 2, 1, 7, 12, 4);
  expectScores("encode [#posenc.key_norm<epsilon = 0.5>]",
               [&](int b, int h, int i, int j) {
                 Vector k = key(b, h, j);
                 return dot(query(b, h, i), k) / std::sqrt(dot(k, k) + 0.5);
               });
  RealTensor &tau = table("cosine_attention.logit_scale", {2});
  tau.data = {2.25, 7.5}; // ln 100 = 4.6
  expectScores(
      "encode [#posenc.cosine_attention]", [&](int b, int h, int i, int j) {
        double scale = h == 0 ? std::exp(2.25) : 100;
        return scale * dot(l2(query(b, h, i), 1e-12), l2(key(b, h, j), 1e-12));
      });
}

} // namespace
