// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that a program calls to append to a cache: NAME_append_kv and
// NAME_append_kv_scratch_bytes.
#include "Driver.h"
#include "DriverArguments.h"
#include "DriverTables.h"

using namespace mlir;
using namespace posenc;

/// Tokens that one item writes.
static constexpr int64_t kTokenChunk = 256;

namespace {
class AppendEntries {
public:
  AppendEntries(DriverBuilder &b, DriverKernel &kernel,
                LLVM::GlobalOp description)
      : b(b), kernel(kernel), description(description), i32(b.getI32Type()),
        i64(b.getI64Type()), ptr(b.getPtrType()) {}

  void emit() {
    tables = emitTableItems(b, kernel);
    for (DriverPlan &plan : kernel.plans)
      items.push_back(emitItem(plan));
    emitAppend();
    emitScratchBytes(b, kernel.name, description, [&](DriverFrame frame) {
      Value shared = emitSharedBytes(frame);
      return ScratchBytes{shared, getWorkerBytes()};
    });
  }

private:
  //===--------------------------------------------------------------------===//
  // Items: new tokens of one (batch entry, key head)
  //===--------------------------------------------------------------------===//

  Value emitChunks(DriverFrame frame) {
    return b.ceilDiv(frame.queryLen(), kTokenChunk);
  }
  Value emitCount(DriverFrame frame) {
    return b.mul(b.mul(frame.batch(), frame.kvHeads()), emitChunks(frame));
  }

  func::FuncOp emitItem(DriverPlan &plan) {
    func::FuncOp function = b.defineItem(plan.op.getSymName() + "_append_item");
    DriverFrame call(b, function.getArgument(0));
    Value item = function.getArgument(1);
    Value chunks = emitChunks(call);
    Value head = b.div(item, chunks);
    CallSite site;
    site.batch = b.div(head, call.kvHeads());
    site.kvHead = site.head = b.rem(head, call.kvHeads());
    site.transformed = call.workerScratch(function.getArgument(2));
    DriverFrame frame = call.enterSequence(site.batch);
    Value begin =
        b.min(b.mul(b.rem(item, chunks), b.i64(kTokenChunk)), frame.queryLen());
    Value end = b.min(b.add(begin, b.i64(kTokenChunk)), frame.queryLen());
    Value code = emitKeys(plan, frame, site, begin, end);
    b.ret(b.ifElse(
        b.equal(code, b.i32(0)),
        [&] {
          emitStore(frame, site, DriverKernel::NewValue,
                    DriverKernel::ValueCache, begin, b.sub(end, begin),
                    b.null());
          return b.i32(0);
        },
        [&] {
          return b.call("posenc_kernel_tile_failed", i32,
                        {frame.getAddress(), code});
        }));
    return function;
  }

  /// As they are, or as the key transform leaves them in the worker's scratch.
  /// The i32 code of the first transform that failed, or 0.
  Value emitKeys(DriverPlan &plan, DriverFrame frame, CallSite &site,
                 Value begin, Value end) {
    auto store = [&](Value at, Value count, Value rows) {
      emitStore(frame, site, DriverKernel::NewKey, DriverKernel::KeyCache, at,
                count, rows);
    };
    if (!plan.keys) {
      store(begin, b.sub(end, begin), b.null());
      return b.i32(0);
    }
    DriverArguments arguments(b, frame, kernel, plan);
    Value limit = arguments.emitKeyLimit(*plan.keys);
    return b.forPieces(begin, end, limit, [&](Value at, Value count) {
      site.keyBegin = at;
      site.keyCount = count;
      Value code =
          b.call(plan.keys->symbol, i32, arguments.emit(*plan.keys, site));
      return b.ifOk(code, [&] {
        store(at, count, site.transformed);
        return b.i32(0);
      });
    });
  }

  void emitStore(DriverFrame frame, const CallSite &site, unsigned tensor,
                 unsigned cache, Value begin, Value count, Value rows) {
    std::optional<unsigned> scales =
        kernel.findScales(cache == DriverKernel::ValueCache);
    b.call("posenc_kernel_append", Type(),
           {frame.getAddress(), site.batch, b.i32(tensor), b.i32(cache),
            b.i32(scales ? int64_t(*scales) : -1), site.kvHead, begin, count,
            rows});
  }

  //===--------------------------------------------------------------------===//
  // Entry points
  //===--------------------------------------------------------------------===//

  /// The tables of this call's tokens.
  Value emitSharedBytes(DriverFrame frame) {
    return emitPayloadBytes(b, frame, kernel);
  }
  /// Transformed keys of one item.
  Value getWorkerBytes() {
    return b.i64(kernel.keyVectors * kTokenChunk * kernel.op.getHeadDim() *
                 int64_t(sizeof(float)));
  }

  void emitAppend() {
    auto function =
        b.define(kernel.name, b.getFunctionType({ptr, ptr}, i32), true);
    DriverFrame frame = DriverFrame::create(b);
    Value status =
        b.call("posenc_kernel_enter", i32,
               {b.globalAddress(description), function.getArgument(0),
                function.getArgument(1), frame.getAddress()});
    b.ret(b.ifOk(status, [&] {
      return b.ifElse(
          b.equal(emitCount(frame), b.i64(0)), [&] { return b.i32(0); },
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
    if (!tables.empty())
      status = b.ifOk(status, [&] {
        frame.setPrepared(frame.shared());
        return emitFillTables(b, frame, kernel, tables);
      });
    return b.ifOk(status, [&] {
      return b.switchCase(frame.variant(), items.size(), [&](unsigned plan) {
        return b.call("posenc_kernel_parallel", i32,
                      {frame.getAddress(), emitCount(frame),
                       b.functionAddress(items[plan])});
      });
    });
  }

  DriverBuilder &b;
  DriverKernel &kernel;
  LLVM::GlobalOp description;
  Type i32, i64, ptr;
  SmallVector<func::FuncOp> tables;
  SmallVector<func::FuncOp> items; // one for each plan
};
} // namespace

void posenc::emitAppendDriver(DriverBuilder &b, DriverKernel &kernel) {
  AppendEntries(b, kernel, emitDescription(b, kernel)).emit();
}
