// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls whose sequences differ in length: bounds, lengths and pages.
#include "FakeKernel.h"

#include <memory>

using namespace posenc_test;

namespace {

constexpr DLDataType f32 = {kDLFloat, 32, 1};
constexpr DLDataType i32 = {kDLInt, 32, 1};

posenc_axis_desc at(int32_t kind, int32_t place, int64_t value = 0) {
  return {kind, place, value};
}

/// Four heads, two key heads, head_dim 8.
class Sequences : public ::testing::Test {
protected:
  Sequences() {
    desc.abi = POSENC_KERNEL_ABI;
    desc.name = "fake";
    desc.heads = 4;
    desc.kv_heads = 2;
    desc.head_dim = desc.value_dim = 8;
    desc.variant_count = 1;
    desc.variants = &variant;
    desc.tensors = tensors;
    args.size = offsetof(Args, tensors);
  }

  Tensor &add(const char *name, int32_t flags,
              std::vector<posenc_axis_desc> axes, std::vector<int64_t> shape,
              DLDataType type = f32) {
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

  Tensor &addNumbers(const char *name, int32_t role,
                     std::vector<posenc_axis_desc> axes,
                     std::vector<int64_t> shape, std::vector<int32_t> numbers) {
    Tensor &tensor = add(name, role, std::move(axes), std::move(shape), i32);
    set(tensor, std::move(numbers));
    return tensor;
  }

  static void set(Tensor &tensor, std::vector<int32_t> numbers) {
    std::copy(numbers.begin(), numbers.end(),
              static_cast<int32_t *>(tensor.value.data));
  }

  void addDenseQueries(int64_t batch, int64_t length) {
    add("q", POSENC_TENSOR_UNIT_STRIDE,
        {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_HEADS, 1),
         at(POSENC_AXIS_QUERY_LEN, 2), at(POSENC_AXIS_CONST, 3, 8)},
        {batch, 4, length, 8});
  }
  void addPackedQueries(int64_t all, std::vector<int32_t> bounds) {
    add("q", POSENC_TENSOR_UNIT_STRIDE,
        {at(POSENC_AXIS_ALL_QUERIES, 2), at(POSENC_AXIS_HEADS, 1),
         at(POSENC_AXIS_CONST, 3, 8)},
        {all, 4, 8});
    int64_t count = static_cast<int64_t>(bounds.size());
    addNumbers("cu_seqlens_q", POSENC_TENSOR_QUERY_BOUNDS,
               {at(POSENC_AXIS_BOUNDS, 0)}, {count}, std::move(bounds));
  }
  void addPackedKeys(int64_t all, std::vector<int32_t> bounds) {
    add("k", POSENC_TENSOR_UNIT_STRIDE,
        {at(POSENC_AXIS_ALL_KEYS, 2), at(POSENC_AXIS_KV_HEADS, 1),
         at(POSENC_AXIS_CONST, 3, 8)},
        {all, 2, 8});
    int64_t count = static_cast<int64_t>(bounds.size());
    addNumbers("cu_seqlens_k", POSENC_TENSOR_KEY_BOUNDS,
               {at(POSENC_AXIS_BOUNDS, 0)}, {count}, std::move(bounds));
  }
  void addLengths(std::vector<int32_t> lengths) {
    int64_t count = static_cast<int64_t>(lengths.size());
    addNumbers("key_lengths", POSENC_TENSOR_KEY_LENGTHS,
               {at(POSENC_AXIS_BATCH, 0)}, {count}, std::move(lengths));
  }
  void addPages(int64_t pages, int64_t pageSize, int64_t batch,
                int64_t maxPages, std::vector<int32_t> table) {
    add("k", POSENC_TENSOR_UNIT_STRIDE,
        {at(POSENC_AXIS_PAGES, 0), at(POSENC_AXIS_PAGE_SIZE, 2),
         at(POSENC_AXIS_KV_HEADS, 1), at(POSENC_AXIS_CONST, 3, 8)},
        {pages, pageSize, 2, 8});
    addNumbers("page_table",
               POSENC_TENSOR_PAGE_TABLE | POSENC_TENSOR_UNIT_STRIDE,
               {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_MAX_PAGES, 1)},
               {batch, maxPages}, std::move(table));
  }

  posenc_status enter() {
    return posenc_kernel_enter(&desc, &args, nullptr, &frame);
  }
  void expectFailure(posenc_status status, std::vector<const char *> parts) {
    EXPECT_EQ(status, enter()) << posenc_last_error();
    for (const char *part : parts)
      EXPECT_TRUE(lastErrorHas(part)) << posenc_last_error();
  }

  struct Args {
    size_t size;
    const DLTensor *tensors[POSENC_MAX_TENSORS];
  };
  posenc_tensor_desc tensors[POSENC_MAX_TENSORS] = {};
  posenc_variant_desc variant = {"x86-64-plain", 0};
  posenc_kernel_desc desc = {};
  std::vector<std::unique_ptr<Tensor>> owned;
  Args args = {};
  posenc_frame frame;
};

TEST_F(Sequences, Packed) {
  addPackedQueries(10, {0, 3, 3, 9});
  addPackedKeys(20, {0, 5, 11, 20});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(3, frame.batch);
  EXPECT_EQ(6, frame.query_len);
  EXPECT_EQ(9, frame.key_len);
  EXPECT_EQ(6, frame.longest_query);
  EXPECT_EQ(9, frame.longest_key);
  EXPECT_EQ(10, frame.all_queries);
  EXPECT_EQ(20, frame.all_keys);
  // [T, H, D] as [1, H, T, D].
  EXPECT_EQ(0, frame.tensors[0].stride[0]);
  EXPECT_EQ(8, frame.tensors[0].stride[1]);
  EXPECT_EQ(32, frame.tensors[0].stride[2]);
  EXPECT_EQ(1, frame.tensors[0].stride[3]);

  posenc_frame sequence;
  posenc_kernel_sequence(&frame, 2, &sequence);
  EXPECT_EQ(6, sequence.query_len);
  EXPECT_EQ(9, sequence.key_len);
  EXPECT_EQ(9, sequence.longest_key);
  EXPECT_EQ(3, sequence.query_base);
  EXPECT_EQ(11, sequence.key_base);
  EXPECT_EQ(frame.tensors[0].data + 3 * 32 * 4, sequence.tensors[0].data);
  EXPECT_EQ(frame.tensors[2].data + 11 * 16 * 4, sequence.tensors[2].data);
  posenc_kernel_sequence(&frame, 1, &sequence);
  EXPECT_EQ(0, sequence.query_len);
  EXPECT_EQ(6, sequence.key_len);
}

TEST_F(Sequences, BoundsAreChecked) {
  addPackedQueries(10, {0, 3, 9});
  Tensor &bounds = *owned.back();
  set(bounds, {1, 3, 9});
  expectFailure(POSENC_OUT_OF_RANGE, {"cu_seqlens_q", "begins with 1"});
  set(bounds, {0, 9, 3});
  expectFailure(POSENC_OUT_OF_RANGE, {"holds 3 at 2", "from 9"});
  set(bounds, {0, 3, 11});
  expectFailure(POSENC_OUT_OF_RANGE, {"holds 11 at 2", "Tq = 10"});
  bounds.shape[0] = 0;
  expectFailure(POSENC_SHAPE_MISMATCH, {"cu_seqlens_q", "B + 1"});
  bounds.shape[0] = 1;
  set(bounds, {0});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.batch);
}

TEST_F(Sequences, BatchesAgree) {
  addPackedQueries(10, {0, 3, 9});
  addPackedKeys(20, {0, 5});
  expectFailure(POSENC_SHAPE_MISMATCH, {"cu_seqlens_k", "cu_seqlens_q"});
}

TEST_F(Sequences, Lengths) {
  addDenseQueries(2, 3);
  add("k", POSENC_TENSOR_UNIT_STRIDE,
      {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_KV_HEADS, 1),
       at(POSENC_AXIS_KEY_LEN, 2), at(POSENC_AXIS_CONST, 3, 8)},
      {2, 2, 7, 8});
  addLengths({4, 0});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(4, frame.key_len);
  EXPECT_EQ(7, frame.longest_key);
  EXPECT_EQ(8, frame.all_keys); // not those that there is room for
  posenc_frame sequence;
  posenc_kernel_sequence(&frame, 1, &sequence);
  EXPECT_EQ(0, sequence.key_len);
  EXPECT_EQ(4, sequence.key_base);
  EXPECT_EQ(frame.tensors[1].data, sequence.tensors[1].data);

  set(*owned.back(), {8, 0});
  expectFailure(POSENC_OUT_OF_RANGE, {"key_lengths", "holds 8 at 0", "7"});
  set(*owned.back(), {7, -1});
  expectFailure(POSENC_OUT_OF_RANGE, {"key_lengths", "holds -1 at 1"});
}

TEST_F(Sequences, QueriesAmongKeysOfEachSequence) {
  desc.flags = POSENC_KERNEL_QUERIES_AMONG_KEYS;
  addPackedQueries(10, {0, 3, 9});
  addPackedKeys(20, {0, 2, 20});
  expectFailure(POSENC_OUT_OF_RANGE, {"sequence 0", "3 queries", "2 keys"});
}

TEST_F(Sequences, Pages) {
  addDenseQueries(2, 1);
  addPages(5, 16, 2, 3, {4, 0, 9, 2, 9, 9});
  addLengths({20, 16});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(20, frame.key_len);
  EXPECT_EQ(48, frame.longest_key);
  EXPECT_EQ(16 * 2 * 8, frame.tensors[1].stride[0]);
  EXPECT_EQ(2 * 8, frame.tensors[1].stride[2]);
  // Pages behind the keys are not looked at.
  set(*owned.back(), {33, 16});
  expectFailure(POSENC_OUT_OF_RANGE,
                {"page_table holds 9 for page 2 of sequence 0", "0 to 4"});
  set(*owned.back(), {49, 0});
  expectFailure(POSENC_OUT_OF_RANGE, {"key_lengths", "48"});
}

TEST_F(Sequences, NoPages) {
  addDenseQueries(1, 1);
  addPages(0, 16, 1, 2, {3, 0});
  addLengths({0});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  set(*owned.back(), {1});
  expectFailure(POSENC_OUT_OF_RANGE, {"page_table holds 3 for page 0 of "
                                      "sequence 0, but there are no pages"});
}

TEST_F(Sequences, PagesOfOperandsWithFewerKeys) {
  addDenseQueries(1, 1);
  addPages(5, 16, 1, 2, {4, 0});
  addLengths({11});
  add("gates", 0, {at(POSENC_AXIS_BATCH, 0), at(POSENC_AXIS_KEY_LEN, 1)},
      {1, 10});
  expectFailure(POSENC_OUT_OF_RANGE, {"key_lengths holds 11", "to 10"});
}

TEST_F(Sequences, SpanOfPages) {
  addDenseQueries(1, 1);
  addPages(5, 16, 1, 2, {4, 0});
  addLengths({20});
  Tensor &pages = *owned[1];
  // The last page begins at 2^30 - 240; its last row is 15 * 16 behind.
  pages.setStrides({((INT64_C(1) << 30) - 240) / 4, 16, 8, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  pages.setStrides({((INT64_C(1) << 30) - 240) / 4 + 1, 16, 8, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED, {"k has pages", "2^30"});
}

TEST_F(Sequences, LongRunOfSequences) {
  desc.flags = POSENC_KERNEL_QUERIES_AMONG_KEYS | POSENC_KERNEL_ONE_RUN;
  addDenseQueries(1, 1);
  addPages(5, 1 << 10, 1, (1 << 12) + 1,
           std::vector<int32_t>((1 << 12) + 1, 1));
  addLengths({1 << 22});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  set(*owned.back(), {(1 << 22) + 1});
  expectFailure(POSENC_OUT_OF_RANGE, {"2^22"});
}

TEST_F(Sequences, PreparedForLengths) {
  desc.flags = POSENC_KERNEL_PREPARED_BY_LENGTH;
  addDenseQueries(2, 1);
  addPages(5, 16, 2, 2, {4, 0, 1, 2});
  addLengths({20, 16});
  alignas(64) char buffer[128] = {};
  char *payload = nullptr;
  ASSERT_EQ(POSENC_OK,
            posenc_kernel_enter_prepare(&desc, &args, nullptr, 1, &frame));
  ASSERT_EQ(POSENC_OK,
            posenc_prepared_begin(&frame, buffer, sizeof(buffer), 0, &payload));
  posenc_prepared_finish(&frame, buffer);
  posenc_call call = POSENC_CALL_INIT;
  call.prepared = buffer;
  EXPECT_EQ(POSENC_OK, posenc_kernel_enter(&desc, &args, &call, &frame))
      << posenc_last_error();
  set(*owned.back(), {21, 16});
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_kernel_enter(&desc, &args, &call, &frame));
  EXPECT_TRUE(lastErrorHas("other lengths")) << posenc_last_error();
  // Tables that no length shows in.
  desc.flags = 0;
  posenc_kernel_enter_prepare(&desc, &args, nullptr, 1, &frame);
  posenc_prepared_finish(&frame, buffer);
  set(*owned.back(), {3, 1});
  EXPECT_EQ(POSENC_OK, posenc_kernel_enter(&desc, &args, &call, &frame))
      << posenc_last_error();
}

} // namespace
