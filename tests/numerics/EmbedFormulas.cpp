// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each encoding of input embeddings as its publication has it.
#include "EmbedCall.h"

#include <cmath>
#include <complex>

using namespace posenc;
using namespace posenc::numerics;
using F = EmbedFormula;

static constexpr double pi = 3.14159265358979323846;

/// Vaswani et al., section 3.5.
static double paperWave(double p, int64_t c, int64_t dim) {
  double t = p * std::pow(10000.0, -2.0 * (c / 2) / dim);
  return c % 2 ? std::cos(t) : std::sin(t);
}

/// tensor2tensor's get_timing_signal_1d.
static double timingSignal(double p, int64_t c, int64_t dim) {
  int64_t half = dim / 2;
  if (c == 2 * half)
    return 0;
  double step = std::log(10000.0) / std::max<int64_t>(half - 1, 1);
  double t = p * std::exp(-step * (c % half));
  return c < half ? std::sin(t) : std::cos(t);
}

/// fairseq's make_positions: ids equal to `padding` are padding.
static double makePosition(const F &f, const char *name, int64_t b, int64_t t,
                           int64_t padding) {
  int64_t count = 0;
  for (int64_t u = 0; u <= t; ++u)
    count += f.integer(name, b, u) != padding;
  return f.integer(name, b, t) != padding ? count + padding : padding;
}

static double rawIndex(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) + 0.25 * (t + 3);
}
static double rawIndexChannel(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) + (c == 2 ? t : 0);
}
static double oneHot(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) + (c == t + 3);
}

static double sinusoidalPaper(const F &f, int64_t b, int64_t t, int64_t c) {
  return std::sqrt(double(f.dim)) * f.x(b, t, c) + paperWave(t, c, f.dim);
}
static double sinusoidalFairseq(const F &f, int64_t b, int64_t t, int64_t c) {
  double p = makePosition(f, "padded_positions.ids", b, t, 1);
  return f.x(b, t, c) + (p == 1 ? 0 : timingSignal(p, c, f.dim));
}
static double sinusoidalTensor(const F &f, int64_t b, int64_t t, int64_t c) {
  // Cosines first, positions from a tensor.
  int64_t half = f.dim / 2;
  double p = f.integer("positions", b, t);
  return f.x(b, t, c) + timingSignal(p, (c + half) % f.dim, f.dim);
}

static double learnedAdd(const F &f, int64_t b, int64_t t, int64_t c) {
  return 2 * f.x(b, t, c) + f.table("learned_absolute.table", t + 2, c, f.dim);
}
static double learnedMul(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) *
         (1 + f.table("e.table", f.integer("positions", b, t), c, f.dim));
}
static double learnedReplace(const F &f, int64_t, int64_t t, int64_t c) {
  // L is that of the ids, since x is not read.
  return f.table("learned_absolute.table", t, c, f.dim);
}
static double learnedMask(const F &f, int64_t b, int64_t t, int64_t c) {
  // Hugging Face: cumsum(mask) - 1, padding at 1.
  int64_t p = -1;
  for (int64_t u = 0; u <= t; ++u)
    p += f.integer("padded_positions.mask", b, u) != 0;
  if (f.integer("padded_positions.mask", b, t) == 0)
    p = 1;
  return f.x(b, t, c) + f.table("learned_absolute.table", p, c, f.dim);
}
static double convSource(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t p = makePosition(f, "padded_positions.ids", b, t, 1);
  return f.x(b, t, c) + f.table("conv_s2s.source", p, c, f.dim);
}
static double convTarget(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) + f.table("conv_s2s.target", t + 2, c, f.dim);
}

enum class Merge { Add, Multiply, Replace };
template <Merge How>
static double hierarchical(const F &f, int64_t b, int64_t t, int64_t c) {
  // bert4keras: PositionEmbedding(hierarchical = 0.4).
  constexpr int64_t n = 7;
  constexpr double alpha = 0.4;
  auto u = [&](int64_t row) {
    return (f.table("hierarchical.table", row, c, f.dim) -
            alpha * f.table("hierarchical.table", 0, c, f.dim)) /
           (1 - alpha);
  };
  double e = alpha * u(t / n) + (1 - alpha) * u(t % n);
  return How == Merge::Add        ? f.x(b, t, c) + e
         : How == Merge::Multiply ? f.x(b, t, c) * (1 + e)
                                  : e;
}

template <int Frequency, int Phase, bool Interleaved>
static double complexOrder(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t n = f.dim / 2;
  int64_t k = Interleaved ? c / 2 : c % n;
  int64_t w = f.integer("complex_order.ids", b, t);
  auto shared = [&](const char *name, int sharing) {
    switch (sharing) {
    case 0:
      return f.table(name, w, k, n);
    case 1:
      return f.table(name, w, 0, 1);
    case 2:
      return f.table(name, 0, k, n);
    case 3:
      return f.table(name, 0, 0, 1);
    default:
      return 0.0;
    }
  };
  double t1 = shared("complex_order.frequency", Frequency) * t +
              shared("complex_order.phase", Phase);
  std::complex<double> z =
      std::polar(1.0, t1) * f.table("complex_order.amplitude", w, k, n);
  return (Interleaved ? c % 2 == 0 : c < n) ? z.real() : z.imag();
}

static double shiftedPaper(const F &f, int64_t b, int64_t t, int64_t c) {
  double k = std::floor(f.uniform(1, b) * 501);
  return f.x(b, t, c) + paperWave(t + k, c, f.dim);
}
static double shiftedCode(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t count = std::min<int64_t>(500, 100 - f.length);
  double k = std::floor(f.uniform(1, b) * count);
  return f.x(b, t, c) + paperWave(t + k, c, f.dim);
}
static double shiftedInference(const F &f, int64_t b, int64_t t, int64_t c) {
  return f.x(b, t, c) + paperWave(t + 500, c, f.dim);
}
static double shiftedOperand(const F &f, int64_t b, int64_t t, int64_t c) {
  double k = f.table("shifted_positions.shift", b, 0, 1);
  return f.x(b, t, c) + paperWave(t + k, c, f.dim);
}

/// The port's formula: a sine with the phase of its channel.
static double capeWave(double q, int64_t c, int64_t dim) {
  return std::sin(q * std::pow(10000.0, -2.0 * (c / 2) / dim) +
                  pi / 2 * (c % 2));
}
static double capeTraining(const F &f, int64_t b, int64_t t, int64_t c) {
  double shift = 5 * (2 * f.uniform(2, b) - 1);
  double own = 0.5 * (2 * f.uniform(3, b * f.length + t) - 1);
  double scale = std::exp(std::log(1.03) * (2 * f.uniform(1, b) - 1));
  double q = (t - (f.length - 1) / 2.0 + shift + own) * scale;
  return f.x(b, t, c) + capeWave(q, c, f.dim);
}
static double capeOperand(const F &f, int64_t b, int64_t t, int64_t c) {
  double q = 0.5 * f.table("cape.positions", b, t, f.length);
  return std::isnan(q) ? f.x(b, t, c)
                       : f.x(b, t, c) + capeWave(3 * q, c, f.dim);
}
static double capePlane(const F &f, double x, double y, double e, int64_t c) {
  int64_t n = f.dim / 2, k = c % n;
  double radius = std::pow(10.0, e);
  double phase =
      pi * radius * (std::cos(double(k)) * x + std::sin(double(k)) * y);
  return c < n ? std::cos(phase) : std::sin(phase);
}
static double cape2DGrid(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t n = f.dim / 2;
  double x = -1 + 2.0 * (t / 5) / 8, y = -1 + 2.0 * (t % 5) / 4;
  return f.x(b, t, c) + capePlane(f, x, y, double(c % n) / (n - 1), c);
}
static double cape2DTraining(const F &f, int64_t b, int64_t t, int64_t c) {
  double scale = std::exp(std::log(1.4) * (2 * f.uniform(1, b) - 1));
  int64_t token = b * f.length + t, n = f.dim / 2;
  auto augment = [&](const char *name, int stream) {
    return (f.table(name, b, t, f.length) +
            0.5 * (2 * f.uniform(stream, b) - 1) +
            0.1 * (2 * f.uniform(stream + 1, token) - 1)) *
           scale;
  };
  double x = augment("cape_2d.x", 2), y = augment("cape_2d.y", 4);
  return f.x(b, t, c) + capePlane(f, x, y, double(c % n + 1) / n, c);
}

static double randomised(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t p = f.integer("randomised_positions.positions", b, t);
  return f.x(b, t, c) + f.table("learned_absolute.table", p, c, f.dim);
}
static double pose(const F &f, int64_t b, int64_t t, int64_t c) {
  int64_t kept = 1 + int64_t(f.uniform(1, b) * ((f.length + 1) / 2));
  int64_t gap = int64_t(f.uniform(2, b) * (1000 - f.length + 1));
  double p = t < kept ? t : t + gap;
  return f.x(b, t, c) + paperWave(p, c, f.dim);
}
static double dropped(const F &f, int64_t b, int64_t t, int64_t c) {
  double y = 3 * f.x(b, t, c) + paperWave(t, c, f.dim) +
             f.table("learned_absolute.table", t, c, f.dim);
  return f.uniform(0, (b * f.length + t) * f.dim + c) < 0.3 ? 0 : y / 0.7;
}

std::vector<EmbedCase> posenc::numerics::getEmbedCases() {
  const std::string paper = "#posenc.sinusoidal<layout = interleaved, "
                            "exponent = over_dim>";
  const std::string ids = "#posenc.padded_positions<source = ids, padding_id = "
                          "1, first = 2, padding = 1>";
  auto encode = [](const std::string &list) { return "encode [" + list + "]"; };
  return {
      {"raw_index",
       "positions(#posenc.iota<offset = 3>) encode [#posenc.raw_index<scale = "
       "0.25>]",
       9, 200, 9, rawIndex},
      {"raw_index of a channel", encode("#posenc.raw_index<channel = 2>"), 5,
       200, 9, rawIndexChannel},
      {"one_hot", encode("#posenc.one_hot<first_dim = 3, width = 60>"), 70, 60,
       9, oneHot},
      {"sinusoidal of the paper", "scale(8.0) " + encode(paper), 64, 200, 9,
       sinusoidalPaper},
      {"sinusoidal of fairseq",
       encode(ids + ", #posenc.sinusoidal<layout = concatenated, exponent = "
                    "over_last, padding_idx = 1>"),
       33, 200, 4, sinusoidalFairseq},
      {"sinusoidal, cosines first",
       "positions(#posenc.position_tensor) " +
           encode("#posenc.sinusoidal<layout = concatenated, exponent = "
                  "over_last, order = cosine_first>"),
       34, 200, 100000, sinusoidalTensor},
      {"sinusoidal, one pair",
       encode("#posenc.sinusoidal<layout = concatenated, exponent = "
              "over_last>, #posenc.raw_index<scale = 0.0>"),
       2, 200, 9,
       [](const F &f, int64_t b, int64_t t, int64_t c) {
         return f.x(b, t, c) + timingSignal(t, c, 2);
       }},
      {"learned_absolute",
       "scale(2.0) " +
           encode("#posenc.learned_absolute<rows = 202, offset = 2>"),
       17, 200, 9, learnedAdd},
      {"learned_absolute, multiplied",
       "positions(#posenc.position_tensor) " +
           encode("#posenc.learned_absolute<rows = 50, merge = mul, name = "
                  "\"e\">"),
       17, 200, 50, learnedMul},
      {"learned_absolute, replaced",
       "scale(3.0) " +
           encode("#posenc.learned_absolute<rows = 200, merge = replace>, "
                  "#posenc.cape<mode = inference, positions = operand, "
                  "frequency_scale = 0.0, name = \"tokens\">"),
       4, 200, 9,
       [](const F &f, int64_t b, int64_t t, int64_t c) {
         return learnedReplace(f, b, t, c) + c % 2;
       }},
      {"padded positions by mask",
       encode("#posenc.padded_positions<source = mask, first = 0, padding = "
              "1>, #posenc.learned_absolute<rows = 200>"),
       6, 200, 2, learnedMask},
      {"conv_s2s source",
       encode(ids +
              ", #posenc.conv_s2s<side = source, rows = 203, offset = 0>"),
       6, 200, 4, convSource},
      {"conv_s2s target", encode("#posenc.conv_s2s<side = target, rows = 202>"),
       6, 200, 4, convTarget},
      {"hierarchical", encode("#posenc.hierarchical<rows = 7>"), 19, 49, 9,
       hierarchical<Merge::Add>},
      {"hierarchical, multiplied",
       encode("#posenc.hierarchical<rows = 7, merge = mul>"), 19, 49, 9,
       hierarchical<Merge::Multiply>},
      {"hierarchical, replaced",
       encode("#posenc.hierarchical<rows = 7, merge = replace>, "
              "#posenc.cape<mode = inference, positions = operand, "
              "frequency_scale = 0.0, name = \"tokens\">"),
       19, 49, 9,
       [](const F &f, int64_t b, int64_t t, int64_t c) {
         return hierarchical<Merge::Replace>(f, b, t, c) + c % 2;
       }},
      {"complex_order",
       encode(
           "#posenc.complex_order<words = 5, frequency = word_and_dimension>"),
       12, 200, 5, complexOrder<0, 4, false>},
      {"complex_order by word",
       encode("#posenc.complex_order<words = 5, frequency = word, phase = "
              "dimension, layout = interleaved>"),
       12, 200, 5, complexOrder<1, 2, true>},
      {"complex_order by dimension",
       encode("#posenc.complex_order<words = 5, frequency = dimension, phase = "
              "word_and_dimension>"),
       12, 200, 5, complexOrder<2, 0, false>},
      {"complex_order, global",
       encode("#posenc.complex_order<words = 5, frequency = global, phase = "
              "global, layout = interleaved>"),
       12, 200, 5, complexOrder<3, 3, true>},
      {"complex_order, added",
       encode("#posenc.complex_order<words = 5, frequency = dimension, phase = "
              "word, merge = add>"),
       12, 200, 5,
       [](const F &f, int64_t b, int64_t t, int64_t c) {
         return f.x(b, t, c) + complexOrder<2, 1, false>(f, b, t, c);
       }},
      {"shifted positions",
       encode("#posenc.shifted_positions<shift = training, law = paper, "
              "max_shift = 500>, " +
              paper),
       8, 200, 9, shiftedPaper},
      {"shifted positions of the code",
       encode("#posenc.shifted_positions<shift = training, law = code, "
              "max_shift = 500, table_rows = 100>, " +
              paper),
       8, 99, 9, shiftedCode},
      {"shifted positions, inference",
       encode("#posenc.shifted_positions<shift = inference, law = code, "
              "max_shift = 500>, " +
              paper),
       8, 200, 9, shiftedInference},
      {"shifted positions, given",
       encode("#posenc.shifted_positions<shift = operand, law = paper>, " +
              paper),
       8, 200, 9, shiftedOperand},
      {"cape, training",
       encode("#posenc.cape<mode = training, mean = removed, max_global_shift "
              "= 5.0, max_local_shift = 0.5, max_global_scaling = 1.03>"),
       15, 200, 9, capeTraining},
      {"cape, given positions",
       encode("#posenc.cape<mode = inference, positions = operand, "
              "position_scale = 0.5, frequency_scale = 3.0>"),
       16, 200, 9, capeOperand},
      {"cape_2d",
       encode("#posenc.cape_2d<mode = inference, radii = linspace, rows = 9, "
              "columns = 5>"),
       20, 45, 9, cape2DGrid},
      {"cape_2d, training",
       encode("#posenc.cape_2d<mode = training, radii = steps, positions = "
              "operand, max_global_shift = 0.5, max_local_shift = 0.1, "
              "max_global_scaling = 1.4>"),
       20, 200, 9, cape2DTraining},
      {"randomised positions",
       encode("#posenc.randomised_positions<range = 64>, "
              "#posenc.learned_absolute<rows = 64>"),
       10, 200, 64, randomised},
      {"pose", encode("#posenc.pose<mode = training, target = 1000>, " + paper),
       10, 200, 9, pose},
      {"pose, inference",
       encode("#posenc.pose<mode = inference, target = 1000>, " + paper), 10,
       200, 9,
       [](const F &f, int64_t b, int64_t t, int64_t c) {
         return f.x(b, t, c) + paperWave(t, c, f.dim);
       }},
      {"dropout of a sum",
       "scale(3.0) dropout(0.3) " +
           encode(paper + ", #posenc.learned_absolute<rows = 200>"),
       34, 200, 9, dropped},
  };
}
