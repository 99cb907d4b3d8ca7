// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel description and matching arguments, as the compiler emits them.
#ifndef POSENC_TESTS_UNIT_RUNTIME_FAKEKERNEL_H
#define POSENC_TESTS_UNIT_RUNTIME_FAKEKERNEL_H

#include "posenc/kernel_abi.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace posenc_test {

/// A DLTensor that owns its shape, strides and data.
class Tensor {
public:
  Tensor(std::vector<int64_t> extents, DLDataType type)
      : shape(std::move(extents)) {
    int64_t bytes = type.bits / 8;
    for (int64_t extent : shape)
      bytes *= extent;
    memory.resize(static_cast<size_t>(bytes) / sizeof(memory[0]) + 8);
    value.data = memory.data();
    value.device = {kDLCPU, 0};
    value.ndim = static_cast<int>(shape.size());
    value.dtype = type;
    value.shape = shape.data();
    value.strides = nullptr;
    value.byte_offset = 0;
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  void setStrides(std::vector<int64_t> newStrides) {
    strides = std::move(newStrides);
    value.strides = strides.data();
  }

  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<double> memory;
  DLTensor value;
};

inline posenc_axis_desc constant(int64_t value) {
  return {POSENC_AXIS_CONST, 0, value};
}
inline posenc_axis_desc symbol(int32_t kind) { return {kind, 0, 0}; }

inline bool lastErrorHas(const char *part) {
  return std::string(posenc_last_error()).find(part) != std::string::npos;
}

/// Six tensors: q, k, v, an optional bias, a table that prepare reads, and the
/// output. Eight heads, two key/value heads, head_dim 16, value_dim 4.
class FakeKernel : public ::testing::Test {
protected:
  enum { Q, K, V, BIAS, TABLE, O, COUNT };

  struct Args {
    size_t size;
    const DLTensor *tensors[COUNT];
  };

  static constexpr DLDataType f32 = {kDLFloat, 32, 1};

  FakeKernel() {
    variants[0] = {"x86-64-future", UINT64_C(1) << 40};
    variants[1] = {"x86-64-plain", 0};
    variants[2] = {"x86-64-other", 0};
    posenc_axis_desc b = symbol(POSENC_AXIS_BATCH);
    posenc_axis_desc h = symbol(POSENC_AXIS_HEADS);
    posenc_axis_desc hkv = symbol(POSENC_AXIS_KV_HEADS);
    posenc_axis_desc lq = symbol(POSENC_AXIS_QUERY_LEN);
    posenc_axis_desc lk = symbol(POSENC_AXIS_KEY_LEN);
    posenc_axis_desc h1 = symbol(POSENC_AXIS_HEADS_OR_1);
    int32_t unit = POSENC_TENSOR_UNIT_STRIDE;
    // Before H is known, on purpose.
    describe(BIAS, "bias", POSENC_TENSOR_OPTIONAL, {h1, lq, lk});
    describe(Q, "q", unit, {b, h, lq, constant(16)});
    describe(K, "k", unit, {b, hkv, lk, constant(16)});
    describe(V, "v", unit, {b, hkv, lk, constant(4)});
    describe(TABLE, "t5_bias.table", POSENC_TENSOR_PREPARE, {constant(5), h});
    describe(O, "o", unit | POSENC_TENSOR_OUTPUT, {b, h, lq, constant(4)});
    desc.abi = POSENC_KERNEL_ABI;
    desc.flags = 0;
    desc.name = "fake";
    desc.heads = 8;
    desc.kv_heads = 2;
    desc.head_dim = 16;
    desc.value_dim = 4;
    desc.tensor_count = COUNT;
    desc.variant_count = 3;
    desc.tensors = tensors;
    desc.variants = variants;
    desc.fingerprint = UINT64_C(0x123456789abcdef0);
    for (int t = 0; t < COUNT; ++t)
      args.tensors[t] = &all[t]->value;
    args.size = sizeof(args);
  }

  void describe(int index, const char *name, int32_t flags,
                std::vector<posenc_axis_desc> axes) {
    posenc_tensor_desc &tensor = tensors[index];
    tensor = {};
    tensor.name = name;
    tensor.rank = static_cast<int32_t>(axes.size());
    tensor.flags = flags;
    tensor.dtype_code = kDLFloat;
    tensor.dtype_bits = 32;
    for (size_t i = 0; i < axes.size(); ++i) {
      tensor.axes[i] = axes[i];
      tensor.axes[i].place = static_cast<int32_t>(i);
    }
  }

  posenc_status enter() {
    return posenc_kernel_enter(&desc, &args, &call, &frame);
  }

  posenc_status prepare(bool needData = true) {
    return posenc_kernel_enter_prepare(&desc, &args, nullptr, needData, &frame);
  }

  /// Expects that enter fails with a sentence that has these parts.
  void expectFailure(posenc_status status, std::vector<const char *> parts) {
    EXPECT_EQ(status, enter()) << posenc_last_error();
    for (const char *part : parts)
      EXPECT_TRUE(lastErrorHas(part)) << posenc_last_error();
  }

  posenc_tensor_desc tensors[COUNT];
  posenc_variant_desc variants[3];
  posenc_kernel_desc desc;

  Tensor q{{2, 8, 3, 16}, f32};
  Tensor k{{2, 2, 7, 16}, f32};
  Tensor v{{2, 2, 7, 4}, f32};
  Tensor bias{{8, 3, 7}, f32};
  Tensor table{{5, 8}, f32};
  Tensor o{{2, 8, 3, 4}, f32};
  Tensor *all[COUNT] = {&q, &k, &v, &bias, &table, &o};

  Args args;
  posenc_call call = POSENC_CALL_INIT;
  posenc_frame frame;
};

} // namespace posenc_test

#endif // POSENC_TESTS_UNIT_RUNTIME_FAKEKERNEL_H
