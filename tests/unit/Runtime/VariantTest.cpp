// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU features and the choice of a kernel's variant.
#include "FakeKernel.h"

#include <cstdlib>
#include <thread>

namespace {

using namespace posenc_test;

class VariantTest : public FakeKernel {
protected:
  VariantTest() { unsetenv("POSENC_ISA"); }
  ~VariantTest() override { unsetenv("POSENC_ISA"); }
  static void force(const char *name) { setenv("POSENC_ISA", name, 1); }
};

TEST_F(VariantTest, FirstThatFits) {
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.variant);
  variants[0].requires_ = 0;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.variant);
}

TEST_F(VariantTest, AllBitsAreRequired) {
  variants[0].requires_ = posenc_cpu_features();
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.variant);
  variants[0].requires_ |= UINT64_C(1) << 41;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.variant);
}

TEST_F(VariantTest, NoneFits) {
  for (posenc_variant_desc &variant : variants)
    variant.requires_ = UINT64_C(1) << 62;
  expectFailure(POSENC_UNSUPPORTED_CPU,
                {"fake", "none", "x86-64-future, x86-64-plain, x86-64-other"});
}

TEST_F(VariantTest, Forced) {
  force("x86-64-other");
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(2, frame.variant);
  ASSERT_EQ(POSENC_OK, prepare()) << posenc_last_error();
  EXPECT_EQ(2, frame.variant);
  force("");
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.variant);
}

TEST_F(VariantTest, ForcedButUnknown) {
  force("x86-64-pla");
  expectFailure(POSENC_INVALID_ARGUMENT,
                {"POSENC_ISA is x86-64-pla", "holds x86-64-future, "
                                             "x86-64-plain, x86-64-other"});
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, prepare());
}

TEST_F(VariantTest, ForcedButImpossible) {
  force("x86-64-future");
  expectFailure(POSENC_UNSUPPORTED_CPU, {"POSENC_ISA is x86-64-future"});
}

TEST_F(VariantTest, LongListsAreCut) {
  std::string name(400, 'x');
  variants[0].isa = name.c_str();
  force("none");
  expectFailure(POSENC_INVALID_ARGUMENT, {"POSENC_ISA is none", "xxxx"});
}

TEST(CpuTest, FeaturesAreCumulative) {
  uint64_t features = posenc_cpu_features();
  if (features & POSENC_CPU_AVX512) {
    EXPECT_TRUE(features & POSENC_CPU_AVX2_FMA);
  }
  if (features & POSENC_CPU_AVX512_BF16) {
    EXPECT_TRUE(features & POSENC_CPU_AVX512);
  }
  EXPECT_EQ(0u, features & ~(POSENC_CPU_AVX2_FMA | POSENC_CPU_AVX512 |
                             POSENC_CPU_AVX512_BF16));
}

#if defined(__x86_64__)
TEST(CpuTest, AgreesWithTheCompilersDetection) {
  uint64_t features = posenc_cpu_features();
  EXPECT_EQ(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
            (features & POSENC_CPU_AVX2_FMA) != 0);
  EXPECT_EQ(__builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512cd") &&
                __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl"),
            (features & POSENC_CPU_AVX512) != 0);
}
#endif

TEST(CpuTest, SameOnAllThreads) {
  uint64_t first = 0, second = 0;
  std::thread a([&] { first = posenc_cpu_features(); });
  std::thread b([&] { second = posenc_cpu_features(); });
  a.join();
  b.join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, posenc_cpu_features());
}

} // namespace
