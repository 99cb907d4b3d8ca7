// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the batch entries, heads and rows of a call.
#include "posenc/Reference/Reference.h"

#include "Checks.h"
#include "Codes.h"
#include "Recurrence.h"
#include "RowBlock.h"
#include "Sequences.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

using namespace mlir;
using namespace posenc;

static void allocate(RealTensor &tensor, llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data.assign(count, 0.0);
}

/// The log-sum-exp is that of the body's first posenc.normalize.
static bool hasLse(KernelOp kernel) {
  for (NormalizeOp op : kernel.getBody().front().getOps<NormalizeOp>())
    return exponentiates(op.getKind());
  return false;
}

static ReferenceOutputs allocateOutputs(KernelOp kernel, const CallShape &shape,
                                        const ReferenceOptions &options) {
  int64_t b = shape.batch, h = shape.heads, lq = shape.queryLen;
  ReferenceOutputs outputs;
  allocate(outputs.o, {b, h, lq, shape.valueDim});
  if (hasLse(kernel))
    allocate(outputs.lse, {b, h, lq});
  for (RealTensor *rows : {&outputs.maxScore, &outputs.maxValue})
    allocate(*rows, {b, h, lq});
  if (options.scores)
    allocate(outputs.scores, {b, h, lq, shape.keyLen});
  if (options.kept) {
    allocate(outputs.kept, {b, h, lq, shape.keyLen});
    llvm::fill(outputs.kept.data, 1);
  }
  allocateState(kernel, b, h, outputs);
  return outputs;
}

/// Rows of a block are summed one by one, so its size and the threads do not
/// show in the result.
static void evaluateHeads(const Call &call, const Positions &positions,
                          llvm::ArrayRef<const Head *> heads, int64_t blockRows,
                          ReferenceOutputs &outputs) {
  int64_t rows = call.shape.queryLen;
  llvm::parallelFor(0, llvm::divideCeil(rows, blockRows), [&](size_t block) {
    int64_t begin = block * blockRows;
    RowBlock(call, positions, heads, begin, std::min(rows, begin + blockRows))
        .evaluate(outputs);
  });
}

/// All heads are held at once.
static void evaluateTogether(const Call &call, HeadBuilder &builder,
                             ReferenceOutputs &outputs) {
  std::vector<Head> heads;
  for (int64_t h = 0; h < call.shape.heads; ++h) {
    Head head = builder.build(h, heads.empty() ? nullptr : &heads.back());
    heads.push_back(std::move(head));
  }
  llvm::SmallVector<const Head *> pointers;
  for (const Head &head : heads)
    pointers.push_back(&head);
  evaluateHeads(call, builder.getPositions(), pointers, 2, outputs);
}

static void evaluateEach(const Call &call, HeadBuilder &builder,
                         ReferenceOutputs &outputs) {
  Head previous;
  for (int64_t h = 0; h < call.shape.heads; ++h) {
    Head head = builder.build(h, h ? &previous : nullptr);
    evaluateHeads(call, builder.getPositions(), &head, 16, outputs);
    for (RecurrenceOp op : call.body.getOps<RecurrenceOp>())
      advanceState(call, op, head, outputs);
    previous = std::move(head);
  }
}

/// The same kernel of keys and values that are no codes.
static llvm::Expected<ReferenceOutputs>
evaluateDecoded(KernelOp kernel, const ReferenceInputs &inputs,
                const ReferenceOptions &options) {
  llvm::Expected<CallShape> shape = checkShapes(kernel, inputs);
  if (!shape)
    return shape.takeError();
  ReferenceInputs numbers = inputs;
  for (auto [name, vectors] :
       {std::pair("k_scales", &numbers.k), {"v_scales", &numbers.v}})
    *vectors = decode(kernel, *vectors, inputs.tables.find(name)->second);
  OwningOpRef<KernelOp> plain(kernel.clone());
  plain->removeKvScalesAttr();
  plain->removeKvDtypeAttr();
  return evaluateReference(*plain, numbers, options);
}

/// A call whose batch entries have the same lengths.
static llvm::Expected<ReferenceOutputs>
evaluateDense(KernelOp kernel, const ReferenceInputs &inputs,
              const ReferenceOptions &options, EarlierTokens earlier) {
  llvm::Expected<CallShape> shape = checkShapes(kernel, inputs);
  if (!shape)
    return shape.takeError();
  shape->firstKey = earlier.inState;
  shape->forgotten = earlier.forgotten;
  if (llvm::Error error = checkCall(kernel, *shape))
    return error;

  Call call(kernel, inputs, *shape);
  if (call.blocks)
    if (llvm::Error error =
            call.blocks->check(shape->queryLen, shape->getSequenceLen()))
      return error;
  Tables sharedTables = makeSharedTables(call);
  ReferenceOutputs outputs = allocateOutputs(kernel, *shape, options);
  for (int64_t batch = 0; batch < shape->batch; ++batch) {
    HeadBuilder builder(call, sharedTables, batch);
    if (readsAllScores(kernel))
      evaluateTogether(call, builder, outputs);
    else
      evaluateEach(call, builder, outputs);
  }
  return outputs;
}

llvm::Expected<ReferenceOutputs>
posenc::evaluateReference(KernelOp kernel, const ReferenceInputs &inputs,
                          const ReferenceOptions &options) {
  if (!kernel.isExpanded())
    return llvm::createStringError(
        "expected a kernel with a body, but '@" + kernel.getSymName() +
        "' has named encodings: run posenc-expand-encodings first");
  if (kernel.isAppend())
    return llvm::createStringError("expected a kernel that yields an output, "
                                   "but '@" +
                                   kernel.getSymName() +
                                   "' appends to a cache");
  if (llvm::Error error = checkBody(kernel))
    return error;
  if (kernel.hasState() && !kernel.getRecurrence())
    return llvm::createStringError(
        "expected a posenc.recurrence in '@" + kernel.getSymName() +
        "', whose keys are keys(state): run posenc-form-recurrences");
  if (kernel.getRecurrence() && options.scores)
    return llvm::createStringError(
        "expected no scores to be asked for, since '@" + kernel.getSymName() +
        "' has a posenc.recurrence");
  if (kernel.getKvScales())
    return evaluateDecoded(kernel, inputs, options);
  if (kernel.hasSequences())
    return evaluateSequences(kernel, inputs, options,
                             [&](KernelOp dense, const ReferenceInputs &given,
                                 EarlierTokens earlier) {
                               return evaluateDense(dense, given, options,
                                                    earlier);
                             });
  return evaluateDense(kernel, inputs, options, {});
}

/// [1, Hkv, tokens, D]: what the body yields for the new tokens of a sequence.
static llvm::Expected<RealTensor> encodeKeys(KernelOp kernel,
                                             const ReferenceInputs &inputs,
                                             const CallShape &shape) {
  if (llvm::Error error = checkCall(kernel, shape))
    return error;
  Call call(kernel, inputs, shape);
  Tables sharedTables = makeSharedTables(call);
  HeadBuilder builder(call, sharedTables, /*b=*/0);
  Value key = call.body.getTerminator()->getOperand(0);
  int64_t group = shape.heads / shape.kvHeads;
  RealTensor keys;
  keys.shape = {1, shape.kvHeads, shape.keyLen, shape.headDim};
  for (int64_t h = 0; h < shape.kvHeads; ++h) {
    Vectors vectors = builder.buildVector(h * group, key);
    keys.data.insert(keys.data.end(), vectors.data,
                     vectors.data + shape.keyLen * shape.headDim);
  }
  return keys;
}

llvm::Expected<AppendOutputs>
posenc::evaluateAppend(KernelOp kernel, const ReferenceInputs &inputs) {
  if (!kernel.isAppend())
    return llvm::createStringError("expected a kernel that appends to a cache, "
                                   "but '@" +
                                   kernel.getSymName() + "' does not");
  if (llvm::Error error = checkBody(kernel))
    return error;
  return evaluateAppendSequences(
      kernel, inputs,
      [&](const ReferenceInputs &sequence, const CallShape &shape) {
        return encodeKeys(kernel, sequence, shape);
      });
}
