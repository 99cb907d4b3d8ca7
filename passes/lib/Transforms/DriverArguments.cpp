// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of one call of a tile function or key transform.
#include "DriverArguments.h"
#include "DriverKept.h"
#include "DriverRows.h"
#include "DriverTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>
#include <limits>

using namespace mlir;
using namespace posenc;

/// Of a head and of a table.
static constexpr int64_t kMostChannels = 65536;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A halide_buffer_t and its dimensions on the stack.
Value DriverArguments::emitBuffer(Value host, const Dimensions &dimensions,
                                  bool isInteger, Storage storage) {
  int64_t rank = dimensions.size();
  Value buffer =
      b.stack(TileBuffer::kBytes + rank * int64_t(TileBuffer::kDimBytes));
  // {code: u8, bits: u8, lanes: u16}
  unsigned code = isInteger || storage == Storage::I8 ? TileBuffer::kTypeCodeInt
                  : storage == Storage::F32 ? TileBuffer::kTypeCodeFloat
                                            : TileBuffer::kTypeCodeUint;
  unsigned bits = getStorageBits(storage);
  int64_t type = code | (bits << 8) | (1u << 16);
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

/// The elements of a tensor as LLVM knows them.
static Type getAddressed(DriverBuilder &b, Type storage) {
  if (!storage)
    return b.getF32Type();
  return b.getIntegerType(storage.getIntOrFloatBitWidth());
}

/// A tensor's element where a head's rows begin. Rows that are given one by one
/// count elements from the head's first, of all batch entries in pages.
Value DriverArguments::emitFirstRow(unsigned tensor, Value batch, Value head,
                                    Value begin, bool isIndirect) {
  Value indices[] = {isIndirect && kernel.isPaged() ? Value() : batch, head,
                     isIndirect ? Value() : begin};
  return frame.element(tensor, indices,
                       getAddressed(b, kernel.tensors[tensor].storage));
}

/// A tensor of the kernel, from a head and row on.
Value DriverArguments::emitVectors(unsigned tensor, Value batch, Value head,
                                   Value begin, Value count, int64_t dim,
                                   Value heads) {
  Storage storage = getStorage(kernel.tensors[tensor].storage);
  bool isIndirect = plan.op.getIndirect() && (tensor == DriverKernel::Key ||
                                              tensor == DriverKernel::Value);
  Dimensions dimensions = {{b.i64(dim), b.i64(1)}};
  if (!head)
    heads = frame.extent(tensor, 1);
  if (heads)
    dimensions.push_back({heads, frame.stride(tensor, 1)});
  dimensions.push_back(
      {count, isIndirect ? b.i64(1) : frame.stride(tensor, 2)});
  return emitBuffer(emitFirstRow(tensor, batch, head, begin, isIndirect),
                    dimensions, /*isInteger=*/false, storage);
}

Value DriverArguments::emitScales(bool areOfValues, const CallSite &site,
                                  Value head, Value begin, Value count) {
  unsigned tensor = *kernel.findScales(areOfValues);
  bool isIndirect = plan.op.getIndirect();
  // That of a head has the stride 0 along the rows.
  Value step = isIndirect ? b.i64(kernel.hasTokenScales() ? 1 : 0)
                          : frame.stride(tensor, 2);
  Dimensions dimensions;
  if (!head)
    dimensions.push_back({frame.extent(tensor, 1), frame.stride(tensor, 1)});
  dimensions.push_back({count, step});
  return emitBuffer(emitFirstRow(tensor, site.batch, head, begin, isIndirect),
                    dimensions);
}

/// Heads' scales may be looked up anywhere.
Value DriverArguments::emitScaleRows(bool areOfValues, Value begin,
                                     Value count) {
  unsigned tensor = areOfValues ? DriverKernel::Value : DriverKernel::Key;
  if (kernel.hasTokenScales())
    tensor = *kernel.findScales(areOfValues);
  return emitRows(tensor, begin, count);
}

Value DriverArguments::emitRows(unsigned tensor, Value begin, Value count) {
  Value address = emitKeyRows(b, frame, kernel, tensor);
  return emitBuffer(b.element(address, begin, b.getI32Type()),
                    {{count, b.i64(1)}}, /*isInteger=*/true);
}

Value DriverArguments::emitKeys(const CallSite &site, StringRef symbol) {
  Value headDim = b.i64(kernel.op.getHeadDim());
  Dimensions rows = {{headDim, b.i64(1)}, {site.keyCount, headDim}};
  if (symbol.empty())
    return emitVectors(kernel.getKeyTensor(), site.batch, site.kvHead,
                       site.keyBegin, site.keyCount, kernel.op.getHeadDim());
  int64_t vector = std::distance(plan.transformed.begin(),
                                 llvm::find(plan.transformed, symbol.str()));
  if (site.transformed) {
    int64_t numbers = vector * kernel.tallest * kernel.op.getHeadDim();
    return emitBuffer(
        b.byteOffset(site.transformed, numbers * int64_t(sizeof(float))), rows);
  }
  // Behind the lists of rows in the shared scratch.
  Value first =
      b.element(frame.shared(), emitRowBytes(b, frame, kernel), b.getI8Type());
  Value row = emitKeptRow(vector, site);
  return emitBuffer(b.element(first, b.mul(row, headDim), b.getF32Type()),
                    rows);
}

/// The place of the first key in what the key function keeps: [vectors, Hkv or
/// H, keys of all sequences].
Value DriverArguments::emitKeptRow(int64_t vector, const CallSite &site) {
  Value heads = plan.hasKeysByHead ? frame.heads() : frame.kvHeads();
  Value head = plan.hasKeysByHead ? site.head : site.kvHead;
  Value row = b.add(b.mul(b.i64(vector), heads), head);
  Value base = kernel.hasSequences() ? frame.keyBase()
                                     : b.mul(site.batch, frame.keyLen());
  Value inSequence = b.sub(site.keyBegin, frame.firstKey());
  return b.add(b.mul(row, frame.allKeys()), b.add(base, inSequence));
}

/// Behind the keys.
Value DriverArguments::emitValuePairs(const CallSite &site) {
  int64_t numbers = 2 * kernel.op.getValueSize();
  Value first =
      b.add(emitRowBytes(b, frame, kernel), emitKeyVectorBytes(b, frame, plan));
  Value bytes =
      b.add(first, b.mul(emitKeptRow(0, site), b.i64(getPairBytes(plan))));
  return emitBuffer(
      b.element(frame.shared(), bytes, b.getI8Type()),
      {{b.i64(numbers), b.i64(1)}, {site.keyCount, b.i64(numbers)}},
      /*isInteger=*/false, Storage::BF16);
}

/// The key that has the place of row 0.
Value DriverArguments::emitOwnKey(const CallSite &site) {
  return b.add(site.queryBegin,
               emitQueryShift(b, frame, Alignment::bottom_right));
}

Value DriverArguments::emitAngles(const TileArg &arg, const CallSite &site,
                                  Side side) {
  bool isQuery = side == Side::query;
  DriverTable &table = kernel.lookupTable(arg.symbol);
  Value columns = b.i64(2 * table.pairs);
  Value host =
      emitAnglesRow(b, frame, kernel, table, side, site.batch, site.head,
                    isQuery ? site.queryBegin : site.keyBegin);
  Dimensions dimensions = {{columns, b.i64(1)}};
  if (isQuery && site.heads)
    dimensions.push_back({site.heads, emitPartStride(b, frame, kernel, table)});
  dimensions.push_back({isQuery ? site.rows : site.keyCount, columns});
  return emitBuffer(host, dimensions);
}

Value DriverArguments::emitStrip(const TileArg &arg, const CallSite &site) {
  // From row 0 and the last key up to the last row and key 0.
  Value toFirst = b.sub(site.keyCount, b.i64(1));
  Value lastKey = b.add(site.keyBegin, toFirst);
  DriverTable &table = kernel.lookupTable(arg.symbol);
  Value host = emitStripEntry(b, frame, kernel, table, site.head,
                              site.queryBegin, lastKey);
  Dimensions dimensions = {
      {b.add(site.tileRows, toFirst), b.i64(1), b.neg(toFirst)}};
  if (site.heads)
    dimensions.push_back({site.heads, emitPartStride(b, frame, kernel, table)});
  return emitBuffer(host, dimensions);
}

/// Scratch of a scan: (rows, 2 * m).
Value DriverArguments::emitScan(const TileArg &arg, const CallSite &site) {
  int64_t number = 0;
  (void)StringRef(arg.symbol).getAsInteger(10, number);
  Value bytes = b.mul(b.i64(number), emitScanBytes(b, frame, kernel));
  return emitBuffer(b.element(site.scan, bytes, b.getI8Type()),
                    {{site.tileRows, b.i64(1)},
                     {b.mul(site.keyCount, b.i64(2)), site.tileRows}});
}

/// Scores around a network: those of the call's keys and, of what the network
/// sees, as many more as it reaches.
Value DriverArguments::emitScores(const TileArg &arg, const CallSite &site) {
  unsigned number = 0;
  (void)StringRef(arg.symbol).getAsInteger(10, number);
  DriverPlan::Network &network = plan.networks[number];
  const NetworkFunctions &functions = network.functions.front();
  bool isInput =
      arg.kind == TileArgKind::AllScores || arg.kind == TileArgKind::HeadScores;
  int64_t heads = kernel.op.getHeads();
  Value channel = b.i64(isInput ? network.inputs : network.results);
  if (site.head)
    channel = b.add(channel, site.head);
  Value begin = site.keyBegin, count = site.keyCount;
  if (arg.kind == TileArgKind::AllScores) {
    Value end = b.add(b.add(begin, count), b.i64(functions.reach));
    begin = b.max(b.sub(begin, b.i64(functions.reach)), b.i64(0));
    count = b.sub(b.min(end, frame.keyLen()), begin);
  }
  Value columns = b.i64(plan.getScoreColumns());
  Value row = b.add(b.mul(channel, columns), b.sub(begin, site.firstColumn));
  Value host =
      b.element(site.scores, b.mul(row, site.tileRows), b.getF32Type());
  Value perChannel = b.mul(columns, site.tileRows);
  Dimensions dimensions = {{site.tileRows, b.i64(1)}, {count, site.tileRows}};
  switch (arg.kind) {
  case TileArgKind::AllScores:
    dimensions.back().min = b.sub(begin, site.keyBegin);
    dimensions.push_back({b.i64(heads * functions.inputs), perChannel});
    break;
  case TileArgKind::HeadScores:
    dimensions.push_back(
        {b.i64(functions.inputs), b.mul(b.i64(heads), perChannel)});
    break;
  case TileArgKind::AllMixed:
    dimensions.push_back({b.i64(heads), perChannel});
    break;
  default:
    break;
  }
  return emitBuffer(host, dimensions);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Value DriverArguments::emitSlice(const TileArg &arg, const CallSite &site,
                                 Value address, ArrayRef<Value> extents,
                                 ArrayRef<Value> strides, Value lowestRow,
                                 Value restStride, Type type) {
  ArrayRef<TableAxis> axes = arg.type.getAxes();
  Dimensions dimensions;
  for (TableAxis dim : arg.dims) {
    // A table over keys that queries read at their own place.
    bool isShifted = arg.isAtQuery && dim == TableAxis::query;
    size_t axis = std::distance(
        axes.begin(), llvm::find(axes, isShifted ? TableAxis::key : dim));
    Dimension dimension{extents[axis], strides[axis]};
    Value first;
    if (dim == TableAxis::query) {
      dimension.extent = site.rows;
      first = site.queryBegin;
      if (isShifted)
        first = b.add(first, emitPlaceShift(b, frame, kernel, arg.alignment));
    } else if (dim == TableAxis::key) {
      dimension.extent = site.keyCount;
      first = site.keyBegin;
    } else if (dim == TableAxis::row) {
      dimension.min = lowestRow;
    } else if (dim == TableAxis::head && site.heads) {
      dimension.extent = site.heads; // from the slice's on
    }
    if (first)
      address = b.element(address, b.mul(first, strides[axis]),
                          getAddressed(b, type));
    dimensions.push_back(dimension);
  }
  if (dimensions.empty())
    dimensions.push_back({b.i64(1), b.i64(1)});
  if (restStride)
    dimensions.push_back({b.i64(2), restStride});
  return emitBuffer(address, dimensions, /*isInteger=*/false, getStorage(type));
}

Value DriverArguments::emitTable(const TileArg &arg, const CallSite &site) {
  if (isa<ConstantsAttr>(arg.law))
    return emitConstants(arg, site);
  unsigned tensor = *kernel.findOperand(arg.symbol);
  SmallVector<Value> indices, extents, strides;
  for (auto [number, axis] : llvm::enumerate(arg.type.getAxes())) {
    indices.push_back(axis == TableAxis::head    ? site.head
                      : axis == TableAxis::batch ? site.batch
                                                 : Value());
    extents.push_back(frame.extent(tensor, number));
    strides.push_back(frame.stride(tensor, number));
  }
  Type type = kernel.tensors[tensor].storage;
  return emitSlice(arg, site,
                   frame.element(tensor, indices, getAddressed(b, type)),
                   extents, strides, /*lowestRow=*/Value(),
                   /*restStride=*/Value(), type);
}

Value DriverArguments::emitPrepared(const TileArg &arg, const CallSite &site) {
  DriverTable &table = kernel.lookupTable(arg.symbol);
  PreparedRows rows =
      emitPreparedRows(b, frame, kernel, table, site.batch, site.head);
  if (rows.lowestRow && site.queryBegin)
    cutRows(table, site, rows);
  ArrayRef<TableAxis> axes = table.type.getAxes();
  if (const auto *head = llvm::find(axes, TableAxis::head);
      head != axes.end() && site.heads)
    rows.strides[head - axes.begin()] = emitPartStride(b, frame, kernel, table);
  return emitSlice(arg, site, rows.address, rows.extents, rows.strides,
                   rows.lowestRow, rows.restStride);
}

/// Rows without bounds: those that the pairs of a call look up.
void DriverArguments::cutRows(DriverTable &table, const CallSite &site,
                              PreparedRows &rows) {
  Value pastRows = b.sub(site.tileRows, b.i64(1));
  Value pastKeys = b.sub(site.keyCount, b.i64(1));
  auto at = [&](Value query, Value key) {
    return emitRelationValue(b, frame, table.relation, query, key);
  };
  Value lowest = b.min(at(site.queryBegin, b.add(site.keyBegin, pastKeys)),
                       at(b.add(site.queryBegin, pastRows), site.keyBegin));
  ArrayRef<TableAxis> axes = table.type.getAxes();
  size_t axis = std::distance(axes.begin(), llvm::find(axes, TableAxis::row));
  Value skipped = b.mul(b.sub(lowest, rows.lowestRow), rows.strides[axis]);
  rows.address = b.element(rows.address, skipped, b.getF32Type());
  rows.extents[axis] = b.add(site.tileRows, pastKeys);
  rows.lowestRow = lowest;
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

/// Constants are row-major over row, channel and head, in the type's order.
Value DriverArguments::emitConstants(const TileArg &arg, const CallSite &site) {
  auto law = cast<ConstantsAttr>(arg.law);
  ArrayRef<TableAxis> axes = arg.type.getAxes();
  int64_t rest = law.getValues().size(), heads = kernel.op.getHeads();
  auto divide = [&](TableAxis axis, int64_t extent) {
    rest /= arg.type.hasAxis(axis) ? extent : 1;
  };
  divide(TableAxis::head, heads);
  int64_t channels =
      arg.type.hasAxis(TableAxis::row) ? law.getChannels() : rest;
  divide(TableAxis::channel, channels);
  // What is left is the rows.
  Value host = b.sharedArray(plan.op.getSymName() + "_constants",
                             roundConstants(law, b.getF32Type()));
  SmallVector<Value> extents(axes.size()), strides(axes.size());
  int64_t stride = 1;
  for (size_t number = axes.size(); number-- > 0;) {
    int64_t extent = axes[number] == TableAxis::head      ? heads
                     : axes[number] == TableAxis::channel ? channels
                                                          : rest;
    extents[number] = b.i64(extent);
    strides[number] = b.i64(stride);
    if (axes[number] == TableAxis::head && site.head) {
      Value head = b.add(frame.firstHead(), site.head);
      host = b.element(host, b.mul(head, b.i64(stride)), b.getF32Type());
    }
    stride *= extent;
  }
  return emitSlice(arg, site, host, extents, strides);
}

Value DriverArguments::emitPositions(const TileArg &arg, const CallSite &site) {
  bool isQuery = arg.kind == TileArgKind::QueryPositions;
  auto law = cast<PositionTensorAttr>(arg.law);
  Side side = isQuery ? Side::query : Side::key;
  Value host = emitPositionAddress(b, frame, kernel, law, side, site.batch,
                                   isQuery ? site.queryBegin : site.keyBegin);
  unsigned last = law.getAxes() > 1 ? 2 : 1;
  Value stride = frame.stride(*kernel.findOperand(law.getTensor(side)), last);
  return emitBuffer(host, {{isQuery ? site.rows : site.keyCount, stride}},
                    /*isInteger=*/true);
}

Value DriverArguments::emitOutput(const CallSite &site) {
  Value rows = b.select(site.isLast, site.rows, b.i64(0));
  return emitVectors(DriverKernel::Output, site.batch, site.head,
                     site.queryBegin, rows, kernel.op.getValueSize(),
                     site.heads);
}

Value DriverArguments::emitLogSumExp(const CallSite &site) {
  Dimensions dimensions;
  if (site.heads)
    dimensions.push_back({site.heads, b.i64(1)});
  if (!kernel.hasLogSumExp()) {
    dimensions.push_back({b.i64(0), b.i64(1)});
    return emitBuffer(b.null(), dimensions);
  }
  if (site.heads)
    dimensions.back().stride = frame.stride(DriverKernel::LogSumExp, 1);
  Value indices[] = {site.batch, site.head, site.queryBegin};
  Value rows = b.select(b.isNull(frame.data(DriverKernel::LogSumExp)), b.i64(0),
                        b.select(site.isLast, site.rows, b.i64(0)));
  dimensions.push_back({rows, frame.stride(DriverKernel::LogSumExp, 2)});
  return emitBuffer(frame.element(DriverKernel::LogSumExp, indices),
                    dimensions);
}

/// The seed's halves, then those of what is drawn for the head.
Value DriverArguments::emitDropoutWord(StringRef word, const CallSite &site) {
  bool isOfSeed = word == "0" || word == "1";
  Value words = isOfSeed ? frame.seed() : site.dropout;
  if (word == "1" || word == "3")
    words = arith::ShRUIOp::create(b, words, b.i64(32));
  return b.toI32(words);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Value getValueCount(const CallSite &site) {
  return site.valueCount ? site.valueCount : site.keyCount;
}

Value DriverArguments::emitArgument(const TileArg &arg, const CallSite &site) {
  Value one = b.i64(1);
  switch (arg.kind) {
  case TileArgKind::Query:
    return emitVectors(DriverKernel::Query, site.batch, site.head,
                       site.queryBegin, site.rows, kernel.op.getHeadDim(),
                       site.heads);
  case TileArgKind::Key:
  case TileArgKind::TransformedKey:
    return emitKeys(site, arg.symbol);
  case TileArgKind::Value:
    return emitVectors(DriverKernel::Value, site.batch, site.kvHead,
                       site.keyBegin, getValueCount(site),
                       kernel.op.getValueSize());
  case TileArgKind::ValuePairs:
  case TileArgKind::PairedValue:
    return emitValuePairs(site);
  case TileArgKind::OwnValue:
    return emitVectors(DriverKernel::Value, site.batch, site.kvHead,
                       emitOwnKey(site), site.rows, kernel.op.getValueSize());
  case TileArgKind::AllQueries:
    return emitVectors(DriverKernel::Query, site.batch, /*head=*/Value(),
                       site.queryBegin, site.rows, kernel.op.getHeadDim());
  case TileArgKind::AllKeys:
    return emitVectors(kernel.getKeyTensor(), site.batch, /*head=*/Value(),
                       site.keyBegin, site.keyCount, kernel.op.getHeadDim());
  case TileArgKind::KeyRows:
    return emitRows(DriverKernel::Key, site.keyBegin, site.keyCount);
  case TileArgKind::ValueRows:
    return emitRows(DriverKernel::Value, site.keyBegin, getValueCount(site));
  case TileArgKind::OwnValueRows:
    return emitRows(DriverKernel::Value, emitOwnKey(site), site.rows);
  case TileArgKind::KeyScales:
    return emitScales(false, site, site.kvHead, site.keyBegin, site.keyCount);
  case TileArgKind::AllKeyScales:
    return emitScales(false, site, Value(), site.keyBegin, site.keyCount);
  case TileArgKind::ValueScales:
    return emitScales(true, site, site.kvHead, site.keyBegin, site.keyCount);
  case TileArgKind::OwnValueScales:
    return emitScales(true, site, site.kvHead, emitOwnKey(site), site.rows);
  case TileArgKind::KeyScaleRows:
    return emitScaleRows(false, site.keyBegin, site.keyCount);
  case TileArgKind::ValueScaleRows:
    return emitScaleRows(true, site.keyBegin, site.keyCount);
  case TileArgKind::OwnValueScaleRows:
    return emitScaleRows(true, emitOwnKey(site), site.rows);
  case TileArgKind::Angles:
    return emitAngles(arg, site, site.queryBegin ? Side::query : Side::key);
  case TileArgKind::KeyAngles:
    return emitAngles(arg, site, Side::key);
  case TileArgKind::Strip:
    return emitStrip(arg, site);
  case TileArgKind::Table:
    return emitTable(arg, site);
  case TileArgKind::PreparedTable:
    return emitPrepared(arg, site);
  case TileArgKind::QueryPositions:
  case TileArgKind::KeyPositions:
    return emitPositions(arg, site);
  case TileArgKind::Rows:
    return b.toI32(site.heads ? b.mul(site.rows, site.heads) : site.rows);
  case TileArgKind::KeyCount:
    return b.toI32(site.keyCount);
  case TileArgKind::QueryBegin:
    return b.toI32(site.queryBegin);
  case TileArgKind::QueryShift:
    return b.toI32(emitQueryShift(b, frame, Alignment::bottom_right));
  case TileArgKind::KeyBegin: {
    Value first = site.keyBegin;
    if (kernel.hasNewTokens())
      first = b.add(first, emitQueryShift(b, frame, Alignment::bottom_right));
    return b.toI32(first);
  }
  case TileArgKind::StepEnd: {
    for (auto [step, end] :
         llvm::zip_equal(getTileSteps(plan.op), site.stepEnds))
      if (step.getSymName() == arg.symbol)
        return b.toI32(end);
    llvm_unreachable("a step of this plan");
  }
  case TileArgKind::First:
    return arith::ExtUIOp::create(b, b.getI32Type(), site.isFirst);
  case TileArgKind::DropoutWord:
    return emitDropoutWord(arg.symbol, site);
  case TileArgKind::State:
    return emitBuffer(site.state, {{site.stateRows, one},
                                   {site.stateColumns, site.stateRows}});
  case TileArgKind::Decays: {
    DriverTable &table = kernel.lookupTable(arg.symbol);
    return emitBuffer(emitDecay(b, frame, kernel, table, site.head),
                      {{emitDecayCount(b, frame, kernel), one}});
  }
  case TileArgKind::StateBefore:
  case TileArgKind::StateBehind: {
    int64_t rows =
        kernel.op.getRecurrence().getKeys().size() * kernel.op.getHeadDim();
    Value width = b.i64(getStateWidth(kernel.op.getValueSize()));
    return emitBuffer(site.state, {{width, one}, {b.i64(rows), width}});
  }
  case TileArgKind::SumsBefore:
  case TileArgKind::SumsBehind: {
    int64_t rows =
        kernel.op.getRecurrence().getByKeys().size() * kernel.op.getHeadDim();
    return emitBuffer(site.sums, {{b.i64(rows), one}});
  }
  case TileArgKind::Scan:
    return emitScan(arg, site);
  case TileArgKind::AllScores:
  case TileArgKind::HeadScores:
  case TileArgKind::AllMixed:
  case TileArgKind::Mixed:
    return emitScores(arg, site);
  case TileArgKind::Output:
    return emitOutput(site);
  case TileArgKind::LogSumExp:
    return emitLogSumExp(site);
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

/// The largest count with (count - 1) * stride within the numbers of 32 bits
/// that the other dimensions of a buffer leave.
Value DriverArguments::emitLimit(const TileFunction &function,
                                 ArrayRef<Value> strides) {
  Value largest = b.i64(1);
  for (Value stride : strides)
    largest = b.max(largest, stride);
  int64_t limit = std::numeric_limits<int32_t>::max();
  // Two long dimensions share the range; channels are few.
  bool isShared = llvm::any_of(function.args, [](const TileArg &arg) {
    return arg.kind == TileArgKind::AllQueries ||
           arg.kind == TileArgKind::AllKeys || arg.dims.size() > 1;
  });
  if (isShared)
    limit /= 2;
  limit -= kMostChannels;
  return b.add(b.div(b.i64(limit), largest), b.i64(1));
}

void DriverArguments::addTableStrides(const TileFunction &function,
                                      TableAxis dim,
                                      SmallVectorImpl<Value> &strides) {
  for (const TileArg &arg : function.args) {
    if (arg.kind != TileArgKind::Table || !isa<OperandAttr>(arg.law) ||
        !llvm::is_contained(arg.dims, dim))
      continue;
    ArrayRef<TableAxis> axes = arg.type.getAxes();
    const auto *axis = llvm::find(axes, arg.isAtQuery ? TableAxis::key : dim);
    strides.push_back(frame.stride(*kernel.findOperand(arg.symbol),
                                   std::distance(axes.begin(), axis)));
  }
}

Value DriverArguments::emitRowLimit(const TileFunction &function) {
  SmallVector<Value> strides = {frame.stride(DriverKernel::Query, 2),
                                frame.stride(DriverKernel::Output, 2)};
  if (kernel.hasLogSumExp())
    strides.push_back(frame.stride(DriverKernel::LogSumExp, 2));
  for (const TileArg &arg : function.args)
    if (arg.kind == TileArgKind::OwnValue)
      strides.push_back(frame.stride(DriverKernel::Value, 2));
    else if (arg.kind == TileArgKind::OwnValueScales)
      strides.push_back(frame.stride(*kernel.findScales(true), 2));
  addTableStrides(function, TableAxis::query, strides);
  return emitLimit(function, strides);
}

Value DriverArguments::emitKeyLimit(const TileFunction &function) {
  SmallVector<Value> strides = {frame.stride(kernel.getKeyTensor(), 2),
                                frame.stride(kernel.getValueTensor(), 2),
                                b.i64(kernel.op.getHeadDim())};
  if (plan.hasValuePairs)
    strides.push_back(b.i64(2 * kernel.op.getValueSize()));
  if (kernel.op.getKvScales())
    for (bool areOfValues : {false, true})
      strides.push_back(frame.stride(*kernel.findScales(areOfValues), 2));
  addTableStrides(function, TableAxis::key, strides);
  for (const TileArg &arg : function.args)
    if (arg.kind == TileArgKind::PreparedTable)
      for (Value stride :
           emitPreparedRows(b, frame, kernel, kernel.lookupTable(arg.symbol),
                            b.i64(0), b.i64(0))
               .strides)
        if (stride)
          strides.push_back(stride);
  return emitLimit(function, strides);
}

/// Keys have the other half of the 32 bits: see emitLimit.
Value DriverArguments::emitHeadsFit(const TileFunction &function) {
  Value group = b.i64(plan.op.getGroup() - 1);
  Value queries = b.i64(*plan.op.getPacked() - 1);
  Value largest = b.i64(0);
  auto add = [&](Value headStride, Value queryStride) {
    largest = b.max(
        largest, b.add(b.mul(group, headStride), b.mul(queries, queryStride)));
  };
  SmallVector<unsigned> tensors = {DriverKernel::Query, DriverKernel::Output};
  if (kernel.hasLogSumExp())
    tensors.push_back(DriverKernel::LogSumExp);
  for (unsigned tensor : tensors)
    add(frame.stride(tensor, 1), frame.stride(tensor, 2));
  Value zero = b.i64(0);
  for (const TileArg &arg : function.args) {
    bool isPrepared = arg.kind == TileArgKind::Angles ||
                      arg.kind == TileArgKind::Strip ||
                      arg.kind == TileArgKind::PreparedTable;
    if (isPrepared) {
      add(emitPartStride(b, frame, kernel, kernel.lookupTable(arg.symbol)),
          zero);
      continue;
    }
    if (arg.kind != TileArgKind::Table || !isa<OperandAttr>(arg.law))
      continue;
    unsigned tensor = *kernel.findOperand(arg.symbol);
    Value strides[] = {zero, zero};
    for (auto [number, axis] : llvm::enumerate(arg.type.getAxes())) {
      bool isQuery =
          axis == TableAxis::query || (axis == TableAxis::key && arg.isAtQuery);
      if (axis == TableAxis::head || isQuery)
        strides[isQuery] = frame.stride(tensor, number);
    }
    add(strides[0], strides[1]);
  }
  return b.less(largest, b.i64(int64_t{1} << 29));
}
