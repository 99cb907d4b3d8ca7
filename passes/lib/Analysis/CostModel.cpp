// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tiles are predicted to cost.
#include "posenc/Analysis/CostModel.h"

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Analysis/PairProducts.h"
#include "posenc/Analysis/RelationBands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace posenc;

std::string TileSizes::str() const {
  auto heights =
      llvm::map_range(rows, [](int64_t rows) { return std::to_string(rows); });
  return llvm::join(heights, "+") + "x" + std::to_string(keys);
}

std::optional<TileSizes> TileSizes::parse(StringRef text) {
  TileSizes sizes;
  auto [heights, keys] = text.split('x');
  if (keys.getAsInteger(10, sizes.keys) || sizes.keys <= 0)
    return std::nullopt;
  for (StringRef height : llvm::split(heights, '+')) {
    int64_t rows;
    if (height.getAsInteger(10, rows) || rows <= 0 ||
        (!sizes.rows.empty() && rows >= sizes.rows.back()))
      return std::nullopt;
    sizes.rows.push_back(rows);
  }
  return sizes;
}

TileSizes posenc::getTileSizes(PlanOp plan) {
  return {llvm::to_vector<2>(plan.getRows()),
          static_cast<int64_t>(plan.getKeys())};
}

bool posenc::areHeightsOrdered(ArrayRef<int64_t> rows) {
  for (size_t i = 1; i < rows.size(); ++i)
    if (3 * rows[i] < 2 * rows[i - 1])
      return false;
  return rows.size() <= 2;
}

//===----------------------------------------------------------------------===//
// Operations of terms
//===----------------------------------------------------------------------===//

// Vector operations of the generator's own functions, counted in its code.
static constexpr double kExponentialOps = 14, kLogarithmOps = 16, kTanhOps = 22,
                        kTrigonometricOps = 20, kDivisionOps = 6;
/// An exponential, the maximum and the sum.
static constexpr double kSoftmaxOps = kExponentialOps + 3;
/// Numbers of a vector that are read one by one.
static constexpr double kGatherOps = 16;

static double countOps(Operation *op) {
  if (isa<arith::ConstantOp, YieldOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(op))
    return kDivisionOps;
  if (isa<math::ExpOp, math::Exp2Op>(op))
    return kExponentialOps;
  if (isa<math::LogOp, math::Log2Op, math::Log1pOp>(op))
    return kLogarithmOps;
  if (isa<math::PowFOp>(op))
    return kExponentialOps + kLogarithmOps;
  if (isa<math::TanhOp, math::ErfOp>(op))
    return kTanhOps;
  if (isa<math::SinOp, math::CosOp, math::AtanOp, math::Atan2Op>(op))
    return kTrigonometricOps;
  return 1;
}

static double countRegionOps(Block &body) {
  double ops = 0;
  for (Operation &op : body)
    ops += countOps(&op);
  return ops;
}

/// How often the region of an operation is evaluated for one score.
static double countTimes(ValueRange inputs) {
  double times = 1;
  for (Value input : inputs)
    if (auto sum = input.getDefiningOp<SumIndexOp>())
      times *= static_cast<double>(sum.getExtent());
  return times;
}

/// Tables by row are read where the relation says, others along the vector.
static double countInputOps(ValueRange inputs) {
  double ops = 0;
  for (Value input : inputs)
    if (auto type = dyn_cast<TableType>(input.getType()))
      ops += type.hasAxis(TableAxis::row) ? kGatherOps : 1;
  return ops;
}

/// Vector operations that the terms of a step take for a vector of scores,
/// products of two vectors left out.
static double countTermOps(StepOp step) {
  Block &body = step.getBody().front();
  auto plan = step->getParentOfType<PlanOp>();
  auto headDim = static_cast<double>(plan.getHeadDim());
  double ops = 0;
  for (Operation &op : body)
    ops +=
        llvm::TypeSwitch<Operation *, double>(&op)
            .Case<BiasOp, MapOp, RelationMapOp>([&](auto term) {
              return countTimes(term.getInputs()) *
                     (countRegionOps(term.getBody().front()) +
                      countInputOps(term.getInputs()));
            })
            .Case<SelectOp>([&](SelectOp select) {
              Region &region = select.getBody();
              return 2 + (region.empty() ? 0 : countRegionOps(region.front())) +
                     countInputOps(select.getInputs());
            })
            // A row for each score; or one product for all keys.
            .Case<TableDotOp>([&](TableDotOp dot) {
              return isSameForAllPairs(dot.getIndex()) ? 1
                                                       : kGatherOps * headDim;
            })
            .Case<TileLoadStripOp, AddOp, TileToBase2Op>(
                [](auto) { return 1.0; })
            .Case<RowscanOp>([&](RowscanOp scan) {
              return 4 + countRegionOps(scan.getBody().front());
            })
            .Default([](Operation *) { return 0.0; });
  for (Value result : body.back().getOperands())
    if (isa<RelationType>(result.getType()) && !isSameForAllPairs(result))
      ops += kGatherOps * static_cast<double>(plan.getValueDim());
  return ops;
}

static int64_t countChannels(StepOp step) {
  auto plan = step->getParentOfType<PlanOp>();
  int64_t channels = 0;
  for (DotOp dot : step.getBody().front().getOps<DotOp>())
    channels += dot.isWhole() ? plan.getHeadDim() : (*dot.getChannels())[2];
  return channels;
}

double posenc::countScoreOps(StepOp step) {
  auto plan = step->getParentOfType<PlanOp>();
  return static_cast<double>(countChannels(step) + plan.getValueDim()) +
         kSoftmaxOps + countTermOps(step);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Listed blocks are walked whole, unless they are so small that each would pay
/// for updating the state.
static int64_t getMostKeys(std::optional<BlockListAttr> law,
                           const InstructionSet &isa) {
  constexpr int64_t kMostKeys = 256, kLeastKeys = 64;
  if (!law || law->getKeys() % std::max(isa.keys, isa.pairKeys) != 0)
    return kMostKeys;
  return std::min(kMostKeys, static_cast<int64_t>(
                                 llvm::alignTo(kLeastKeys, law->getKeys())));
}

TileWork posenc::getTileWork(KernelOp kernel, const InstructionSet &isa) {
  TileWork work;
  work.scoreChannels = kernel.getHeadDim();
  work.valueChannels = kernel.getValueSize();
  work.pairedValues =
      isa.pairKeys != 0 && !kernel.isAppend() && hasValuePairs(kernel);
  work.pairedScores = work.pairedValues;
  if (!kernel.getKeyElementType().isF32() || hasIndirectKeys(kernel))
    work.copiedChannels =
        work.scoreChannels + (work.pairedValues ? 0 : work.valueChannels);
  work.keyBytes = 4 * (work.scoreChannels + work.valueChannels);
  work.mostKeys = getMostKeys(kernel.getBlocks(), isa);
  return work;
}

TileWork posenc::getTileWork(PlanOp plan, const InstructionSet &isa) {
  TileWork work;
  PairProducts pairs = getPairProducts(plan);
  work.pairedScores = pairs.scores;
  work.pairedValues = pairs.values;
  work.valueChannels = plan.getValueDim();
  // The steps at the ends of the keys are short beside the others.
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  StepOp longest = steps.back();
  for (StepOp step : steps)
    if (step.getWholeBlocks() || step.getSymName().starts_with("run"))
      longest = step;
  work.scoreChannels = countChannels(longest);
  work.termOps = countTermOps(longest);
  if (plan.getKvDtype() || plan.getIndirect())
    work.copiedChannels =
        plan.getHeadDim() + (pairs.values ? 0 : plan.getValueDim());
  work.keyBytes = (pairs.scores ? 2 : 4) * work.scoreChannels +
                  (pairs.values ? 2 : 4) * work.valueChannels;
  work.mostKeys = getMostKeys(plan.getBlocks(), isa);
  work.isCausal =
      longest.getWholeBlocks() &&
      llvm::any_of(longest.getUntil().getResults(), [](AffineExpr end) {
        return end.isFunctionOfDim(0) || end.isFunctionOfDim(1);
      });
  return work;
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

/// A product whose register tile is `rows` vectors by `columns`: cycles for one
/// multiplication and addition of a vector.
static double predictProduct(double rows, double columns, double accumulators,
                             const InstructionSet &isa) {
  const Core &core = isa.core;
  // Without one instruction for both, numbers are copied to all lanes by one.
  double cycles = (core.isFused ? 1 : 1 + 0.5 / rows) / core.multiplyAdds;
  // Enough independent sums to fill the pipelines.
  cycles = std::max(cycles, core.latency / accumulators);
  // A vector of each row, a number of each column.
  double loads = rows / core.loads + columns / core.numbers;
  cycles = std::max(cycles, loads / (rows * columns));
  // Beside the sums there are vectors, a number, or a product. A sum that has
  // no register waits for what was stored.
  constexpr double kSpill = 3.5;
  double registers = accumulators + (core.holdsVectors ? rows : 0) + 1 +
                     (core.isFused ? 0 : 1);
  double excess = registers - static_cast<double>(core.registers);
  if (excess > 0)
    cycles += kSpill * excess / accumulators / core.loads;
  return cycles;
}

/// Of tiles of one height all of whose rows and keys are needed.
static TileCost predictFull(const TileWork &work, int64_t height, int64_t block,
                            const InstructionSet &isa) {
  const Core &core = isa.core;
  auto lanes = static_cast<double>(isa.lanes);
  auto rows = static_cast<double>(height) / lanes;
  auto keys = static_cast<double>(block);
  auto sum = static_cast<double>(work.scoreChannels);
  auto out = static_cast<double>(work.valueChannels);
  TileCost cost;

  // Where pairs are multiplied a vector has two products of each score.
  auto pairs = [](bool isPaired) { return isPaired ? 0.5 : 1.0; };
  auto keyColumns =
      static_cast<double>(work.pairedScores ? isa.pairKeys : isa.keys);
  double scoreSums =
      rows * keyColumns * (work.pairedScores ? 1 : kDotAccumulators);
  cost.products =
      pairs(work.pairedScores) * sum *
          predictProduct(rows, keyColumns, scoreSums, isa) +
      pairs(work.pairedValues) * out *
          predictProduct(rows, static_cast<double>(isa.values),
                         rows * static_cast<double>(isa.values), isa);
  cost.peak =
      (pairs(work.pairedScores) * sum + pairs(work.pairedValues) * out) /
      core.multiplyAdds;

  // With scores to memory and back.
  cost.softmax = kSoftmaxOps / core.operations + 2 / core.loads;
  cost.terms = work.termOps / core.operations;
  // Each output is read, scaled and written for each block.
  cost.state = 3 * out / core.operations / keys;
  // All rows of a tile share what it reads; about half of that is hidden
  // behind the products.
  cost.traffic =
      0.5 * static_cast<double>(work.keyBytes) / (core.secondCacheBytes * rows);
  // Scores of a block that leave the first cache, for as far as they do.
  double scores = rows * lanes * keys * sizeof(float);
  double outside =
      std::max(0.0, 1 - static_cast<double>(core.firstCache) / scores);
  cost.traffic += outside * lanes * sizeof(float) / core.secondCacheBytes;
  // Load, change of type, store.
  cost.copies = 3 * static_cast<double>(work.copiedChannels) / lanes /
                (core.operations * rows);
  return cost;
}

/// Rows of the tallest tile that take as long as those that a sequence has left
/// over beyond whole tiles take for nothing, on average over all that may be
/// left. `costs` are those of a row of each height.
static double predictPadding(ArrayRef<int64_t> rows, ArrayRef<double> costs) {
  int64_t tallest = rows.front();
  // The least that all rows from `left` on cost.
  SmallVector<double> least(tallest + 1, 0);
  double padding = 0;
  for (int64_t left = 1; left <= tallest; ++left) {
    least[left] = std::numeric_limits<double>::max();
    for (auto [height, cost] : llvm::zip_equal(rows, costs))
      least[left] =
          std::min(least[left], static_cast<double>(height) * cost +
                                    least[std::max<int64_t>(0, left - height)]);
    padding += least[left] / costs.front() - static_cast<double>(left);
  }
  return padding / static_cast<double>(tallest);
}

TileCost posenc::predictCost(const TileWork &work, const TileSizes &sizes,
                             const InstructionSet &isa, int64_t length) {
  TileCost cost = predictFull(work, sizes.rows.front(), sizes.keys, isa);
  SmallVector<double> costs =
      llvm::map_to_vector(sizes.rows, [&](int64_t rows) {
        return predictFull(work, rows, sizes.keys, isa).getTotal();
      });
  // Rows behind the last one, and of a causal tile half of its own keys.
  double padding = predictPadding(sizes.rows, costs);
  double hidden = work.isCausal ? static_cast<double>(sizes.rows.front()) : 0;
  cost.waste =
      cost.getTotal() * (padding + hidden) / static_cast<double>(length);
  return cost;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::vector<TileCandidate>
posenc::getTileCandidates(const TileWork &work, const InstructionSet &isa) {
  // Every height is a function of its own: a second one must save that much.
  constexpr double kWorthAFunction = 0.005;
  constexpr int64_t kTallest = 6;
  std::vector<TileCandidate> candidates;
  // Copies of a block must fit in the cache and on the stack of a thread.
  constexpr int64_t kLargestCopies = 192 << 10;
  int64_t step = std::max(isa.lanes, isa.transpose);
  int64_t keyStep = std::max(isa.keys, isa.pairKeys);
  llvm::SmallVector<int64_t> blocks = {
      static_cast<int64_t>(llvm::alignDown(work.mostKeys, keyStep))};
  while (blocks.back() > keyStep)
    blocks.push_back(llvm::alignTo(blocks.back() / 2, keyStep));
  auto add = [&](TileSizes sizes) {
    int64_t copied = (sizes.keys + sizes.rows.front()) * work.copiedChannels;
    if (sizes.keys > keyStep && copied * sizeof(float) > kLargestCopies)
      return;
    TileCost cost = predictCost(work, sizes, isa);
    cost.waste += kWorthAFunction * cost.getTotal() *
                  static_cast<double>(sizes.rows.size() - 1);
    candidates.push_back({std::move(sizes), cost});
  };
  for (int64_t keys : blocks)
    for (int64_t tall = step; tall <= kTallest * step; tall += step) {
      add({{tall}, keys});
      for (int64_t low = step; low < tall; low += step)
        if (areHeightsOrdered({tall, low}))
          add({{tall, low}, keys});
    }
  // Where two cost the same, the larger blocks and lower tiles.
  llvm::sort(candidates, [](const TileCandidate &a, const TileCandidate &b) {
    auto order = [](const TileCandidate &candidate) {
      return std::make_tuple(candidate.cost.getTotal(), -candidate.sizes.keys,
                             candidate.sizes.rows);
    };
    return order(a) < order(b);
  });
  return candidates;
}
