// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Biases: formulas of the publications, in sizes that cross clips and buckets.
#include "TermsFixture.h"

#include <cstring>

using namespace posenc;

namespace {

class TermsBiasTest : public TermsTest {
protected:
  double slope(int h) const { return std::exp2(-8.0 * (h + 1) / e.H); }
  double causal(int i, int j, double score) const {
    return j <= at(i) ? score : masked;
  }
};

/// Mesh TensorFlow's bidirectional bucket of memory minus query.
int t5Bucket(int relative, int buckets, int maxDistance) {
  int half = buckets / 2, exact = half / 2, n = std::abs(relative);
  int bucket = n;
  if (n >= exact) {
    double share = std::log(double(n) / exact) /
                   std::log(double(maxDistance) / exact) * (half - exact);
    bucket = std::min(half - 1, exact + int(share + 1e-9));
  }
  return bucket + (relative > 0 ? half : 0);
}

double leaky(double x) { return x > 0 ? x : 0.01 * x; }
double relu(double x) { return x > 0 ? x : 0; }

TEST_F(TermsBiasTest, AlibiInside) {
  make("mask(#posenc.causal) encode [#posenc.alibi<site = inside, slope_scale "
       "= 0.25>]",
       {2, 4, 2, 30, 70, 8});
  expectScores([&](int b, int h, int i, int j) {
    double bias = -0.25 * slope(h) * (at(i) - j);
    return causal(i, j, (dot(b, h, i, j) + bias) / std::sqrt(8));
  });
}

/// Positions that bf16 does not hold: 8 significant bits, ties to even.
TEST_F(TermsBiasTest, Falcon) {
  make("mask(#posenc.causal) encode [#posenc.alibi<preset = \"hf-falcon\">]",
       {1, 6, 1, 3, 1500, 4});
  auto bf16 = [](float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  // 6 heads: those of 4, then every other one of 8.
  double slopes[] = {1 / 4., 1 / 16., 1 / 64., 1 / 256., 1 / 2., 1 / 8.};
  expectScores([&](int b, int h, int i, int j) {
    double bias = bf16(bf16(slopes[h]) * bf16(j));
    return causal(i, j, (dot(b, h, i, j) + bias) / 2);
  });
  EXPECT_EQ(bf16(257), 256);
  EXPECT_EQ(bf16(259), 260);
}

/// Slopes that bf16 does not hold either.
TEST_F(TermsBiasTest, AlibiRoundedSlopes) {
  make("mask(#posenc.causal) encode [#posenc.alibi<form = key, rounding = "
       "bf16, max_exponent = 3.0>]",
       {1, 2, 1, 2, 700, 4});
  auto bf16 = [](double x) {
    if (x == 0)
      return 0.0;
    double unit = std::exp2(std::ilogb(x) - 7);
    return std::nearbyint(x / unit) * unit;
  };
  expectScores([&](int b, int h, int i, int j) {
    double bias = bf16(bf16(std::exp2(-1.5 * (h + 1))) * bf16(j));
    return causal(i, j, sdot(b, h, i, j) + bias);
  });
}

TEST_F(TermsBiasTest, Umt5) {
  make("scale(1.0) encode [#posenc.t5_bias<direction = bidirectional>]",
       {1, 2, 1, 150, 150});
  expectScores([&](int b, int h, int i, int j) {
    return dot(b, h, i, j) + t("t5_bias.table", t5Bucket(j - i, 32, 128), h);
  });
}

TEST_F(TermsBiasTest, Kerple) {
  for (bool isLog : {true, false}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.kerple<kind = ") +
             (isLog ? "log" : "power") + ">]",
         {2, 4, 2, 30, 70});
    // Numbers below and above the clamps.
    inputs.tables["kerple.p"].data = {-0.5, 0.3, 1.5, 2.5};
    expectScores([&](int b, int h, int i, int j) {
      double p = std::max(t("kerple.p", h), 0.01);
      double a = std::max(t("kerple.a", h), 0.01), n = at(i) - j;
      double bias =
          isLog ? -p * std::log(1 + a * n) : -a * std::pow(n, std::min(p, 2.0));
      return causal(i, j, sdot(b, h, i, j) + bias);
    });
  }
}

/// The sum and the product, and the product alone.
TEST_F(TermsBiasTest, KerpleWeight) {
  for (bool hasBias : {true, false}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.alibi, "
                     "#posenc.kerple<kind = power, weight = on") +
             (hasBias ? "" : ", bias = off") + ">]",
         {2, 4, 2, 30, 70});
    inputs.tables["kerple.weight_p"].data = {-0.5, 0.3, 1.5, 2.5};
    expectScores([&](int b, int h, int i, int j) {
      double n = at(i) - j, bias = -slope(h) * n;
      auto power = [&](const char *p, const char *a) {
        double exponent = std::min(std::max(t(p, h), 0.01), 2.0);
        return std::max(t(a, h), 0.01) * std::pow(n, exponent);
      };
      if (hasBias)
        bias -= power("kerple.p", "kerple.a");
      double weight = std::exp(-power("kerple.weight_p", "kerple.weight_a"));
      return causal(i, j, sdot(b, h, i, j) * weight + bias);
    });
  }
}

TEST_F(TermsBiasTest, Fire) {
  for (bool isPassed : {false, true}) {
    make(std::string("mask(#posenc.causal) encode [#posenc.fire<hidden = 5, ") +
             (isPassed ? "scalars = operands" : "c = -0.3, length = 20.0") +
             ">]",
         {1, 3, 1, 30, 60});
    expectScores([&](int b, int h, int i, int j) {
      double c = isPassed ? t("fire.c", h) : -0.3;
      double length = isPassed ? std::abs(t("fire.length", h)) : 20;
      auto psi = [&](double x) { return std::log(std::abs(c * x) + 1); };
      double x = psi(at(i) - j) / (psi(std::max<double>(at(i), length)) + 1e-6);
      double bias = t("fire.b2", h);
      for (int m = 0; m < 5; ++m)
        bias +=
            t("fire.w2", m, h) * relu(t("fire.w1", m) * x + t("fire.b1", m));
      return causal(i, j, sdot(b, h, i, j) + bias);
    });
  }
}

TEST_F(TermsBiasTest, Sandwich) {
  for (bool isCausal : {true, false}) {
    make(isCausal ? "encode [#posenc.sandwich]"
                  : "encode [#posenc.sandwich<direction = bidirectional, first "
                    "= 0, dims = 6>]",
         {1, 4, 2, 40, 40, 8});
    expectScores([&](int b, int h, int i, int j) {
      int d = isCausal ? 8 : 6, first = isCausal;
      double n = isCausal ? std::max(i - j, 0) : i - j, sum = -d / 2;
      for (int w = first; w < first + d / 2; ++w)
        sum += std::cos(n * std::pow(1e4, -2.0 * w / d));
      return sdot(b, h, i, j) + sum / ((h + 1) * 8.0 / 4);
    });
  }
}

TEST_F(TermsBiasTest, SwinWithRegions) {
  make("encode [#posenc.swin_bias<height = 3, width = 5>, "
       "#posenc.region_bias]",
       {2, 2, 1, 15, 15});
  expectScores([&](int b, int h, int i, int j) {
    int dy = i / 5 - j / 5, dx = i % 5 - j % 5;
    bool same = position("regions", b, i) == position("regions", b, j);
    return sdot(b, h, i, j) + t("swin_bias.table", (dy + 2) * 9 + dx + 4, h) -
           (same ? 0 : 100);
  });
}

TEST_F(TermsBiasTest, SwinV2) {
  const char *forms[] = {"mlp, hidden = 7, pretrained_width = 9", "logits",
                         "folded"};
  for (int form : {0, 1, 2}) {
    make(std::string("encode [#posenc.swin_v2_bias<height = 4, width = 6, form "
                     "= ") +
             forms[form] + ">]",
         {1, 3, 1, 24, 24});
    auto g = [](double r, int w) {
      double size = std::log2(std::abs(r * 8 / (w - 1)) + 1) / std::log2(8);
      return r < 0 ? -size : size;
    };
    expectScores([&](int b, int h, int i, int j) {
      int dy = i / 6 - j / 6, dx = i % 6 - j % 6;
      double bias = 0;
      if (form > 0)
        bias = t("swin_v2_bias.table", (dy + 3) * 11 + dx + 5, h);
      for (int m = 0; form == 0 && m < 7; ++m)
        bias +=
            t("swin_v2_bias.w2", m, h) *
            relu(t("swin_v2_bias.wy", m) * g(dy, 4) +
                 t("swin_v2_bias.wx", m) * g(dx, 9) + t("swin_v2_bias.b1", m));
      return sdot(b, h, i, j) + (form == 2 ? bias : 16 / (1 + std::exp(-bias)));
    });
  }
}

TEST_F(TermsBiasTest, Beit) {
  make("encode [#posenc.beit_bias<height = 4, width = 3>]", {1, 2, 1, 13, 13});
  expectScores([&](int b, int h, int i, int j) {
    int dy = (i - 1) / 3 - (j - 1) / 3, dx = (i - 1) % 3 - (j - 1) % 3;
    int row = (dy + 3) * 5 + dx + 2, n = 7 * 5 + 3;
    if (i == 0 || j == 0)
      row = i > 0 ? n - 2 : j > 0 ? n - 3 : n - 1;
    return sdot(b, h, i, j) + t("beit_bias.table", row, h);
  });
}

TEST_F(TermsBiasTest, Grid) {
  make("encode [#posenc.grid_bias<width = 7, max_row = 2, max_column = 3>]",
       {1, 2, 1, 42, 42});
  auto clip = [](int x, int n) { return std::max(-n, std::min(x, n)); };
  expectScores([&](int b, int h, int i, int j) {
    int y = clip(i / 7 - j / 7, 2) + 2, x = clip(i % 7 - j % 7, 3) + 3;
    return sdot(b, h, i, j) + t("grid_bias.table", y * 7 + x, h);
  });
  make("encode [#posenc.grid_bias<width = 7, max_row = 2, max_column = 3, "
       "layout = separable, orientation = key_minus_query>]",
       {1, 2, 1, 42, 42});
  expectScores([&](int b, int h, int i, int j) {
    return sdot(b, h, i, j) +
           t("grid_bias.rows", clip(j / 7 - i / 7, 2) + 2, h) +
           t("grid_bias.columns", clip(j % 7 - i % 7, 3) + 3, h);
  });
  make("encode [#posenc.grid_bias<max_row = 2, max_column = 3, distance = "
       "absolute, coordinates = tensor>]",
       {2, 2, 1, 10, 10});
  expectScores([&](int b, int h, int i, int j) {
    const auto &xy = inputs.positions["grid_bias.coordinates"].data;
    auto distance = [&](int axis, int most) {
      int64_t from = (axis * 2 + b) * 10;
      return std::min<int>(std::abs(xy[from + i] - xy[from + j]), most);
    };
    return sdot(b, h, i, j) +
           t("grid_bias.table", distance(0, 2) * 4 + distance(1, 3), h);
  });
}

TEST_F(TermsBiasTest, Tupe) {
  for (bool isRelative : {false, true})
    for (bool ofRows : {false, true}) {
      make(std::string("encode [#posenc.tupe<length = 140, variant = ") +
               (isRelative ? "relative" : "absolute") +
               (ofRows ? ", theta = rows" : "") + ">]",
           {1, 2, 1, 140, 140});
      double scale = 1 / std::sqrt(2.0 * 4);
      auto factored = [&](int h, int x, int y) {
        double sum = 0;
        for (int c = 0; c < 4; ++c)
          sum += t("tupe.queries", x, h, c) * t("tupe.keys", y, h, c);
        return sum * scale;
      };
      expectScores([&](int b, int h, int i, int j) {
        double theta1 = ofRows ? factored(h, 0, 0) : t("tupe.theta1", h);
        double theta2 = ofRows ? factored(h, 1, 1) : t("tupe.theta2", h);
        double bias = factored(h, i + ofRows, j + ofRows);
        bias = i == 0 ? theta1 : j == 0 ? theta2 : bias;
        int bucket = i == 0 ? 16 : j == 0 ? 32 : t5Bucket(j - i, 32, 128);
        if (isRelative)
          bias += t("tupe.table", bucket, h);
        return scale * dot(b, h, i, j) + bias;
      });
    }
}

/// Biases before DAPE go through the network, those behind it do not.
TEST_F(TermsBiasTest, Dape) {
  make("mask(#posenc.causal) encode [#posenc.t5_bias<buckets = 4, max_distance "
       "= 8>, #posenc.alibi, #posenc.dape<hidden = 5>, #posenc.dense_bias]",
       {2, 4, 2, 6, 9});
  auto bias = [&](int h, int i, int j) {
    int n = at(i) - j, bucket = n < 2 ? n : n < 4 ? 2 : 3;
    return t("t5_bias.table", bucket, h) - slope(h) * n;
  };
  expectScores([&](int b, int h, int i, int j) {
    if (j > at(i))
      return masked;
    double result =
        sdot(b, h, i, j) + bias(h, i, j) + t("dape.b2", h) + t("bias", h, i, j);
    for (int m = 0; m < 5; ++m) {
      double unit = t("dape.b1", m);
      for (int g = 0; g < 4; ++g)
        unit += t("dape.w1", g, m) * sdot(b, g, i, j) +
                t("dape.w1", 4 + g, m) * bias(g, i, j);
      result += t("dape.w2", m, h) * leaky(unit);
    }
    return result;
  });
}

/// Two convolutions over a row in which hidden keys are 0.
TEST_F(TermsBiasTest, DapeV2) {
  make("mask(#posenc.causal) encode [#posenc.alibi, #posenc.dape<version = v2, "
       "hidden = 3>]",
       {1, 2, 1, 6, 9});
  auto bias = [&](int h, int i, int j) { return -slope(h) * (at(i) - j); };
  auto unit = [&](int i, int j, int m) {
    if (j < 0 || j > at(i))
      return 0.0;
    double sum = t("dape.b1", m);
    for (int g = 0; g < 2; ++g)
      for (int tap = 0; tap < 3; ++tap)
        if (int x = j + tap - 1; x >= 0 && x <= at(i))
          sum += t("dape.w1", g * 3 + tap, m) * sdot(0, g, i, x) +
                 t("dape.w1", (2 + g) * 3 + tap, m) * bias(g, i, x);
    return leaky(sum);
  };
  expectScores([&](int b, int h, int i, int j) {
    double result = sdot(b, h, i, j) + bias(h, i, j) + t("dape.b2", h);
    for (int m = 0; m < 3; ++m)
      for (int tap = 0; tap < 3; ++tap)
        result += t("dape.w2", m * 3 + tap, h) * unit(i, j + tap - 1, m);
    return causal(i, j, result);
  });
}

} // namespace
