// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Appending to caches: rows, numbers, and what arguments are refused.
#include "FakeKernel.h"

#include <cmath>
#include <cstring>
#include <memory>

using namespace posenc_test;

namespace {

constexpr DLDataType f32 = {kDLFloat, 32, 1};
constexpr DLDataType f16 = {kDLFloat, 16, 1};
constexpr DLDataType bf16 = {kDLBfloat, 16, 1};
constexpr DLDataType i32 = {kDLInt, 32, 1};

posenc_axis_desc at(int32_t kind, int32_t place, int64_t value = 0) {
  return {kind, place, value};
}

/// Four heads, two key heads, head_dim 4, value_dim 2; as the compiler
/// describes an append kernel: k, v, k_cache, v_cache, then lengths.
class Append : public ::testing::Test {
protected:
  enum { K, V, KCache, VCache, Lengths };
  static constexpr int64_t dims[] = {4, 2};

  Append() {
    desc.abi = POSENC_KERNEL_ABI;
    desc.flags = POSENC_KERNEL_APPEND | POSENC_KERNEL_QUERIES_AMONG_KEYS;
    desc.name = "fake_append_kv";
    desc.heads = 4;
    desc.kv_heads = 2;
    desc.head_dim = 4;
    desc.value_dim = 2;
    desc.variant_count = 1;
    desc.variants = &variant;
    desc.tensors = tensors;
    args.size = offsetof(Args, tensors);
  }

  Tensor &add(const char *name, int32_t flags,
              std::vector<posenc_axis_desc> axes, std::vector<int64_t> shape,
              DLDataType type) {
    posenc_tensor_desc &tensor = tensors[desc.tensor_count];
    tensor.name = name;
    tensor.rank = static_cast<int32_t>(axes.size());
    tensor.flags = flags;
    tensor.dtype_code = type.code;
    tensor.dtype_bits = type.bits;
    std::copy(axes.begin(), axes.end(), tensor.axes);
    owned.push_back(std::make_unique<Tensor>(std::move(shape), type));
    args.tensors[desc.tensor_count++] = &owned.back()->value;
    args.size += sizeof(void *);
    return *owned.back();
  }

  void addNumbers(const char *name, int32_t role,
                  std::vector<posenc_axis_desc> axes,
                  std::vector<int64_t> shape, std::vector<int32_t> numbers) {
    Tensor &tensor = add(name, role, std::move(axes), std::move(shape), i32);
    std::copy(numbers.begin(), numbers.end(),
              static_cast<int32_t *>(tensor.value.data));
  }

  void addDense(int64_t batch, int64_t tokens, DLDataType type = f32) {
    for (int i : {0, 1})
      add(i ? "v" : "k", POSENC_TENSOR_UNIT_STRIDE,
          {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_KV_HEADS, 1),
           at(POSENC_AXIS_QUERY_LEN, 2), at(POSENC_AXIS_CONST, 3, dims[i])},
          {batch, 2, tokens, dims[i]}, type);
  }
  void addPacked(int64_t tokens) {
    for (int i : {0, 1})
      add(i ? "v" : "k", POSENC_TENSOR_UNIT_STRIDE,
          {at(POSENC_AXIS_ALL_QUERIES, 2), at(POSENC_AXIS_KV_HEADS, 1),
           at(POSENC_AXIS_CONST, 3, dims[i])},
          {tokens, 2, dims[i]}, f32);
  }
  static constexpr int32_t cacheFlags =
      POSENC_TENSOR_UNIT_STRIDE | POSENC_TENSOR_OUTPUT | POSENC_TENSOR_CACHE;
  void addCaches(int64_t batch, int64_t capacity, DLDataType type = f32) {
    for (int i : {0, 1})
      add(i ? "v_cache" : "k_cache", cacheFlags,
          {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_KV_HEADS, 1),
           at(POSENC_AXIS_KEY_LEN, 2), at(POSENC_AXIS_CONST, 3, dims[i])},
          {batch, 2, capacity, dims[i]}, type);
  }
  void addPages(int64_t pages, int64_t pageSize) {
    for (int i : {0, 1})
      add(i ? "v_cache" : "k_cache", cacheFlags,
          {at(POSENC_AXIS_PAGES, 0), at(POSENC_AXIS_PAGE_SIZE, 2),
           at(POSENC_AXIS_KV_HEADS, 1), at(POSENC_AXIS_CONST, 3, dims[i])},
          {pages, pageSize, 2, dims[i]}, f32);
  }
  void addLengths(std::vector<int32_t> lengths) {
    int64_t count = static_cast<int64_t>(lengths.size());
    addNumbers("key_lengths", POSENC_TENSOR_KEY_LENGTHS,
               {at(POSENC_AXIS_BATCH, 0)}, {count}, std::move(lengths));
  }
  void addBounds(std::vector<int32_t> bounds) {
    int64_t count = static_cast<int64_t>(bounds.size());
    addNumbers("cu_seqlens_q", POSENC_TENSOR_QUERY_BOUNDS,
               {at(POSENC_AXIS_BOUNDS, 0)}, {count}, std::move(bounds));
  }
  void addPageTable(int64_t batch, std::vector<int32_t> pages) {
    int64_t columns = static_cast<int64_t>(pages.size()) / batch;
    addNumbers("page_table",
               POSENC_TENSOR_PAGE_TABLE | POSENC_TENSOR_UNIT_STRIDE,
               {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_MAX_PAGES, 1)},
               {batch, columns}, std::move(pages));
  }

  posenc_status enter() {
    return posenc_kernel_enter(&desc, &args, &call, &frame);
  }
  void expectFailure(posenc_status status, std::vector<const char *> parts) {
    EXPECT_EQ(status, enter()) << posenc_last_error();
    for (const char *part : parts)
      EXPECT_TRUE(lastErrorHas(part)) << posenc_last_error();
  }

  template <typename T = float>
  T *data(int tensor) {
    return static_cast<T *>(owned[tensor]->value.data);
  }
  /// Numbers the elements of a tensor.
  void number(int tensor, float first) {
    int64_t count = 1;
    for (int64_t extent : owned[tensor]->shape)
      count *= extent;
    for (int64_t i = 0; i < count; ++i)
      data(tensor)[i] = first + static_cast<float>(i);
  }
  /// Appends all new tokens of all heads, key by key.
  void append() {
    ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
    for (int64_t b = 0; b < frame.batch; ++b) {
      posenc_frame sequence;
      posenc_kernel_sequence(&frame, b, &sequence);
      for (int64_t h = 0; h < frame.kv_heads; ++h)
        for (int32_t i : {0, 1})
          posenc_kernel_append(&sequence, b, K + i, KCache + i, h, 0,
                               sequence.query_len, nullptr);
    }
  }

  struct Args {
    size_t size;
    const DLTensor *tensors[POSENC_MAX_TENSORS];
  } args;
  posenc_tensor_desc tensors[POSENC_MAX_TENSORS] = {};
  posenc_variant_desc variant = {"x86-64-plain", 0};
  posenc_kernel_desc desc = {};
  std::vector<std::unique_ptr<Tensor>> owned;
  posenc_call call = POSENC_CALL_INIT;
  posenc_frame frame;
};

TEST_F(Append, WritesTheLastRowsOfEachSequence) {
  addDense(2, 2);
  addCaches(2, 5);
  addLengths({2, 5});
  number(K, 100);
  number(V, 500);
  append();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t j = 0; j < 5; ++j)
        for (int i : {0, 1})
          for (int64_t c = 0; c < dims[i]; ++c) {
            int64_t token = j - (b ? 3 : 0);
            bool isNew = token >= 0 && token < 2;
            float expected =
                isNew ? float(i ? 500 : 100) +
                            float(((b * 2 + h) * 2 + token) * dims[i] + c)
                      : 0;
            EXPECT_EQ(expected,
                      data(KCache + i)[((b * 2 + h) * 5 + j) * dims[i] + c])
                << b << " " << h << " " << j << " " << i << " " << c;
          }
}

TEST_F(Append, WritesPackedTokensToPages) {
  addPacked(4); // the last one is no sequence's
  addPages(4, 2);
  addBounds({0, 1, 3});
  addLengths({4, 3});
  addPageTable(2, {3, 0, 1, 2});
  number(K, 100);
  number(V, 500);
  append();
  // Sequence 0 writes key 3, in page 0; sequence 1 keys 1 and 2, in pages 1 and
  // 2.
  struct Row {
    int64_t token, page, row;
  };
  std::vector<float> expected[2] = {std::vector<float>(4 * 2 * 2 * 4),
                                    std::vector<float>(4 * 2 * 2 * 2)};
  for (Row row : {Row{0, 0, 1}, Row{1, 1, 1}, Row{2, 2, 0}})
    for (int i : {0, 1})
      for (int64_t x = 0; x < 2 * dims[i]; ++x) // heads and channels
        expected[i][(row.page * 2 + row.row) * 2 * dims[i] + x] =
            float(i ? 500 : 100) + float(row.token * 2 * dims[i] + x);
  for (int i : {0, 1})
    EXPECT_EQ(expected[i],
              std::vector<float>(data(KCache + i),
                                 data(KCache + i) + expected[i].size()));
}

TEST_F(Append, FollowsStrides) {
  addDense(1, 2);
  addCaches(1, 3);
  addLengths({3});
  // [B, L, H, D], and rows that lie apart.
  owned[K]->setStrides({16, 4, 8, 1});
  owned[KCache]->setStrides({36, 18, 6, 1});
  number(K, 1);
  append();
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t c = 0; c < 4; ++c)
        EXPECT_EQ(1 + float(t * 8 + h * 4 + c),
                  data(KCache)[h * 18 + (t + 1) * 6 + c]);
  EXPECT_EQ(0, data(KCache)[6 + 4]); // the gap behind a row
}

TEST_F(Append, WritesRowsInPlaceOfTheKeys) {
  addDense(1, 3);
  addCaches(1, 4);
  addLengths({4});
  number(K, 1);
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  posenc_frame sequence;
  posenc_kernel_sequence(&frame, 0, &sequence);
  const float rows[] = {-1, -2, -3, -4, -5, -6, -7, -8};
  posenc_kernel_append(&sequence, 0, K, KCache, 1, 1, 2, rows);
  for (int64_t x = 0; x < 32; ++x)
    EXPECT_EQ(x >= 24 ? rows[x - 24] : 0, data(KCache)[x]);
}

TEST_F(Append, KeepsTheBitsOfNumbersOfOneType) {
  for (DLDataType type : {f16, bf16}) {
    desc.tensor_count = 0;
    args.size = offsetof(Args, tensors);
    owned.clear();
    addDense(1, 1, type);
    addCaches(1, 1, type);
    addLengths({1});
    const uint16_t bits[] = {0x7c01, 0xffff, 0x0001, 0x8000,
                             0x7f81, 0xfe00, 0x7bff, 0x03ff};
    std::memcpy(data<uint16_t>(K), bits, sizeof(bits));
    append();
    EXPECT_EQ(0, std::memcmp(bits, data<uint16_t>(KCache), sizeof(bits)));
  }
}

/// What a number of one type becomes in another.
struct Conversion {
  DLDataType from;
  uint32_t bits;
  DLDataType to;
  uint32_t expected;
};

TEST_F(Append, RoundsToTheNearestTiesToEven) {
  const Conversion conversions[] = {
      // f32 to bf16
      {f32, 0x3f800000, bf16, 0x3f80},
      {f32, 0x3f808000, bf16, 0x3f80}, // a tie
      {f32, 0x3f818000, bf16, 0x3f82},
      {f32, 0x3f808001, bf16, 0x3f81},
      {f32, 0x7f7fffff, bf16, 0x7f80}, // to infinity
      {f32, 0xff800000, bf16, 0xff80},
      {f32, 0x7f800001, bf16, 0x7fc0}, // NaN stays NaN
      {f32, 0x80000001, bf16, 0x8000},
      {f32, 0x00008001, bf16, 0x0001}, // subnormal
      // f32 to f16
      {f32, 0x3f800000, f16, 0x3c00},
      {f32, 0x3f801000, f16, 0x3c00}, // a tie
      {f32, 0x3f803000, f16, 0x3c02},
      {f32, 0x3f801001, f16, 0x3c01},
      {f32, 0x477fe000, f16, 0x7bff}, // 65504
      {f32, 0x477fefff, f16, 0x7bff},
      {f32, 0x477ff000, f16, 0x7c00}, // a tie, to infinity
      {f32, 0xff800000, f16, 0xfc00},
      {f32, 0x7f800001, f16, 0x7e00},
      {f32, 0x38800000, f16, 0x0400}, // 2^-14
      {f32, 0x387fffff, f16, 0x0400},
      {f32, 0x33800000, f16, 0x0001}, // 2^-24
      {f32, 0x33000000, f16, 0x0000}, // a tie
      {f32, 0xb3000001, f16, 0x8001},
      {f32, 0x33c00000, f16, 0x0002}, // a tie
      // 16 bits to f32 and to each other
      {bf16, 0x4049, f32, 0x40490000},
      {f16, 0x3c01, f32, 0x3f802000},
      {f16, 0x8001, f32, 0xb3800000},
      {f16, 0x7c00, f32, 0x7f800000},
      {f16, 0x3c01, bf16, 0x3f80},
      {f16, 0x3c06, bf16, 0x3f81},
      {bf16, 0x3f81, f16, 0x3c08},
      {bf16, 0x7f7f, f16, 0x7c00},
  };
  for (const Conversion &c : conversions) {
    desc.tensor_count = 0;
    args.size = offsetof(Args, tensors);
    owned.clear();
    addDense(1, 1, c.from);
    addCaches(1, 1, c.to);
    addLengths({1});
    for (int x = 0; x < 8; ++x)
      if (c.from.bits == 32)
        data<uint32_t>(K)[x] = c.bits;
      else
        data<uint16_t>(K)[x] = static_cast<uint16_t>(c.bits);
    append();
    for (int x = 0; x < 8; ++x)
      EXPECT_EQ(c.expected, c.to.bits == 32 ? data<uint32_t>(KCache)[x]
                                            : data<uint16_t>(KCache)[x])
          << std::hex << c.bits;
  }
}

TEST_F(Append, LengthsCountTheNewTokens) {
  addDense(2, 3);
  addCaches(2, 5);
  addLengths({3, 2});
  expectFailure(POSENC_OUT_OF_RANGE,
                {"sequence 1 has 3 new tokens", "key_lengths holds 2"});
}

TEST_F(Append, LengthsFitTheCache) {
  addDense(1, 1);
  addCaches(1, 5);
  addLengths({6});
  expectFailure(POSENC_OUT_OF_RANGE,
                {"key_lengths holds 6 at 0", "from 0 to 5"});
}

TEST_F(Append, PagesExist) {
  addPacked(2);
  addPages(3, 2);
  addBounds({0, 2});
  addLengths({4});
  addPageTable(1, {1, 3});
  expectFailure(POSENC_OUT_OF_RANGE,
                {"page_table holds 3 for page 1", "from 0 to 2"});
}

TEST_F(Append, TensorsAgree) {
  addDense(1, 1);
  addCaches(1, 5);
  addLengths({1});
  owned[V]->shape[2] = 2;
  expectFailure(POSENC_SHAPE_MISMATCH, {"v has extent 2 on axis 2 (Lq)"});
  owned[V]->shape[2] = 1;
  owned[VCache]->shape[2] = 4;
  expectFailure(POSENC_SHAPE_MISMATCH, {"v_cache has extent 4 on axis 2 (Lk)"});
  owned[VCache]->shape[2] = 5;
  owned[KCache]->value.dtype = bf16;
  expectFailure(POSENC_DTYPE_MISMATCH, {"k_cache is bfloat16"});
  owned[KCache]->value.dtype = f32;
  owned[KCache]->setStrides({0, 20, 4, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error(); // one batch entry
  owned[KCache]->setStrides({40, 4, 4, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED, {"k_cache", "must not overlap"});
  args.tensors[KCache] = nullptr;
  expectFailure(POSENC_INVALID_ARGUMENT, {"k_cache is NULL"});
}

TEST_F(Append, SizeQueriesLookAtTheCaches) {
  addDense(1, 1);
  addCaches(1, 5);
  addLengths({5});
  EXPECT_EQ(POSENC_OK,
            posenc_kernel_enter_prepare(&desc, &args, nullptr, 0, &frame))
      << posenc_last_error();
  EXPECT_EQ(1, frame.query_len);
  EXPECT_EQ(5, frame.key_len);
  args.tensors[KCache] = nullptr;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_kernel_enter_prepare(&desc, &args, nullptr, 0, &frame));
}

TEST_F(Append, IgnoresThePreparedBufferOfAttention) {
  addDense(1, 1);
  addCaches(1, 5);
  addLengths({5});
  alignas(64) char buffer[64] = "not one of this kernel";
  call.prepared = buffer;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(nullptr, frame.prepared);
}

} // namespace
