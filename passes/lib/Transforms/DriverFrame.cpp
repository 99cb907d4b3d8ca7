// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the members of a posenc_frame (posenc/kernel_abi.h) in host code.
#include "DriverFrame.h"

#include "posenc/kernel_abi.h"

#include <cstddef>

using namespace mlir;
using namespace posenc;

// The offsets below are the compiler's own; targets have the same data model.
static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8,
              "hosts and targets are LP64");

DriverFrame DriverFrame::create(DriverBuilder &b) {
  return DriverFrame(b, b.stack(sizeof(posenc_frame), alignof(posenc_frame)));
}

DriverFrame DriverFrame::enterSequence(Value batch) const {
  DriverFrame sequence = create(b);
  b.call("posenc_kernel_sequence", Type(),
         {address, batch, sequence.getAddress()});
  return sequence;
}

Value DriverFrame::number(int64_t offset) const {
  return b.load(b.getI64Type(), b.byteOffset(address, offset));
}
Value DriverFrame::pointer(int64_t offset) const {
  return b.load(b.getPtrType(), b.byteOffset(address, offset));
}

Value DriverFrame::batch() const {
  return number(offsetof(posenc_frame, batch));
}
Value DriverFrame::heads() const {
  return number(offsetof(posenc_frame, heads));
}
Value DriverFrame::kvHeads() const {
  return number(offsetof(posenc_frame, kv_heads));
}
Value DriverFrame::queryLen() const {
  return number(offsetof(posenc_frame, query_len));
}
Value DriverFrame::keyLen() const {
  return number(offsetof(posenc_frame, key_len));
}
Value DriverFrame::longestQuery() const {
  return number(offsetof(posenc_frame, longest_query));
}
Value DriverFrame::longestKey() const {
  return number(offsetof(posenc_frame, longest_key));
}
Value DriverFrame::allKeys() const {
  return number(offsetof(posenc_frame, all_keys));
}
Value DriverFrame::keyBase() const {
  return number(offsetof(posenc_frame, key_base));
}
Value DriverFrame::firstKey() const {
  return number(offsetof(posenc_frame, first_key));
}
Value DriverFrame::keptKeys() const { return b.sub(keyLen(), firstKey()); }
Value DriverFrame::firstHead() const {
  return number(offsetof(posenc_frame, first_head));
}
Value DriverFrame::variant() const {
  return number(offsetof(posenc_frame, variant));
}
Value DriverFrame::workers() const {
  return number(offsetof(posenc_frame, workers));
}

Value DriverFrame::seed() const { return number(offsetof(posenc_frame, seed)); }
Value DriverFrame::offset() const {
  return number(offsetof(posenc_frame, offset));
}

Value DriverFrame::prepared() const {
  return pointer(offsetof(posenc_frame, prepared));
}
void DriverFrame::setPrepared(Value payload) const {
  b.store(payload, b.byteOffset(address, offsetof(posenc_frame, prepared)));
}
Value DriverFrame::shared() const {
  return pointer(offsetof(posenc_frame, shared));
}
Value DriverFrame::workerScratch(Value worker) const {
  Value bytes = b.mul(worker, number(offsetof(posenc_frame, worker_bytes)));
  return b.element(pointer(offsetof(posenc_frame, worker_base)), bytes,
                   b.getI8Type());
}

static int64_t viewOffset(unsigned tensor, int64_t member) {
  return offsetof(posenc_frame, tensors) + tensor * sizeof(posenc_view) +
         member;
}

Value DriverFrame::data(unsigned tensor) const {
  return pointer(viewOffset(tensor, offsetof(posenc_view, data)));
}
Value DriverFrame::extent(unsigned tensor, unsigned axis) const {
  return number(viewOffset(tensor, offsetof(posenc_view, extent) +
                                       axis * sizeof(int64_t)));
}
Value DriverFrame::stride(unsigned tensor, unsigned axis) const {
  return number(viewOffset(tensor, offsetof(posenc_view, stride) +
                                       axis * sizeof(int64_t)));
}

Value DriverFrame::element(unsigned tensor, ArrayRef<Value> indices,
                           Type type) const {
  Value position;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    Value term = b.mul(index, stride(tensor, axis));
    position = position ? b.add(position, term) : term;
  }
  Value base = data(tensor);
  if (!type)
    type = b.getF32Type();
  return position ? b.element(base, position, type) : base;
}
