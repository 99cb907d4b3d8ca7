// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 3: where each term of a kernel is evaluated.
#include "PlanRemarks.h"
#include "PlanScores.h"
#include "PlanVectors.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCPLAN
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

static std::string getPlanName(KernelOp kernel, StringRef isa) {
  std::string name = (kernel.getSymName() + "_" + isa).str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// The operation of type OpT that defines `value`, or a diagnostic at `user`.
template <typename OpT>
static FailureOr<OpT> expectDefinedBy(Value value, Operation *user,
                                      StringRef what) {
  if (auto op = value.getDefiningOp<OpT>())
    return op;
  return user->emitOpError("cannot be placed in a plan; expected ")
         << what << " to be defined by " << OpT::getOperationName();
}

/// The normalisation of the kernel's scores, which its output is made of.
static FailureOr<NormalizeOp> findNormalize(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Operation *yield = body.getTerminator();
  FailureOr<WeightedSumOp> sum =
      expectDefinedBy<WeightedSumOp>(yield->getOperand(0), yield, "the output");
  if (failed(sum))
    return failure();
  return expectDefinedBy<NormalizeOp>(sum->getWeights(), *sum, "the weights");
}

/// Tiles know one alignment of queries with keys.
static LogicalResult checkAlignments(KernelOp kernel) {
  Operation *first = nullptr;
  Alignment alignment{};
  for (Operation &op : kernel.getBody().front()) {
    std::optional<Alignment> own;
    if (auto select = dyn_cast<SelectOp>(op); select && select.getMaskAttr())
      own = select.getMaskAttr().getMaskAlignment();
    else if (auto position = dyn_cast<PositionOp>(op);
             position && position.getSide() == Side::query)
      own = position.getLaw().getAlignment();
    if (!own || op.use_empty())
      continue;
    if (first && *own != alignment) {
      InFlightDiagnostic diag =
          op.emitOpError("cannot be placed in a plan; expected the alignment ")
          << stringifyAlignment(alignment) << " that another term has, but got "
          << stringifyAlignment(*own);
      diag.attachNote(first->getLoc()) << "the other term is here";
      return diag;
    }
    first = &op;
    alignment = *own;
  }
  return success();
}

/// Starts a part of the plan: its block has arguments of these types.
template <typename OpT, typename... Args>
static Block *addPart(OpBuilder &builder, Location loc, TypeRange types,
                      Args &&...args) {
  auto part = OpT::create(builder, loc, std::forward<Args>(args)...);
  SmallVector<Location> locs(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  return builder.createBlock(&part.getBody(), {}, types, locs);
}

/// The factor of the queries: the dot product's scale, and the change to base 2
/// unless a posenc.map needs natural scores.
static Value writeScale(OpBuilder &builder, const ScoreTerms &terms,
                        Value query) {
  DotOp dot = terms.dot;
  double scale = dot.getScale().convertToDouble();
  if (!terms.naturalDot) {
    planned(dot, "Scale",
            "scale and the change to base 2 are applied to the queries, once "
            "per tile");
    return TileScaleOp::create(builder, dot.getLoc(), query,
                               APFloat(scale * llvm::numbers::log2e),
                               /*base2=*/true);
  }
  planned(dot, "Scale",
          "scale is applied to the queries, once per tile; the change to base "
          "2 is not: a posenc.map needs natural scores");
  if (scale == 1.0)
    return query;
  return TileScaleOp::create(builder, dot.getLoc(), query, APFloat(scale));
}

static LogicalResult writeBody(KernelOp kernel, PlanOp plan) {
  MLIRContext *context = kernel.getContext();
  OpBuilder builder(context);
  builder.createBlock(&plan.getBody());
  PlanTables tables(plan);

  FailureOr<NormalizeOp> normalize = findNormalize(kernel);
  if (failed(normalize) || failed(checkAlignments(kernel)))
    return failure();
  FailureOr<ScoreTerms> terms = placeScores(normalize->getScore(), tables);
  if (failed(terms))
    return failure();
  DotOp dot = terms->dot;
  FailureOr<SmallVector<RotateOp>> query = collectRotations(dot.getQuery());
  FailureOr<SmallVector<RotateOp>> key = collectRotations(dot.getKey());
  if (failed(query) || failed(key))
    return failure();

  Location loc = kernel.getLoc();
  Type queryType = QueryType::get(context), keyType = KeyType::get(context);
  // The builder stays at the end of the plan; parts are filled by their own.
  auto fill = [&](Block *part, function_ref<Value(OpBuilder &)> write) {
    OpBuilder inner = OpBuilder::atBlockEnd(part);
    Value result = write(inner);
    YieldOp::create(inner, loc, result);
  };

  if (!key->empty()) {
    Block *part = addPart<KeysOp>(builder, loc, keyType);
    fill(part, [&](OpBuilder &inner) {
      return writeRotations(inner, *key, part->getArgument(0), tables);
    });
  }
  Block *prologue = addPart<PrologueOp>(builder, loc, queryType);
  fill(prologue, [&](OpBuilder &inner) {
    Value rotated =
        writeRotations(inner, *query, prologue->getArgument(0), tables);
    return writeScale(inner, *terms, rotated);
  });
  for (bool edge : {false, true}) {
    Block *step = addPart<StepOp>(
        builder, loc, {queryType, keyType}, edge ? "edge" : "interior",
        edge ? terms->getKeysEnd() : terms->getInteriorEnd(),
        /*whole_blocks=*/!edge);
    fill(step, [&](OpBuilder &inner) {
      return writeScores(inner, *terms, step->getArgument(0),
                         step->getArgument(1), /*masked=*/edge);
    });
  }
  Block *epilogue = addPart<EpilogueOp>(builder, loc, StateType::get(context));
  fill(epilogue, [&](OpBuilder &inner) -> Value {
    return TileNormalizeOp::create(inner, normalize->getLoc(),
                                   normalize->getKind(),
                                   epilogue->getArgument(0), /*sink=*/Value(),
                                   normalize->getBoundsAttr());
  });
  return success();
}

/// What the tiles of every instruction set share is decided once.
static LogicalResult planKernel(KernelOp kernel,
                                ArrayRef<const InstructionSet *> isas) {
  if (!kernel.isExpanded())
    return kernel.emitOpError("has no body to plan; run "
                              "posenc-expand-encodings first");
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  PlanOp first;
  for (const InstructionSet *isa : isas) {
    std::string name = getPlanName(kernel, isa->name);
    if (Operation *other = SymbolTable::lookupNearestSymbolFrom(
            kernel, builder.getStringAttr(name)))
      return other->emitOpError("has the name '")
             << name << "', which the plan of a kernel needs";
    PlanOp plan = PlanOp::create(
        builder, kernel.getLoc(), name, kernel.getSymName(), isa->name,
        kernel.getHeads(), kernel.getNumKvHeads(), kernel.getHeadDim(),
        kernel.getValueSize(), isa->tileRows, isa->blockKeys,
        /*descending=*/false, kernel.getNoLse());
    noted(kernel, "Tiles",
          "@" + name + " has tiles of " +
              llvm::join(llvm::map_range(
                             isa->tileRows,
                             [](int64_t rows) { return std::to_string(rows); }),
                         " or ") +
              " queries and blocks of " + Twine(isa->blockKeys) + " keys");
    if (first) {
      IRMapping mapping;
      first.getBody().cloneInto(&plan.getBody(), mapping);
    } else if (failed(writeBody(kernel, plan))) {
      plan.erase();
      return failure();
    } else {
      first = plan;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The chosen instruction sets, best first; nothing chosen means all.
static FailureOr<SmallVector<const InstructionSet *>>
selectInstructionSets(ModuleOp module, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (!findInstructionSet(name))
      return module.emitError("expected 'isa' to be one of ")
             << listInstructionSets() << ", but got '" << name << "'";
  SmallVector<const InstructionSet *> selected;
  for (const InstructionSet &isa : getInstructionSets())
    if (names.empty() || llvm::is_contained(names, isa.name))
      selected.push_back(&isa);
  return selected;
}

namespace {
struct Plan : posenc::impl::PosencPlanBase<Plan> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<SmallVector<const InstructionSet *>> isas =
        selectInstructionSets(getOperation(), llvm::to_vector(isa));
    if (failed(isas))
      return signalPassFailure();
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (failed(planKernel(kernel, *isas)))
        signalPassFailure();
  }
};
} // namespace
