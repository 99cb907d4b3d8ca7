// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Terms of content and distance: formulas of the publications, in sizes that
// cross clips and buckets.
#include "TermsFixture.h"

using namespace posenc;

namespace {

class TermsContentTest : public TermsTest {
protected:
  /// The query or key plus an optional vector per head, times f(c).
  double product(bool ofQuery, int b, int h, int x, const std::string &vector,
                 const std::function<double(int)> &f) const {
    double sum = 0;
    for (int c = 0; c < e.D; ++c)
      sum += ((ofQuery ? q(b, h, x, c) : k(b, h, x, c)) +
              (vector.empty() ? 0 : t(vector, h, c))) *
             f(c);
    return sum;
  }
  int clip(int x, int n) const { return std::max(-n, std::min(x, n)); }
};

TEST_F(TermsContentTest, Shaw) {
  for (bool perHead : {false, true}) {
    make(std::string("encode [#posenc.shaw<max_distance = 6") +
             (perHead ? ", tables = per_head" : "") + ">]",
         {2, 4, 2, 30, 50});
    auto table = [&](const char *name, int h, int i, int j, int c) {
      int r = clip(j - at(i), 6) + 6;
      return perHead ? t(name, r, h, c) : t(name, r, c);
    };
    auto score = [&](int b, int h, int i, int j) {
      auto key = [&](int c) { return table("shaw.keys", h, i, j, c); };
      return sdot(b, h, i, j) + product(true, b, h, i, "", key) / 2;
    };
    evaluate();
    expectPairs(score);
    expectOutput([&](int b, int h, int i, int c) {
      double sum = 0, output = 0;
      for (int j = 0; j < 50; ++j) {
        double w = std::exp(score(b, h, i, j));
        sum += w;
        output += w * (v(b, h, j, c) + table("shaw.values", h, i, j, c));
      }
      return output / sum;
    });
  }
}

/// The other signs and sites, without values.
TEST_F(TermsContentTest, ShawOutside) {
  make("encode [#posenc.shaw<max_distance = 2, values = off, site = outside, "
       "orientation = query_minus_key>]",
       {1, 2, 1, 9, 9});
  expectScores([&](int b, int h, int i, int j) {
    auto key = [&](int c) { return t("shaw.keys", clip(i - j, 2) + 2, c); };
    return sdot(b, h, i, j) + product(true, b, h, i, "", key);
  });
}

TEST_F(TermsContentTest, Nezha) {
  for (bool isInterleaved : {true, false}) {
    make(std::string("encode [#posenc.nezha<max_distance = 5") +
             (isInterleaved ? "" : ", layout = concatenated") + ">]",
         {1, 2, 1, 20, 20, 6, 6});
    auto table = [&](int i, int j, int c) {
      int r = clip(j - i, 5) + 5, pair = isInterleaved ? c / 2 : c % 3;
      double angle = r / std::pow(1e4, 2.0 * pair / 6);
      bool isSine = isInterleaved ? c % 2 == 0 : c < 3;
      return isSine ? std::sin(angle) : std::cos(angle);
    };
    auto score = [&](int b, int h, int i, int j) {
      auto key = [&](int c) { return table(i, j, c); };
      return (dot(b, h, i, j) + product(true, b, h, i, "", key)) / std::sqrt(6);
    };
    evaluate();
    expectPairs(score);
    expectOutput([&](int b, int h, int i, int c) {
      double sum = 0, output = 0;
      for (int j = 0; j < 20; ++j) {
        double w = std::exp(score(b, h, i, j));
        sum += w;
        output += w * (v(b, h, j, c) + table(i, j, c));
      }
      return output / sum;
    });
  }
}

/// [sin | cos] of width n.
double sinusoid(double x, int c, int n, double last) {
  int half = n / 2;
  double angle = x * std::pow(1e4, -(c % half) / last);
  return c < half ? std::sin(angle) : std::cos(angle);
}

TEST_F(TermsContentTest, TransformerXl) {
  for (bool isClamped : {false, true}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.transformer_xl<") +
             (isClamped ? "clamp_len = 7>]" : "model_dim = 6>]"),
         {1, 2, 1, 12, 30});
    int n = isClamped ? 8 : 6;
    expectScores([&](int b, int h, int i, int j) {
      double x = isClamped ? std::min(at(i) - j, 7) : at(i) - j;
      auto key = [&](int c) { return k(b, h, j, c); };
      auto projected = [&](int c) {
        double sum = 0;
        for (int m = 0; m < n; ++m)
          sum += sinusoid(x, m, n, n / 2.0) * t("transformer_xl.w", m, h, c);
        return sum;
      };
      double score = product(true, b, h, i, "transformer_xl.u", key) +
                     product(true, b, h, i, "transformer_xl.v", projected);
      return j <= at(i) ? score / 2 : masked;
    });
  }
}

TEST_F(TermsContentTest, Xlnet) {
  for (bool isReversed : {false, true}) {
    make(std::string("encode [#posenc.xlnet<model_dim = 6, segments = on, "
                     "clamp_len = 9") +
             (isReversed ? ", orientation = key_minus_query" : "") + ">]",
         {2, 2, 1, 12, 30});
    expectScores([&](int b, int h, int i, int j) {
      double x = clip(isReversed ? j - at(i) : at(i) - j, 9);
      int differs = position("xlnet.segment_ids", b, at(i)) !=
                    position("xlnet.segment_ids", b, j);
      auto key = [&](int c) { return k(b, h, j, c); };
      auto segment = [&](int c) { return t("xlnet.e", differs, h, c); };
      auto projected = [&](int c) {
        double sum = 0;
        for (int m = 0; m < 6; ++m)
          sum += sinusoid(x, m, 6, 3) * t("xlnet.w", m, h, c);
        return sum;
      };
      return (product(true, b, h, i, "xlnet.u", key) +
              product(true, b, h, i, "xlnet.v", projected) +
              product(true, b, h, i, "xlnet.s", segment)) /
             2;
    });
  }
}

TEST_F(TermsContentTest, Tener) {
  for (int law : {0, 1, 2}) {
    const char *laws[] = {"<law = paper, exponent = half>", "",
                          "<scaled = on>"};
    make(std::string("encode [#posenc.tener") + laws[law] + "]",
         {1, 2, 1, 25, 25, 8});
    double last = law == 0 ? 4 : 3;
    expectScores([&](int b, int h, int i, int j) {
      auto key = [&](int c) { return k(b, h, j, c); };
      auto forward = [&](int c) { return sinusoid(i - j, c, 8, last); };
      auto backward = [&](int c) { return sinusoid(j - i, c, 8, last); };
      double score = product(true, b, h, i, "tener.u", key);
      if (law == 0)
        return score + product(true, b, h, i, "tener.v", forward);
      score += product(true, b, h, i, "tener.v", backward) +
               product(false, b, h, j, "", forward);
      return law == 2 ? score / std::sqrt(8) : score;
    });
  }
}

TEST_F(TermsContentTest, DebertaV1) {
  for (bool isPaper : {false, true}) {
    make(std::string("encode [#posenc.deberta<max_distance = 5") +
             (isPaper ? ", p2c_index = paper" : "") + ">]",
         {1, 4, 2, 20, 20});
    auto delta = [](int i, int j) {
      return i - j <= -5 ? 0 : i - j >= 5 ? 9 : i - j + 5;
    };
    expectScores([&](int b, int h, int i, int j) {
      int r = isPaper ? delta(j, i) : delta(i, j);
      auto key = [&](int c) { return t("deberta.keys", delta(i, j), h, c); };
      auto query = [&](int c) { return t("deberta.queries", r, h, c); };
      return (dot(b, h, i, j) + product(true, b, h, i, "", key) +
              product(false, b, h, j, "", query)) /
             std::sqrt(3.0 * 4);
    });
  }
}

/// One of the two terms: the scale follows.
TEST_F(TermsContentTest, DebertaOneTerm) {
  make("encode [#posenc.deberta<max_distance = 3, p2c = off>]", {1, 2, 1, 9, 9});
  expectScores([&](int b, int h, int i, int j) {
    int r = std::max(0, std::min(i - j + 3, 5));
    auto key = [&](int c) { return t("deberta.keys", r, h, c); };
    return (dot(b, h, i, j) + product(true, b, h, i, "", key)) / std::sqrt(8);
  });
  make("encode [#posenc.deberta<max_distance = 3, c2p = off, p2c = off>]",
       {1, 2, 1, 9, 9});
  expectScores([&](int b, int h, int i, int j) { return sdot(b, h, i, j); });
}

/// make_log_bucket_position of both code bases, in double precision.
int logBucket(int distance, int buckets, int most, bool isOfficial) {
  if (isOfficial)
    distance = std::max(1 - most, std::min(distance, most - 1));
  int middle = buckets / 2, size = std::abs(distance), bucket = distance;
  if (size > middle) {
    double share = std::log(double(size) / middle) /
                   std::log((most - 1.0) / middle) * (middle - 1);
    int steps = std::ceil(share - 1e-9) + middle;
    bucket = distance < 0 ? -steps : steps;
  }
  return std::max(0, std::min(bucket + buckets, 2 * buckets - 1));
}

TEST_F(TermsContentTest, DebertaV2) {
  struct Case {
    const char *parameters;
    int buckets, most, length;
    bool isOfficial, isPaper = false;
  };
  for (const Case &x :
       {Case{"buckets = 8, max_distance = 16", 8, 16, 45, true},
        Case{"buckets = 8, max_distance = 16, clamp = hf", 8, 16, 45, false},
        Case{"buckets = 8, max_distance = 16, clamp = hf, p2c_index = paper", 8,
             16, 45, false, true},
        Case{"buckets = 4, max_distance = 40, p2c_index = paper", 4, 40, 90,
             true, true},
        Case{"preset = \"microsoft-v2\"", 256, 512, 530, true},
        Case{"preset = \"hf-v2\"", 256, 512, 530, false}}) {
    make(std::string("encode [#posenc.deberta<") + x.parameters + ">]",
         {1, 1, 1, x.length, x.length, 2, 1});
    expectScores([&](int b, int h, int i, int j) {
      int r = logBucket(i - j, x.buckets, x.most, x.isOfficial);
      int back = x.isPaper ? logBucket(j - i, x.buckets, x.most, x.isOfficial)
                           : r;
      auto key = [&](int c) { return t("deberta.keys", r, h, c); };
      auto query = [&](int c) { return t("deberta.queries", back, h, c); };
      return (dot(b, h, i, j) + product(true, b, h, i, "", key) +
              product(false, b, h, j, "", query)) /
             std::sqrt(3.0 * 2);
    });
  }
  // The published table, and the one row on which the code bases differ.
  EXPECT_EQ(logBucket(133, 256, 512, true) - 256, 132);
  EXPECT_EQ(logBucket(500, 256, 512, true) - 256, 254);
  EXPECT_EQ(logBucket(-512, 256, 512, true), 1);
  EXPECT_EQ(logBucket(-512, 256, 512, false), 0);
}

TEST_F(TermsContentTest, MtfContextual) {
  make("mask(#posenc.causal) scale(1.0) encode [#posenc.mtf_contextual<buckets "
       "= 4, max_distance = 8>]",
       {1, 2, 1, 12, 20});
  expectScores([&](int b, int h, int i, int j) {
    int n = at(i) - j, bucket = n < 2 ? n : n < 4 ? 2 : 3;
    auto row = [&](int c) { return t("mtf_contextual.table", bucket, h, c); };
    return j <= at(i) ? dot(b, h, i, j) + product(true, b, h, i, "", row)
                      : masked;
  });
}

} // namespace
