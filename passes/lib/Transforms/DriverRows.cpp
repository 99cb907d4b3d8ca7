// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DriverRows.h"
#include "DriverItems.h"

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
  if (!kernel.isPaged())
    return b.i64(0);
  int64_t keyBytes = getRowTensors(kernel).size() * sizeof(int32_t);
  return b.roundUp(b.mul(frame.allKeys(), b.i64(keyBytes)), 64);
}

Value posenc::emitKeyRows(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, unsigned tensor) {
  SmallVector<unsigned> tensors = getRowTensors(kernel);
  int64_t list = llvm::find(tensors, tensor) - tensors.begin();
  Value first = b.add(frame.keyBase(), b.mul(frame.allKeys(), b.i64(list)));
  Value lists = b.element(
      frame.shared(), emitTransformedBytes(b, frame, kernel), b.getI8Type());
  return b.element(lists, first, b.getI32Type());
}

func::FuncOp posenc::emitRowItem(DriverBuilder &b, DriverKernel &kernel) {
  func::FuncOp function = b.defineItem(kernel.name + "_row_item");
  Value batch = function.getArgument(1);
  DriverFrame frame =
      DriverFrame(b, function.getArgument(0)).enterSequence(batch);
  unsigned table = *kernel.findRole(SequenceRole::PageTable);
  // Keys and values have pages of one size.
  Value pageSize = frame.extent(DriverKernel::Key, 2);
  b.loop(b.i64(0), frame.keyLen(), [&](Value key) {
    Value place[] = {batch, b.div(key, pageSize)};
    Value entry = b.load(b.getI32Type(), frame.element(table, place));
    Value page = arith::ExtSIOp::create(b, b.getI64Type(), entry);
    Value inPage = b.rem(key, pageSize);
    for (unsigned tensor : getRowTensors(kernel)) {
      Value offset = b.add(b.mul(page, frame.stride(tensor, 0)),
                           b.mul(inPage, frame.stride(tensor, 2)));
      Value rows = emitKeyRows(b, frame, kernel, tensor);
      b.store(b.toI32(offset), b.element(rows, key, b.getI32Type()));
    }
  });
  b.ret(b.i32(0));
  return function;
}
