// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of one call of a tile function or key transform.
#include "DriverArguments.h"
#include "DriverTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>
#include <limits>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A halide_buffer_t and its dimensions on the stack.
Value DriverArguments::emitBuffer(Value host, const Dimensions &dimensions,
                                  bool isInteger) {
  int64_t rank = dimensions.size();
  Value buffer =
      b.stack(TileBuffer::kBytes + rank * int64_t(TileBuffer::kDimBytes));
  // {code: u8, bits: u8, lanes: u16}
  unsigned code =
      isInteger ? TileBuffer::kTypeCodeInt : TileBuffer::kTypeCodeFloat;
  int64_t type = code | (32u << 8) | (1u << 16);
  b.store(host, b.byteOffset(buffer, TileBuffer::kHostOffset));
  b.store(b.i32(type), b.byteOffset(buffer, TileBuffer::kTypeOffset));
  b.store(b.i32(rank), b.byteOffset(buffer, TileBuffer::kDimensionsOffset));
  b.store(b.byteOffset(buffer, TileBuffer::kBytes),
          b.byteOffset(buffer, TileBuffer::kDimOffset));
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    Value members[] = {dimension.min ? b.toI32(dimension.min) : b.i32(0),
                       b.toI32(dimension.extent), b.toI32(dimension.stride),
                       b.i32(0)};
    for (auto [member, value] : llvm::enumerate(members))
      b.store(value, b.byteOffset(buffer, TileBuffer::kBytes +
                                              index * TileBuffer::kDimBytes +
                                              member * sizeof(int32_t)));
  }
  return buffer;
}

Value DriverArguments::emitKeys(const CallSite &site, bool isTransformed) {
  Value headDim = b.i64(kernel.op.getHeadDim());
  if (!isTransformed) {
    Value indices[] = {site.batch, site.kvHead, site.keyBegin};
    return emitBuffer(frame.element(DriverKernel::Key, indices),
                      {{headDim, b.i64(1)},
                       {site.keyCount, frame.stride(DriverKernel::Key, 2)}});
  }
  // At the start of the shared scratch, [B, Hkv, Lk, D].
  Value row = b.add(b.mul(site.batch, frame.kvHeads()), site.kvHead);
  row = b.add(b.mul(row, frame.keyLen()), site.keyBegin);
  Value host = b.element(frame.shared(), b.mul(row, headDim), b.getF32Type());
  return emitBuffer(host, {{headDim, b.i64(1)}, {site.keyCount, headDim}});
}

Value DriverArguments::emitAngles(const TileArg &arg, const CallSite &site) {
  bool isQuery = static_cast<bool>(site.queryBegin);
  Value columns = b.i64(getAnglesColumns(kernel, arg.symbol));
  Value host = emitAnglesRow(b, frame, kernel, arg.symbol,
                             isQuery ? Side::query : Side::key, site.batch,
                             isQuery ? site.queryBegin : site.keyBegin);
  return emitBuffer(host, {{columns, b.i64(1)},
                           {isQuery ? site.rows : site.keyCount, columns}});
}

Value DriverArguments::emitStrip(const TileArg &arg, const CallSite &site) {
  // From row 0 and the last key up to the last row and key 0.
  Value toFirst = b.sub(site.keyCount, b.i64(1));
  Value lastKey = b.add(site.keyBegin, toFirst);
  Value host = emitStripEntry(b, frame, kernel, arg.symbol, site.head,
                              site.queryBegin, lastKey);
  return emitBuffer(host, {{b.add(site.tileRows, toFirst), b.i64(1),
                            b.sub(b.i64(0), toFirst)}});
}

Value DriverArguments::emitTable(const TileArg &arg, const CallSite &site) {
  if (isa<ConstantsAttr>(arg.law))
    return emitConstants(arg, site);
  unsigned tensor = *kernel.findOperand(arg.symbol);
  SmallVector<Value> indices;
  for (TableAxis axis : arg.type.getAxes())
    indices.push_back(axis == TableAxis::head    ? site.head
                      : axis == TableAxis::query ? site.queryBegin
                      : axis == TableAxis::key   ? site.keyBegin
                                                 : Value());
  Dimensions dimensions;
  for (TableAxis dim : arg.dims) {
    unsigned axis = std::distance(arg.type.getAxes().begin(),
                                  llvm::find(arg.type.getAxes(), dim));
    Value extent = dim == TableAxis::query ? site.rows
                   : dim == TableAxis::key ? site.keyCount
                                           : frame.extent(tensor, axis);
    dimensions.push_back({extent, frame.stride(tensor, axis)});
  }
  if (dimensions.empty())
    dimensions.push_back({b.i64(1), b.i64(1)});
  return emitBuffer(frame.element(tensor, indices), dimensions);
}

/// The numbers as f32; what is finite stays finite.
static DenseElementsAttr roundConstants(ConstantsAttr law, Type f32) {
  SmallVector<float> numbers;
  for (double number : law.getValues().asArrayRef())
    numbers.push_back(static_cast<float>(
        std::abs(number) <= std::numeric_limits<double>::max()
            ? std::clamp<double>(number, -FLT_MAX, FLT_MAX)
            : number));
  auto type =
      RankedTensorType::get({static_cast<int64_t>(numbers.size())}, f32);
  return DenseElementsAttr::get(type, ArrayRef(numbers));
}

/// Constants have row and head axes only; those of a head may be strided.
Value DriverArguments::emitConstants(const TileArg &arg, const CallSite &site) {
  auto law = cast<ConstantsAttr>(arg.law);
  int64_t count = law.getValues().size(), heads = kernel.op.getHeads();
  bool hasHeads = arg.type.hasAxis(TableAxis::head);
  int64_t rows = hasHeads ? count / heads : count;
  bool headsLast = arg.type.getAxes().back() == TableAxis::head;
  // Plans may number their constants differently.
  Value host = b.constantArray(plan.op.getSymName() + "_" + arg.symbol,
                               roundConstants(law, b.getF32Type()));
  if (hasHeads) {
    Value head = b.add(frame.firstHead(), site.head);
    host = b.element(host, b.mul(head, b.i64(headsLast ? 1 : rows)),
                     b.getF32Type());
  }
  return emitBuffer(host,
                    {{b.i64(rows), b.i64(hasHeads && headsLast ? heads : 1)}});
}

Value DriverArguments::emitPositions(const TileArg &arg, const CallSite &site) {
  unsigned tensor = *kernel.findOperand(arg.symbol);
  bool isQuery = arg.kind == TileArgKind::QueryPositions;
  Value token = site.keyBegin;
  if (isQuery) {
    PositionTensorAttr law = findQueryPositions(plan.op, arg.symbol);
    token = b.add(site.queryBegin, emitQueryShift(b, frame, law.getAlign()));
  }
  Value indices[] = {site.batch, token};
  return emitBuffer(frame.element(tensor, indices),
                    {{isQuery ? site.rows : site.keyCount, b.i64(1)}},
                    /*isInteger=*/true);
}

Value DriverArguments::emitOutput(const CallSite &site) {
  Value indices[] = {site.batch, site.head, site.queryBegin};
  Value rows = b.select(site.isLast, site.rows, b.i64(0));
  return emitBuffer(frame.element(DriverKernel::Output, indices),
                    {{b.i64(kernel.op.getValueSize()), b.i64(1)},
                     {rows, frame.stride(DriverKernel::Output, 2)}});
}

Value DriverArguments::emitLogSumExp(const CallSite &site) {
  if (!kernel.hasLogSumExp())
    return emitBuffer(b.null(), {{b.i64(0), b.i64(1)}});
  Value indices[] = {site.batch, site.head, site.queryBegin};
  Value rows = b.select(b.isNull(frame.data(DriverKernel::LogSumExp)), b.i64(0),
                        b.select(site.isLast, site.rows, b.i64(0)));
  return emitBuffer(frame.element(DriverKernel::LogSumExp, indices),
                    {{rows, frame.stride(DriverKernel::LogSumExp, 2)}});
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value DriverArguments::emitArgument(const TileArg &arg, const CallSite &site) {
  Value one = b.i64(1);
  switch (arg.kind) {
  case TileArgKind::Query: {
    Value indices[] = {site.batch, site.head, site.queryBegin};
    return emitBuffer(frame.element(DriverKernel::Query, indices),
                      {{b.i64(kernel.op.getHeadDim()), one},
                       {site.rows, frame.stride(DriverKernel::Query, 2)}});
  }
  case TileArgKind::Key:
    // The key transform reads what the caller has.
    return emitKeys(site, plan.keys && site.queryBegin);
  case TileArgKind::Value: {
    Value indices[] = {site.batch, site.kvHead, site.keyBegin};
    return emitBuffer(frame.element(DriverKernel::Value, indices),
                      {{b.i64(kernel.op.getValueSize()), one},
                       {site.keyCount, frame.stride(DriverKernel::Value, 2)}});
  }
  case TileArgKind::Angles:
    return emitAngles(arg, site);
  case TileArgKind::Strip:
    return emitStrip(arg, site);
  case TileArgKind::Table:
    return emitTable(arg, site);
  case TileArgKind::QueryPositions:
  case TileArgKind::KeyPositions:
    return emitPositions(arg, site);
  case TileArgKind::Rows:
    return b.toI32(site.rows);
  case TileArgKind::KeyCount:
    return b.toI32(site.keyCount);
  case TileArgKind::QueryBegin:
    return b.toI32(site.queryBegin);
  case TileArgKind::QueryShift:
    return b.toI32(emitQueryShift(b, frame, plan.alignment));
  case TileArgKind::KeyBegin:
    return b.toI32(site.keyBegin);
  case TileArgKind::StepEnd: {
    for (auto [step, end] :
         llvm::zip_equal(plan.op.getStepOps(), site.stepEnds))
      if (step.getSymName() == arg.symbol)
        return b.toI32(end);
    llvm_unreachable("a step of this plan");
  }
  case TileArgKind::First:
    return arith::ExtUIOp::create(b, b.getI32Type(), site.isFirst);
  case TileArgKind::State:
    return emitBuffer(
        site.state, {{site.tileRows, one}, {site.stateColumns, site.tileRows}});
  case TileArgKind::Output:
    return emitOutput(site);
  case TileArgKind::LogSumExp:
    return emitLogSumExp(site);
  case TileArgKind::TransformedKey:
    return emitKeys(site, /*isTransformed=*/true);
  }
  llvm_unreachable("all kinds are handled");
}

SmallVector<Value> DriverArguments::emit(const TileFunction &function,
                                         const CallSite &site) {
  return llvm::map_to_vector(function.args, [&](const TileArg &arg) {
    return emitArgument(arg, site);
  });
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// The largest count with (count - 1) * stride < 2^31 for all strides.
Value DriverArguments::emitLimit(ArrayRef<Value> strides) {
  Value largest = b.i64(1);
  for (Value stride : strides)
    largest = b.max(largest, stride);
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  return b.add(b.div(b.i64(limit), largest), b.i64(1));
}

void DriverArguments::addTableStrides(const TileFunction &function,
                                      TableAxis axis,
                                      SmallVectorImpl<Value> &strides) {
  for (const TileArg &arg : function.args) {
    if (arg.kind != TileArgKind::Table || !isa<OperandAttr>(arg.law))
      continue;
    ArrayRef<TableAxis> axes = arg.type.getAxes();
    if (const auto *found = llvm::find(axes, axis); found != axes.end())
      strides.push_back(frame.stride(*kernel.findOperand(arg.symbol),
                                     std::distance(axes.begin(), found)));
  }
}

Value DriverArguments::emitRowLimit(const TileFunction &function) {
  SmallVector<Value> strides = {frame.stride(DriverKernel::Query, 2),
                                frame.stride(DriverKernel::Output, 2)};
  if (kernel.hasLogSumExp())
    strides.push_back(frame.stride(DriverKernel::LogSumExp, 2));
  addTableStrides(function, TableAxis::query, strides);
  return emitLimit(strides);
}

Value DriverArguments::emitKeyLimit(const TileFunction &function) {
  SmallVector<Value> strides = {frame.stride(DriverKernel::Key, 2),
                                frame.stride(DriverKernel::Value, 2),
                                b.i64(kernel.op.getHeadDim())};
  addTableStrides(function, TableAxis::key, strides);
  return emitLimit(strides);
}
