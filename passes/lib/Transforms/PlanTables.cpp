// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a plan, and the terms that are copied into its parts.
#include "PlanTables.h"

#include "posenc/IR/FactorOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What can be looked up
//===----------------------------------------------------------------------===//

bool posenc::hasUnboundedRows(Value table) {
  if (auto project = table.getDefiningOp<ProjectOp>())
    return hasUnboundedRows(project.getTable());
  return static_cast<bool>(table.getDefiningOp<TableMapOp>());
}

bool posenc::isCountable(Value index) {
  auto relation = index ? index.getDefiningOp<RelationOp>() : RelationOp();
  auto isIota = [](Value value) {
    auto position = value.getDefiningOp<PositionOp>();
    return position && isa<IotaAttr>(position.getLaw());
  };
  return relation && isIota(relation.getQuery()) && isIota(relation.getKey());
}

bool posenc::isProjectedPerScore(Value table, Value index) {
  return table.getDefiningOp<ProjectOp>() && hasUnboundedRows(table) &&
         !isCountable(index);
}

LogicalResult posenc::checkTable(Operation *op, Value table, Value index) {
  // A function of the row is evaluated where it is read, at the worst.
  if (!isProjectedPerScore(table, index))
    return success();
  InFlightDiagnostic diag =
      op->emitOpError("cannot be placed in a plan; expected the rows of a "
                      "projected table without bounds to be looked up by a "
                      "posenc.relation of positions with the law #posenc.iota, "
                      "which can be counted before the call, or by a "
                      "posenc.table_dot, which projects its vector instead");
  diag.attachNote(table.getLoc()) << "the table is here";
  return diag;
}

/// Calls back with each table among the inputs of a region and what looks it
/// up: the nearest relation or position before it, or null.
static void forEachTable(ValueRange inputs,
                         function_ref<void(Value, Value)> callback) {
  Value index;
  for (Value input : inputs) {
    if (auto type = dyn_cast<TableType>(input.getType()))
      callback(input, type.hasAxis(TableAxis::row) ? index : Value());
    else
      index = input;
  }
}

LogicalResult posenc::checkLookups(Operation *op, ValueRange inputs) {
  bool fits = true;
  forEachTable(inputs, [&](Value table, Value index) {
    fits = fits && succeeded(checkTable(op, table, index));
  });
  for (Value input : inputs)
    if (auto map = input.getDefiningOp<RelationMapOp>())
      fits = fits && succeeded(checkLookups(map, map.getInputs()));
  return success(fits);
}

//===----------------------------------------------------------------------===//
// Prepared tables
//===----------------------------------------------------------------------===//

/// Copies what defines `value` and what that needs, each once.
static Value cloneAll(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneAll(builder, operand, mapping);
  return builder.clone(*op, mapping)->getResult(0);
}

/// The same, with positions of the key side.
static Value cloneForKeys(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  Value copy;
  if (auto position = dyn_cast<PositionOp>(op)) {
    copy = PositionOp::create(builder, position.getLoc(), Side::key,
                              position.getLaw());
    mapping.map(value, copy);
    return copy;
  }
  for (Value operand : op->getOperands())
    cloneForKeys(builder, operand, mapping);
  return builder.clone(*op, mapping)->getResult(0);
}

PlanTables::PlanTables(PlanOp plan) : plan(plan), builder(plan.getContext()) {}

StringRef PlanTables::add(Location loc, TableKind kind, TypeRange arguments,
                          function_ref<SmallVector<Value>(Block &)> writeBody) {
  SmallVector<PrepareOp, 4> tables = plan.getPrepareOps();
  int64_t count = llvm::count_if(
      tables, [&](PrepareOp table) { return table.getKind() == kind; });
  // Tables come before the other parts, in order of first use.
  if (tables.empty())
    builder.setInsertionPointToStart(&plan.getBody().front());
  else
    builder.setInsertionPointAfter(tables.back());
  std::string name = (stringifyTableKind(kind) + Twine(count)).str();
  auto table = PrepareOp::create(builder, loc, name, kind);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block =
        builder.createBlock(&table.getBody(), {}, arguments,
                            SmallVector<Location>(arguments.size(), loc));
    SmallVector<Value> values = writeBody(*block);
    YieldOp::create(builder, loc, values);
  }
  for (PrepareOp other : tables)
    if (other.getKind() == kind && OperationEquivalence::isRegionEquivalentTo(
                                       &other.getBody(), &table.getBody(),
                                       OperationEquivalence::IgnoreLocations)) {
      table.erase();
      return other.getSymName();
    }
  return table.getSymName();
}

// Queries and keys at one position have one row, whatever channels it turns,
// unless the positions of queries are their own.
StringRef PlanTables::getAngles(RotateOp rotation) {
  bool isOwn = rotation.turnsOwnQueries();
  Type type =
      isOwn ? rotation.getType() : Type(KeyType::get(builder.getContext()));
  return add(rotation.getLoc(), TableKind::angles, type, [&](Block &block) {
    IRMapping mapping;
    mapping.map(rotation.getInput(), block.getArgument(0));
    for (Value operand : rotation->getOperands())
      isOwn ? cloneAll(builder, operand, mapping)
            : cloneForKeys(builder, operand, mapping);
    auto copy = cast<RotateOp>(builder.clone(*rotation, mapping));
    copy.getResult().setType(type);
    copy.setPairing(Pairing::half);
    copy.setFirstDim(0);
    return SmallVector<Value>{copy};
  });
}

StringRef PlanTables::getStrip(BiasOp bias, const BiasTraits &traits,
                               bool base2) {
  Location loc = bias.getLoc();
  return add(loc, TableKind::strip, {}, [&](Block &) {
    Value score = TermCloner(builder, *this).cloneBias(bias, traits.usedInputs);
    if (base2)
      score = TileToBase2Op::create(builder, loc, score);
    return SmallVector<Value>{score};
  });
}

/// The decay to the power of a distance between places.
StringRef PlanTables::getDecays(RecurrenceOp op) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  return add(loc, TableKind::decays, {}, [&](Block &) {
    auto law = IotaAttr::get(context, int64_t{0}, Alignment::bottom_right);
    auto position = [&](Side side) -> Value {
      return PositionOp::create(builder, loc, side, law);
    };
    SmallVector<Value> inputs{RelationOp::create(
        builder, loc, position(Side::query), position(Side::key),
        DifferenceAttr::get(context, Orientation::query_minus_key))};
    IRMapping mapping;
    for (Value table : op.getTables())
      inputs.push_back(cloneAll(builder, table, mapping));
    auto power = BiasOp::create(builder, loc, inputs);
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(
        &power.getBody(), {},
        SmallVector<Type>(inputs.size(), builder.getF64Type()),
        SmallVector<Location>(inputs.size(), loc));
    IRMapping values;
    Block &decay = op.getDecay().front();
    for (auto [from, to] : llvm::zip_equal(decay.getArguments(),
                                           body->getArguments().drop_front()))
      values.map(from, to);
    for (Operation &nested : decay.without_terminator())
      builder.clone(nested, values);
    Value base = values.lookup(decay.getTerminator()->getOperand(0));
    Value result =
        math::PowFOp::create(builder, loc, base, body->getArgument(0));
    YieldOp::create(builder, loc, result);
    return SmallVector<Value>{power};
  });
}

StringRef PlanTables::getRows(Value table, Value index) {
  return add(table.getLoc(), TableKind::rows, {}, [&](Block &) {
    IRMapping mapping;
    SmallVector<Value> results{cloneAll(builder, table, mapping)};
    if (index)
      results.push_back(cloneAll(builder, index, mapping));
    return results;
  });
}

PreparedFactors PlanTables::getFactors(Location loc, FactorRegion factors,
                                       TableType type) {
  StringRef name = add(loc, TableKind::rows, {}, [&](Block &) {
    IRMapping mapping;
    SmallVector<Value> inputs;
    for (Value input : factors.inputs)
      inputs.push_back(cloneAll(builder, input, mapping));
    auto bias = BiasOp::create(builder, loc, inputs);
    bias.getBody().takeBody(*factors.body);
    Value table = TileFactorsOp::create(builder, loc, type, bias);
    return SmallVector<Value>{table};
  });
  return {name, type};
}

//===----------------------------------------------------------------------===//
// Terms in other parts
//===----------------------------------------------------------------------===//

Value TermCloner::clone(Value input) {
  if (Value copy = mapping.lookupOrNull(input))
    return copy;
  Operation *op = input.getDefiningOp();
  if (auto map = dyn_cast<RelationMapOp>(op)) {
    Value copy = cloneWithInputs(map, map.getInputs())->getResult(0);
    mapping.map(input, copy);
    return copy;
  }
  for (Value operand : op->getOperands())
    clone(operand);
  return builder.clone(*op, mapping)->getResult(0);
}

Value TermCloner::cloneTable(Value table, Value index, bool inlined) {
  Operation *op = table.getDefiningOp();
  if (auto atQuery = dyn_cast<AtQueryOp>(op)) {
    if (Value copy = mapping.lookupOrNull(table))
      return copy;
    mapping.map(atQuery.getTable(),
                cloneTable(atQuery.getTable(), Value(), inlined));
    return builder.clone(*op, mapping)->getResult(0);
  }
  if (isProjectedPerScore(table, index)) {
    auto project = cast<ProjectOp>(op);
    clone(project.getTable());
    mapping.map(project.getWeights(),
                cloneTable(project.getWeights(), Value(), /*inlined=*/false));
    return clone(table);
  }
  bool unbounded = hasUnboundedRows(table);
  bool isMap = isa<TableMapOp>(op) && (inlined || !isCountable(index));
  if (isa<TableOp>(op) || isMap)
    return clone(table);
  Value rows = unbounded ? index : Value();
  Value &copy = computed[{table, rows}];
  if (!copy)
    copy = TileLoadTableOp::create(builder, op->getLoc(), table.getType(),
                                   tables.getRows(table, rows));
  return copy;
}

SmallVector<Value> TermCloner::cloneInputs(ValueRange inputs) {
  SmallVector<Value> copies;
  Value index;
  for (Value input : inputs) {
    if (isa<TableType>(input.getType())) {
      copies.push_back(cloneTable(input, index, /*inlined=*/true));
    } else {
      index = input;
      copies.push_back(clone(input));
    }
  }
  return copies;
}

Operation *TermCloner::cloneWithInputs(Operation *op, ValueRange inputs) {
  SmallVector<Value> copies = cloneInputs(inputs);
  Operation *copy = op->cloneWithoutRegions();
  unsigned leading = op->getNumOperands() - inputs.size();
  for (unsigned i = 0; i < leading; ++i)
    copy->setOperand(i, mapping.lookup(op->getOperand(i)));
  for (auto [i, input] : llvm::enumerate(copies))
    copy->setOperand(leading + i, input);
  builder.insert(copy);
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
    IRMapping regionMapping;
    from.cloneInto(&to, regionMapping);
  }
  return copy;
}

Value TermCloner::cloneBias(BiasOp bias, const llvm::BitVector &usedInputs) {
  SmallVector<Value> used;
  for (unsigned index : usedInputs.set_bits())
    used.push_back(bias.getInputs()[index]);
  auto copy = BiasOp::create(builder, bias.getLoc(), cloneInputs(used));
  IRMapping regionMapping;
  bias.getBody().cloneInto(&copy.getBody(), regionMapping);
  Block &block = copy.getBody().front();
  for (Operation *op = block.getTerminator()->getPrevNode(); op;) {
    Operation *previous = op->getPrevNode();
    if (op->use_empty())
      op->erase();
    op = previous;
  }
  llvm::BitVector unusedInputs = usedInputs;
  block.eraseArguments(unusedInputs.flip());
  return copy;
}
