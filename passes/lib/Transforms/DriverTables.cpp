// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prepared buffer: its layout and the functions that fill it.
#include "DriverTables.h"
#include "DriverFill.h"
#include "DriverScalar.h"

using namespace mlir;
using namespace posenc;

/// Numbers that one item computes: enough to outweigh handing it out.
static constexpr int64_t kItemSize = 8192;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Value posenc::emitQueryShift(DriverBuilder &b, DriverFrame frame,
                             Alignment alignment) {
  if (alignment == Alignment::top_left)
    return b.i64(0);
  return b.sub(frame.keyLen(), frame.queryLen());
}

Value posenc::emitLongestShift(DriverBuilder &b, DriverFrame frame,
                               Alignment alignment) {
  if (alignment == Alignment::top_left)
    return b.i64(0);
  return b.sub(frame.longestKey(), frame.longestQuery());
}

Value posenc::emitPlaceShift(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, Alignment alignment) {
  return kernel.hasNewTokens() ? b.i64(0) : emitQueryShift(b, frame, alignment);
}

Value posenc::emitTokens(DriverFrame frame, DriverKernel &kernel, Side side) {
  return side == Side::query || kernel.hasNewTokens() ? frame.queryLen()
                                                      : frame.keyLen();
}

Value posenc::emitPositionAddress(DriverBuilder &b, DriverFrame frame,
                                  DriverKernel &kernel, PositionTensorAttr law,
                                  Side side, Value batch, Value token) {
  if (side == Side::query && !law.hasOwnQueries())
    token = b.add(token, emitPlaceShift(b, frame, kernel, law.getAlign()));
  SmallVector<Value> indices;
  if (law.getAxes() > 1)
    indices.push_back(b.i64(law.getAxis()));
  indices.append({batch, token});
  return frame.element(*kernel.findOperand(law.getTensor(side)), indices);
}

Value posenc::emitScanBytes(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel) {
  int64_t keyBytes = 2 * kernel.tallest * sizeof(float);
  return b.roundUp(b.mul(frame.keptKeys(), b.i64(keyBytes)), 64);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static Value emitTableHeads(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, DriverTable &table) {
  switch (table.heads) {
  case DriverTable::Heads::Same:
    return b.i64(1);
  case DriverTable::Heads::Kernel:
    return b.i64(kernel.op.getHeads());
  case DriverTable::Heads::Call:
    return frame.heads();
  }
  llvm_unreachable("all cases are handled");
}

/// The part of a batch entry and a head of the call.
static Value emitPart(DriverBuilder &b, DriverFrame frame, DriverTable &table,
                      Value batch, Value head, const TableLayout &layout) {
  Value part = table.hasBatches ? b.mul(batch, layout.heads) : b.i64(0);
  switch (table.heads) {
  case DriverTable::Heads::Same:
    return part;
  case DriverTable::Heads::Kernel:
    return b.add(part, b.add(head, frame.firstHead()));
  case DriverTable::Heads::Call:
    return b.add(part, head);
  }
  llvm_unreachable("all cases are handled");
}

static bool isPartAxis(TableAxis axis) {
  return axis == TableAxis::head || axis == TableAxis::batch;
}

/// Distances of the call and of the rows by which its last tile may exceed it.
static Value emitDistances(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel) {
  return b.add(b.add(frame.longestQuery(), frame.longestKey()),
               b.i64(kernel.tallest - 1));
}

static Value emitAxisExtent(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, DriverTable &table,
                            TableAxis axis) {
  switch (axis) {
  case TableAxis::row:
    return table.rows ? b.i64(*table.rows) : emitDistances(b, frame, kernel);
  case TableAxis::channel:
    return b.i64(getTableChannels(table.values));
  case TableAxis::query:
    return frame.longestQuery();
  case TableAxis::key:
    return frame.longestKey();
  case TableAxis::batch:
    return frame.batch();
  case TableAxis::head:
    return emitTableHeads(b, frame, kernel, table);
  }
  llvm_unreachable("all axes are handled");
}

/// The tokens of a table of angles.
static Value emitAnglesTokens(DriverBuilder &b, DriverFrame frame,
                              DriverKernel &kernel, DriverTable &table) {
  Value lq = frame.longestQuery(), lk = frame.longestKey();
  if (table.side == Side::query || kernel.hasNewTokens())
    return lq;
  if (table.hasTokenRows)
    return lk;
  return kernel.hasSequences() ? b.add(lq, lk) : b.max(lq, lk);
}

Value posenc::emitFirstToken(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, DriverTable &table) {
  if (table.side == Side::query || table.hasTokenRows ||
      table.alignment == Alignment::top_left)
    return b.i64(0);
  if (kernel.isRing())
    return b.sub(frame.firstKey(), frame.longestQuery());
  if (kernel.hasSequences())
    return b.neg(frame.longestQuery());
  return b.min(emitQueryShift(b, frame, table.alignment), b.i64(0));
}

Value posenc::emitDecayCount(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel) {
  return b.add(b.min(frame.longestQuery(), b.i64(kernel.tallest)), b.i64(1));
}

TableLayout posenc::emitTableLayout(DriverBuilder &b, DriverFrame frame,
                                    DriverKernel &kernel, DriverTable &table) {
  TableLayout layout;
  layout.batches = table.hasBatches ? frame.batch() : b.i64(1);
  layout.heads = emitTableHeads(b, frame, kernel, table);
  switch (table.op.getKind()) {
  case TableKind::angles:
    layout.axes = {emitAnglesTokens(b, frame, kernel, table),
                   b.i64(2 * table.pairs)};
    break;
  case TableKind::strip:
    layout.axes = {emitDistances(b, frame, kernel)};
    break;
  case TableKind::decays:
    layout.axes = {emitDecayCount(b, frame, kernel)};
    break;
  case TableKind::rows:
    for (TableAxis axis : table.type.getAxes()) {
      Value extent = emitAxisExtent(b, frame, kernel, table, axis);
      if (!isPartAxis(axis))
        layout.axes.push_back(extent);
    }
    break;
  }
  layout.partSize = b.i64(1);
  for (Value extent : layout.axes)
    layout.partSize = b.mul(layout.partSize, extent);
  if (table.hasParts())
    layout.partSize = b.mul(layout.partSize, b.i64(2));
  return layout;
}

/// The size of the tables before number `end`.
static Value emitTablesBytes(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, size_t end) {
  Value bytes = b.i64(0);
  for (DriverTable &table : MutableArrayRef(kernel.tables).take_front(end)) {
    TableLayout layout = emitTableLayout(b, frame, kernel, table);
    Value parts = b.mul(layout.batches, layout.heads);
    Value size = b.mul(b.mul(parts, layout.partSize), b.i64(4));
    bytes = b.add(bytes, b.roundUp(size, 64));
  }
  return bytes;
}

Value posenc::emitPayloadBytes(DriverBuilder &b, DriverFrame frame,
                               DriverKernel &kernel) {
  return emitTablesBytes(b, frame, kernel, kernel.tables.size());
}

static Value emitTableAddress(DriverBuilder &b, DriverFrame frame,
                              DriverKernel &kernel, DriverTable &table) {
  Value offset =
      emitTablesBytes(b, frame, kernel, &table - kernel.tables.data());
  return b.element(frame.prepared(), offset, b.getI8Type());
}

Value posenc::emitAnglesRow(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, DriverTable &table, Side side,
                            Value batch, Value head, Value token) {
  Value row = token;
  // The key that has the token's position, counted from the first key.
  if (table.side == Side::key && side == Side::query)
    row = b.add(row, emitPlaceShift(b, frame, kernel, table.alignment));
  row = b.sub(row, emitFirstToken(b, frame, kernel, table));
  TableLayout layout = emitTableLayout(b, frame, kernel, table);
  Value part = emitPart(b, frame, table, batch, head, layout);
  Value entry =
      b.add(b.mul(part, layout.partSize), b.mul(row, b.i64(2 * table.pairs)));
  return b.element(emitTableAddress(b, frame, kernel, table), entry,
                   b.getF32Type());
}

Value posenc::emitPartStride(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, DriverTable &table) {
  if (table.heads == DriverTable::Heads::Same)
    return b.i64(0);
  return emitTableLayout(b, frame, kernel, table).partSize;
}

Value posenc::emitStripEntry(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, DriverTable &table,
                             Value head, Value query, Value key) {
  TableLayout layout = emitTableLayout(b, frame, kernel, table);
  // i - j counted from the first query and the last key of the longest
  // sequence, at whose end those of a shorter one are.
  query = b.add(query, b.sub(emitQueryShift(b, frame, table.alignment),
                             emitLongestShift(b, frame, table.alignment)));
  Value entry = b.add(b.sub(query, key), b.sub(frame.longestKey(), b.i64(1)));
  Value part = emitPart(b, frame, table, /*batch=*/Value(), head, layout);
  entry = b.add(b.mul(part, layout.partSize), entry);
  return b.element(emitTableAddress(b, frame, kernel, table), entry,
                   b.getF32Type());
}

Value posenc::emitDecay(DriverBuilder &b, DriverFrame frame,
                        DriverKernel &kernel, DriverTable &table, Value head) {
  TableLayout layout = emitTableLayout(b, frame, kernel, table);
  Value part = emitPart(b, frame, table, /*batch=*/Value(), head, layout);
  return b.element(emitTableAddress(b, frame, kernel, table),
                   b.mul(part, layout.partSize), b.getF32Type());
}

/// The value for a query's own index among the keys.
static Value emitRelationAt(DriverBuilder &b, RelationOp relation, Value query,
                            Value key) {
  auto ofQuery = cast<IotaAttr>(findPosition(relation.getQuery()).getLaw());
  auto ofKey = cast<IotaAttr>(findPosition(relation.getKey()).getLaw());
  Value distance =
      b.add(b.sub(query, key), b.i64(ofQuery.getOffset() - ofKey.getOffset()));
  auto law = cast<DifferenceAttr>(relation.getLaw());
  return law.getOrientation() == Orientation::query_minus_key ? distance
                                                              : b.neg(distance);
}

static Alignment getAlignment(RelationOp relation) {
  return findPosition(relation.getQuery()).getLaw().getAlignment();
}

Value posenc::emitRelationValue(DriverBuilder &b, DriverFrame frame,
                                RelationOp relation, Value query, Value key) {
  Value shift = emitQueryShift(b, frame, getAlignment(relation));
  return emitRelationAt(b, relation, b.add(query, shift), key);
}

Value posenc::emitLowestRow(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, DriverTable &table) {
  if (table.rows || !table.relation)
    return Value();
  Value lastQuery =
      b.add(frame.longestQuery(), b.i64(kernel.tallest - 2)); // a whole tile
  Value lastKey = b.sub(frame.longestKey(), b.i64(1));
  Value shift = emitLongestShift(b, frame, getAlignment(table.relation));
  auto at = [&](Value query, Value key) {
    return emitRelationAt(b, table.relation, b.add(query, shift), key);
  };
  return b.min(at(b.i64(0), lastKey), at(lastQuery, b.i64(0)));
}

PreparedRows posenc::emitPreparedRows(DriverBuilder &b, DriverFrame frame,
                                      DriverKernel &kernel, DriverTable &table,
                                      Value batch, Value head) {
  TableLayout layout = emitTableLayout(b, frame, kernel, table);
  Value part = emitPart(b, frame, table, batch, head, layout);
  PreparedRows result;
  result.address = b.element(emitTableAddress(b, frame, kernel, table),
                             b.mul(part, layout.partSize), b.getF32Type());
  result.lowestRow = emitLowestRow(b, frame, kernel, table);
  ArrayRef<TableAxis> axes = table.type.getAxes();
  result.extents.resize(axes.size());
  result.strides.resize(axes.size());
  Value stride = b.i64(1);
  for (size_t axis = axes.size(), number = layout.axes.size(); axis-- > 0;) {
    if (isPartAxis(axes[axis]))
      continue;
    result.extents[axis] = layout.axes[--number];
    result.strides[axis] = stride;
    stride = b.mul(stride, layout.axes[number]);
  }
  if (table.hasParts())
    result.restStride = stride;
  return result;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// The units of one part that an item fills together, and their number.
static int64_t getUnitsPerItem(DriverTable &table) {
  return std::max<int64_t>(1, kItemSize / getUnitCost(table));
}
static Value emitItemsPerPart(DriverBuilder &b, DriverTable &table,
                              const TableLayout &layout) {
  return b.ceilDiv(emitPartUnits(b, table, layout), getUnitsPerItem(table));
}

SmallVector<func::FuncOp> posenc::emitTableItems(DriverBuilder &b,
                                                 DriverKernel &kernel) {
  SmallVector<func::FuncOp> functions;
  for (DriverTable &table : kernel.tables) {
    auto function = b.defineItem(kernel.name + "_" + table.getName() + "_item");
    functions.push_back(function);
    DriverFrame frame(b, function.getArgument(0));
    TableLayout layout = emitTableLayout(b, frame, kernel, table);
    Value perPart = emitItemsPerPart(b, table, layout);
    Value part = b.div(function.getArgument(1), perPart);
    Value number = b.rem(function.getArgument(1), perPart);
    Value perItem = b.i64(getUnitsPerItem(table));
    Value begin = b.mul(number, perItem);
    Value end = b.min(b.add(begin, perItem), emitPartUnits(b, table, layout));
    Value address = b.element(emitTableAddress(b, frame, kernel, table),
                              b.mul(part, layout.partSize), b.getF32Type());
    TableFill fill(b, frame, kernel, table, layout);
    fill.emit(part, address, begin, end);
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
      TableLayout layout = emitTableLayout(b, frame, kernel, current);
      Value parts = b.mul(layout.batches, layout.heads);
      Value count = b.mul(parts, emitItemsPerPart(b, current, layout));
      return b.call("posenc_kernel_parallel", b.getI32Type(),
                    {frame.getAddress(), count, b.functionAddress(function)});
    });
  }
  return status;
}
