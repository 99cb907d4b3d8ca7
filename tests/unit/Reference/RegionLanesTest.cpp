// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of scalar regions: values, NaN and signed zero.
#include "RegionLanes.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace posenc;
using mlir::arith::CmpFPredicate;
using F = ScalarFunction;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

double apply(F function, llvm::ArrayRef<double> arguments) {
  RegionLanes lanes;
  lanes.reset(0);
  llvm::SmallVector<unsigned> registers;
  for (double argument : arguments)
    registers.push_back(lanes.constant(argument));
  const RegionLanes::Register &result = lanes[lanes.apply(function, registers)];
  EXPECT_TRUE(result.front() == result.back() || std::isnan(result.front()));
  return result.front();
}

bool compare(CmpFPredicate predicate, double x, double y) {
  RegionLanes lanes;
  lanes.reset(0);
  unsigned a = lanes.constant(x), b = lanes.constant(y);
  return lanes[lanes.compare(predicate, a, b)].front() != 0;
}

TEST(RegionLanesTest, Functions) {
  EXPECT_EQ(apply(F::Neg, {2.5}), -2.5);
  EXPECT_EQ(apply(F::Abs, {-2.5}), 2.5);
  EXPECT_EQ(apply(F::Ceil, {-2.5}), -2);
  EXPECT_EQ(apply(F::Floor, {-2.5}), -3);
  EXPECT_EQ(apply(F::Trunc, {-2.5}), -2);
  EXPECT_DOUBLE_EQ(apply(F::Cos, {1.25}), std::cos(1.25));
  EXPECT_DOUBLE_EQ(apply(F::Sin, {1.25}), std::sin(1.25));
  EXPECT_DOUBLE_EQ(apply(F::Tan, {1.25}), std::tan(1.25));
  EXPECT_DOUBLE_EQ(apply(F::Tanh, {1.25}), std::tanh(1.25));
  EXPECT_DOUBLE_EQ(apply(F::Erf, {1.25}), std::erf(1.25));
  EXPECT_DOUBLE_EQ(apply(F::Exp, {1.25}), std::exp(1.25));
  EXPECT_EQ(apply(F::Exp2, {3}), 8);
  EXPECT_EQ(apply(F::Expm1, {1e-20}), 1e-20);
  EXPECT_DOUBLE_EQ(apply(F::Log, {1.25}), std::log(1.25));
  EXPECT_EQ(apply(F::Log1p, {1e-20}), 1e-20);
  EXPECT_EQ(apply(F::Log2, {8}), 3);
  EXPECT_EQ(apply(F::Sqrt, {2.25}), 1.5);
  EXPECT_EQ(apply(F::Rsqrt, {4}), 0.5);
  EXPECT_EQ(apply(F::Add, {2, 3}), 5);
  EXPECT_EQ(apply(F::Sub, {2, 3}), -1);
  EXPECT_EQ(apply(F::Mul, {2, 3}), 6);
  EXPECT_EQ(apply(F::Div, {3, 2}), 1.5);
  EXPECT_EQ(apply(F::Pow, {2, -3}), 0.125);
  EXPECT_EQ(apply(F::Copysign, {2, -0.0}), -2);
  EXPECT_EQ(apply(F::Fma, {2, 3, 4}), 10);
  EXPECT_EQ(apply(F::Log, {0}), -infinity);
  EXPECT_TRUE(std::isnan(apply(F::Sqrt, {-1})));
}

TEST(RegionLanesTest, ExtremaOfNaNAndZeros) {
  for (auto [x, y] : {std::pair(1.0, nan), std::pair(nan, 1.0)}) {
    EXPECT_TRUE(std::isnan(apply(F::Maximum, {x, y})));
    EXPECT_TRUE(std::isnan(apply(F::Minimum, {x, y})));
    EXPECT_EQ(apply(F::Maxnum, {x, y}), 1);
    EXPECT_EQ(apply(F::Minnum, {x, y}), 1);
  }
  for (auto [x, y] : {std::pair(0.0, -0.0), std::pair(-0.0, 0.0)}) {
    EXPECT_FALSE(std::signbit(apply(F::Maximum, {x, y})));
    EXPECT_TRUE(std::signbit(apply(F::Minimum, {x, y})));
  }
  EXPECT_EQ(apply(F::Maximum, {-infinity, 3}), 3);
  EXPECT_EQ(apply(F::Minimum, {-infinity, 3}), -infinity);
}

TEST(RegionLanesTest, TruthValues) {
  for (bool x : {false, true})
    for (bool y : {false, true}) {
      EXPECT_EQ(apply(F::And, {double(x), double(y)}), x && y);
      EXPECT_EQ(apply(F::Or, {double(x), double(y)}), x || y);
      EXPECT_EQ(apply(F::Xor, {double(x), double(y)}), x != y);
    }
}

TEST(RegionLanesTest, Comparisons) {
  using P = CmpFPredicate;
  struct Case {
    P predicate;
    bool less, equal, greater, unordered;
  };
  for (const Case &c : {Case{P::AlwaysFalse, false, false, false, false},
                        {P::OEQ, false, true, false, false},
                        {P::OGT, false, false, true, false},
                        {P::OGE, false, true, true, false},
                        {P::OLT, true, false, false, false},
                        {P::OLE, true, true, false, false},
                        {P::ONE, true, false, true, false},
                        {P::ORD, true, true, true, false},
                        {P::UEQ, false, true, false, true},
                        {P::UGT, false, false, true, true},
                        {P::UGE, false, true, true, true},
                        {P::ULT, true, false, false, true},
                        {P::ULE, true, true, false, true},
                        {P::UNE, true, false, true, true},
                        {P::UNO, false, false, false, true},
                        {P::AlwaysTrue, true, true, true, true}}) {
    llvm::StringRef name = mlir::arith::stringifyCmpFPredicate(c.predicate);
    EXPECT_EQ(compare(c.predicate, 1, 2), c.less) << name.str();
    EXPECT_EQ(compare(c.predicate, 2, 2), c.equal) << name.str();
    EXPECT_EQ(compare(c.predicate, 3, 2), c.greater) << name.str();
    EXPECT_EQ(compare(c.predicate, nan, 2), c.unordered) << name.str();
  }
}

TEST(RegionLanesTest, SelectTakesEachElement) {
  RegionLanes lanes;
  lanes.reset(3);
  for (int64_t i = 0; i < RegionLanes::width; ++i) {
    lanes[0][i] = i % 3 == 0;
    lanes[1][i] = i;
    lanes[2][i] = nan;
  }
  const RegionLanes::Register &result = lanes[lanes.select(0, 1, 2)];
  for (int64_t i = 0; i < RegionLanes::width; ++i)
    if (i % 3 == 0)
      EXPECT_EQ(result[i], i);
    else
      EXPECT_TRUE(std::isnan(result[i]));
}

} // namespace
