// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that do not depend on content.
#include "DriverScalar.h"
#include "DriverTables.h"
#include "posenc/IR/FactorOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

std::optional<int64_t> posenc::getTableRows(Value table) {
  Operation *op = table.getDefiningOp();
  if (auto lookup = dyn_cast_or_null<TableOp>(op))
    return lookup.getNumRows();
  if (auto project = dyn_cast_or_null<ProjectOp>(op))
    return getTableRows(project.getTable());
  return std::nullopt;
}

int64_t posenc::getTableChannels(Value table) {
  Operation *op = table.getDefiningOp();
  if (auto lookup = dyn_cast_or_null<TableOp>(op))
    return lookup.getNumChannels().value_or(1);
  if (auto map = dyn_cast_or_null<TableMapOp>(op))
    return map.getChannels();
  if (auto project = dyn_cast_or_null<ProjectOp>(op))
    return getTableChannels(project.getWeights());
  if (auto factors = dyn_cast_or_null<TileFactorsOp>(op))
    return factors.getNumChannels();
  return 1;
}

PositionOp posenc::findPosition(Value coord) {
  while (auto remap = coord.getDefiningOp<RemapOp>())
    coord = remap.getPosition();
  return coord.getDefiningOp<PositionOp>();
}

//===----------------------------------------------------------------------===//
// Numbers and regions
//===----------------------------------------------------------------------===//

Value ScalarEmitter::f64(double number) {
  return arith::ConstantOp::create(b, b.getF64FloatAttr(number));
}

Value ScalarEmitter::toF64(Value integer) {
  return arith::SIToFPOp::create(b, b.getF64Type(), integer);
}

Value ScalarEmitter::emitSum(Value extent, function_ref<Value(Value)> term) {
  OpBuilder::InsertionGuard guard(b);
  auto loop =
      scf::ForOp::create(b, b.i64(0), extent, b.i64(1), ValueRange{f64(0.0)});
  b.setInsertionPointToStart(loop.getBody());
  Value sum = arith::AddFOp::create(b, loop.getRegionIterArg(0),
                                    term(loop.getInductionVar()));
  scf::YieldOp::create(b, ValueRange{sum});
  return loop.getResult(0);
}

Value ScalarEmitter::emitRegion(Region &region, ValueRange arguments) {
  Block &body = region.front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// A number of a constant array.
Value ScalarEmitter::emitNumber(ArrayRef<double> numbers, Value index,
                                const Twine &name) {
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    b.getF64Type());
  Value array = b.sharedArray(kernel.name + "_" + name,
                              DenseElementsAttr::get(type, numbers));
  return b.load(b.getF64Type(), b.element(array, index, b.getF64Type()));
}

//===----------------------------------------------------------------------===//
// Positions, relations, score terms
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emit(Value value) {
  if (Value known = values.lookup(value))
    return known;
  Value result = llvm::TypeSwitch<Operation *, Value>(value.getDefiningOp())
                     .Case([&](PositionOp op) { return emitPosition(op); })
                     .Case([&](RemapOp op) {
                       return emitRegion(op.getBody(), emit(op.getPosition()));
                     })
                     .Case([&](RelationOp op) { return emitLaw(op); })
                     .Case([&](RelationMapOp op) {
                       Value number =
                           emitTerm(op.getBody(), {}, op.getInputs());
                       if (std::optional<int64_t> rows = op.getRows())
                         return clampRow(number, *rows);
                       return number;
                     })
                     .Case([&](BiasOp op) {
                       return emitTerm(op.getBody(), {}, op.getInputs());
                     })
                     .Case([&](MapOp op) {
                       SmallVector<Value> scores;
                       for (Value score : op.getScores())
                         scores.push_back(emit(score));
                       return emitTerm(op.getBody(), scores, op.getInputs());
                     })
                     .Case([&](AddOp op) -> Value {
                       Value lhs = emit(op.getLhs()), rhs = emit(op.getRhs());
                       return arith::AddFOp::create(b, lhs, rhs);
                     })
                     .Case([&](TileToBase2Op op) -> Value {
                       return arith::MulFOp::create(b, emit(op.getInput()),
                                                    f64(llvm::numbers::log2e));
                     })
                     .Default([](Operation *) -> Value {
                       llvm_unreachable("plans are verified");
                     });
  values[value] = result;
  return result;
}

Value ScalarEmitter::emitPosition(PositionOp op) {
  bool isQuery = op.getSide() == Side::query;
  Value token = isQuery ? site.query : site.key;
  if (auto law = dyn_cast<PositionTensorAttr>(op.getLaw())) {
    Value position = b.load(
        b.getI32Type(), emitPositionAddress(b, frame, kernel, law, op.getSide(),
                                            site.batch, token));
    // Whole numbers that look up rows are i64.
    return toF64(arith::ExtSIOp::create(b, b.getI64Type(), position));
  }
  auto appended = dyn_cast<AppendedAttr>(op.getLaw());
  if (isQuery || appended)
    token = b.add(token, emitQueryShift(b, frame, op.getLaw().getAlignment()));
  int64_t offset =
      appended ? appended.getOffset() : cast<IotaAttr>(op.getLaw()).getOffset();
  return toF64(b.add(token, b.i64(offset)));
}

/// Distances are integers that f64 holds exactly.
Value ScalarEmitter::emitLaw(RelationOp op) {
  Value query = emit(op.getQuery()), key = emit(op.getKey());
  auto oriented = [&](Orientation orientation) -> Value {
    return orientation == Orientation::query_minus_key
               ? arith::SubFOp::create(b, query, key)
               : arith::SubFOp::create(b, key, query);
  };
  return llvm::TypeSwitch<Attribute, Value>(op.getLaw())
      .Case([&](DifferenceAttr law) { return oriented(law.getOrientation()); })
      .Case([&](ClippedDistanceAttr law) -> Value {
        Value reach = f64(law.getMax());
        Value clipped =
            arith::MinNumFOp::create(b, oriented(law.getOrientation()), reach);
        clipped = arith::MaxNumFOp::create(b, clipped, f64(-law.getMax()));
        return arith::AddFOp::create(b, clipped, reach);
      })
      .Case([&](ThresholdBucketAttr law) {
        return emitBucket(law, oriented(Orientation::query_minus_key));
      })
      .Default([](Attribute) -> Value {
        llvm_unreachable("every relation law has a case");
      });
}

Value ScalarEmitter::emitBucket(ThresholdBucketAttr law, Value distance) {
  SmallVector<double> thresholds(law.getThresholds().asArrayRef());
  Value magnitude = math::AbsFOp::create(b, distance);
  Value reached = f64(0.0);
  if (!thresholds.empty())
    reached = emitSum(b.i64(thresholds.size()), [&](Value index) -> Value {
      Value threshold = emitNumber(thresholds, index, "thresholds");
      Value isReached = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE,
                                              threshold, magnitude);
      return b.select(isReached, f64(1.0), f64(0.0));
    });
  Value future =
      law.getFutureOffset() < 0
          ? f64(0.0)
          : arith::AddFOp::create(b, reached, f64(law.getFutureOffset()));
  Value isFuture =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, distance, f64(0.0));
  return b.select(isFuture, future, reached);
}

/// The region of a term over scores and inputs, summed over the sum index if
/// there is one.
Value ScalarEmitter::emitTerm(Region &region, ValueRange scores,
                              ValueRange inputs) {
  // What does not depend on the sum index comes before its loop.
  int64_t extent = 0;
  for (Value input : inputs) {
    if (auto index = input.getDefiningOp<SumIndexOp>())
      extent = index.getExtent();
    else if (!isa<TableType>(input.getType()))
      emit(input);
  }
  auto emitOnce = [&](Value index) {
    return emitSummand(region, scores, inputs, index);
  };
  return extent ? emitSum(b.i64(extent), emitOnce) : emitOnce(Value());
}

/// The region for one value of the sum index.
Value ScalarEmitter::emitSummand(Region &region, ValueRange scores,
                                 ValueRange inputs, Value index) {
  SmallVector<Value> arguments(scores);
  Value row, channel;
  for (Value input : inputs) {
    if (isa<TableType>(input.getType())) {
      arguments.push_back(emitTable(input, row, channel));
      continue;
    }
    bool isIndex = static_cast<bool>(input.getDefiningOp<SumIndexOp>());
    row = isIndex ? toF64(index) : emit(input);
    if (isIndex)
      channel = index;
    arguments.push_back(row);
  }
  return emitRegion(region, arguments);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Within 0 .. rows - 1; 0 for what is no number.
Value ScalarEmitter::clampRow(Value row, int64_t rows) {
  Value low = arith::MaxNumFOp::create(b, row, f64(0.0));
  return arith::MinNumFOp::create(b, low, f64(rows - 1));
}

/// The row of a finite table that is nearest to a number, i64.
Value ScalarEmitter::emitRowIndex(Value row, int64_t rows) {
  if (auto integer = row.getDefiningOp<arith::SIToFPOp>())
    return b.min(b.max(integer.getIn(), b.i64(0)), b.i64(rows - 1));
  Value nearest = math::RoundOp::create(b, row);
  return arith::FPToSIOp::create(b, b.getI64Type(), clampRow(nearest, rows));
}

Value ScalarEmitter::emitTable(Value table, Value row, Value channel) {
  return llvm::TypeSwitch<Operation *, Value>(table.getDefiningOp())
      .Case([&](TableOp op) {
        if (auto law = dyn_cast<OperandAttr>(op.getLaw()))
          return emitOperand(op, law, row, channel);
        return emitConstant(op, cast<ConstantsAttr>(op.getLaw()), row, channel);
      })
      .Case([&](TableMapOp op) {
        // Rows are integers.
        Value index = row;
        if (!row.getDefiningOp<arith::SIToFPOp>())
          index = math::RoundOp::create(b, row);
        return emitRegion(op.getBody(), {index, toF64(channel)});
      })
      .Case([&](ProjectOp op) {
        Value extent = b.i64(getTableChannels(op.getTable()));
        return emitSum(extent, [&](Value index) -> Value {
          Value number = emitTable(op.getTable(), row, index);
          Value weight = emitTable(op.getWeights(), toF64(index), channel);
          return arith::MulFOp::create(b, number, weight);
        });
      })
      .Case([&](PrefixSumOp op) { return emitPrefixSum(op); })
      .Case([&](TileFactorsOp op) {
        BiasOp bias = op.getBiasOp();
        return emitSummand(bias.getBody(), {}, bias.getInputs(), channel);
      })
      .Case([&](AtQueryOp op) {
        ScalarSite there = site;
        there.key =
            b.add(site.query, emitQueryShift(b, frame, op.getAlignment()));
        return ScalarEmitter(b, frame, kernel, there)
            .emitTable(op.getTable(), row, channel);
      })
      .Default(
          [](Operation *) -> Value { llvm_unreachable("plans are verified"); });
}

Value ScalarEmitter::emitOperand(TableOp op, OperandAttr law, Value row,
                                 Value channel) {
  auto index = [&](TableAxis axis) -> Value {
    switch (axis) {
    case TableAxis::row:
      return emitRowIndex(row, law.getRows());
    case TableAxis::head:
      return site.head;
    case TableAxis::query:
      return site.query;
    case TableAxis::key:
      return site.key;
    case TableAxis::batch:
      return site.batch;
    case TableAxis::channel:
      return channel;
    }
    llvm_unreachable("all axes are handled");
  };
  auto indices = llvm::map_to_vector(op.getType().getAxes(), index);
  Type storage = law.getDtype();
  Value address = frame.element(*kernel.findOperand(law.getName()), indices,
                                storage ? b.getI16Type() : Type());
  return b.loadReal(storage, address);
}

/// Constants are row-major over the axes of the type.
Value ScalarEmitter::emitConstant(TableOp op, ConstantsAttr law, Value row,
                                  Value channel) {
  Value position = b.i64(0);
  for (TableAxis axis : op.getType().getAxes()) {
    int64_t extent = axis == TableAxis::row       ? *op.getNumRows()
                     : axis == TableAxis::channel ? *op.getNumChannels()
                                                  : kernel.op.getHeads();
    Value index = channel;
    if (axis == TableAxis::row)
      index = emitRowIndex(row, extent);
    else if (axis == TableAxis::head)
      index = site.kernelHead;
    position = b.add(b.mul(position, b.i64(extent)), index);
  }
  return emitNumber(law.getValues().asArrayRef(), position, "constants");
}

/// By summing all over again: tables of rows have a faster way.
Value ScalarEmitter::emitPrefixSum(PrefixSumOp op) {
  return emitSum(b.add(site.key, b.i64(1)), [&](Value key) {
    ScalarSite there = site;
    there.key = key;
    ScalarEmitter emitter(b, frame, kernel, there);
    return emitRegion(op.getBody(),
                      emitter.emitTable(op.getTable(), Value(), Value()));
  });
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

Value ScalarEmitter::emitFrequency(Value freqs, Value pair, int64_t offset) {
  if (auto op = freqs.getDefiningOp<FreqsOp>())
    return emitNumber(op.getLaw().getFrequencies(), pair, "frequencies");
  auto op = freqs.getDefiningOp<FreqsMapOp>();
  Value row = toF64(pair);
  SmallVector<Value> arguments = {row,
                                  toF64(b.add(frame.keyLen(), b.i64(offset)))};
  for (Value table : op.getTables())
    arguments.push_back(emitTable(table, row, Value()));
  return emitRegion(op.getBody(), arguments);
}
