// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accuracy rule of kernels.
#include "posenc/Reference/Accuracy.h"

#include "Call.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace posenc;

/// The part of the allowance that does not depend on the values' magnitude.
static double getScoreAllowance(double maxScore) {
  return 2e-6 + 8 * std::ldexp(1.0, -24) * maxScore;
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Numbers of this magnitude and beyond round to an infinity of the type whose
/// roundoff that is: f16, bf16 or, without any, f32.
static double getOverflow(double roundoff) {
  double half = roundoff ? roundoff / 2 : 0x1p-25;
  return std::ldexp(1 - half, roundoff == 0x1p-11 ? 16 : 128);
}

/// How far apart the numbers are. An infinity that was not asked for is as near
/// as the nearest number that rounds to it.
static double getError(double got, double wanted, double overflow) {
  if (got == wanted)
    return 0;
  if (std::isinf(got) && std::isfinite(wanted))
    return std::max(overflow - (got > 0 ? wanted : -wanted), 0.0);
  double error = std::abs(got - wanted);
  return std::isnan(error) ? infinity : error;
}

template <typename T>
static Accuracy measure(const RealTensor &wanted, ArrayRef<T> got,
                        double overflow,
                        function_ref<double(int64_t)> getAllowed) {
  assert(got.size() == wanted.data.size() && "arrays of different sizes");
  Accuracy worst;
  int64_t at = -1;
  for (int64_t i = 0, e = got.size(); i < e; ++i) {
    if (std::isnan(wanted.data[i]) && std::isnan(got[i]))
      continue;
    double allowed = getAllowed(i);
    double error = getError(got[i], wanted.data[i], overflow);
    double ratio = error == 0 ? 0 : error / allowed;
    // Also when an infinity or a NaN took part.
    if (!std::isfinite(ratio))
      ratio = infinity;
    if (at >= 0 && ratio <= worst.ratio)
      continue;
    at = i;
    worst.ratio = ratio;
    worst.error = error;
    worst.got = got[i];
    worst.wanted = wanted.data[i];
    worst.allowed = allowed;
  }
  if (at < 0)
    return worst;
  worst.index.resize(wanted.shape.size());
  for (size_t axis = wanted.shape.size(); axis-- > 0;) {
    worst.index[axis] = at % wanted.shape[axis];
    at /= wanted.shape[axis];
  }
  return worst;
}

/// The relative root mean square error, of what is finite.
static Accuracy measureAll(const RealTensor &wanted, ArrayRef<float> got,
                           double allowed) {
  double errors = 0, squares = 0;
  for (auto [want, have] : zip_equal(wanted.data, got)) {
    if (!std::isfinite(want) || !std::isfinite(have))
      continue;
    errors += (have - want) * (have - want);
    squares += want * want;
  }
  Accuracy all;
  all.isOfAll = true;
  all.got = squares ? std::sqrt(errors / squares) : 0;
  all.allowed = allowed;
  all.ratio = all.got / allowed;
  return all;
}

Accuracy posenc::measureOutput(const ReferenceOutputs &reference,
                               ArrayRef<float> o, Rounding rounding) {
  int64_t width = reference.o.shape.back();
  // Below the normal numbers of f16 the error is absolute.
  double smallest = rounding.outputs ? std::ldexp(1.0, -25) : 0;
  double overflow = getOverflow(rounding.outputs);
  Accuracy worst = measure(reference.o, o, overflow, [&](int64_t element) {
    int64_t row = element / width;
    double allowed =
        (getScoreAllowance(reference.maxScore.data[row]) + rounding.weights) *
        reference.maxValue.data[row];
    if (allowed == 0) // a row that sees no key
      return 0.0;
    return allowed +
           rounding.outputs * getFiniteMagnitude(reference.o.data[element]) +
           smallest;
  });
  // Of few numbers it is as large as chance has it.
  constexpr size_t kFewNumbers = 1 << 16;
  if (rounding.weights == 0 || o.size() < kFewNumbers)
    return worst;
  Accuracy all = measureAll(reference.o, o, 2.5e-3);
  return all.ratio > worst.ratio ? all : worst;
}

Accuracy posenc::measureLse(const ReferenceOutputs &reference,
                            ArrayRef<float> lse) {
  return measure(reference.lse, lse, getOverflow(0), [&](int64_t row) {
    return getScoreAllowance(reference.maxScore.data[row]);
  });
}

/// The greatest magnitude of the finite numbers of each row.
static std::vector<double> findGreatest(const RealTensor &reference) {
  int64_t dim = reference.shape.back();
  if (dim == 0)
    return {};
  std::vector<double> greatest(reference.data.size() / dim, 0.0);
  for (auto [i, wanted] : enumerate(reference.data))
    greatest[i / dim] = std::max(greatest[i / dim], getFiniteMagnitude(wanted));
  return greatest;
}

Accuracy posenc::measureCache(const RealTensor &reference,
                              ArrayRef<float> cache, double roundoff) {
  int64_t dim = reference.shape.back();
  std::vector<double> greatest = findGreatest(reference);
  double smallest = roundoff ? std::ldexp(1.0, -25) : 0;
  return measure(reference, cache, getOverflow(roundoff), [&](int64_t i) {
    return 2e-6 * greatest[i / dim] +
           roundoff * getFiniteMagnitude(reference.data[i]) + smallest;
  });
}

Accuracy posenc::measureCodes(const RealTensor &reference,
                              ArrayRef<float> codes, bool areIntegers) {
  return measure(reference, codes, infinity, [&](int64_t i) {
    // f8E4M3FN has 3 bits behind the first, which is worth 2^-6 at least.
    double magnitude = std::max(std::abs(reference.data[i]), 0x1p-6);
    return areIntegers ? 1.0 : std::exp2(std::floor(std::log2(magnitude)) - 3);
  });
}

Accuracy posenc::measureScales(const RealTensor &reference,
                               ArrayRef<float> scales) {
  return measure(reference, scales, getOverflow(0),
                 [&](int64_t i) { return 4e-6 * std::abs(reference.data[i]); });
}

Accuracy posenc::measureState(const RealTensor &reference,
                              const RealTensor &bound, ArrayRef<float> state) {
  return measure(reference, state, getOverflow(0),
                 [&](int64_t i) { return 2e-6 * bound.data[i]; });
}

Accuracy posenc::measureEmbed(const RealTensor &reference, ArrayRef<float> y) {
  int64_t dim = reference.shape.back();
  std::vector<double> greatest = findGreatest(reference);
  return measure(reference, y, getOverflow(0), [&](int64_t i) {
    return std::ldexp(std::abs(reference.data[i]), -23) +
           std::ldexp(1 + greatest[i / dim], -36);
  });
}

Accuracy posenc::measureEmbed(const RealTensor &reference, ArrayRef<double> y) {
  int64_t dim = reference.shape.back();
  std::vector<double> greatest = findGreatest(reference);
  return measure(reference, y, infinity, [&](int64_t i) {
    return std::ldexp(1 + greatest[i / dim], -36);
  });
}

std::string Accuracy::describe(StringRef name) const {
  std::string text;
  raw_string_ostream stream(text);
  if (isOfAll) {
    stream << name << " has a relative root mean square error of "
           << format("%.3g", got) << ", but at most " << format("%.3g", allowed)
           << " is allowed (ratio " << format("%.3g", ratio) << ")";
    return text;
  }
  stream << name << '[';
  interleaveComma(index, stream);
  stream << "] is " << format("%.9g", got) << ", but the reference is "
         << format("%.9g", wanted) << " +- " << format("%.3g", allowed)
         << " (ratio " << format("%.3g", ratio) << ")";
  return text;
}
