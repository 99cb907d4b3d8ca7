// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prepared buffer: its layout and the code that fills it.
#include "DriverTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>

using namespace mlir;
using namespace posenc;

/// Numbers that one item computes: enough to outweigh handing it out.
static constexpr int64_t kItemSize = 8192;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

namespace {
struct Layout {
  Value rows, columns;
};
} // namespace

Value posenc::emitQueryShift(DriverBuilder &b, DriverFrame frame,
                             Alignment alignment) {
  if (alignment == Alignment::top_left)
    return b.i64(0);
  return b.sub(frame.keyLen(), frame.queryLen());
}

static Layout emitLayout(DriverBuilder &b, DriverFrame frame,
                         DriverKernel &kernel, DriverTable &table) {
  Value lq = frame.queryLen(), lk = frame.keyLen();
  if (table.op.getKind() == TableKind::angles) {
    Value rows = isa<PositionTensorAttr>(table.positions)
                     ? b.mul(frame.batch(), lk)
                     : b.max(lq, lk);
    return {rows, b.i64(2 * table.frequencies.size())};
  }
  Value rows;
  switch (table.heads) {
  case DriverTable::Heads::Same:
    rows = b.i64(1);
    break;
  case DriverTable::Heads::Kernel:
    rows = b.i64(kernel.op.getHeads());
    break;
  case DriverTable::Heads::Call:
    rows = frame.heads();
    break;
  }
  return {rows, b.add(b.add(lq, lk), b.i64(kernel.tallest - 1))};
}

/// The size of the tables before number `end`.
static Value emitTablesBytes(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, size_t end) {
  Value bytes = b.i64(0);
  for (DriverTable &table : MutableArrayRef(kernel.tables).take_front(end)) {
    Layout layout = emitLayout(b, frame, kernel, table);
    Value size = b.mul(b.mul(layout.rows, layout.columns), b.i64(4));
    bytes = b.add(bytes, b.roundUp(size, 64));
  }
  return bytes;
}

Value posenc::emitPayloadBytes(DriverBuilder &b, DriverFrame frame,
                               DriverKernel &kernel) {
  return emitTablesBytes(b, frame, kernel, kernel.tables.size());
}

static size_t findTable(DriverKernel &kernel, StringRef name) {
  for (auto [index, table] : llvm::enumerate(kernel.tables))
    if (table.getName() == name)
      return index;
  llvm_unreachable("plans are verified");
}

static Value emitTableAddress(DriverBuilder &b, DriverFrame frame,
                              DriverKernel &kernel, size_t table) {
  Value offset = emitTablesBytes(b, frame, kernel, table);
  return b.element(frame.prepared(), offset, b.getI8Type());
}

int64_t posenc::getAnglesColumns(DriverKernel &kernel, StringRef name) {
  return 2 * kernel.tables[findTable(kernel, name)].frequencies.size();
}

Value posenc::emitAnglesRow(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, StringRef name, Side side,
                            Value batch, Value token) {
  size_t index = findTable(kernel, name);
  DriverTable &table = kernel.tables[index];
  // The key that has the token's position, counted from the first key.
  Value key = token;
  if (side == Side::query)
    key =
        b.add(token, emitQueryShift(b, frame, table.positions.getAlignment()));
  Value row;
  if (isa<PositionTensorAttr>(table.positions)) {
    row = b.add(b.mul(batch, frame.keyLen()), key);
  } else {
    // Queries before the first key come first.
    Value shift = emitQueryShift(b, frame, table.positions.getAlignment());
    row = b.sub(key, b.min(shift, b.i64(0)));
  }
  Value columns = b.i64(2 * table.frequencies.size());
  return b.element(emitTableAddress(b, frame, kernel, index),
                   b.mul(row, columns), b.getF32Type());
}

Value posenc::emitStripEntry(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, StringRef name, Value head,
                             Value query, Value key) {
  size_t index = findTable(kernel, name);
  DriverTable &table = kernel.tables[index];
  Layout layout = emitLayout(b, frame, kernel, table);
  // i - j counted from the first query and the last key.
  Value entry = b.add(b.sub(query, key), b.sub(frame.keyLen(), b.i64(1)));
  if (table.heads == DriverTable::Heads::Kernel)
    head = b.add(head, frame.firstHead());
  if (table.heads != DriverTable::Heads::Same)
    entry = b.add(b.mul(head, layout.columns), entry);
  return b.element(emitTableAddress(b, frame, kernel, index), entry,
                   b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Positions are integers that f64 holds exactly.
static Value toF64(DriverBuilder &b, Value integer) {
  return arith::SIToFPOp::create(b, b.getF64Type(), integer);
}

/// Rounds to f32. What is finite stays finite: -inf would mask the pair.
static Value toF32(DriverBuilder &b, Value value) {
  auto f64 = [&](double number) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(number));
  };
  Value magnitude = math::AbsFOp::create(b, value);
  Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE,
                                         magnitude, f64(DBL_MAX));
  Value clamped = arith::MaximumFOp::create(
      b, arith::MinimumFOp::create(b, value, f64(FLT_MAX)), f64(-FLT_MAX));
  return arith::TruncFOp::create(b, b.getF32Type(),
                                 b.select(isFinite, clamped, value));
}

static Value emitPosition(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, DriverTable &table, Value row) {
  if (auto law = dyn_cast<PositionTensorAttr>(table.positions)) {
    unsigned tensor = *kernel.findOperand(law.getName());
    Value lk = frame.keyLen();
    Value indices[] = {b.div(row, lk), b.rem(row, lk)};
    return toF64(b, b.load(b.getI32Type(), frame.element(tensor, indices)));
  }
  auto law = cast<IotaAttr>(table.positions);
  Value shift = emitQueryShift(b, frame, law.getAlign());
  Value first = b.add(b.min(shift, b.i64(0)), b.i64(law.getOffset()));
  return toF64(b, b.add(first, row));
}

static void emitAngles(DriverBuilder &b, DriverFrame frame,
                       DriverKernel &kernel, DriverTable &table, Value address,
                       Value begin, Value end) {
  int64_t pairs = table.frequencies.size();
  Value frequencies = b.constantArray(
      kernel.name + "_" + table.getName() + "_frequencies",
      DenseElementsAttr::get(RankedTensorType::get({pairs}, b.getF64Type()),
                             ArrayRef(table.frequencies)));
  b.loop(begin, end, [&](Value row) {
    Value position = emitPosition(b, frame, kernel, table, row);
    Value cosines =
        b.element(address, b.mul(row, b.i64(2 * pairs)), b.getF32Type());
    b.loop(b.i64(0), b.i64(pairs), [&](Value pair) {
      Value frequency =
          b.load(b.getF64Type(), b.element(frequencies, pair, b.getF64Type()));
      Value angle = arith::MulFOp::create(b, position, frequency);
      auto store = [&](Value number, Value column) {
        Value rounded = arith::TruncFOp::create(b, b.getF32Type(), number);
        b.store(rounded, b.element(cosines, column, b.getF32Type()));
      };
      store(math::CosOp::create(b, angle), pair);
      store(math::SinOp::create(b, angle), b.add(pair, b.i64(pairs)));
    });
  });
}

static void emitStrip(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
                      DriverTable &table, Value columns, Value address,
                      Value begin, Value end) {
  // Of the first query and the last key.
  Value lowest = b.sub(b.i64(1), frame.keyLen());
  if (table.positions)
    lowest =
        b.add(lowest, emitQueryShift(b, frame, table.positions.getAlignment()));
  b.loop(begin, end, [&](Value entry) {
    Value head = b.div(entry, columns);
    Value distance = b.add(lowest, b.rem(entry, columns));
    Value value = emitStripValue(b, frame, kernel, table, head, distance);
    b.store(toF32(b, value), b.element(address, entry, b.getF32Type()));
  });
}

/// What an item counts: rows of angles, entries of a strip.
static Value emitUnits(DriverBuilder &b, DriverTable &table, Layout layout) {
  return table.op.getKind() == TableKind::angles
             ? layout.rows
             : b.mul(layout.rows, layout.columns);
}
static int64_t getUnitsPerItem(DriverTable &table) {
  if (table.op.getKind() == TableKind::strip)
    return kItemSize;
  return std::max<int64_t>(1, kItemSize / (2 * table.frequencies.size()));
}

SmallVector<func::FuncOp> posenc::emitTableItems(DriverBuilder &b,
                                                 DriverKernel &kernel) {
  SmallVector<func::FuncOp> functions;
  for (auto [index, table] : llvm::enumerate(kernel.tables)) {
    auto type = b.getFunctionType(
        {b.getPtrType(), b.getI64Type(), b.getI64Type()}, b.getI32Type());
    auto function = b.define(kernel.name + "_" + table.getName() + "_item",
                             type, /*isPublic=*/false);
    functions.push_back(function);
    DriverFrame frame(b, function.getArgument(0));
    Layout layout = emitLayout(b, frame, kernel, table);
    Value perItem = b.i64(getUnitsPerItem(table));
    Value begin = b.mul(function.getArgument(1), perItem);
    Value end = b.min(b.add(begin, perItem), emitUnits(b, table, layout));
    Value address = emitTableAddress(b, frame, kernel, index);
    if (table.op.getKind() == TableKind::angles)
      emitAngles(b, frame, kernel, table, address, begin, end);
    else
      emitStrip(b, frame, kernel, table, layout.columns, address, begin, end);
    b.ret(b.i32(0));
  }
  return functions;
}

Value posenc::emitFillTables(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel,
                             ArrayRef<func::FuncOp> items) {
  Value status = b.i32(0);
  for (auto [table, item] : llvm::zip_equal(kernel.tables, items)) {
    // The bodies run before the loop variables change.
    DriverTable &current = table;
    func::FuncOp function = item;
    status = b.ifOk(status, [&] {
      Layout layout = emitLayout(b, frame, kernel, current);
      Value count =
          b.ceilDiv(emitUnits(b, current, layout), getUnitsPerItem(current));
      return b.call("posenc_kernel_parallel", b.getI32Type(),
                    {frame.getAddress(), count, b.functionAddress(function)});
    });
  }
  return status;
}
