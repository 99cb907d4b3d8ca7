// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects what the driver needs of a kernel and its plans, which have passed
// posenc-verify-plan, and checks that they fit together.
#include "DriverKernel.h"

#include "posenc/Analysis/BiasTraits.h"
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

static void analyzeAngles(DriverTable &table) {
  Operation *yield = table.op.getBody().front().getTerminator();
  table.positions = yield->getOperand(0).getDefiningOp<PositionOp>().getLaw();
  table.frequencies =
      yield->getOperand(1).getDefiningOp<FreqsOp>().getLaw().getFrequencies();
}

static void analyzeStrip(DriverTable &table) {
  for (BiasOp bias : table.op.getBody().front().getOps<BiasOp>()) {
    BiasTraits traits = analyzeBias(bias);
    if (traits.positions)
      table.positions = traits.positions;
    if (traits.readsHeadOperands)
      table.heads = DriverTable::Heads::Call;
    else if (traits.readsHeadConstants)
      table.heads = DriverTable::Heads::Kernel;
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The one alignment of the masks and query positions of the steps. Keys stand
/// where they are stored with either.
static Alignment findAlignment(PlanOp plan) {
  for (StepOp step : plan.getStepOps())
    for (Operation &op : step.getBody().front()) {
      if (auto select = dyn_cast<SelectOp>(op)) {
        if (auto alignment = select.getMaskAttr().getMaskAlignment())
          return *alignment;
      } else if (auto position = dyn_cast<PositionOp>(op);
                 position && position.getSide() == Side::query) {
        return position.getLaw().getAlignment();
      }
    }
  return Alignment::bottom_right;
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
  if (failed(checkKernelOf(plan.op, kernel.op)))
    return failure();
  plan.alignment = findAlignment(plan.op);
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
    if (prepare.getKind() == TableKind::angles)
      analyzeAngles(table);
    else
      analyzeStrip(table);
    kernel.tables.push_back(std::move(table));
  }
  return kernel;
}
