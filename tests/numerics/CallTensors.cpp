// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a call in guarded buffers.
#include "NativeCall.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

std::shared_ptr<GuardedBuffer> CallTensors::makeBuffer(int64_t words) {
  buffers.push_back(std::make_shared<GuardedBuffer>(words));
  return buffers.back();
}

SmallVector<int64_t, 4>
CallTensors::getShape(const KernelTensor &tensor) const {
  if (tensor.name == "q")
    return inputs.q.shape;
  if (tensor.name == "k")
    return inputs.k.shape;
  if (tensor.name == "v")
    return inputs.v.shape;
  if (tensor.name == "k_cache")
    return inputs.kCache.shape;
  if (tensor.name == "v_cache")
    return inputs.vCache.shape;
  if (tensor.isInteger)
    return inputs.positions.find(tensor.name)->second.shape;
  if (!tensor.isOutput || tensor.isCache)
    return inputs.tables.find(tensor.name)->second.shape;
  SmallVector<int64_t, 4> shape(inputs.q.shape);
  if (tensor.role == SequenceRole::None &&
      !is_contained({"o", "lse"}, tensor.name)) {
    // A state.
    shape = {inputs.positions.find("key_lengths")->second.shape[0], shape[1]};
    for (const Extent &extent : ArrayRef(tensor.extents).drop_front(2))
      shape.push_back(extent.value);
    return shape;
  }
  shape.pop_back();
  if (tensor.name == "o")
    shape.push_back(inputs.v.shape.back());
  return shape;
}

/// [q of every head, k of every key head, v of every key head] of each token;
/// without q where there are not as many queries as keys.
bool CallTensors::makePackedLayout(const KernelTensor &tensor, Layout &layout,
                                   std::shared_ptr<GuardedBuffer> &buffer) {
  if (tensor.storage || inputs.q.shape.size() != 4 ||
      inputs.k.shape[0] != inputs.q.shape[0])
    return false;
  bool hasQueries = inputs.q.shape[2] == inputs.k.shape[2];
  if (!is_contained({"q", "k", "v"}, tensor.name) ||
      (tensor.name == "q" && !hasQueries))
    return false;
  int64_t batch = inputs.k.shape[0], length = inputs.k.shape[2];
  int64_t queries = hasQueries ? inputs.q.shape[1] * inputs.q.shape[3] : 0;
  int64_t keys = inputs.k.shape[1] * inputs.k.shape[3];
  int64_t row = queries + keys + inputs.v.shape[1] * inputs.v.shape[3];
  if (!packed)
    packed = makeBuffer(batch * length * row);
  buffer = packed;
  layout.offset = tensor.name == "q"   ? 0
                  : tensor.name == "k" ? queries
                                       : queries + keys;
  layout.strides = {length * row, getShape(tensor)[3], row, 1};
  return true;
}

/// Chooses strides and a buffer for them.
Layout CallTensors::makeLayout(const KernelTensor &tensor,
                               ArrayRef<int64_t> shape,
                               std::shared_ptr<GuardedBuffer> &buffer) {
  Layout layout;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  switch (arrangement) {
  case Arrangement::Compact:
    break;
  case Arrangement::Packed:
    if (makePackedLayout(tensor, layout, buffer))
      return layout;
    break;
  case Arrangement::Blhd:
    if (shape.size() == 4) // q, k, v, o
      layout.strides = {shape[1] * shape[2] * shape[3], shape[3],
                        shape[1] * shape[3], 1};
    break;
  case Arrangement::Padded: {
    // Gaps of 3 after each row and of 5 after each head. What need not be
    // contiguous has a stride of 2; tables lie with their first axis innermost.
    layout.offset = 3;
    layout.strides.resize(shape.size());
    int64_t stride = tensor.unitStride ? 1 : 2;
    bool isTransposed =
        !tensor.unitStride && !tensor.isOutput && shape.size() == 2;
    for (size_t x = shape.size(); x-- > 0;) {
      size_t axis = isTransposed ? shape.size() - 1 - x : x;
      layout.strides[axis] = stride;
      stride = stride * shape[axis] + (x + 1 == shape.size() ? 3 : 5);
    }
    elements = elements ? stride : 0;
    break;
  }
  }
  int64_t words = elements + layout.offset;
  int64_t bits = isLong(tensor) ? 64 : tensor.getTypeBits();
  buffer = makeBuffer(divideCeil(words * bits, 32));
  return layout;
}

bool CallTensors::isLong(const KernelTensor &tensor) const {
  return tensor.isInteger && tensor.role == SequenceRole::None &&
         (arrangement == Arrangement::Blhd ||
          arrangement == Arrangement::Padded);
}

void CallTensors::fill(const KernelTensor &tensor,
                       GuardedTensor &guarded) const {
  if (tensor.isInteger) {
    guarded.write(
        ArrayRef<int64_t>(inputs.positions.find(tensor.name)->second.data));
    return;
  }
  if (!tensor.isOutput || tensor.isCache)
    guarded.write(
        ArrayRef<double>(tensor.name == "q"         ? inputs.q.data
                         : tensor.name == "k"       ? inputs.k.data
                         : tensor.name == "v"       ? inputs.v.data
                         : tensor.name == "k_cache" ? inputs.kCache.data
                         : tensor.name == "v_cache"
                             ? inputs.vCache.data
                             : inputs.tables.find(tensor.name)->second.data));
  if (tensor.isOutput)
    guarded.allowWrite();
}

CallTensors::CallTensors(ArrayRef<KernelTensor> described,
                         const ReferenceInputs &inputs, Arrangement arrangement,
                         bool wantLse)
    : inputs(inputs), arrangement(arrangement), arguments(described.size()) {
  for (auto [index, tensor] : enumerate(described)) {
    bool isAbsent = tensor.isOptional && !tensor.isOutput &&
                    !inputs.tables.contains(tensor.name);
    if (isAbsent || (tensor.name == "lse" && !wantLse))
      continue;
    SmallVector<int64_t, 4> shape = getShape(tensor);
    std::shared_ptr<GuardedBuffer> buffer;
    Layout layout = makeLayout(tensor, shape, buffer);
    auto guarded = std::make_unique<GuardedTensor>(
        buffer, shape, layout, tensor.isInteger,
        tensor.storage ? &tensor : nullptr, isLong(tensor));
    fill(tensor, *guarded);
    arguments.set(index, guarded->get());
    tensors[tensor.name] = std::move(guarded);
  }
  for (auto &buffer : buffers)
    buffer->remember();
}

std::string CallTensors::check() const {
  for (const auto &buffer : buffers)
    if (std::string problem = buffer->check(); !problem.empty())
      return problem;
  return "";
}
