// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DriverRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

/// The tensors that have a list.
static SmallVector<unsigned> getRowTensors(DriverKernel &kernel) {
  SmallVector<unsigned> tensors = {DriverKernel::Key, DriverKernel::Value};
  if (kernel.hasTokenScales())
    tensors.append({*kernel.findScales(/*areOfValues=*/false),
                    *kernel.findScales(/*areOfValues=*/true)});
  return tensors;
}

Value posenc::emitRowBytes(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel) {
  if (!kernel.isIndirect())
    return b.i64(0);
  int64_t keyBytes = getRowTensors(kernel).size() * sizeof(int32_t);
  return b.roundUp(b.mul(frame.allKeys(), b.i64(keyBytes)), 64);
}

Value posenc::emitKeyRows(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, unsigned tensor) {
  SmallVector<unsigned> tensors = getRowTensors(kernel);
  int64_t list = llvm::find(tensors, tensor) - tensors.begin();
  // Rows of a ring begin with that of its first key.
  Value first = b.add(b.sub(frame.keyBase(), frame.firstKey()),
                      b.mul(frame.allKeys(), b.i64(list)));
  return b.element(frame.shared(), first, b.getI32Type());
}

/// The offset of a key's row in a tensor, as a function of it.
using RowOffset = std::function<Value(unsigned tensor)>;

/// Key j is in page `page_table[batch, j / page_size]`.
static RowOffset emitPagedRow(DriverBuilder &b, DriverFrame frame,
                              DriverKernel &kernel, Value batch, Value key) {
  unsigned table = *kernel.findRole(SequenceRole::PageTable);
  // Keys and values have pages of one size.
  Value pageSize = frame.extent(DriverKernel::Key, 2);
  Value place[] = {batch, b.div(key, pageSize)};
  Value entry = b.load(b.getI32Type(), frame.element(table, place));
  Value page = arith::ExtSIOp::create(b, b.getI64Type(), entry);
  Value inPage = b.rem(key, pageSize);
  return [&b, frame, page, inPage](unsigned tensor) {
    return b.add(b.mul(page, frame.stride(tensor, 0)),
                 b.mul(inPage, frame.stride(tensor, 2)));
  };
}

/// Key j is in slot `j % capacity` of its batch entry.
static RowOffset emitRingRow(DriverBuilder &b, DriverFrame frame, Value key) {
  Value slot = b.rem(key, frame.extent(DriverKernel::Key, 2));
  return [&b, frame, slot](unsigned tensor) {
    return b.mul(slot, frame.stride(tensor, 2));
  };
}

func::FuncOp posenc::emitRowItem(DriverBuilder &b, DriverKernel &kernel) {
  func::FuncOp function = b.defineItem(kernel.name + "_row_item");
  Value batch = function.getArgument(1);
  DriverFrame frame =
      DriverFrame(b, function.getArgument(0)).enterSequence(batch);
  b.loop(frame.firstKey(), frame.keyLen(), [&](Value key) {
    RowOffset emitOffset = kernel.isRing()
                               ? emitRingRow(b, frame, key)
                               : emitPagedRow(b, frame, kernel, batch, key);
    for (unsigned tensor : getRowTensors(kernel)) {
      Value rows = emitKeyRows(b, frame, kernel, tensor);
      b.store(b.toI32(emitOffset(tensor)),
              b.element(rows, key, b.getI32Type()));
    }
  });
  b.ret(b.i32(0));
  return function;
}
