// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of scores and normalisers: formulas of the publications.
#include "TermsFixture.h"

#include <complex>

using namespace posenc;

namespace {

class TermsScoreTest : public TermsTest {
protected:
  double causal(int i, int j, double score) const {
    return j <= at(i) ? score : masked;
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_F(TermsScoreTest, Softcap) {
  for (bool isBefore : {true, false}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.alibi, "
                     "#posenc.softcap<cap = 0.5") +
             (isBefore ? "" : ", site = after_bias") + ">]",
         {2, 4, 2, 9, 15});
    expectScores([&](int b, int h, int i, int j) {
      double bias = -std::exp2(-2.0 * (h + 1)) * (at(i) - j);
      double score = sdot(b, h, i, j) + (isBefore ? 0 : bias);
      return causal(i, j, std::tanh(score * 2) / 2 + (isBefore ? bias : 0));
    });
  }
}

TEST_F(TermsScoreTest, Sinks) {
  auto score = [&](int b, int h, int i, int j) {
    return causal(i, j, sdot(b, h, i, j));
  };
  for (const char *encoding :
       {"attention_sink", "attention_sink<values = [0.5, -1.0]>",
        "softmax_off_by_one"}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.") + encoding + "]",
         {2, 2, 1, 9, 6}); // the first rows see no key
    std::function<double(int)> sink = [&](int h) {
      std::string name = encoding;
      if (name == "attention_sink")
        return t("sink.logits", h);
      return name == "softmax_off_by_one" ? 0 : h == 0 ? 0.5 : -1;
    };
    evaluate();
    expectPairs(score);
    expectOutput(softmax(score, sink));
    double last = std::exp(sink(1));
    for (int j = 0; j < 6; ++j)
      last += std::exp(sdot(1, 1, 8, j));
    EXPECT_NEAR(got.lse.data.back(), std::log(last), 1e-12);
  }
}

TEST_F(TermsScoreTest, Cope) {
  for (bool perHead : {false, true}) {
    make(
        std::string("mask(#posenc.causal) encode [#posenc.cope<positions = 5") +
            (perHead ? ", tables = per_head, site = inside" : "") + ">]",
        {1, 4, 2, 12, 20});
    expectScores([&](int b, int h, int i, int j) {
      if (j > at(i))
        return masked;
      double x = 0;
      for (int n = j; n <= at(i); ++n)
        x += sigmoid(sdot(b, h, i, n));
      x = std::min(x, 4.0);
      int low = std::floor(x), high = std::ceil(x);
      auto logit = [&](int row) {
        double sum = 0;
        for (int c = 0; c < 4; ++c)
          sum += q(b, h, i, c) * (perHead ? t("cope.embedding", row, h, c)
                                          : t("cope.embedding", row, c));
        return perHead ? sum / 2 : sum;
      };
      double share = x - low;
      return sdot(b, h, i, j) + (1 - share) * logit(low) + share * logit(high);
    });
  }
}

TEST_F(TermsScoreTest, Fox) {
  for (const char *mask : {"#posenc.causal", "#posenc.causal<top_left>"})
    for (bool isLog : {false, true}) {
      make(std::string("mask(") + mask + ") encode [#posenc.fox" +
               (isLog ? "<gates = log>]" : "]"),
           {2, 2, 1, 9, 20});
      bool isTop = mask == std::string("#posenc.causal<top_left>");
      expectScores([&](int b, int h, int i, int j) {
        int place = isTop ? i : at(i);
        if (j > place)
          return masked;
        double bias = 0; // ln f of what lies between
        for (int n = j + 1; n <= place; ++n) {
          double x = t("fox.gates", b, h, n);
          bias += isLog ? x : std::log(sigmoid(x));
        }
        return sdot(b, h, i, j) + bias;
      });
    }
}

TEST_F(TermsScoreTest, RetentionDecay) {
  for (bool isPassed : {false, true}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.retention_decay") +
             (isPassed ? "<decay = operands>]" : "<first_exponent = 1.0>]"),
         {1, 2, 1, 9, 20});
    if (isPassed)
      inputs.tables["retention_decay.gamma"].data = {0.9, 0.25};
    expectScores([&](int b, int h, int i, int j) {
      double gamma =
          isPassed ? t("retention_decay.gamma", h) : 1 - std::exp2(-1.0 - h);
      return causal(i, j, sdot(b, h, i, j) * std::pow(gamma, at(i) - j));
    });
  }
}

TEST_F(TermsScoreTest, StickBreaking) {
  for (bool isStrict : {true, false})
    for (bool givesRest : {false, true}) {
      make(std::string("mask(#posenc.causal) encode [#posenc.stick_breaking<"
                       "kind = ") +
               (isStrict ? "strict" : "attend_current") +
               (givesRest ? ", remainder = value" : "") + ">]",
           {2, 2, 1, 9, 20});
      auto weight = [&](int b, int h, int i, int j) {
        int last = isStrict ? at(i) - 1 : at(i);
        double result = j <= last ? sigmoid(sdot(b, h, i, j)) : 0;
        for (int n = j + 1; n <= last; ++n)
          result *= 1 - sigmoid(sdot(b, h, i, n));
        return result;
      };
      evaluate();
      expectPairs([&](int b, int h, int i, int j) {
        return std::log(weight(b, h, i, j));
      });
      expectOutput([&](int b, int h, int i, int c) {
        double rest = 1, output = 0;
        for (int j = 0; j < 20; ++j) {
          double w = weight(b, h, i, j);
          rest -= w;
          output += w * v(b, h, j, c);
        }
        return output + (givesRest ? rest * v(b, h, at(i), c) : 0);
      });
    }
}

TEST_F(TermsScoreTest, Retention) {
  make("mask(#posenc.causal) encode [#posenc.retention]", {1, 4, 2, 12, 30, 6});
  auto score = [&](int b, int h, int i, int j) {
    if (j > at(i))
      return 0.0;
    double gamma = 1 - std::exp2(-5.0 - h), sum = 0, product = 0;
    for (int n = 0; n <= at(i); ++n)
      sum += std::pow(gamma, at(i) - n);
    for (int p = 0; p < 3; ++p) {
      std::complex<double> x(q(b, h, i, 2 * p), q(b, h, i, 2 * p + 1));
      std::complex<double> y(k(b, h, j, 2 * p), k(b, h, j, 2 * p + 1));
      double angle = (at(i) - j) * std::pow(1e4, -p / 2.0);
      product += (x * std::conj(y) * std::polar(1.0, angle)).real();
    }
    return product / std::sqrt(6) * std::pow(gamma, at(i) - j) / std::sqrt(sum);
  };
  // Sums below 1 and above it.
  for (double &x : inputs.q.data)
    x *= &x < &inputs.q.data[inputs.q.data.size() / 2] ? 0.1 : 4;
  evaluate();
  expectOutput([&](int b, int h, int i, int c) {
    double sum = 0, output = 0;
    for (int j = 0; j < 30; ++j) {
      sum += std::abs(score(b, h, i, j));
      output += score(b, h, i, j) * v(b, h, j, c);
    }
    return output / std::max(1.0, sum);
  });
}

/// Each part of it off.
TEST_F(TermsScoreTest, RetentionParts) {
  make("mask(#posenc.causal) encode [#posenc.retention<rotation = off, "
       "decay_norm = off, score_norm = off, first_exponent = 2.0>]",
       {1, 2, 1, 7, 11});
  evaluate();
  expectOutput([&](int b, int h, int i, int c) {
    double output = 0;
    for (int j = 0; j <= at(i); ++j)
      output += sdot(b, h, i, j) *
                std::pow(1 - std::exp2(-2.0 - h), at(i) - j) * v(b, h, j, c);
    return output;
  });
}

TEST_F(TermsScoreTest, LinearAttention) {
  for (int map : {0, 1, 2})
    for (bool isRotated : {false, true}) {
      const char *maps[] = {"", "<map = relu>", "<map = exp>"};
      make(std::string("mask(#posenc.causal) encode "
                       "[#posenc.linear_attention") +
               maps[map] + (isRotated ? ", #posenc.rope]" : "]"),
           {1, 2, 1, 9, 20});
      auto phi = [&](double x) {
        return map == 2 || (map == 0 && x < 0) ? std::exp(x)
               : map == 0                      ? x + 1
                                               : std::max(x, 0.0);
      };
      /// With the rotation by `turn` times the frequencies 1 and 0.01.
      auto product = [&](int b, int h, int i, int j, double turn) {
        double sum = 0;
        for (int p = 0; p < 2; ++p) {
          std::complex<double> x(phi(q(b, h, i, p)), phi(q(b, h, i, p + 2)));
          std::complex<double> y(phi(k(b, h, j, p)), phi(k(b, h, j, p + 2)));
          double angle = turn * (p == 0 ? 1 : 0.01);
          sum += (x * std::conj(y) * std::polar(1.0, angle)).real();
        }
        return sum;
      };
      evaluate();
      EXPECT_TRUE(got.lse.data.empty());
      expectOutput([&](int b, int h, int i, int c) {
        double sum = 0, output = 0;
        for (int j = 0; j <= at(i); ++j) {
          sum += product(b, h, i, j, 0);
          output +=
              product(b, h, i, j, isRotated ? at(i) - j : 0) * v(b, h, j, c);
        }
        return sum == 0 ? 0 : output / sum;
      });
    }
}

/// With the authors' epsilon, in rows that see one key or all.
TEST_F(TermsScoreTest, LinearAttentionEpsilon) {
  for (bool isCausal : {true, false}) {
    make(std::string(isCausal ? "mask(#posenc.causal)" : "") +
             " encode [#posenc.linear_attention<map = relu, epsilon = 0.25>]",
         {2, 2, 1, 20, 20});
    evaluate();
    expectOutput([&](int b, int h, int i, int c) {
      double sum = 0.25, output = 0;
      for (int j = 0; j < (isCausal ? i + 1 : 20); ++j) {
        double product = 0;
        for (int n = 0; n < 4; ++n)
          product +=
              std::max(q(b, h, i, n), 0.0) * std::max(k(b, h, j, n), 0.0);
        sum += product;
        output += product * v(b, h, j, c);
      }
      return output / sum;
    });
  }
}

/// The part of positions, as the code shifts it.
TEST_F(TermsScoreTest, ComplexPositions) {
  for (bool hasWidth : {false, true}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.complex_attention<"
                     "positions = on") +
             (hasWidth ? ", model_dim = 10>]" : ">]"),
         {2, 4, 2, 9, 20, 6});
    int n = hasWidth ? 10 : 4 * 3;
    expectScores([&](int b, int h, int i, int j) {
      double re = 0, im = 0, bdRe = 0, bdIm = 0;
      for (int c = 0; c < 3; ++c) {
        auto u = [&](int x) { return t("complex_attention.u", h, x); };
        auto v = [&](int x) { return t("complex_attention.v", h, x); };
        auto r = [&](int x) {
          double sum = 0, delta = at(i) - j;
          for (int m = 0; m < n; ++m) {
            double angle = delta * std::pow(1e4, -2.0 * (m % (n / 2)) / n);
            sum += (m < n / 2 ? std::sin(angle) : std::cos(angle)) *
                   t("complex_attention.w", m, h, x);
          }
          return sum;
        };
        double qr = q(b, h, i, c), qi = q(b, h, i, c + 3);
        double kr = k(b, h, j, c), ki = k(b, h, j, c + 3);
        re += (qr + u(c)) * kr - (qi + u(c + 3)) * ki;
        im += 2 * (qr + u(c)) * ki;
        bdRe += (qr + v(c)) * r(c);
        bdIm += (qi + v(c + 3)) * r(c + 3);
      }
      double score = std::hypot(re, im) + std::hypot(bdRe, bdIm);
      return causal(i, j, score / std::sqrt(3));
    });
  }
}

TEST_F(TermsScoreTest, ComplexAttention) {
  for (bool isFaithful : {true, false}) {
    make(std::string("encode [#posenc.complex_attention") +
             (isFaithful ? "]" : "<term = correct>]"),
         {2, 4, 2, 9, 20, 6});
    expectScores([&](int b, int h, int i, int j) {
      std::complex<double> sum = 0;
      for (int c = 0; c < 3; ++c) {
        double qr = q(b, h, i, c), qi = q(b, h, i, c + 3);
        double kr = k(b, h, j, c), ki = k(b, h, j, c + 3);
        if (isFaithful)
          sum += std::complex<double>(qr * kr - qi * ki, qr * ki + qr * ki);
        else
          sum += std::complex<double>(qr, qi) * std::complex<double>(kr, ki);
      }
      return std::abs(sum) / std::sqrt(3);
    });
  }
}

} // namespace
