// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each rotary and remapping scheme against its formula, written out.
#include "SchemeTest.h"

using namespace posenc;

namespace {

constexpr double pi = 3.14159265358979323846;

class FormulaTest : public SchemeTest {
protected:
  /// The score of vectors turned by p w(k), with everything at its default.
  std::function<double(int, int, int, int)>
  rotary(std::function<double(int)> w, double m = 1, double scale = 0,
         bool half = true, int first = 0, int pairs = 0) {
    if (pairs == 0)
      pairs = D / 2;
    if (scale == 0)
      scale = 1 / std::sqrt(D);
    return [=](int b, int h, int i, int j) {
      auto modulus = [=](int) { return m; };
      return scale * dot(turn(
                             query(b, h, i), half, first, pairs,
                             [=](int k) { return at(i) * w(k); }, modulus),
                         turn(
                             key(b, h, j), half, first, pairs,
                             [=](int k) { return j * w(k); }, modulus));
    };
  }
  /// The real part of q conj(k) e^(i angle), pair by pair, half or not.
  double relative(
      int b, int h, int i, int j, bool half, std::function<double(int)> angle,
      std::function<double(int)> decay = [](int) { return 1.0; }) {
    Vector q = query(b, h, i), k = key(b, h, j);
    double sum = 0;
    for (int n = 0; n < D / 2; ++n) {
      int x = half ? n : 2 * n, y = half ? n + D / 2 : 2 * n + 1;
      double even = q[x] * k[x] + q[y] * k[y];
      double odd = q[y] * k[x] - q[x] * k[y];
      sum += decay(n) * (even * std::cos(angle(n)) - odd * std::sin(angle(n)));
    }
    return sum / std::sqrt(D);
  }
  double w(int k) const { return std::pow(10000, -2.0 * k / D); }
};

TEST_F(FormulaTest, ScalingLaws) {
  make(2, 2, 1, 19, 41, 16);
  auto plain = [&](int k) { return w(k); };
  auto rope = [](const std::string &rest) {
    return "encode [#posenc.rope<" + rest + ">]";
  };
  auto scaled = [&](const std::string &law) {
    return rope("scaling = #posenc." + law);
  };
  expectScores(rope("base = 1.0e4"), rotary(plain));
  expectScores(scaled("linear_scaling<factor = 4.0>"),
               rotary([&](int k) { return w(k) / 4; }));
  double base = 10000 * std::pow(8.0, 16.0 / 14);
  expectScores(scaled("ntk<alpha = 8.0>"),
               rotary([&](int k) { return std::pow(base, -k / 8.0); }));
  // 41 keys: within and beyond the trained length.
  expectScores(scaled("dynamic_linear<original_length = 50>"), rotary(plain));
  expectScores(scaled("dynamic_linear<original_length = 10>"),
               rotary([&](int k) { return w(k) * 10 / 41; }));
  expectScores(scaled("dynamic_ntk<factor = 3.0, original_length = 41>"),
               rotary(plain));
  base = 10000 * std::pow(3.0 * 41 / 10 - 2, 16.0 / 14);
  expectScores(scaled("dynamic_ntk<factor = 3.0, original_length = 10>"),
               rotary([&](int k) { return std::pow(base, -k / 8.0); }));
  expectScores(scaled("llama3<factor = 8.0, original_length = 200>"),
               rotary([&](int k) {
                 double wavelength = 2 * pi / w(k);
                 if (wavelength < 200 / 4.0)
                   return w(k);
                 if (wavelength > 200)
                   return w(k) / 8;
                 double t = (200 / wavelength - 1) / 3;
                 return (1 - t) * w(k) / 8 + t * w(k);
               }));
  // A step: 200 tokens hold one turn of pairs with w >= 2 pi / 200.
  expectScores(
      scaled("llama3<factor = 16.0, high_freq_factor = 1.0, "
             "original_length = 200, step = true>"),
      rotary([&](int k) { return w(k) >= 2 * pi / 200 ? w(k) : w(k) / 16; }));
  expectScores(scaled("proportional<fraction = 0.7>"), // floor(.7 * 16 / 2) = 5
               rotary([&](int k) { return k < 5 ? w(k) : 0; }));
  double a = std::log(8.0) / std::pow(8.0, 0.75);
  expectScores(scaled("ntk_mixed<factor = 8.0>"), rotary([&](int k) {
                 return w(k) * std::exp(-a * std::pow(k + 1, 0.75));
               }));
  expectScores(scaled("power_scaling<kappa = 0.5>"),
               rotary([&](int k) { return w(k) * std::sqrt(1 - k / 8.0); }));
  expectScores(scaled("truncated_scaling<low = 0.001, high = 0.1, rho = 0.05>"),
               rotary([&](int k) {
                 return w(k) >= 0.1 ? w(k) : w(k) > 0.001 ? 0.05 : 0;
               }));
}

TEST_F(FormulaTest, Yarn) {
  make(1, 2, 2, 23, 37, 32);
  double s = 8, trained = 64;
  auto pair = [&](double r) {
    return 32 * std::log(trained / (2 * pi * r)) / (2 * std::log(10000));
  };
  auto blend = [&](int k, double ramp) {
    ramp = std::min(1.0, std::max(0.0, ramp));
    return w(k) / s * ramp + w(k) * (1 - ramp);
  };
  double low = pair(4), high = pair(0.5);
  ASSERT_NE(low, std::floor(low));
  std::string law =
      "#posenc.yarn<factor = 8.0, original_length = 64, beta_fast = 4.0, "
      "beta_slow = 0.5";
  auto spec = [&](const std::string &rest, const std::string &outside = "") {
    return "encode [#posenc.rope<scaling = " + law + rest + ">" + outside +
           ">]";
  };
  double m = 0.1 * std::log(s) + 1;
  auto rounded = [&](int k) {
    double a = std::floor(low), b = std::ceil(high);
    return blend(k, (k - a) / (b - a));
  };
  expectScores(spec(""), rotary(rounded, m));
  expectScores(
      spec(", truncate = false"),
      rotary([&](int k) { return blend(k, (k - low) / (high - low)); }, m));
  expectScores(spec(", ramp = paper"),
               rotary(
                   [&](int k) {
                     double r = trained * w(k) / (2 * pi);
                     return blend(k, (4 - r) / (4 - 0.5));
                   },
                   m));
  expectScores(spec("", ", attention_factor = 1.5"), rotary(rounded, 1.5));
  expectScores(spec("", ", factor_site = scale"),
               rotary(rounded, 1, m * m / std::sqrt(32.0)));
  auto g = [&](double x) { return 0.1 * x * std::log(s) + 1; };
  expectScores(spec(", mscale = 0.5, mscale_all_dim = 2.0"),
               rotary(rounded, g(0.5) / g(2)));
  expectScores(
      spec(", mscale = 0.5, mscale_all_dim = 2.0", ", factor_site = scale"),
      rotary(rounded, g(0.5) / g(2), g(2) * g(2) / std::sqrt(32.0)));
}

/// A head of which the last channels turn, with the factor on the scale.
TEST_F(FormulaTest, SplitRotaryPart) {
  make(2, 4, 1, 9, 21, 24);
  double m = 0.1 * std::log(40.0) + 1;
  auto score = [&](int b, int h, int i, int j) {
    auto angle = [](int p) {
      return [=](int k) {
        double w = std::pow(10000, -k / 4.0);
        double low = std::floor(8 * std::log(4096 / (2 * pi * 32)) /
                                (2 * std::log(10000.0))),
               high = std::ceil(8 * std::log(4096 / (2 * pi)) /
                                (2 * std::log(10000.0)));
        double ramp = std::min(1.0, std::max(0.0, (k - low) / (high - low)));
        return p * (w / 40 * ramp + w * (1 - ramp));
      };
    };
    Vector q = turn(query(b, h, i), false, 16, 4, angle(at(i)));
    return m * m / std::sqrt(24.0) *
           dot(q, turn(key(b, h, j), false, 16, 4, angle(j)));
  };
  expectScores(
      "encode [#posenc.rope<dims = 8, placement = last, pairing = interleaved, "
      "scaling = #posenc.yarn<preset = \"deepseek-v3\">, factor_site = scale>]",
      score);
}

/// Within the trained length, beyond it, and beyond the factor of fine-tuning.
TEST_F(FormulaTest, DynamicYarn) {
  make(1, 2, 2, 23, 37, 32);
  auto score = [&](int trained, double least) {
    double s = std::max(37.0 / trained, least);
    auto pair = [=](double r) {
      return 32 * std::log(trained / (2 * pi * r)) / (2 * std::log(10000));
    };
    double low = std::max(0.0, std::floor(pair(4)));
    double high = std::ceil(pair(0.5));
    return rotary(
        [=](int k) {
          double ramp = std::min(1.0, std::max(0.0, (k - low) / (high - low)));
          return w(k) / s * ramp + w(k) * (1 - ramp);
        },
        1.25);
  };
  auto spec = [](const std::string &rest) {
    return "encode [#posenc.rope<attention_factor = 1.25, scaling = "
           "#posenc.dynamic_yarn<beta_fast = 4.0, beta_slow = 0.5, "
           "original_length = " +
           rest + ">>]";
  };
  expectScores(spec("64"), score(64, 1));
  expectScores(spec("32"), score(32, 1));
  expectScores(spec("32, factor = 4.0"), score(32, 4));
  // Pairs of an axis keep what the ramp gives their number.
  auto text = [&](const std::string &rest) {
    return "encode [#posenc.mrope<sections = [6, 5, 5], rope = "
           "<attention_factor = 1.25, scaling = #posenc.dynamic_yarn<beta_fast "
           "= 4.0, beta_slow = 0.5, original_length = " +
           rest + ">>>]";
  };
  expectScores(text("32"), score(32, 1));
}

TEST_F(FormulaTest, LongRope) {
  make(1, 2, 1, 13, 29, 6);
  const double small[] = {1, 1.25, 2}, large[] = {1.5, 3, 7};
  double m = std::sqrt(1 + std::log(16.0) / std::log(20.0));
  std::string lists = "encode [#posenc.rope<scaling = #posenc.longrope<"
                      "short_factor = [1.0, 1.25, 2.0], long_factor = [1.5, "
                      "3.0, 7.0], factor = 16.0, original_length = ";
  auto by = [&](const double *divisors) {
    return [=](int k) { return w(k) / divisors[k]; };
  };
  expectScores(lists + "20>>]", rotary(by(large), m));
  expectScores(lists + "20, select = short>>]", rotary(by(small), m));
  double longer = std::sqrt(1 + std::log(16.0) / std::log(29.0));
  expectScores(lists + "29>>]", rotary(by(small), longer));
  expectScores(lists + "29, select = long>>]", rotary(by(large), longer));
  expectScores(lists + "29, attention = yarn>>]",
               rotary(by(small), 0.1 * std::log(16.0) + 1));
  expectScores(lists + "29, attention = none>>]", rotary(by(small)));
  for (int trained : {20, 29}) { // 29 keys: beyond L0, and just at it
    double stretch = std::sqrt(1 + std::log(16.0) / std::log(trained));
    expectScores(lists + std::to_string(trained) +
                     ", select = long, interpolate = true>>]",
                 rotary(
                     [&](int k) {
                       double growth = (29.0 / trained - 1) / (16 - 1);
                       return w(k) / (1 + (large[k] - 1) * growth);
                     },
                     stretch));
  }
  expectScores(lists + "20, attention = none, keep_first = 18>>]",
               [&](int b, int h, int i, int j) {
                 auto angle = [&](int p) {
                   return [=](int k) {
                     return p * (p < 18 ? w(k) : w(k) / large[k]);
                   };
                 };
                 return dot(turn(query(b, h, i), true, 0, 3, angle(at(i))),
                            turn(key(b, h, j), true, 0, 3, angle(j))) /
                        std::sqrt(6.0);
               });
}

TEST_F(FormulaTest, FrequenciesOfTheCall) {
  make(2, 4, 2, 11, 17, 8);
  RealTensor &perHead = table("rope.frequencies", {4, 3});
  auto learned = [&](int b, int h, int i, int j) {
    auto angle = [&](int p) {
      return [=](int k) { return p * perHead.data[h * 3 + k]; };
    };
    return dot(turn(query(b, h, i), true, 0, 3, angle(at(i))),
               turn(key(b, h, j), true, 0, 3, angle(j))) /
           std::sqrt(8.0);
  };
  expectScores("encode [#posenc.rope<frequencies = per_head, dims = 6>]",
               learned);
  RealTensor &list = table("rope.inv_freq", {4});
  expectScores("encode [#posenc.rope<frequencies = operand>]",
               rotary([&](int k) { return list.data[k]; }));
  expectScores("encode [#posenc.rope<exponent = head_dim, dims = 4>]",
               rotary([](int k) { return std::pow(10000, -k / 4.0); }, 1, 0,
                      true, 0, 2));
  expectScores(
      "encode [#posenc.rope<exponent = linspace, pairing = "
      "interleaved, base = 100.0>]",
      rotary([](int k) { return std::pow(100, -k / 3.0); }, 1, 0, false));
}

TEST_F(FormulaTest, Xpos) {
  make(1, 2, 2, 20, 33, 8);
  auto score = [&](double base, double gamma, bool half) {
    return [=](int b, int h, int i, int j) {
      int delta = at(i) - j;
      if (delta < 0)
        return masked;
      return relative(
          b, h, i, j, half, [=](int k) { return delta * w(k); },
          [=](int k) {
            return std::pow((2 * k + gamma * D) / ((1 + gamma) * D),
                            delta / base);
          });
    };
  };
  expectScores("mask(#posenc.causal) encode [#posenc.xpos<scale_base = 16.0, "
               "centre = 11.0>]",
               score(16, 0.4, false));
  expectScores(
      "mask(#posenc.causal) encode [#posenc.xpos<scale_base = 1.0, gamma "
      "= 9.0, rope = <pairing = half>>]",
      score(1, 9, true));
}

TEST_F(FormulaTest, Mrope) {
  make(2, 2, 1, 9, 15, 16);
  std::vector<int64_t> values;
  for (int n = 0; n < 3 * 2 * 15; ++n)
    values.push_back(random() % 40);
  positions("positions", {3, 2, 15}, values);
  auto score = [&](std::function<int(int)> axis) {
    return [=](int b, int h, int i, int j) {
      auto angle = [&](int t) {
        return [=](int k) {
          int a = axis(k);
          return a < 3 ? values[(a * 2 + b) * 15 + t] * w(k) : 0;
        };
      };
      return dot(turn(query(b, h, i), true, 0, 8, angle(at(i))),
                 turn(key(b, h, j), true, 0, 8, angle(j))) /
             4;
    };
  };
  auto spec = [](const std::string &rest) {
    return "positions(#posenc.position_tensor<axes = 3>) encode "
           "[#posenc.mrope<sections = " +
           rest + ">]";
  };
  expectScores(spec("[2, 3, 3]"), score([](int k) {
                 return k < 2 ? 0 : k < 5 ? 1 : 2;
               }));
  expectScores(spec("[4, 2, 2], layout = interleaved"), score([](int k) {
                 return k % 3 == 1 && k < 6 ? 1 : k % 3 == 2 && k < 6 ? 2 : 0;
               }));
  expectScores(spec("[2, 3, 3], layout = interleaved_ggml"),
               score([](int k) { return k % 3 == 0 && k >= 6 ? 3 : k % 3; }));
  // Frequencies that depend on the call are shared out too.
  expectScores(spec("[2, 3, 3], rope = <scaling = #posenc.dynamic_linear<"
                    "original_length = 5>>"),
               [&](int b, int h, int i, int j) {
                 auto angle = [&](int t) {
                   return [=](int k) {
                     int a = k < 2 ? 0 : k < 5 ? 1 : 2;
                     return values[(a * 2 + b) * 15 + t] * w(k) * 5 / 15;
                   };
                 };
                 return dot(turn(query(b, h, i), true, 0, 8, angle(at(i))),
                            turn(key(b, h, j), true, 0, 8, angle(j))) /
                        4;
               });
}

TEST_F(FormulaTest, AxialRope) {
  make(1, 2, 2, 14, 14, 8); // a class token and rows of 5 columns
  auto score = [&](bool half, double base, bool isXFirst, int kind,
                   double offset, int classTokens) {
    return [=](int b, int h, int i, int j) {
      auto angle = [&](int p) {
        return [=](int k) {
          int g = p - classTokens;
          if (g < 0)
            return 0.0;
          double x = g % 5 + offset, y = g / 5 + offset;
          int axis = kind == 3 ? k % 2 : k / 2, m = kind == 3 ? k / 2 : k % 2;
          double exponent = kind == 1 ? k : kind == 2 ? 2 * m + axis : 2 * m;
          return ((axis == 0) == isXFirst ? x : y) *
                 std::pow(base, -exponent / 4);
        };
      };
      return dot(turn(query(b, h, i), half, 0, 4, angle(i)),
                 turn(key(b, h, j), half, 0, 4, angle(j))) /
             std::sqrt(8.0);
    };
  };
  auto spec = [](const std::string &rest) {
    return "encode [#posenc.axial_rope<grid_width = 5, " + rest + ">]";
  };
  expectScores(spec("class_tokens = 1"), score(false, 100, true, 0, 0, 1));
  expectScores(spec("class_tokens = 1, offset = 3"),
               score(false, 100, true, 0, 3, 1));
  expectScores(spec("exponent = continuous"), score(false, 100, true, 1, 0, 0));
  expectScores(spec("layout = interleaved, pairing = half"),
               score(true, 100, true, 3, 0, 0));
  expectScores(spec("preset = \"rope-vit\""), score(false, 100, true, 0, 0, 0));
  expectScores(spec("preset = \"qwen2-vl-vision\", class_tokens = 1"),
               score(true, 10000, false, 0, 0, 1));
  expectScores(spec("preset = \"pixtral\""),
               score(true, 10000, false, 2, 0, 0));
  // Two rows of 5 patches, then the class token and others behind it.
  expectScores(spec("preset = \"llama4-vision\", grid_height = 2"),
               [&](int b, int h, int i, int j) {
                 auto angle = [&](int p) {
                   return [=](int k) {
                     if (p >= 10)
                       return 0.0;
                     int coordinate = k < 2 ? p % 5 + 1 : p / 5 + 1;
                     return coordinate * std::pow(10000, -2.0 * (k % 2) / 4);
                   };
                 };
                 return dot(turn(query(b, h, i), false, 0, 4, angle(i)),
                            turn(key(b, h, j), false, 0, 4, angle(j))) /
                        std::sqrt(8.0);
               });
  std::vector<int64_t> grid(28);
  for (int t = 0; t < 14; ++t)
    grid[t] = t / 5, grid[14 + t] = t % 5;
  positions("positions", {2, 1, 14}, grid);
  expectScores("positions(#posenc.position_tensor<axes = 2>) encode "
               "[#posenc.axial_rope]",
               score(false, 100, true, 0, 0, 0));
}

TEST_F(FormulaTest, MixedRope) {
  make(2, 2, 2, 11, 11, 8);
  RealTensor &fx = table("mixed_rope.fx", {2, 3});
  RealTensor &fy = table("mixed_rope.fy", {2, 3});
  expectScores(
      "encode [#posenc.mixed_rope<grid_width = 4, class_tokens = 1, dims = 6, "
      "placement = last>]",
      [&](int b, int h, int i, int j) {
        auto angle = [&](int p) {
          return [=](int k) {
            return p == 0 ? 0
                          : (p - 1) % 4 * fx.data[h * 3 + k] +
                                (p - 1) / 4 * fy.data[h * 3 + k];
          };
        };
        return dot(turn(query(b, h, i), false, 2, 3, angle(i)),
                   turn(key(b, h, j), false, 2, 3, angle(j))) /
               std::sqrt(8.0);
      });
}

TEST_F(FormulaTest, Fope) {
  make(1, 2, 1, 12, 25, 16);
  // 8 frequencies, of which those of pairs 0 .. 3 turn within 200 tokens.
  ASSERT_TRUE(w(3) >= 2 * pi / 200 && w(4) < 2 * pi / 200);
  RealTensor &cosine = table("fope.cosine", {5, 2, 8});
  RealTensor &sine = table("fope.sine", {5, 2, 8});
  for (int n = 0; n < 5 * 2; ++n)
    for (int k = 4; k < 8; ++k) {
      cosine.data[n * 8 + k] = n / 2 == 4; // the row of the frequency 0
      sine.data[n * 8 + k] = 0;
    }
  auto score = [&](bool isCode) {
    return [=](int b, int h, int i, int j) {
      auto mix = [&](Vector x, int p) {
        for (int k = 0; k < 8; ++k) {
          double c = k < 4 ? cosine.data[(4 * 2 + h) * 8 + k] : 1,
                 s = k < 4 ? 0 : isCode;
          for (int m = 0; m < 4 && k < 4; ++m) {
            c += cosine.data[(m * 2 + h) * 8 + k] * std::cos(p * w(m));
            s += sine.data[(m * 2 + h) * 8 + k] * std::sin(p * w(m));
          }
          double a = x[k], b = x[k + 8];
          x[k] = a * c - b * s;
          x[k + 8] = a * s + b * c;
        }
        return x;
      };
      return dot(mix(query(b, h, i), at(i)), mix(key(b, h, j), j)) / 4;
    };
  };
  expectScores("encode [#posenc.fope<length = 200>]", score(false));
  expectScores("encode [#posenc.fope<length = 200, padding = code>]",
               score(true));
}

TEST_F(FormulaTest, RopeBias) {
  make(2, 2, 1, 10, 18, 8);
  RealTensor &a = table("rope_bias.query", {2, 8});
  RealTensor &b = table("rope_bias.key", {2, 8});
  auto part = [](const RealTensor &t, int h) {
    return Vector(t.data.begin() + h * 8, t.data.begin() + h * 8 + 8);
  };
  auto angle = [&](int p) { return [=](int k) { return p * w(k); }; };
  auto add = [](Vector x, const Vector &y) {
    for (size_t c = 0; c < x.size(); ++c)
      x[c] += y[c];
    return x;
  };
  expectScores("encode [#posenc.rope_bias, #posenc.rope]", [&](int n, int h,
                                                               int i, int j) {
    return dot(turn(add(query(n, h, i), part(a, h)), true, 0, 4, angle(at(i))),
               turn(add(key(n, h, j), part(b, h)), true, 0, 4, angle(j))) /
           std::sqrt(8.0);
  });
  // The same vectors as a bias: a_k and a_{k + 4} are pair k.
  const char *names[] = {"query_first", "query_second", "key_first",
                         "key_second"};
  for (int n = 0; n < 4; ++n) {
    RealTensor &half = table(std::string("rope_bias.") + names[n], {2, 4});
    for (int h = 0; h < 2; ++h)
      for (int k = 0; k < 4; ++k)
        half.data[h * 4 + k] = (n < 2 ? a : b).data[h * 8 + k + (n % 2) * 4];
  }
  for (bool isInside : {false, true})
    expectScores(std::string("encode [#posenc.rope_bias<form = ") +
                     (isInside ? "inside" : "outside") + ">]",
                 [&](int n, int h, int i, int j) {
                   double bias = dot(turn(part(a, h), true, 0, 4, angle(at(i))),
                                     turn(part(b, h), true, 0, 4, angle(j)));
                   double content = dot(query(n, h, i), key(n, h, j));
                   return isInside ? (content + bias) / std::sqrt(8.0)
                                   : content / std::sqrt(8.0) + bias;
                 });
}

TEST_F(FormulaTest, Remaps) {
  make(2, 2, 1, 31, 45, 8);
  auto score = [&](std::function<double(int i, int j)> distance) {
    return [=](int b, int h, int i, int j) {
      if (j > at(i))
        return masked;
      double e = distance(at(i), j);
      return relative(b, h, i, j, true, [&](int k) { return e * w(k); });
    };
  };
  auto spec = [](const std::string &encoding) {
    return "mask(#posenc.causal) encode [#posenc." + encoding + ">]";
  };
  expectScores(spec("rerope<window = 7"),
               score([](int i, int j) { return std::min(i - j, 7); }));
  expectScores(spec("leaky_rerope<window = 7, leak = 3.0"),
               score([](int i, int j) {
                 return i - j < 7 ? i - j : 7 + (i - j - 7) / 3.0;
               }));
  auto grouped = [&](double shift) {
    return score([=](int i, int j) {
      return i - j < 10 ? i - j : i / 4 + 10 - shift - j / 4;
    });
  };
  expectScores(spec("self_extend<group = 4, window = 10"), grouped(2.5));
  expectScores(spec("self_extend<group = 4, window = 10, law = paper"),
               grouped(2));
  // The factor of the scaling is on both products.
  double m = 0.1 * std::log(2.0) + 1;
  auto rerope = score([](int i, int j) { return std::min(i - j, 7); });
  expectScores(
      spec("rerope<window = 7, rope = <scaling = #posenc.yarn<factor "
           "= 2.0, original_length = 1000000000>>"),
      [&](int b, int h, int i, int j) { return m * m * rerope(b, h, i, j); });
}

TEST_F(FormulaTest, Temperatures) {
  make(2, 2, 2, 20, 30, 4);
  std::vector<int64_t> values;
  for (int n = 0; n < 60; ++n)
    values.push_back(3 * n % 41);
  positions("positions", {2, 30}, values);
  auto score = [&](std::function<double(int b, int i)> factor) {
    return [=](int b, int h, int i, int j) {
      return factor(b, at(i)) * dot(query(b, h, i), key(b, h, j)) / 2;
    };
  };
  const std::string tensor = "positions(#posenc.position_tensor) encode ";
  auto logn = [](int n) {
    return std::max(1.0, std::log(n + 1.0) / std::log(8.0));
  };
  expectScores(tensor + "[#posenc.log_n<length = 8>]",
               score([&](int b, int i) { return logn(values[b * 30 + i]); }));
  expectScores(tensor + "[#posenc.log_n<length = 8, law = qwen1>]",
               score([&](int, int i) { return logn(i); }));
  expectScores(
      tensor + "[#posenc.query_temperature<attn_scale = 0.25, floor_scale = "
               "7.0>]",
      score([&](int b, int i) {
        return 1 + 0.25 * std::log(1 + (values[b * 30 + i] + 1) / 7);
      }));
}

} // namespace
