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
constexpr DLDataType i8 = {kDLInt, 8, 1};
constexpr DLDataType f8 = {POSENC_DTYPE_FLOAT8_E4M3FN, 8, 1};

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
  /// Those of codes, behind all other tensors.
  void addScales(bool areOfTokens, std::vector<posenc_axis_desc> axes,
                 std::vector<int64_t> shape) {
    scales = desc.tensor_count;
    for (const char *name : {"k_scales", "v_scales"})
      add(name, areOfTokens ? POSENC_TENSOR_OUTPUT | POSENC_TENSOR_CACHE : 0,
          axes, shape, f32);
  }
  void addHeadScales() { addScales(false, {at(POSENC_AXIS_KV_HEADS, 1)}, {2}); }
  void addTokenScales(int64_t batch, int64_t capacity) {
    addScales(true,
              {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_KV_HEADS, 1),
               at(POSENC_AXIS_KEY_LEN, 2)},
              {batch, 2, capacity});
  }
  void clear() {
    desc.tensor_count = 0;
    args.size = offsetof(Args, tensors);
    owned.clear();
    scales = -1;
  }
  void addPages(int64_t pages, int64_t pageSize, DLDataType type = f32) {
    for (int i : {0, 1})
      add(i ? "v_cache" : "k_cache", cacheFlags,
          {at(POSENC_AXIS_PAGES, 0), at(POSENC_AXIS_PAGE_SIZE, 2),
           at(POSENC_AXIS_KV_HEADS, 1), at(POSENC_AXIS_CONST, 3, dims[i])},
          {pages, pageSize, 2, dims[i]}, type);
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
          posenc_kernel_append(&sequence, b, K + i, KCache + i,
                               scales < 0 ? -1 : scales + i, h, 0,
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
  int32_t scales = -1;
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
  posenc_kernel_append(&sequence, 0, K, KCache, -1, 1, 1, 2, rows);
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

/// The number of a code of f8E4M3FN, by its definition.
float decodeF8(int code) {
  int exponent = code >> 3 & 15, mantissa = code & 7;
  float magnitude = exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                             : std::ldexp(float(mantissa), -9);
  if ((code & 0x7f) == 0x7f)
    magnitude = NAN;
  return code & 0x80 ? -magnitude : magnitude;
}

/// The codes of eight numbers, four for each head, by scales of 1.
class Codes : public Append {
protected:
  std::vector<int> getCodes(DLDataType type, std::vector<float> numbers,
                            float scale = 1) {
    clear();
    addDense(1, 1);
    addCaches(1, 1, type);
    addLengths({1});
    addHeadScales();
    numbers.resize(8);
    std::copy(numbers.begin(), numbers.end(), data(K));
    data(scales)[0] = data(scales)[1] = scale;
    append();
    std::vector<int> codes(data<uint8_t>(KCache), data<uint8_t>(KCache) + 8);
    if (type.code == kDLInt)
      codes.assign(data<int8_t>(KCache), data<int8_t>(KCache) + 8);
    return codes;
  }
};

TEST_F(Codes, F8NumbersAreTheirCodes) {
  for (int code = 0; code < 256; ++code) {
    float number = decodeF8(code);
    int expected = std::isnan(number) ? 0x7f : code & 0x7f;
    int got = getCodes(f8, {number})[0];
    EXPECT_EQ(expected, got & 0x7f) << code;
    if (!std::isnan(number) && number != 0) {
      EXPECT_EQ(code & 0x80, got & 0x80) << code;
    }
  }
}

TEST_F(Codes, F8RoundsToTheNearestTiesToEven) {
  for (int code = 0; code < 0x7e; ++code) {
    float low = decodeF8(code), high = decodeF8(code + 1);
    float middle = (low + high) / 2;
    std::vector<int> codes =
        getCodes(f8, {middle, std::nextafter(middle, low),
                      std::nextafter(middle, high), -middle});
    int even = code % 2 ? code + 1 : code;
    EXPECT_EQ(even, codes[0]);
    EXPECT_EQ(code, codes[1]);
    EXPECT_EQ(code + 1, codes[2]);
    EXPECT_EQ(even | 0x80, codes[3]);
  }
}

TEST_F(Codes, F8Saturates) {
  std::vector<int> codes = getCodes(
      f8, {448.5f, 464, 465, 1e30f, INFINITY, -INFINITY, -449, 447.9f});
  EXPECT_EQ((std::vector<int>{0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0xfe, 0xfe, 0x7e}),
            codes);
}

TEST_F(Codes, I8RoundsSaturatesAndHasNoNaN) {
  EXPECT_EQ(
      (std::vector<int>{0, 2, 2, -2, 127, -127, 0, 127}),
      getCodes(i8, {0.5f, 1.5f, 2.5f, -2.5f, 127.4f, -1e30f, NAN, INFINITY}));
  for (int code = -127; code <= 127; ++code) {
    float below = std::nextafter(float(code) + 0.5f, float(code));
    EXPECT_EQ(code, getCodes(i8, {below})[0]);
  }
}

TEST_F(Codes, AreTheNumbersByTheScale) {
  EXPECT_EQ((std::vector<int>{1, -2, 127, 0, 0, 0, 0, 0}),
            getCodes(i8, {0.5f, -1, 1e9f}, 0.5f));
  EXPECT_EQ((std::vector<int>{-1, 0, 0, 0, 0, 0, 0, 0}),
            getCodes(i8, {0.5f}, -0.5f));
  // Scales that are 0 or no normal number.
  for (float scale : {0.0f, 1e-40f})
    EXPECT_EQ(std::vector<int>(8), getCodes(i8, {1, -1e30f, NAN}, scale));
}

TEST_F(Append, WritesTheScalesOfNewTokens) {
  for (DLDataType type : {i8, f8}) {
    clear();
    addDense(1, 2);
    addCaches(1, 4, type);
    addLengths({3});
    addTokenScales(1, 4);
    for (int64_t j = 0; j < 8; ++j)
      data(scales)[j] = data(scales + 1)[j] = -1;
    // Head 0: tokens 0 and 1; head 1 likewise.
    const float keys[] = {1,   -2, 0.5f, 0.25f, 0,      0, 0, 0,
                          NAN, 1,  2,    3,     1e-37f, 0, 0, 0};
    std::copy(std::begin(keys), std::end(keys), data(K));
    append();
    float largest = type.code == kDLInt ? 127 : 448;
    const float *written = data(scales);
    EXPECT_EQ(-1, written[0]);
    EXPECT_EQ(2 / largest, written[1]);
    EXPECT_EQ(0, written[2]); // a row of zeros
    EXPECT_EQ(-1, written[3]);
    EXPECT_TRUE(std::isnan(written[5]));
    EXPECT_EQ(0, written[6]); // no normal number
    const auto *codes = data<uint8_t>(KCache);
    EXPECT_EQ(type.code == kDLInt ? 129 : 0xfe, codes[5]); // -127, -448
    EXPECT_EQ(type.code == kDLInt ? 32 : 0x6e, codes[6]);  // 31.75, 112
    for (int x : {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15})
      EXPECT_EQ(0, codes[x]) << x;
  }
}

TEST_F(Append, WritesScalesToPages) {
  addPacked(3);
  addPages(3, 2, i8);
  addBounds({0, 1, 3});
  addLengths({4, 2});
  addPageTable(2, {2, 0, 1, -1});
  addScales(true,
            {at(POSENC_AXIS_PAGES, 0), at(POSENC_AXIS_PAGE_SIZE, 2),
             at(POSENC_AXIS_KV_HEADS, 1)},
            {3, 2, 2});
  number(K, 1);
  append();
  // The largest of four numbers for each token and head.
  const float expected[] = {0, 0, 4, 8, 12, 16, 20, 24, 0, 0, 0, 0};
  for (int x = 0; x < 12; ++x)
    EXPECT_EQ(expected[x] / 127, data(scales)[x]) << x;
}

TEST_F(Append, ScalesAreChecked) {
  addDense(1, 1);
  addCaches(1, 4, f8);
  addLengths({3});
  addTokenScales(1, 4);
  owned[KCache]->value.dtype = {kDLUInt, 8, 1};
  expectFailure(POSENC_DTYPE_MISMATCH,
                {"k_cache is uint8, but must be float8_e4m3fn"});
  owned[KCache]->value.dtype = f8;
  owned[scales]->value.dtype = f16;
  expectFailure(POSENC_DTYPE_MISMATCH, {"k_scales is float16"});
  owned[scales]->value.dtype = f32;
  owned[scales]->shape[2] = 3;
  expectFailure(POSENC_SHAPE_MISMATCH, {"k_scales has extent 3 on axis 2"});
  owned[scales]->shape[2] = 4;
  args.tensors[scales + 1] = nullptr;
  expectFailure(POSENC_INVALID_ARGUMENT, {"v_scales is NULL"});
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
