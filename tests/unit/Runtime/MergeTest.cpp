// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_merge: against the formula in double precision, bit by bit where the
// result is known, and called in every wrong way.
#include "FailingAllocator.h"

#include "posenc/posenc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace {

using namespace posenc_test;

constexpr DLDataType f32 = {kDLFloat, 32, 1};
constexpr DLDataType f16 = {kDLFloat, 16, 1};
constexpr DLDataType bf16 = {kDLBfloat, 16, 1};
constexpr DLDataType types[] = {f32, f16, bf16};
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

/// The value of a 16-bit pattern, slowly.
double decode(uint16_t bits, int exponentBits) {
  int mantissaBits = 15 - exponentBits;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits & 0x7fff) >> mantissaBits;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1)
    return mantissa ? nan : sign * inf;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits),
                           exponent - bias - mantissaBits);
}

int exponentBitsOf(DLDataType type) { return type.code == kDLBfloat ? 8 : 5; }

/// A tensor whose elements lie anywhere in a buffer of 0xa5.
class Numbers {
public:
  enum Layout { COMPACT, SPREAD, SWAPPED };

  Numbers(std::vector<int64_t> extents, DLDataType type,
          Layout layout = COMPACT)
      : shape(std::move(extents)), itemBytes(type.bits / 8u) {
    size_t rank = shape.size();
    strides.resize(rank);
    // The innermost axis last; SWAPPED has the first two exchanged.
    std::vector<size_t> order(rank);
    for (size_t i = 0; i < rank; ++i)
      order[i] = i;
    if (layout == SWAPPED)
      std::swap(order[0], order[1]);
    int64_t stride = layout == SPREAD ? 3 : 1;
    for (size_t i = rank; i-- > 0;) {
      strides[order[i]] = stride;
      stride *= std::max<int64_t>(shape[order[i]], 1);
      stride += layout == SPREAD ? 5 : 0;
    }
    size_t before = layout == COMPACT ? 0 : 8 * itemBytes;
    memory.assign(static_cast<size_t>(stride) * itemBytes + before + 64, 0xa5);
    value = {};
    value.data = memory.data();
    value.device = {kDLCPU, 0};
    value.ndim = static_cast<int32_t>(rank);
    value.dtype = type;
    value.shape = shape.data();
    value.strides = layout == COMPACT ? nullptr : strides.data();
    value.byte_offset = before;
  }
  Numbers(const Numbers &) = delete;
  Numbers &operator=(const Numbers &) = delete;

  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }

  /// Where the element is that has this number in logical order.
  unsigned char *at(int64_t number) {
    int64_t offset = 0;
    for (size_t i = shape.size(); i-- > 0;) {
      offset += number % shape[i] * strides[i];
      number /= shape[i];
    }
    return memory.data() + value.byte_offset +
           static_cast<size_t>(offset) * itemBytes;
  }

  uint32_t bits(int64_t number) {
    uint32_t result = 0;
    std::memcpy(&result, at(number), itemBytes);
    return result;
  }

  void setBits(int64_t number, uint32_t pattern) {
    std::memcpy(at(number), &pattern, itemBytes);
  }

  void setF32(int64_t number, double x) {
    float rounded = static_cast<float>(x);
    std::memcpy(at(number), &rounded, sizeof(rounded));
  }

  double get(int64_t number) {
    if (itemBytes == 2)
      return decode(static_cast<uint16_t>(bits(number)),
                    exponentBitsOf(value.dtype));
    float x;
    std::memcpy(&x, at(number), sizeof(x));
    return static_cast<double>(x);
  }

  /// Finite numbers of moderate size.
  void fill(std::mt19937 &random) {
    std::uniform_real_distribution<float> uniform(-4, 4);
    for (int64_t i = 0; i < size(); ++i) {
      if (itemBytes == 4)
        setF32(i, static_cast<double>(uniform(random)));
      else if (value.dtype.code == kDLBfloat) // 2^-27 to 2
        setBits(i, (random() & 0x807f) | (100 + random() % 28) << 7);
      else // subnormal to 4
        setBits(i, (random() & 0x83ff) | (random() % 17) << 10);
    }
  }

  /// Bytes that belong to no element are what they were.
  bool isUntouchedBetween() {
    std::vector<unsigned char> copy = memory;
    for (int64_t i = 0; i < size(); ++i)
      std::memset(copy.data() + (at(i) - memory.data()), 0xa5, itemBytes);
    return copy == std::vector<unsigned char>(copy.size(), 0xa5);
  }

  std::vector<int64_t> shape, strides;
  std::vector<unsigned char> memory;
  size_t itemBytes;
  DLTensor value;
};

using Layout = Numbers::Layout;
using Owner = std::unique_ptr<Numbers>;

/// A call with everything it needs.
class Call {
public:
  Call(std::vector<int64_t> shape, int64_t count, DLDataType type = f32,
       Layout layout = Numbers::COMPACT, int64_t sinkCount = 0,
       DLDataType partType = {0, 0, 0})
      : rows(shape.begin(), shape.end() - 1), columns(shape.back()),
        random(static_cast<unsigned>(count * 97 + columns)) {
    if (partType.bits == 0)
      partType = type;
    o = std::make_unique<Numbers>(shape, type, layout);
    lse = std::make_unique<Numbers>(rows, f32, layout);
    std::normal_distribution<double> normal(0, 3);
    for (int64_t i = 0; i < count; ++i) {
      oParts.push_back(std::make_unique<Numbers>(shape, partType, layout));
      oParts.back()->fill(random);
      lseParts.push_back(std::make_unique<Numbers>(rows, f32, layout));
      for (int64_t r = 0; r < lse->size(); ++r)
        lseParts.back()->setF32(r, normal(random));
    }
    if (sinkCount) {
      Layout sinkLayout = layout == Numbers::SPREAD ? layout : Numbers::COMPACT;
      sinks = std::make_unique<Numbers>(std::vector<int64_t>{sinkCount}, f32,
                                        sinkLayout);
      for (int64_t h = 0; h < sinkCount; ++h)
        sinks->setF32(h, normal(random));
    }
    connect();
  }

  /// After tensors were replaced.
  void connect() {
    oPointers.clear();
    lsePointers.clear();
    for (Owner &part : oParts)
      oPointers.push_back(&part->value);
    for (Owner &part : lseParts)
      lsePointers.push_back(&part->value);
    args = {};
    args.size = sizeof(args);
    args.count = static_cast<int64_t>(oParts.size());
    args.o_parts = oPointers.data();
    args.lse_parts = lsePointers.data();
    args.sinks = sinks ? &sinks->value : nullptr;
    args.o = &o->value;
    args.lse = &lse->value;
  }

  posenc_status merge(posenc_pool *pool = nullptr) {
    call.pool = pool;
    return posenc_merge(&args, &call);
  }

  void expectOk(posenc_pool *pool = nullptr) {
    ASSERT_EQ(POSENC_OK, merge(pool)) << posenc_last_error();
  }

  /// Compares with the formula; half a unit in the last place is allowed.
  void expectFormula() {
    for (int64_t r = 0; r < lse->size(); ++r) {
      double largest = -inf, total = 0;
      std::vector<double> weights;
      for (Owner &part : lseParts)
        largest = std::max(largest, part->get(r));
      double sink = sinks ? sinkOf(r) : -inf;
      largest = std::max(largest, sink);
      for (Owner &part : lseParts)
        weights.push_back(largest > -inf ? std::exp(part->get(r) - largest)
                                         : 0);
      for (double weight : weights)
        total += weight;
      if (sink > -inf)
        total += std::exp(sink - largest);
      expectNear(largest > -inf ? largest + std::log(total) : -inf, 1,
                 lse->get(r), f32);
      for (int64_t c = 0; c < columns; ++c) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < weights.size(); ++i) {
          double x = oParts[i]->get(r * columns + c);
          sum += weights[i] > 0 ? weights[i] * x : 0;
          size = std::max(size, std::fabs(x));
        }
        expectNear(total > 0 ? sum / total : 0, size, o->get(r * columns + c),
                   o->value.dtype);
        if (::testing::Test::HasFailure())
          FAIL() << "row " << r << ", column " << c;
      }
    }
    EXPECT_TRUE(o->isUntouchedBetween());
    EXPECT_TRUE(lse->isUntouchedBetween());
  }

  static void expectNear(double expected, double size, double actual,
                         DLDataType type) {
    if (std::isinf(expected)) {
      EXPECT_EQ(expected, actual);
      return;
    }
    double relative = type.bits == 32          ? 0x1p-24
                      : type.code == kDLBfloat ? 0x1p-9
                                               : 0x1p-12;
    double smallest = type.code == kDLBfloat || type.bits == 32 ? 0 : 0x1p-25;
    double bound = std::max(std::fabs(expected) * relative * 2, smallest);
    EXPECT_LE(std::fabs(expected - actual), bound * (1 + 1e-6) + size * 1e-14)
        << expected << " " << actual;
  }

  double sinkOf(int64_t r) {
    int64_t inner = 1;
    for (size_t i = 2; i < rows.size(); ++i)
      inner *= rows[i];
    return sinks->get(sinks->size() == 1 ? 0 : r / inner % rows[1]);
  }

  std::vector<int64_t> rows;
  int64_t columns;
  std::mt19937 random;
  Owner o, lse, sinks;
  std::vector<Owner> oParts, lseParts;
  std::vector<const DLTensor *> oPointers, lsePointers;
  posenc_merge_args args;
  posenc_call call = POSENC_CALL_INIT;
};

using PoolOwner = std::unique_ptr<posenc_pool, decltype(&posenc_pool_destroy)>;

PoolOwner makePool(int32_t threads) {
  posenc_pool *pool = nullptr;
  EXPECT_EQ(POSENC_OK, posenc_pool_create(threads, &pool));
  return PoolOwner(pool, posenc_pool_destroy);
}

TEST(MergeTest, SizesAndTypes) {
  for (int64_t count : {0, 1, 2, 7})
    for (int64_t length : {0, 1, 3, 65})
      for (int64_t width : {0, 1, 3, 65})
        for (DLDataType type : types)
          for (Layout layout :
               {Numbers::COMPACT, Numbers::SPREAD, Numbers::SWAPPED}) {
            Call c({2, 3, length, width}, count, type, layout);
            c.expectOk();
            c.expectFormula();
            if (HasFailure())
              FAIL() << count << " parts, " << length << " rows of " << width;
          }
}

TEST(MergeTest, RanksAndSinks) {
  const std::vector<std::vector<int64_t>> shapes = {
      {5, 3, 4}, {2, 3, 5, 4}, {2, 3, 2, 2, 4}, {2, 3, 2, 1, 2, 4}};
  for (const std::vector<int64_t> &shape : shapes)
    for (int64_t sinks : {1, 3})
      for (Layout layout :
           {Numbers::COMPACT, Numbers::SPREAD, Numbers::SWAPPED})
        for (int64_t count : {0, 1, 4}) {
          Call c(shape, count, f32, layout, sinks);
          c.expectOk();
          c.expectFormula();
        }
}

TEST(MergeTest, TypesMayDiffer) {
  for (DLDataType type : types)
    for (DLDataType partType : types) {
      Call c({2, 2, 3, 9}, 3, type, Numbers::SPREAD, 0, partType);
      c.oParts[1] = std::make_unique<Numbers>(c.o->shape, f32);
      c.oParts[1]->fill(c.random);
      c.connect();
      c.expectOk();
      c.expectFormula();
    }
}

TEST(MergeTest, RepeatedInputs) {
  Call c({2, 3, 4, 5}, 2);
  std::vector<int64_t> none(4, 0);
  c.oParts[0]->value.strides = none.data();
  c.lseParts[1]->value.strides = none.data();
  c.expectOk();
  c.oParts[0]->strides = none;
  c.lseParts[1]->strides = {0, 0, 0};
  c.expectFormula();
}

TEST(MergeTest, StridesOfSingleElementsMeanNothing) {
  Call c({1, 1, 3, 1}, 2, f32, Numbers::COMPACT, 1);
  std::vector<int64_t> garbage = {INT64_MIN, -7, 1, INT64_MAX};
  for (Numbers *tensor : {c.o.get(), c.lse.get(), c.oParts[0].get(),
                          c.lseParts[0].get(), c.sinks.get()})
    tensor->value.strides = garbage.data();
  c.expectOk();
  c.expectFormula();
}

TEST(MergeTest, EmptyTensorsNeedNoData) {
  for (size_t axis = 0; axis < 4; ++axis) {
    std::vector<int64_t> shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
    shape[axis] = 0;
    Numbers small({1, 1, 1, 1}, f32), smallLse({1, 1, 1}, f32);
    small.value.shape = smallLse.value.shape = shape.data();
    small.value.data = nullptr;
    const DLTensor *o[] = {&small.value}, *lse[] = {&smallLse.value};
    std::vector<int64_t> any = {INT64_MAX, -1, INT64_MIN, 0};
    small.value.strides = any.data();
    std::vector<int64_t> repeated = {0, 0, 0};
    smallLse.value.strides = repeated.data();
    posenc_merge_args args = {sizeof(args), 1,      o, lse, nullptr,
                              &small.value, nullptr};
    EXPECT_EQ(POSENC_OK, posenc_merge(&args, nullptr)) << posenc_last_error();
  }
}

TEST(MergeTest, LseIsOptional) {
  Call with({2, 3, 4, 5}, 3), without({2, 3, 4, 5}, 3);
  without.args.lse = nullptr;
  with.expectOk();
  without.expectOk();
  EXPECT_EQ(with.o->memory, without.o->memory);
}

/// One row of two columns of one head and a lse for each part.
void setRow(Call &c, std::vector<double> lses, std::vector<double> values) {
  for (size_t i = 0; i < lses.size(); ++i) {
    c.lseParts[i]->setF32(0, lses[i]);
    for (int64_t column = 0; column < c.columns; ++column)
      c.oParts[i]->setF32(column, values[i]);
  }
}

TEST(MergeTest, SinkCountsOnce) {
  Call c({1, 1, 1, 2}, 3, f32, Numbers::COMPACT, 1);
  double third = std::log(3.0);
  setRow(c, {0, 0, 0}, {1, 2, 6});
  c.sinks->setF32(0, third);
  c.expectOk();
  EXPECT_NEAR(1.5, c.o->get(0), 1e-6);
  EXPECT_NEAR(std::log(6.0), c.lse->get(0), 1e-6);
}

TEST(MergeTest, RowsWithoutKeys) {
  for (int64_t sinks : {0, 1})
    for (int64_t count : {0, 1, 3}) {
      Call c({1, 1, 1, 2}, count, f32, Numbers::COMPACT, sinks);
      setRow(c, std::vector<double>(static_cast<size_t>(count), -inf),
             std::vector<double>(static_cast<size_t>(count), nan));
      if (sinks)
        c.sinks->setF32(0, 0.75);
      c.expectOk();
      EXPECT_EQ(0u, c.o->bits(0));
      EXPECT_EQ(0u, c.o->bits(1));
      EXPECT_EQ(sinks ? 0.75 : -inf, c.lse->get(0));
    }
}

TEST(MergeTest, PartsThatWeighNothingAreNotLookedAt) {
  Call c({1, 1, 1, 2}, 3);
  for (double nothing : {-inf, -1000.0}) {
    setRow(c, {nothing, 0.5, nothing}, {nan, 3, inf});
    c.expectOk();
    EXPECT_EQ(3, c.o->get(1));
    EXPECT_EQ(0.5, c.lse->get(0));
  }
  // What weighs little does count.
  setRow(c, {-700, 0.5, -inf}, {nan, 3, 1});
  c.expectOk();
  EXPECT_TRUE(std::isnan(c.o->get(1)));
  setRow(c, {-700, 0.5, -inf}, {inf, 3, 1});
  c.expectOk();
  EXPECT_EQ(inf, c.o->get(1));
}

TEST(MergeTest, SinkOfMinusInfinityIsNone) {
  Call c({1, 1, 1, 2}, 2, f32, Numbers::COMPACT, 1);
  setRow(c, {1, 1}, {2, 4});
  c.sinks->setF32(0, -inf);
  c.expectOk();
  EXPECT_EQ(3, c.o->get(0));
  setRow(c, {-inf, -inf}, {2, 4});
  c.expectOk();
  EXPECT_EQ(0, c.o->get(0));
  EXPECT_EQ(-inf, c.lse->get(0));
}

TEST(MergeTest, NanPropagates) {
  for (size_t bad = 0; bad < 3; ++bad)
    for (double other : {-inf, 1.0, inf}) {
      Call c({1, 1, 1, 2}, 2, f32, Numbers::COMPACT, 1);
      std::vector<double> lses = {other, other, other};
      lses[bad] = nan;
      setRow(c, {lses[0], lses[1]}, {1, 1});
      c.sinks->setF32(0, lses[2]);
      c.expectOk();
      EXPECT_TRUE(std::isnan(c.o->get(0)));
      EXPECT_TRUE(std::isnan(c.o->get(1)));
      EXPECT_TRUE(std::isnan(c.lse->get(0)));
    }
  Call none({1, 1, 1, 2}, 0, bf16, Numbers::COMPACT, 1);
  none.sinks->setF32(0, nan);
  none.expectOk();
  EXPECT_TRUE(std::isnan(none.o->get(0)));
}

TEST(MergeTest, PlusInfinity) {
  Call c({1, 1, 1, 2}, 3, f32, Numbers::COMPACT, 1);
  c.sinks->setF32(0, 100);
  setRow(c, {inf, 5, inf}, {2, nan, 4});
  c.expectOk();
  EXPECT_EQ(3, c.o->get(0));
  EXPECT_EQ(inf, c.lse->get(0));
  c.sinks->setF32(0, inf);
  c.expectOk();
  EXPECT_EQ(2, c.o->get(0));
  setRow(c, {1, 5, -inf}, {2, 3, 4});
  c.expectOk();
  EXPECT_EQ(0, c.o->get(0));
  EXPECT_EQ(inf, c.lse->get(0));
}

TEST(MergeTest, LargeLogarithms) {
  for (double base : {-3e38, -1e5, 1e5, 3e38}) {
    Call c({1, 1, 1, 2}, 2);
    setRow(c, {base, base}, {1, 2});
    c.expectOk();
    EXPECT_EQ(1.5, c.o->get(0));
    EXPECT_NEAR(1, c.lse->get(0) / base, 1e-5);
  }
  Call c({1, 1, 1, 2}, 2);
  setRow(c, {3e38, -3e38}, {1, 2});
  c.expectOk();
  EXPECT_EQ(1, c.o->get(0));
}

TEST(MergeTest, MeansOfTheLargestNumbersAreFinite) {
  double largest = static_cast<double>(std::numeric_limits<float>::max());
  Call c({1, 1, 1, 2}, 7);
  setRow(c, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
         std::vector<double>(7, largest));
  c.expectOk();
  EXPECT_EQ(largest, c.o->get(0));
}

TEST(MergeTest, InPlace) {
  for (DLDataType type : types)
    for (Layout layout : {Numbers::COMPACT, Numbers::SPREAD, Numbers::SWAPPED})
      for (size_t place : {0u, 1u, 2u}) {
        // More columns than are summed at a time.
        Call apart({2, 3, 3, 600}, 3, type, layout, 3);
        Call within({2, 3, 3, 600}, 3, type, layout, 3);
        apart.expectOk();
        within.args.o = &within.oParts[place]->value;
        within.args.lse = &within.lseParts[place]->value;
        within.expectOk();
        EXPECT_EQ(apart.o->memory, within.oParts[place]->memory);
        EXPECT_EQ(apart.lse->memory, within.lseParts[place]->memory);
      }
}

TEST(MergeTest, OnePartAfterTheOther) {
  Call all({2, 2, 5, 33}, 7);
  Call ring({2, 2, 5, 33}, 7);
  all.expectOk();
  // The first part becomes the running result.
  Numbers &o = *ring.oParts[0], &lse = *ring.lseParts[0];
  ring.args.o = &o.value;
  ring.args.lse = &lse.value;
  for (size_t i = 1; i < 7; ++i) {
    const DLTensor *two[] = {&o.value, ring.oPointers[i]};
    const DLTensor *twoLse[] = {&lse.value, ring.lsePointers[i]};
    ring.args.count = 2;
    ring.args.o_parts = two;
    ring.args.lse_parts = twoLse;
    ring.expectOk();
  }
  for (int64_t i = 0; i < o.size(); ++i)
    ASSERT_NEAR(all.o->get(i), o.get(i), 8 * 4 * 0x1p-23);
}

TEST(MergeTest, ThreadsDoNotMatter) {
  PoolOwner pool = makePool(4);
  for (DLDataType type : types) {
    Call one({3, 5, 67, 65}, 7, type, Numbers::SWAPPED, 5);
    Call four({3, 5, 67, 65}, 7, type, Numbers::SWAPPED, 5);
    one.expectOk();
    one.expectFormula();
    for (int i = 0; i < 5; ++i) {
      std::fill_n(four.o->at(0), 4, 0);
      four.expectOk(pool.get());
      EXPECT_EQ(one.o->memory, four.o->memory);
      EXPECT_EQ(one.lse->memory, four.lse->memory);
    }
  }
}

TEST(MergeTest, NothingIsAllocated) {
  PoolOwner pool = makePool(3);
  Call c({2, 3, 50, 300}, 5);
  FailingAllocator allocator(1);
  EXPECT_EQ(POSENC_OK, c.merge(pool.get()));
  EXPECT_EQ(0, allocator.requests());
}

TEST(MergeTest, PoolThatEndsEarly) {
  posenc_pool_hooks hooks = {};
  hooks.size = sizeof(hooks);
  hooks.threads = 2;
  hooks.parallel_for = [](void *, int64_t, posenc_pool_body, void *) {};
  posenc_pool *pool = nullptr;
  ASSERT_EQ(POSENC_OK, posenc_pool_create_hooked(&hooks, &pool));
  PoolOwner owner(pool, posenc_pool_destroy);
  Call c({4, 4, 64, 64}, 2);
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, c.merge(pool));
  EXPECT_STREQ("posenc_merge: the pool's parallel_for returned after 0 of 7 "
               "items",
               posenc_last_error());
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Makes this thread flush subnormal numbers to 0 and round up.
class OddModes {
public:
  OddModes() {
    std::fegetenv(&saved);
    std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
    csr = _mm_getcsr();
#endif
  }
  ~OddModes() { std::fesetenv(&saved); }

  bool arePresent() const {
#if defined(__SSE2__)
    if (_mm_getcsr() != csr)
      return false;
#endif
    return std::fegetround() == FE_UPWARD;
  }

private:
  std::fenv_t saved;
  unsigned csr = 0;
};

/// Merges one part with weight 1, which converts it.
void convert(Call &c, bool odd) {
  for (int64_t r = 0; r < c.lse->size(); ++r)
    c.lseParts[0]->setF32(r, 0);
  if (!odd)
    return c.expectOk();
  OddModes modes;
  EXPECT_EQ(POSENC_OK, c.merge());
  EXPECT_TRUE(modes.arePresent());
}

TEST(MergeTest, AllNumbersOf16BitsStayTheSame) {
  for (bool odd : {false, true})
    for (DLDataType partType : {f16, bf16})
      for (DLDataType type : {partType, f32})
        for (Layout layout : {Numbers::COMPACT, Numbers::SPREAD}) {
          Call c({1, 1, 256, 256}, 1, type, layout, 0, partType);
          for (int64_t i = 0; i < 65536; ++i)
            c.oParts[0]->setBits(i, static_cast<uint32_t>(i));
          convert(c, odd);
          for (int64_t i = 0; i < 65536; ++i) {
            double in = c.oParts[0]->get(i), out = c.o->get(i);
            ASSERT_TRUE(std::isnan(in) ? std::isnan(out) : in == out)
                << i << ": " << in << " " << out;
          }
        }
}

TEST(MergeTest, HalvesRoundToEven) {
  for (bool odd : {false, true})
    for (DLDataType type : {f16, bf16}) {
      int exponentBits = exponentBitsOf(type);
      int64_t finite = type.code == kDLBfloat ? 0x7f80 : 0x7c00;
      // Between each number and the next one: the middle, and the two f32
      // beside it. Behind the largest one comes what would follow it.
      Call c({1, 2, finite, 3}, 1, type, Numbers::COMPACT, 0, f32);
      for (int64_t i = 0; i < finite; ++i) {
        double low = decode(static_cast<uint16_t>(i), exponentBits);
        double high = decode(static_cast<uint16_t>(i + 1), exponentBits);
        if (std::isinf(high))
          high = std::ldexp(1, type.code == kDLBfloat ? 128 : 16);
        float middle = static_cast<float>(low + (high - low) / 2);
        float beside[] = {std::nextafter(middle, 0.0f), middle,
                          std::nextafter(middle, HUGE_VALF)};
        for (int64_t k = 0; k < 3; ++k) {
          c.oParts[0]->setF32(i * 3 + k, static_cast<double>(beside[k]));
          c.oParts[0]->setF32((finite + i) * 3 + k,
                              -static_cast<double>(beside[k]));
        }
      }
      convert(c, odd);
      for (int64_t i = 0; i < finite; ++i)
        for (int64_t k = 0; k < 3; ++k) {
          int64_t up = k == 1 ? i % 2 : k / 2;
          ASSERT_EQ(i + up, c.o->bits(i * 3 + k)) << i << " " << k;
          ASSERT_EQ(0x8000 + i + up, c.o->bits((finite + i) * 3 + k));
        }
    }
}

TEST(MergeTest, NanStaysNan) {
  const uint32_t patterns[] = {0x7f800001, 0x7fc00000, 0x7fffffff, 0xff800001,
                               0xffffffff, 0x7f801fff, 0x7fa00000};
  for (DLDataType type : types) {
    Call c({1, 1, 1, 7}, 1, type, Numbers::COMPACT, 0, f32);
    for (int64_t i = 0; i < 7; ++i)
      c.oParts[0]->setBits(i, patterns[i]);
    convert(c, false);
    for (int64_t i = 0; i < 7; ++i)
      EXPECT_TRUE(std::isnan(c.o->get(i))) << i;
  }
}

TEST(MergeTest, ModesOfThreadsDoNotMatter) {
  for (DLDataType type : types) {
    Call usual({2, 3, 5, 65}, 4, type), odd({2, 3, 5, 65}, 4, type);
    for (Call *c : {&usual, &odd})
      if (type.bits == 32) // subnormal f32
        for (Owner &part : c->oParts)
          for (int64_t i = 0; i < part->size(); i += 2)
            part->setBits(i, part->bits(i) & 0x807fffff);
    usual.expectOk();
    {
      OddModes modes;
      EXPECT_EQ(POSENC_OK, odd.merge());
      EXPECT_TRUE(modes.arePresent());
    }
    EXPECT_EQ(usual.o->memory, odd.o->memory);
    EXPECT_EQ(usual.lse->memory, odd.lse->memory);
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention of one row over the keys from `begin` to `end` - 1; returns lse.
double attend(const std::vector<double> &scores,
              const std::vector<double> &values, int64_t width, size_t begin,
              size_t end, double sink, std::vector<double> &out) {
  double largest = sink, total = 0;
  for (size_t j = begin; j < end; ++j)
    largest = std::max(largest, scores[j]);
  out.assign(static_cast<size_t>(width), 0);
  if (largest == -inf)
    return -inf;
  for (size_t j = begin; j < end; ++j) {
    double weight = std::exp(scores[j] - largest);
    total += weight;
    for (size_t c = 0; c < out.size(); ++c)
      out[c] += weight * values[j * out.size() + c];
  }
  total += std::exp(sink - largest);
  for (double &x : out)
    x /= total;
  return largest + std::log(total);
}

TEST(MergeTest, PartsOfAttentionMakeTheWhole) {
  std::mt19937 random(11);
  for (double size : {1.0, 30.0})
    for (int64_t sinks : {0, 3})
      for (size_t count : {1u, 2u, 5u}) {
        Call c({2, 3, 4, 8}, static_cast<int64_t>(count), f32, Numbers::COMPACT,
               sinks);
        std::normal_distribution<double> normal(0, 1);
        std::vector<double> expected, out;
        std::vector<double> tolerances;
        for (int64_t r = 0; r < c.lse->size(); ++r) {
          const size_t keys = 40;
          std::vector<double> scores(keys), values(keys * 8);
          for (double &x : scores)
            x = normal(random) * size;
          for (double &x : values)
            x = normal(random);
          // A mask, which leaves nothing of some parts.
          std::fill_n(scores.begin(), random() % keys, -inf);
          std::vector<size_t> bounds = {0, keys};
          for (size_t i = 1; i < count; ++i)
            bounds.push_back(random() % keys);
          std::sort(bounds.begin(), bounds.end());
          for (size_t i = 0; i < count; ++i) {
            double lse =
                attend(scores, values, 8, bounds[i], bounds[i + 1], -inf, out);
            c.lseParts[i]->setF32(r, lse);
            for (size_t k = 0; k < 8; ++k)
              c.oParts[i]->setF32(r * 8 + static_cast<int64_t>(k), out[k]);
          }
          expected.push_back(attend(scores, values, 8, 0, keys,
                                    sinks ? c.sinkOf(r) : -inf, out));
          expected.insert(expected.end(), out.begin(), out.end());
          // The rule of posenc/Reference/Accuracy.h.
          double score = 0, value = 0;
          for (size_t j = 0; j < keys; ++j)
            if (scores[j] > -inf) {
              score = std::max(score, std::fabs(scores[j]));
              for (size_t k = 0; k < 8; ++k)
                value = std::max(value, std::fabs(values[j * 8 + k]));
            }
          tolerances.push_back(2e-6 + 8 * 0x1p-24 * score);
          tolerances.push_back(tolerances.back() * value);
        }
        c.expectOk();
        for (int64_t r = 0; r < c.lse->size(); ++r) {
          size_t row = static_cast<size_t>(r);
          EXPECT_NEAR(expected[row * 9], c.lse->get(r), tolerances[row * 2]);
          for (int64_t k = 0; k < 8; ++k)
            EXPECT_NEAR(expected[row * 9 + 1 + static_cast<size_t>(k)],
                        c.o->get(r * 8 + k), tolerances[row * 2 + 1]);
        }
      }
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

class MergeErrorsTest : public ::testing::Test {
protected:
  void expect(posenc_status status, const char *sentence) {
    std::vector<unsigned char> before = c.o->memory;
    EXPECT_EQ(status, c.merge());
    EXPECT_STREQ(sentence, posenc_last_error());
    EXPECT_EQ(before, c.o->memory);
  }

  Call c{{2, 4, 3, 8}, 3, f32, Numbers::COMPACT, 4};
};

TEST_F(MergeErrorsTest, NothingWrong) { c.expectOk(); }

TEST_F(MergeErrorsTest, Arguments) {
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_merge(nullptr, nullptr));
  EXPECT_STREQ("posenc_merge: args is NULL", posenc_last_error());
  c.args.size = 0;
  expect(POSENC_INVALID_ARGUMENT,
         "posenc_merge: args->size is 0, but must be "
         "sizeof(posenc_merge_args), which is 56 in this version");
  c.args.size = 64;
  expect(POSENC_VERSION_MISMATCH,
         "posenc_merge: args->size is 64, but must be "
         "sizeof(posenc_merge_args), which is 56 in this version");
}

TEST_F(MergeErrorsTest, Count) {
  c.args.count = -1;
  expect(POSENC_OUT_OF_RANGE,
         "posenc_merge: count is -1, but must be from 0 to 2^30");
  c.args.count = (INT64_C(1) << 30) + 1;
  expect(POSENC_OUT_OF_RANGE,
         "posenc_merge: count is 1073741825, but must be from 0 to 2^30");
}

TEST_F(MergeErrorsTest, Pointers) {
  c.args.o_parts = nullptr;
  expect(POSENC_INVALID_ARGUMENT,
         "posenc_merge: o_parts is NULL, but count is 3");
  c.connect();
  c.args.lse_parts = nullptr;
  expect(POSENC_INVALID_ARGUMENT,
         "posenc_merge: lse_parts is NULL, but count is 3");
  c.connect();
  c.oPointers[1] = nullptr;
  expect(POSENC_INVALID_ARGUMENT, "posenc_merge: o_parts[1] is NULL");
  c.connect();
  c.lsePointers[2] = nullptr;
  expect(POSENC_INVALID_ARGUMENT, "posenc_merge: lse_parts[2] is NULL");
  c.connect();
  c.args.o = nullptr;
  expect(POSENC_INVALID_ARGUMENT, "posenc_merge: o is NULL");
  c.connect();
  c.args.count = 0;
  c.args.o_parts = c.args.lse_parts = nullptr;
  c.expectOk();
}

TEST_F(MergeErrorsTest, Ranks) {
  c.o->value.ndim = 2;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: o has rank 2, but must have from 3 to 6");
  c.o->value.ndim = 7;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: o has rank 7, but must have from 3 to 6");
  c.o->value.ndim = 4;
  c.oParts[2]->value.ndim = 3;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: o_parts[2] has rank 3, but must have 4");
  c.oParts[2]->value.ndim = 4;
  c.lseParts[0]->value.ndim = 4;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: lse_parts[0] has rank 4, but must have 3");
  c.lse->value.ndim = 2;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: lse has rank 2, but must have 3");
  c.lse->value.ndim = 3;
  c.sinks->value.ndim = 2;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: sinks has rank 2, but must have 1");
  c.sinks->value.ndim = 1;
  c.sinks->value.shape = nullptr;
  expect(POSENC_INVALID_ARGUMENT, "posenc_merge: the shape of sinks is NULL");
}

TEST_F(MergeErrorsTest, Extents) {
  c.o->shape[1] = -4;
  expect(POSENC_INVALID_ARGUMENT,
         "posenc_merge: o has extent -4 on axis 1, but extents must not be "
         "negative");
  c.o->shape[1] = (INT64_C(1) << 30) + 1;
  expect(POSENC_OUT_OF_RANGE,
         "posenc_merge: o has extent 1073741825 on axis 1, but extents must "
         "be at most 2^30");
  c.o->shape[1] = 4;
  c.oParts[1]->shape[3] = 7;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: o_parts[1] has extent 7 on axis 3, but must have 8 "
         "like o");
  c.lseParts[0]->shape[2] = 1;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: lse_parts[0] has extent 1 on axis 2, but must have 3 "
         "like o");
  c.lse->shape[0] = 0;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: lse has extent 0 on axis 0, but must have 2 like o");
  c.lse->shape[0] = 2;
  c.sinks->shape[0] = 3;
  expect(POSENC_SHAPE_MISMATCH,
         "posenc_merge: sinks has extent 3 on axis 0, but must have 1 or "
         "H = 4");
}

TEST_F(MergeErrorsTest, Types) {
  c.o->value.dtype.bits = 64;
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: o is float64, but must be float32, bfloat16 or "
         "float16");
  c.o->value.dtype = f32;
  c.oParts[1]->value.dtype = {kDLFloat, 16, 4};
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: o_parts[1] is float16x4, but must be float32, "
         "bfloat16 or float16");
  c.oParts[1]->value.dtype = {kDLBfloat, 32, 1};
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: o_parts[1] is bfloat32, but must be float32, "
         "bfloat16 or float16");
  c.lseParts[0]->value.dtype = bf16;
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: lse_parts[0] is bfloat16, but must be float32");
  c.sinks->value.dtype = {kDLInt, 32, 1};
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: sinks is int32, but must be float32");
  c.lse->value.dtype = f16;
  expect(POSENC_DTYPE_MISMATCH,
         "posenc_merge: lse is float16, but must be float32");
}

TEST_F(MergeErrorsTest, Devices) {
  c.lseParts[2]->value.device.device_type = kDLCUDA;
  expect(POSENC_NO_DEVICE, "posenc_merge: lse_parts[2] is on device type 2, "
                           "but must be on the CPU");
}

TEST_F(MergeErrorsTest, Strides) {
  int64_t *strides = c.oParts[0]->strides.data();
  c.oParts[0]->value.strides = strides;
  strides[3] = -1;
  expect(POSENC_STRIDE_UNSUPPORTED,
         "posenc_merge: o_parts[0] has stride -1 on axis 3, which must not be "
         "negative");
  strides[3] = 1;
  strides[2] = INT64_MAX / 2;
  expect(POSENC_OVERFLOW,
         "posenc_merge: o_parts[0] spans more bytes than fit in 64 bits");
  c.o->value.strides = c.o->strides.data();
  c.o->strides[0] = 0;
  expect(POSENC_STRIDE_UNSUPPORTED,
         "posenc_merge: o has stride 0 on axis 0, which must not be 0: outputs "
         "cannot be broadcast");
  c.o->strides[0] = 95;
  expect(POSENC_STRIDE_UNSUPPORTED,
         "posenc_merge: o has stride 95 on axis 0, but must have more than 95: "
         "elements of an output must not overlap");
}

TEST_F(MergeErrorsTest, Data) {
  c.lse->value.data = nullptr;
  expect(POSENC_INVALID_ARGUMENT,
         "posenc_merge: the data of lse is NULL, but it has elements");
  c.connect();
  c.lse->value.data = c.lse->memory.data();
  c.oParts[2]->value.byte_offset = UINT64_MAX;
  expect(POSENC_OVERFLOW,
         "posenc_merge: o_parts[2] spans more bytes than fit in 64 bits");
  c.oParts[2]->value.byte_offset = 2;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, c.merge());
  EXPECT_NE(nullptr, std::strstr(posenc_last_error(),
                                 "must be aligned to its 4-byte elements"));
}

TEST_F(MergeErrorsTest, Options) {
  c.call.scratch_bytes = 8;
  expect(POSENC_INVALID_ARGUMENT,
         "call->scratch is NULL, but call->scratch_bytes is 8");
  EXPECT_EQ(POSENC_OK, posenc_merge(&c.args, nullptr));
}

} // namespace
