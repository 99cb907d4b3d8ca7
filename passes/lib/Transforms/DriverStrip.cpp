// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value of a strip at one distance, in double precision.
#include "DriverTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace posenc;

/// The number of thresholds that `distance` has reached.
static Value emitReached(DriverBuilder &b, Value thresholds, int64_t count,
                         Value distance) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, b.i64(0), b.i64(count), b.i64(1),
                                 ValueRange{b.i64(0)});
  b.setInsertionPointToStart(loop.getBody());
  Value threshold =
      b.load(b.getI64Type(),
             b.element(thresholds, loop.getInductionVar(), b.getI64Type()));
  Value isReached =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, threshold, distance);
  Value one = arith::ExtUIOp::create(b, b.getI64Type(), isReached);
  scf::YieldOp::create(b, ValueRange{b.add(loop.getRegionIterArg(0), one)});
  return loop.getResult(0);
}

namespace {
class StripValue {
public:
  StripValue(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
             DriverTable &table, Value head, Value distance)
      : b(b), frame(frame), kernel(kernel), table(table), head(head),
        distance(distance) {}

  Value emit() {
    Block &body = table.op.getBody().front();
    for (Operation &op : body.without_terminator()) {
      if (auto relation = dyn_cast<RelationOp>(op))
        values[relation.getResult()] = emitRelation(relation);
      else if (auto bias = dyn_cast<BiasOp>(op))
        values[bias.getResult()] =
            emitRegion(bias.getBody(), bias.getInputs(), {});
      else if (auto map = dyn_cast<MapOp>(op))
        values[map.getResult()] =
            emitRegion(map.getBody(), map.getInputs(),
                       {values.lookup(map.getScores().front())});
      else if (auto add = dyn_cast<AddOp>(op))
        values[add.getResult()] = arith::AddFOp::create(
            b, values.lookup(add.getLhs()), values.lookup(add.getRhs()));
      else if (auto change = dyn_cast<TileToBase2Op>(op))
        values[change.getResult()] = arith::MulFOp::create(
            b, values.lookup(change.getInput()), f64(llvm::numbers::log2e));
      // Tables and positions are read by their users.
    }
    return values.lookup(body.getTerminator()->getOperand(0));
  }

private:
  Value f64(double number) {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(number));
  }

  /// A global array, one for each different `data` of this table.
  Value constants(StringRef what, Attribute key, DenseElementsAttr data) {
    auto [entry, isNew] = arrays.insert({key, arrays.size()});
    return b.constantArray(kernel.name + "_" + table.getName() + "_" + what +
                               Twine(entry->second),
                           data);
  }

  Value emitRelation(RelationOp op) {
    auto oriented = [&](Orientation orientation) {
      return orientation == Orientation::query_minus_key
                 ? distance
                 : b.sub(b.i64(0), distance);
    };
    return llvm::TypeSwitch<Attribute, Value>(op.getLaw())
        .Case<DifferenceAttr>(
            [&](auto law) { return oriented(law.getOrientation()); })
        .Case<ClippedDistanceAttr>([&](auto law) {
          Value clipped =
              b.min(oriented(law.getOrientation()), b.i64(law.getMax()));
          clipped = b.max(clipped, b.i64(-law.getMax()));
          return b.add(clipped, b.i64(law.getMax()));
        })
        .Case<ThresholdBucketAttr>([&](auto law) { return emitBucket(law); })
        .Default([](Attribute) -> Value {
          llvm_unreachable("every relation law has a case");
        });
  }

  Value emitBucket(ThresholdBucketAttr law) {
    ArrayRef<int64_t> numbers = law.getThresholds().asArrayRef();
    int64_t count = numbers.size();
    Value reached = b.i64(0);
    Value opposite = b.sub(b.i64(0), distance);
    if (count > 0) {
      auto type = RankedTensorType::get({count}, b.getI64Type());
      Value thresholds =
          constants("thresholds", law, DenseElementsAttr::get(type, numbers));
      reached = emitReached(b, thresholds, count, b.max(distance, opposite));
    }
    Value future = law.getFutureOffset() < 0
                       ? b.i64(0)
                       : b.add(reached, b.i64(law.getFutureOffset()));
    return b.select(b.less(distance, b.i64(0)), future, reached);
  }

  /// A number of the table, found by its axes.
  Value emitLookup(TableOp op, Value relation) {
    auto index = [&](TableAxis axis) {
      return axis == TableAxis::row ? relation : head;
    };
    TableType type = op.getType();
    if (auto law = dyn_cast<OperandAttr>(op.getLaw())) {
      auto indices = llvm::map_to_vector(type.getAxes(), index);
      Value address =
          frame.element(*kernel.findOperand(law.getName()), indices);
      return arith::ExtFOp::create(b, b.getF64Type(),
                                   b.load(b.getF32Type(), address));
    }
    ArrayRef<double> numbers =
        cast<ConstantsAttr>(op.getLaw()).getValues().asArrayRef();
    auto data = DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                              b.getF64Type()),
        numbers);
    Value position = b.i64(0);
    for (TableAxis axis : type.getAxes()) {
      int64_t extent =
          axis == TableAxis::row ? *op.getNumRows() : kernel.op.getHeads();
      position = b.add(b.mul(position, b.i64(extent)), index(axis));
    }
    Value array = constants("constants", op.getLaw(), data);
    return b.load(b.getF64Type(), b.element(array, position, b.getF64Type()));
  }

  Value emitRegion(Region &region, OperandRange inputs, ValueRange leading) {
    SmallVector<Value> arguments(leading);
    Value relation;
    for (Value input : inputs) {
      if (auto lookup = input.getDefiningOp<TableOp>()) {
        arguments.push_back(emitLookup(lookup, relation));
        continue;
      }
      relation = values.lookup(input);
      arguments.push_back(arith::SIToFPOp::create(b, b.getF64Type(), relation));
    }
    Block &body = region.front();
    IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    return mapping.lookup(body.getTerminator()->getOperand(0));
  }

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  DriverTable &table;
  Value head, distance;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Attribute, unsigned> arrays;
};
} // namespace

Value posenc::emitStripValue(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, DriverTable &table,
                             Value head, Value distance) {
  return StripValue(b, frame, kernel, table, head, distance).emit();
}
