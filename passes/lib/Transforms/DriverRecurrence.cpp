// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DriverRecurrence.h"
#include "DriverArguments.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Scratch of a worker
//===----------------------------------------------------------------------===//

static int64_t getNumbers(size_t vectors, int64_t rows, int64_t columns) {
  return llvm::alignTo(static_cast<int64_t>(vectors) * rows * columns, 16);
}
static int64_t getStateNumbers(DriverKernel &kernel) {
  return getNumbers(kernel.op.getRecurrence().getKeys().size(),
                    kernel.op.getHeadDim(),
                    getStateWidth(kernel.op.getValueSize()));
}
static int64_t getSumNumbers(DriverKernel &kernel) {
  return getNumbers(kernel.op.getRecurrence().getByKeys().size(),
                    kernel.op.getHeadDim(), /*columns=*/1);
}

int64_t posenc::getRecurrenceBytes(DriverKernel &kernel) {
  int64_t keys =
      getNumbers(kernel.keyVectors, kernel.op.getHeadDim(), kernel.tallest);
  return (getStateNumbers(kernel) + getSumNumbers(kernel) + keys) *
         int64_t(sizeof(float));
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

namespace {
class RecurrenceItem {
public:
  RecurrenceItem(DriverBuilder &b, func::FuncOp function, DriverKernel &kernel,
                 DriverPlan &plan)
      : b(b), call(b, function.getArgument(0)), frame(call), kernel(kernel),
        plan(plan), item(function.getArgument(1)),
        worker(function.getArgument(2)) {}

  /// The i32 code of the first function that failed, or 0.
  Value emit() {
    enter();
    moveState("posenc_kernel_load_state", "_in");
    Value length = frame.queryLen();
    Value code = b.ifElse(
        b.equal(length, b.i64(0)), [&] { return b.i32(0); },
        [&] {
          return b.forPieces(
              b.i64(0), length, emitChunkLength(),
              [&](Value at, Value count) { return emitChunk(at, count); });
        });
    moveState("posenc_kernel_store_state", "_out");
    return code;
  }

private:
  void enter() {
    tokens.batch = b.div(item, call.heads());
    tokens.head = b.rem(item, call.heads());
    tokens.kvHead = emitKeyHead(b, kernel, tokens.head);
    frame = call.enterSequence(tokens.batch);
    auto takeNumbers = [&,
                        address = call.workerScratch(worker)](int64_t offset) {
      return b.byteOffset(address, offset * int64_t(sizeof(float)));
    };
    tokens.state = takeNumbers(0);
    tokens.sums = takeNumbers(getStateNumbers(kernel));
    tokens.transformed =
        takeNumbers(getStateNumbers(kernel) + getSumNumbers(kernel));
    tokens.isLast = b.bit(true);
  }

  /// Between the caller's tensors, if they are there, and the scratch.
  void moveState(StringRef function, StringRef suffix) {
    auto move = [&](StringRef name, Value numbers, int64_t width) {
      unsigned tensor = *kernel.findTensor((name + suffix).str());
      b.call(function, Type(),
             {frame.getAddress(), tokens.batch, tokens.head, b.i32(tensor),
              numbers, b.i64(width)});
    };
    move("state", tokens.state, getStateWidth(kernel.op.getValueSize()));
    if (kernel.op.getRecurrence().divides())
      move("sums", tokens.sums, 1);
  }

  DriverArguments getArguments() {
    return DriverArguments(b, frame, kernel, plan);
  }

  /// Fewer tokens than a chunk has where strides are very long.
  Value emitChunkLength() {
    const ChunkFunctions &chunk = plan.chunks.front();
    Value length = b.min(getArguments().emitRowLimit(chunk.outputs),
                         getArguments().emitKeyLimit(chunk.state));
    if (plan.keys)
      length = b.min(length, getArguments().emitKeyLimit(*plan.keys));
    return b.min(length, b.i64(chunk.outputs.rows));
  }

  Value emitChunk(Value at, Value count) {
    CallSite keys = tokens;
    keys.keyBegin = at;
    keys.keyCount = count;
    CallSite chunk = keys;
    chunk.queryBegin = at;
    chunk.rows = count;
    Value status = b.i32(0);
    if (plan.keys)
      status = b.call(plan.keys->symbol, b.getI32Type(),
                      getArguments().emit(*plan.keys, keys));
    // The function of the fewest rows that hold the tokens.
    Value number = b.i64(0);
    for (size_t index = 1; index < plan.chunks.size(); ++index) {
      Value rows = b.i64(plan.chunks[index].outputs.rows);
      number = b.select(b.less(rows, count), number, b.i64(index));
    }
    for (auto function : {&ChunkFunctions::outputs, &ChunkFunctions::state})
      status = b.ifOk(status, [&] {
        SmallVector<Value> values =
            getArguments().emit(plan.chunks.front().*function, chunk);
        return b.switchCase(number, plan.chunks.size(), [&](unsigned index) {
          return b.call((plan.chunks[index].*function).symbol, b.getI32Type(),
                        values);
        });
      });
    return status;
  }

  DriverBuilder &b;
  DriverFrame call;
  DriverFrame frame; // of the batch entry
  DriverKernel &kernel;
  DriverPlan &plan;
  Value item, worker;
  CallSite tokens; // what all chunks share
};
} // namespace

DriverItems posenc::emitRecurrenceItems(DriverBuilder &b, DriverKernel &kernel,
                                        DriverPlan &plan) {
  DriverItems items;
  items.emitCount = [](DriverBuilder &b, DriverFrame frame) {
    return b.mul(frame.batch(), frame.heads());
  };
  items.function = b.defineItem(plan.op.getSymName() + "_recurrence_item");
  Value code = RecurrenceItem(b, items.function, kernel, plan).emit();
  returnStatus(b, DriverFrame(b, items.function.getArgument(0)), code);
  return items;
}
