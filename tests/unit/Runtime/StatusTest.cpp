// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Versions, status names and the last error.
#include "FakeKernel.h"

#include <set>
#include <thread>

namespace {

using namespace posenc_test;

const posenc_status failures[] = {
    POSENC_INVALID_ARGUMENT,   POSENC_SHAPE_MISMATCH,   POSENC_DTYPE_MISMATCH,
    POSENC_STRIDE_UNSUPPORTED, POSENC_OUT_OF_RANGE,     POSENC_OVERFLOW,
    POSENC_UNSUPPORTED_CPU,    POSENC_OUT_OF_MEMORY,    POSENC_NO_DEVICE,
    POSENC_DEVICE_ERROR,       POSENC_VERSION_MISMATCH, POSENC_INTERNAL};

TEST(StatusTest, ValuesAreFixed) {
  const int values[] = {10, 20, 21, 22, 23, 24, 30, 40, 50, 51, 60, 90};
  EXPECT_EQ(0, POSENC_OK);
  for (size_t i = 0; i < std::size(values); ++i)
    EXPECT_EQ(values[i], failures[i]);
}

TEST(StatusTest, NamesAreDistinct) {
  std::set<std::string> names;
  for (posenc_status status : failures)
    names.insert(posenc_status_string(status));
  names.insert(posenc_status_string(POSENC_OK));
  names.insert(posenc_status_string(static_cast<posenc_status>(89)));
  EXPECT_EQ(std::size(failures) + 2, names.size());
  EXPECT_EQ(1u, names.count("unknown status"));
  EXPECT_STREQ("shape mismatch", posenc_status_string(POSENC_SHAPE_MISMATCH));
}

TEST(StatusTest, Version) {
  EXPECT_EQ(POSENC_VERSION_NUMBER, posenc_version());
  EXPECT_EQ(POSENC_VERSION_MAJOR, posenc_version() / 10000);
}

TEST(StatusTest, EachThreadHasItsOwnError) {
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create(0, nullptr));
  EXPECT_STREQ("pool is NULL", posenc_last_error());
  std::thread other([] { EXPECT_STREQ("", posenc_last_error()); });
  other.join();
  EXPECT_STREQ("pool is NULL", posenc_last_error());
}

class TileFailureTest : public FakeKernel {};

TEST_F(TileFailureTest, NamesCodeAndVariant) {
  ASSERT_EQ(POSENC_OK, enter());
  EXPECT_EQ(POSENC_INTERNAL, posenc_kernel_tile_failed(&frame, -7));
  EXPECT_TRUE(lastErrorHas("x86-64-plain failed with code -7"))
      << posenc_last_error();
  EXPECT_EQ(POSENC_OUT_OF_MEMORY, posenc_kernel_tile_failed(&frame, -11));
}

TEST_F(TileFailureTest, LongSentencesAreCut) {
  std::string name(2000, 'n');
  desc.name = name.c_str();
  args.size = 0;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, enter());
  EXPECT_EQ(511u, std::string(posenc_last_error()).size());
}

} // namespace
