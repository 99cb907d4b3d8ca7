// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that a program calls: NAME, NAME_prepare, NAME_prepared_bytes
// and NAME_scratch_bytes.
#include "Driver.h"
#include "DriverKept.h"
#include "DriverRecurrence.h"
#include "DriverRows.h"
#include "DriverTables.h"

using namespace mlir;
using namespace posenc;

static Value emitEnterPrepare(DriverBuilder &b, LLVM::GlobalOp description,
                              DriverFrame frame, Value args, Value call,
                              bool needData) {
  return b.call("posenc_kernel_enter_prepare", b.getI32Type(),
                {b.globalAddress(description), args, call, b.i32(needData),
                 frame.getAddress()});
}

/// Returns what `emitBytes` gives, or 0 when the arguments are refused.
static void emitSize(DriverBuilder &b, LLVM::GlobalOp description, Value args,
                     Value call, function_ref<Value(DriverFrame)> emitBytes) {
  DriverFrame frame = DriverFrame::create(b);
  Value status = emitEnterPrepare(b, description, frame, args, call,
                                  /*needData=*/false);
  Value result = b.stack(sizeof(int64_t));
  b.store(b.i64(0), result);
  b.ifOk(status, [&] {
    b.store(emitBytes(frame), result);
    return status;
  });
  b.ret(b.load(b.getI64Type(), result));
}

void posenc::emitScratchBytes(
    DriverBuilder &b, StringRef name, LLVM::GlobalOp description,
    function_ref<ScratchBytes(DriverFrame)> emitBytes) {
  Type ptr = b.getPtrType(), i64 = b.getI64Type();
  auto function = b.define(name + "_scratch_bytes",
                           b.getFunctionType({ptr, ptr}, i64), true);
  emitSize(b, description, function.getArgument(0), function.getArgument(1),
           [&](DriverFrame frame) {
             auto [shared, worker] = emitBytes(frame);
             return b.call("posenc_kernel_scratch_bytes", i64,
                           {frame.getAddress(), shared, worker});
           });
}

namespace {
class Entries {
public:
  Entries(DriverBuilder &b, DriverKernel &kernel, LLVM::GlobalOp description)
      : b(b), kernel(kernel), description(description), i32(b.getI32Type()),
        i64(b.getI64Type()), ptr(b.getPtrType()) {}

  void emit() {
    tables = emitTableItems(b, kernel);
    if (kernel.isIndirect()) {
      rows.function = emitRowItem(b, kernel);
      rows.emitCount = [](DriverBuilder &, DriverFrame frame) {
        return frame.batch();
      };
    }
    for (auto [plan, packed] : llvm::zip_equal(kernel.plans, kernel.packed)) {
      PlanItems &made = items.emplace_back();
      if (kernel.isRecurrent()) {
        made.keys = emitRecurrenceItems(b, kernel, plan);
        continue;
      }
      if (plan.keys)
        made.keys = emitKeyItems(b, kernel, plan);
      made.tiles = emitTileItems(b, kernel, plan);
      if (packed)
        made.packed = emitTileItems(b, kernel, *packed);
    }
    emitKernel();
    emitPrepare();
    emitPreparedBytes();
    emitScratchBytes(b, kernel.name, description, [&](DriverFrame frame) {
      Value shared = emitSharedBytes(frame);
      return ScratchBytes{shared, emitWorkerBytes(frame)};
    });
  }

private:
  //===--------------------------------------------------------------------===//
  // NAME(args, call)
  //===--------------------------------------------------------------------===//

  void emitKernel() {
    auto function =
        b.define(kernel.name, b.getFunctionType({ptr, ptr}, i32), true);
    Value args = function.getArgument(0), call = function.getArgument(1);
    DriverFrame frame = DriverFrame::create(b);
    Value status =
        b.call("posenc_kernel_enter", i32,
               {b.globalAddress(description), args, call, frame.getAddress()});
    b.ret(b.ifOk(status, [&] {
      // A state goes on without tokens, too.
      Value rows = b.mul(frame.batch(), frame.heads());
      if (!kernel.op.hasState())
        rows = b.mul(rows, frame.queryLen());
      return b.ifElse(
          b.equal(rows, b.i64(0)), [&] { return b.i32(0); },
          [&] {
            return b.call("posenc_kernel_leave", i32,
                          {frame.getAddress(), emitStages(frame)});
          });
    }));
  }

  /// Scratch, tables, keys, tiles.
  Value emitStages(DriverFrame frame) {
    Value status = b.call(
        "posenc_kernel_scratch", i32,
        {frame.getAddress(), emitSharedBytes(frame), emitWorkerBytes(frame)});
    if (!tables.empty())
      status = b.ifOk(status, [&] {
        return b.ifElse(
            b.isNull(frame.prepared()),
            [&] {
              Value before = emitBytesBeforeTables(frame);
              frame.setPrepared(
                  b.element(frame.shared(), before, b.getI8Type()));
              return emitFillTables(b, frame, kernel, tables);
            },
            [&] { return b.i32(0); });
      });
    return b.ifOk(status, [&] {
      return b.switchCase(
          frame.variant(), kernel.plans.size(), [&](unsigned plan) {
            return kernel.isRecurrent() ? emitParallel(frame, items[plan].keys)
                                        : emitPlan(frame, plan);
          });
    });
  }

  Value emitPlan(DriverFrame frame, unsigned plan) {
    PlanItems &made = items[plan];
    auto emitAll = [&] { return emitItems(frame, &made.keys, made.tiles); };
    std::optional<DriverPlan> &packed = kernel.packed[plan];
    if (!packed)
      return emitAll();
    return b.ifElse(
        emitUsesPacked(b, frame, kernel, *packed),
        [&] {
          return emitItems(frame,
                           packed->readsKeptKeys() ? &made.keys : nullptr,
                           *made.packed);
        },
        emitAll);
  }

  /// Rows, keys, tiles, their parts.
  Value emitItems(DriverFrame frame, DriverItems *keys, TileItems &tiles) {
    Value status = b.i32(0);
    for (DriverItems *items : {&rows, keys, &tiles.tiles, &tiles.merges})
      if (items && items->function)
        status = b.ifOk(status, [&] { return emitParallel(frame, *items); });
    return status;
  }

  Value emitParallel(DriverFrame frame, DriverItems &items) {
    return b.call("posenc_kernel_parallel", i32,
                  {frame.getAddress(), items.emitCount(b, frame),
                   b.functionAddress(items.function)});
  }

  //===--------------------------------------------------------------------===//
  // NAME_prepare(args, buffer, size)
  //===--------------------------------------------------------------------===//

  void emitPrepare() {
    auto function = b.define(kernel.name + "_prepare",
                             b.getFunctionType({ptr, ptr, i64}, i32), true);
    Value buffer = function.getArgument(1);
    DriverFrame frame = DriverFrame::create(b);
    Value status = emitEnterPrepare(b, description, frame,
                                    function.getArgument(0), b.null(),
                                    /*needData=*/true);
    b.ret(b.ifOk(status, [&] {
      Value payload = b.stack(sizeof(void *));
      Value status =
          b.call("posenc_prepared_begin", i32,
                 {frame.getAddress(), buffer, function.getArgument(2),
                  emitPayload(frame), payload});
      return b.ifOk(status, [&] {
        frame.setPrepared(b.load(ptr, payload));
        return b.ifOk(emitFillTables(b, frame, kernel, tables), [&] {
          b.call("posenc_prepared_finish", {}, {frame.getAddress(), buffer});
          return b.i32(0);
        });
      });
    }));
  }

  //===--------------------------------------------------------------------===//
  // Sizes; 0 when the arguments are refused
  //===--------------------------------------------------------------------===//

  void emitPreparedBytes() {
    auto function = b.define(kernel.name + "_prepared_bytes",
                             b.getFunctionType({ptr}, i64), true);
    emitSize(b, description, function.getArgument(0), b.null(),
             [&](DriverFrame frame) {
               return b.call("posenc_prepared_total_bytes", i64,
                             {emitPayload(frame)});
             });
  }

  //===--------------------------------------------------------------------===//
  // Shared
  //===--------------------------------------------------------------------===//

  Value emitPayload(DriverFrame frame) {
    return emitPayloadBytes(b, frame, kernel);
  }

  /// The most that the tiles of a plan keep: transformed keys and what parts of
  /// tiles leave. A recurrence has its own in the scratch of workers.
  Value emitTileBytes(DriverFrame frame) {
    Value most = b.i64(0);
    if (kernel.isRecurrent())
      return most;
    auto emitBytes = [&](DriverPlan &plan, TileItems &tiles) -> Value {
      return b.add(emitTransformedBytes(b, frame, plan),
                   tiles.emitPartBytes(b, frame));
    };
    for (unsigned plan = 0; plan < items.size(); ++plan) {
      PlanItems &made = items[plan];
      Value bytes = emitBytes(kernel.plans[plan], made.tiles);
      if (std::optional<DriverPlan> &packed = kernel.packed[plan])
        bytes = b.select(emitUsesPacked(b, frame, kernel, *packed),
                         emitBytes(*packed, *made.packed), bytes);
      most = b.max(most, bytes);
    }
    return most;
  }

  Value emitBytesBeforeTables(DriverFrame frame) {
    return b.add(emitRowBytes(b, frame, kernel), emitTileBytes(frame));
  }

  /// Lists of rows, what tiles keep, then the tables unless the caller has
  /// them.
  Value emitSharedBytes(DriverFrame frame) {
    Value tables =
        b.select(b.isNull(frame.prepared()), emitPayload(frame), b.i64(0));
    return b.add(emitBytesBeforeTables(frame), tables);
  }

  /// The state of a tile or of those of all heads, then scans or scores.
  Value emitWorkerBytes(DriverFrame frame) {
    if (kernel.isRecurrent())
      return b.i64(getRecurrenceBytes(kernel));
    Value state =
        b.i64(kernel.getAllStateBytes() + llvm::alignTo(kernel.scoreBytes, 64));
    if (kernel.scans == 0)
      return state;
    Value scans = b.mul(b.i64(kernel.scans), emitScanBytes(b, frame, kernel));
    return b.add(state, scans);
  }

  DriverBuilder &b;
  DriverKernel &kernel;
  LLVM::GlobalOp description;
  Type i32, i64, ptr;
  SmallVector<func::FuncOp> tables;
  DriverItems rows; // of keys in pages or rings
  struct PlanItems {
    DriverItems keys; // or those of a recurrence, which has no tiles
    TileItems tiles;
    std::optional<TileItems> packed;
  };
  std::vector<PlanItems> items; // one for each plan
};
} // namespace

void posenc::emitDriver(DriverBuilder &b, DriverKernel &kernel) {
  Entries(b, kernel, emitDescription(b, kernel)).emit();
}
