// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "posenc/Halide/TileSignature.h"
#include "TileShape.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace posenc;

/// A prefix and a symbol as one identifier: Halide keeps dots for itself, and
/// operands are called <encoding>.<operand>.
static std::string makeName(StringRef prefix, StringRef symbol) {
  std::string name = (prefix + symbol).str();
  llvm::replace(name, '.', '_');
  return name;
}

std::string TileArg::getName() const {
  switch (kind) {
  case TileArgKind::Query:
    return "q";
  case TileArgKind::Key:
    return "k";
  case TileArgKind::Value:
    return "v";
  case TileArgKind::Angles:
    return makeName("angles_", symbol);
  case TileArgKind::Strip:
    return makeName("strip_", symbol);
  case TileArgKind::Table:
    return makeName("table_", symbol);
  case TileArgKind::QueryPositions:
    return makeName("query_positions_", symbol);
  case TileArgKind::KeyPositions:
    return makeName("key_positions_", symbol);
  case TileArgKind::Rows:
    return "rows";
  case TileArgKind::KeyCount:
    return "key_count";
  case TileArgKind::QueryBegin:
    return "query_begin";
  case TileArgKind::QueryShift:
    return "query_shift";
  case TileArgKind::KeyBegin:
    return "key_begin";
  case TileArgKind::StepEnd:
    return makeName("end_", symbol);
  case TileArgKind::First:
    return "first";
  case TileArgKind::State:
    return "state";
  case TileArgKind::Output:
    return "out";
  case TileArgKind::LogSumExp:
    return "lse";
  case TileArgKind::TransformedKey:
    return "keys";
  }
  llvm_unreachable("unknown argument");
}

namespace {
/// Collects arguments in order of first use.
struct ArgCollector {
  SmallVector<TileArg> args;
  int64_t constants = 0;

  void add(TileArgKind kind, int64_t rank, StringRef symbol = {},
           bool isInteger = false) {
    for (const TileArg &arg : args)
      if (arg.kind == kind && arg.symbol == symbol)
        return;
    TileArg arg;
    arg.kind = kind;
    arg.rank = rank;
    arg.symbol = symbol.str();
    arg.isInteger = isInteger;
    args.push_back(std::move(arg));
  }

  void addNumber(TileArgKind kind, StringRef symbol = {}) {
    add(kind, /*rank=*/0, symbol, /*isInteger=*/true);
  }

  void addTable(TableOp op) {
    auto type = op.getResult().getType();
    for (const TileArg &arg : args)
      if (arg.kind == TileArgKind::Table && arg.law == op.getLaw() &&
          arg.type == type)
        return;
    TileArg arg;
    arg.kind = TileArgKind::Table;
    arg.law = op.getLaw();
    arg.type = type;
    if (auto operand = dyn_cast<OperandAttr>(op.getLaw()))
      arg.symbol = operand.getName().str();
    else
      arg.symbol = "constants" + std::to_string(constants++);
    for (TableAxis axis : {TableAxis::key, TableAxis::query, TableAxis::row})
      if (type.hasAxis(axis))
        arg.dims.push_back(axis);
    arg.rank = std::max<int64_t>(1, arg.dims.size());
    args.push_back(std::move(arg));
  }

  void addPositions(PositionOp op) {
    if (auto law = dyn_cast<PositionTensorAttr>(op.getLaw()))
      add(op.getSide() == Side::query ? TileArgKind::QueryPositions
                                      : TileArgKind::KeyPositions,
          /*rank=*/1, law.getName(), /*isInteger=*/true);
  }

  /// The buffers that the operations of one part of the plan read.
  void addTerms(Block &body) {
    for (Operation &op : body) {
      if (auto rotate = dyn_cast<TileRotateOp>(op))
        add(TileArgKind::Angles, /*rank=*/2, rotate.getTable());
      else if (auto strip = dyn_cast<TileLoadStripOp>(op))
        add(TileArgKind::Strip, /*rank=*/1, strip.getTable());
      else if (auto table = dyn_cast<TableOp>(op))
        addTable(table);
      else if (auto position = dyn_cast<PositionOp>(op))
        addPositions(position);
    }
  }
};
} // namespace

FailureOr<SmallVector<TileFunction>> posenc::getTileFunctions(PlanOp plan) {
  FailureOr<SmallVector<TileShape>> shapes = getTileShapes(plan);
  if (failed(shapes))
    return failure();

  ArgCollector collector;
  collector.add(TileArgKind::Query, 2);
  collector.add(TileArgKind::Key, 2);
  collector.add(TileArgKind::Value, 2);
  collector.addTerms(plan.getPrologueOp().getBody().front());
  for (StepOp step : plan.getStepOps())
    collector.addTerms(step.getBody().front());

  collector.addNumber(TileArgKind::Rows);
  collector.addNumber(TileArgKind::KeyCount);
  collector.addNumber(TileArgKind::QueryBegin);
  collector.addNumber(TileArgKind::QueryShift);
  collector.addNumber(TileArgKind::KeyBegin);
  for (StepOp step : plan.getStepOps())
    collector.addNumber(TileArgKind::StepEnd, step.getSymName());
  collector.addNumber(TileArgKind::First);

  collector.add(TileArgKind::State, 2);
  collector.add(TileArgKind::Output, 2);
  collector.add(TileArgKind::LogSumExp, 1);

  SmallVector<TileFunction> functions;
  for (const TileShape &shape : *shapes) {
    TileFunction function;
    function.symbol = (plan.getSymName() + "_tile" + Twine(shape.rows)).str();
    function.args = collector.args;
    function.rows = shape.rows;
    function.stateColumns = shape.stateColumns();
    functions.push_back(std::move(function));
  }
  return functions;
}

std::optional<TileFunction> posenc::getKeyFunction(PlanOp plan) {
  KeysOp keys = plan.getKeysOp();
  if (!keys)
    return std::nullopt;
  ArgCollector collector;
  collector.add(TileArgKind::Key, 2);
  collector.addTerms(keys.getBody().front());
  collector.add(TileArgKind::TransformedKey, 2);
  TileFunction function;
  function.symbol = (plan.getSymName() + "_keys").str();
  function.args = collector.args;
  return function;
}
