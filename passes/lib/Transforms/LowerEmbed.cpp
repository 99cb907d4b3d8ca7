// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass that writes the program of an input embedding.
#include "Driver.h"
#include "EmbedVectors.h"

#include "posenc/Analysis/EmbedBody.h"
#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/xxhash.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCLOWEREMBED
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

/// Elements that one item computes: enough to outweigh handing it out.
static constexpr int64_t kItemSize = 8192;

namespace {
class EmbedEntries {
public:
  EmbedEntries(DriverBuilder &b, EmbedProgram &program,
               ArrayRef<std::string> isas)
      : b(b), program(program), dim(program.op.getDim()), isas(isas),
        i32(b.getI32Type()), i64(b.getI64Type()), ptr(b.getPtrType()) {}

  void emit() {
    describe();
    for (Operation *sequence : program.sequences)
      items.push_back(emitSequenceItem(sequence));
    items.push_back(emitTokenItem());
    emitKernel();
    emitScratchBytes(b, program.name, description, [&](DriverFrame frame) {
      Value shared = emitSharedBytes(frame);
      return ScratchBytes{shared, getWorkerBytes()};
    });
  }

private:
  void describe() {
    DescribedKernel described;
    described.name = program.name;
    described.tensors = program.tensors;
    described.isas.assign(isas.begin(), isas.end());
    described.headDim = described.valueDim = dim;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << program.op;
    described.fingerprint = llvm::xxh3_64bits(text);
    description = emitDescription(b, described);
  }

  //===--------------------------------------------------------------------===//
  // Sums and means over a sequence: an item is a batch entry
  //===--------------------------------------------------------------------===//

  func::FuncOp emitSequenceItem(Operation *sequence) {
    unsigned number = program.findSequence(sequence);
    auto function =
        b.defineItem(program.name + "_sequence" + Twine(number) + "_item");
    DriverFrame frame(b, function.getArgument(0));
    Value batch = function.getArgument(1);
    Value sum = b.stack(sizeof(double)), count = b.stack(sizeof(double));
    EmbedNumbers outside(b, frame, program, batch, b.i64(0));
    b.store(outside.f64(0), sum);
    b.store(outside.f64(0), count);
    bool isMean = isa<CoordMeanOp>(sequence);
    b.loop(b.i64(0), frame.keyLen(), [&](Value token) {
      EmbedNumbers numbers(b, frame, program, batch, token);
      Value number = numbers.emit(sequence->getOperand(0));
      if (!isMean) {
        b.store(addTo(sum, number),
                numbers.emitSequenceAddress(sequence, token));
        return;
      }
      Value counts =
          arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, number, number);
      addTo(sum, b.select(counts, number, numbers.f64(0)));
      addTo(count, b.select(counts, numbers.f64(1), numbers.f64(0)));
    });
    if (isMean) {
      Value mean = arith::DivFOp::create(b, b.load(b.getF64Type(), sum),
                                         b.load(b.getF64Type(), count));
      b.store(mean, outside.emitSequenceAddress(sequence, b.i64(0)));
    }
    b.ret(b.i32(0));
    return function;
  }

  Value addTo(Value address, Value number) {
    Value sum =
        arith::AddFOp::create(b, b.load(b.getF64Type(), address), number);
    b.store(sum, address);
    return sum;
  }

  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  int64_t getTokensPerItem() { return std::max<int64_t>(1, kItemSize / dim); }
  Value emitChunks(DriverFrame frame) {
    return b.ceilDiv(frame.keyLen(), getTokensPerItem());
  }

  func::FuncOp emitTokenItem() {
    auto function = b.defineItem(program.name + "_token_item");
    DriverFrame frame(b, function.getArgument(0));
    Value item = function.getArgument(1);
    Value vector = frame.workerScratch(function.getArgument(2));
    Value chunks = emitChunks(frame);
    Value batch = b.div(item, chunks);
    Value begin = b.mul(b.rem(item, chunks), b.i64(getTokensPerItem()));
    Value end = b.min(b.add(begin, b.i64(getTokensPerItem())), frame.keyLen());
    b.ret(b.forPieces(begin, end, b.i64(1), [&](Value token, Value) {
      return emitToken(frame, batch, token, vector);
    }));
    return function;
  }

  Value emitToken(DriverFrame frame, Value batch, Value token, Value vector) {
    EmbedNumbers numbers(b, frame, program, batch, token);
    Value status = b.i32(0);
    for (BoundedOp op : program.op.getBody().getOps<BoundedOp>())
      status = emitCheck(op, numbers, batch, token, status);
    return b.ifOk(status, [&] {
      emitVector(frame, numbers, batch, token, vector);
      return b.i32(0);
    });
  }

  /// Numbers are computed outside of the conditions, so that later ones find
  /// them.
  Value emitCheck(BoundedOp op, EmbedNumbers &numbers, Value batch, Value token,
                  Value status) {
    Value position = numbers.emit(op.getPosition());
    int64_t rows = op.getRows();
    auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
      return arith::CmpFOp::create(b, predicate, position, bound);
    };
    Value isRow = arith::AndIOp::create(
        b,
        arith::AndIOp::create(
            b, compare(arith::CmpFPredicate::OGE, numbers.f64(0)),
            compare(arith::CmpFPredicate::OLE,
                    numbers.f64(static_cast<double>(rows - 1)))),
        compare(arith::CmpFPredicate::OEQ, math::FloorOp::create(b, position)));
    return b.ifOk(status, [&] {
      return b.ifElse(
          isRow, [&] { return b.i32(0); },
          [&] {
            // Strings are as many as there are names.
            Value what = b.constantString(
                program.name + "_rows" + Twine(strings++), op.getWhat());
            return b.call(
                "posenc_kernel_position_failed", i32,
                {frameOf(numbers), what, batch, token, position, b.i64(rows)});
          });
    });
  }
  static Value frameOf(EmbedNumbers &numbers) {
    return numbers.getFrame().getAddress();
  }

  void emitVector(DriverFrame frame, EmbedNumbers &numbers, Value batch,
                  Value token, Value vector) {
    EmbedVectors vectors(b, numbers, vector, dim);
    Type real = program.op.getElementType();
    auto getRow = [&](StringRef tensor) {
      return frame.element(program.findTensor(tensor), {batch, token}, real);
    };
    if (readsInput(program.op)) {
      Value x = getRow("x");
      vectors.forChannels(0, dim, [&](Value c) {
        vectors.store(b.loadReal(real, b.element(x, c, real)), c);
      });
    }
    for (Operation *op : getVectorOps(program.op))
      vectors.emit(op);
    Value y = getRow("y");
    vectors.forChannels(0, dim, [&](Value c) {
      Value number = vectors.load(c);
      if (!real.isF64())
        number = arith::TruncFOp::create(b, real, number);
      b.store(number, b.element(y, c, real));
    });
  }

  //===--------------------------------------------------------------------===//
  // Entry points
  //===--------------------------------------------------------------------===//

  /// A number of each token for each sum or mean.
  Value emitSharedBytes(DriverFrame frame) {
    Value tokens = b.mul(frame.batch(), frame.keyLen());
    return b.mul(tokens, b.i64(sizeof(double) * program.sequences.size()));
  }
  Value getWorkerBytes() { return b.i64(dim * sizeof(double)); }

  void emitKernel() {
    auto function =
        b.define(program.name, b.getFunctionType({ptr, ptr}, i32), true);
    DriverFrame frame = DriverFrame::create(b);
    Value status =
        b.call("posenc_kernel_enter", i32,
               {b.globalAddress(description), function.getArgument(0),
                function.getArgument(1), frame.getAddress()});
    b.ret(b.ifOk(status, [&] {
      Value tokens = b.mul(frame.batch(), frame.keyLen());
      return b.ifElse(
          b.equal(tokens, b.i64(0)), [&] { return b.i32(0); },
          [&] {
            return b.call("posenc_kernel_leave", i32,
                          {frame.getAddress(), emitStages(frame)});
          });
    }));
  }

  Value emitStages(DriverFrame frame) {
    Value status =
        b.call("posenc_kernel_scratch", i32,
               {frame.getAddress(), emitSharedBytes(frame), getWorkerBytes()});
    for (auto [index, item] : llvm::enumerate(items)) {
      func::FuncOp function = item;
      bool isToken = index + 1 == items.size();
      status = b.ifOk(status, [&] {
        Value count = frame.batch();
        if (isToken)
          count = b.mul(count, emitChunks(frame));
        return b.call("posenc_kernel_parallel", i32,
                      {frame.getAddress(), count, b.functionAddress(function)});
      });
    }
    return status;
  }

  DriverBuilder &b;
  EmbedProgram &program;
  int64_t dim;
  ArrayRef<std::string> isas;
  Type i32, i64, ptr;
  LLVM::GlobalOp description;
  SmallVector<func::FuncOp> items; // of the stages, tokens last
  unsigned strings = 0;
};

struct LowerEmbed : posenc::impl::PosencLowerEmbedBase<LowerEmbed> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void LowerEmbed::runOnOperation() {
  ModuleOp module = getOperation();
  auto embeds = llvm::to_vector(module.getOps<EmbedOp>());
  if (embeds.size() != 1) {
    module.emitError("expects one posenc.embed in the module, but has ")
        << embeds.size();
    return signalPassFailure();
  }
  EmbedOp op = embeds.front();
  if (llvm::Error error = checkEmbedBody(op)) {
    op.emitOpError() << llvm::toString(std::move(error));
    return signalPassFailure();
  }
  SmallVector<std::string> isas(isa.begin(), isa.end());
  if (isas.empty())
    isas.push_back(getHostPlatform().isas.back().name.str());
  for (const std::string &name : isas)
    if (!findInstructionSet(name)) {
      module.emitError("unknown instruction set '") << name << "'";
      return signalPassFailure();
    }

  EmbedProgram program;
  program.op = op;
  program.name = op.getSymName().str();
  program.tensors = getKernelTensors(op);
  for (Operation &nested : op.getBody().front())
    if (::llvm::isa<CoordSumOp, CoordMeanOp>(nested))
      program.sequences.push_back(&nested);

  // The entry point takes the embedding's name: build beside the module.
  OwningOpRef<ModuleOp> host = ModuleOp::create(op.getLoc());
  DriverBuilder builder(op.getLoc(), *host);
  EmbedEntries(builder, program, isas).emit();
  op.erase();
  Block &body = *module.getBody();
  body.getOperations().splice(body.end(), host->getBody()->getOperations());
}
