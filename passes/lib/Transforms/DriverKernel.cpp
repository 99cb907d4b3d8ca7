// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks a kernel and its plans for the driver.
#include "DriverKernel.h"

#include "posenc/kernel_abi.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace posenc;

std::optional<unsigned> DriverKernel::findOperand(StringRef operand) {
  for (auto [index, tensor] : llvm::enumerate(operands))
    if (tensor.name == operand)
      return getFirstOperand() + index;
  return std::nullopt;
}

bool DriverKernel::transformsKeys() {
  return llvm::any_of(plans,
                      [](DriverPlan &plan) { return plan.keys.has_value(); });
}

PositionTensorAttr posenc::findQueryPositions(PlanOp plan, StringRef operand) {
  PositionTensorAttr found;
  plan.walk([&](PositionOp position) {
    auto law = dyn_cast<PositionTensorAttr>(position.getLaw());
    if (law && position.getSide() == Side::query && law.getName() == operand)
      found = law;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static LogicalResult analyzeAngles(DriverTable &table) {
  Operation *yield = table.op.getBody().front().getTerminator();
  auto position = yield->getNumOperands() == 2
                      ? yield->getOperand(0).getDefiningOp<PositionOp>()
                      : PositionOp();
  auto freqs =
      position ? yield->getOperand(1).getDefiningOp<FreqsOp>() : FreqsOp();
  if (!freqs || position.getSide() != Side::key)
    return table.op.emitOpError("expects angles to yield a posenc.position of "
                                "the key side and posenc.freqs");
  table.queryPositions = table.keyPositions = position.getLaw();
  table.frequencies = freqs.getLaw().getFrequencies();
  return success();
}

static LogicalResult analyzeStrip(DriverTable &table) {
  bool isCallHead = false, isKernelHead = false;
  for (Operation &op : table.op.getBody().front()) {
    if (isa<BiasOp, MapOp>(op) &&
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<CoordType>))
      return op.emitOpError("expects no position among the inputs of a strip's "
                            "term, since it depends on distances only");
    if (auto position = dyn_cast<PositionOp>(op)) {
      auto &law = position.getSide() == Side::query ? table.queryPositions
                                                    : table.keyPositions;
      if (!isa<IotaAttr>(position.getLaw()) ||
          (law && law != position.getLaw()))
        return position.emitOpError("expects the positions of a strip's side "
                                    "to have one affine law, but got ")
               << position.getLaw();
      law = position.getLaw();
    } else if (auto lookup = dyn_cast<TableOp>(op)) {
      TableType type = lookup.getType();
      if (type.hasAxis(TableAxis::query) || type.hasAxis(TableAxis::key))
        return lookup.emitOpError("expects the tables of a strip to have row "
                                  "and head axes only, but got ")
               << type;
      if (type.hasAxis(TableAxis::head))
        (isa<OperandAttr>(lookup.getLaw()) ? isCallHead : isKernelHead) = true;
    } else if (!isa<RelationOp, BiasOp, MapOp, AddOp, TileToBase2Op, YieldOp>(
                   op)) {
      return op.emitOpError("cannot stand in a strip");
    }
  }
  if (isCallHead && isKernelHead)
    return table.op.emitOpError("expects a strip not to count both the heads "
                                "of the kernel and those of the call");
  if (table.queryPositions && table.keyPositions &&
      table.queryPositions.getAlignment() != table.keyPositions.getAlignment())
    return table.op.emitOpError("expects the positions of both sides of a "
                                "strip to have the same alignment");
  table.heads = isCallHead     ? DriverTable::Heads::Call
                : isKernelHead ? DriverTable::Heads::Kernel
                               : DriverTable::Heads::Same;
  return success();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The one alignment of the masks and query positions of the steps. Keys stand
/// where they are stored with either.
static LogicalResult analyzeAlignment(DriverPlan &plan) {
  std::optional<Alignment> found;
  for (StepOp step : plan.op.getStepOps())
    for (Operation &op : step.getBody().front()) {
      std::optional<Alignment> alignment;
      if (auto select = dyn_cast<SelectOp>(op))
        alignment = select.getMaskAttr().getMaskAlignment();
      else if (auto position = dyn_cast<PositionOp>(op);
               position && position.getSide() == Side::query)
        alignment = position.getLaw().getAlignment();
      if (alignment && found && *alignment != *found)
        return op.emitOpError("expects one alignment in all steps, but has ")
               << stringifyAlignment(*alignment) << " beside "
               << stringifyAlignment(*found);
      if (alignment)
        found = alignment;
    }
  plan.alignment = found.value_or(Alignment::bottom_right);
  return success();
}

static LogicalResult checkKernelOf(PlanOp plan, KernelOp kernel) {
  auto check = [&](StringRef what, int64_t actual,
                   int64_t expected) -> LogicalResult {
    if (actual == expected)
      return success();
    return plan.emitOpError("expects '")
           << what << "' to be " << expected << " as in its kernel, but got "
           << actual;
  };
  return success(
      succeeded(check("heads", plan.getHeads(), kernel.getHeads())) &&
      succeeded(check("kv_heads", plan.getKvHeads(), kernel.getNumKvHeads())) &&
      succeeded(check("head_dim", plan.getHeadDim(), kernel.getHeadDim())) &&
      succeeded(check("value_dim", plan.getValueDim(), kernel.getValueSize())));
}

/// The prepared buffer is one for all plans.
static LogicalResult checkSameTables(PlanOp plan, PlanOp first) {
  auto mine = plan.getPrepareOps(), others = first.getPrepareOps();
  bool same = mine.size() == others.size();
  for (size_t i = 0; same && i < mine.size(); ++i)
    same = OperationEquivalence::isEquivalentTo(
        mine[i], others[i], OperationEquivalence::IgnoreLocations);
  if (same)
    return success();
  auto diagnostic = plan.emitOpError("expects the same posenc.prepare "
                                     "operations in all plans of a kernel");
  diagnostic.attachNote(first.getLoc()) << "this plan has others";
  return diagnostic;
}

static LogicalResult analyzePlan(DriverPlan &plan, DriverKernel &kernel) {
  if (failed(checkKernelOf(plan.op, kernel.op)) ||
      failed(analyzeAlignment(plan)))
    return failure();
  for (const OperandTensor &operand : plan.op.getOperandTensors())
    if (!kernel.findOperand(operand.name))
      return plan.op.emitOpError("reads operand '")
             << operand.name << "', which its kernel does not have";
  FailureOr<SmallVector<TileFunction>> tiles = getTileFunctions(plan.op);
  if (failed(tiles))
    return failure();
  plan.tiles = std::move(*tiles);
  plan.keys = getKeyFunction(plan.op);
  if (plan.keys)
    for (const TileArg &arg : plan.keys->args)
      if (!llvm::is_contained({TileArgKind::Key, TileArgKind::Angles,
                               TileArgKind::TransformedKey},
                              arg.kind))
        return plan.op.getKeysOp().emitOpError(
                   "expects to read keys and angles only, but reads '")
               << arg.getName() << "'";
  for (const TileFunction &tile : plan.tiles) {
    kernel.tallest = std::max(kernel.tallest, tile.rows);
    kernel.stateBytes = std::max<int64_t>(
        kernel.stateBytes, tile.rows * tile.stateColumns * sizeof(float));
  }
  return success();
}

FailureOr<DriverKernel> posenc::analyzeKernel(KernelOp op,
                                              ArrayRef<PlanOp> plans) {
  if (!op.isExpanded())
    return op.emitOpError("expects a body: run posenc-expand-encodings");
  if (plans.empty())
    return op.emitOpError("has no posenc.plan: run posenc-plan");
  DriverKernel kernel;
  kernel.op = op;
  kernel.name = op.getSymName().str();
  kernel.tensors = getKernelTensors(op);
  kernel.operands = op.getOperandTensors();
  if (kernel.tensors.size() > POSENC_MAX_TENSORS)
    return op.emitOpError("expects at most ")
           << POSENC_MAX_TENSORS << " tensors, but has "
           << kernel.tensors.size();
  for (PlanOp plan : plans) {
    kernel.plans.emplace_back();
    kernel.plans.back().op = plan;
    if (failed(analyzePlan(kernel.plans.back(), kernel)) ||
        failed(checkSameTables(plan, plans.front())))
      return failure();
  }
  for (PrepareOp prepare : PlanOp(plans.front()).getPrepareOps()) {
    DriverTable table;
    table.op = prepare;
    if (failed(prepare.getKind() == TableKind::angles ? analyzeAngles(table)
                                                      : analyzeStrip(table)))
      return failure();
    kernel.tables.push_back(std::move(table));
  }
  return kernel;
}
