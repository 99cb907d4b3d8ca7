// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where posenc-plan cuts the keys of a tile into steps.
//
// Keys rise, so distances fall. A tile sees the keys at distances from `low` to
// `high` of all its rows in one run, from `end of the tile - 1 - high` to
// `begin of the tile - low`; before and behind it are keys that some rows see
// at other distances, which a band of the general body takes.
#include "PlanSteps.h"
#include "PlanRemarks.h"

#include "posenc/Analysis/CostModel.h"

#include <functional>

using namespace mlir;
using namespace posenc;

/// Steps are code, in a copy for each tile function and instruction set: no
/// more than these have bodies for distances of their own.
static constexpr size_t kMostPieces = 3;
/// A step costs at most this share of the general body.
static constexpr double kWorthAStep = 0.95;

namespace {
/// Distances whose pairs share what the body decides, and what that saves.
struct Piece {
  Distances distances;
  /// The general body is as good.
  bool isGeneral;
};

/// What the body of a step may decide by the distance.
struct Candidate {
  Operation *op; // for remarks
  SelectOp select;
  Value relation;
};

class StepPlanner {
public:
  StepPlanner(const ScoreTerms &terms, StepOp general, int64_t rows,
              int64_t keys)
      : terms(terms), general(general), context(general.getContext()),
        rows(rows), keys(keys) {}

  SmallVector<StepRange> run() {
    if (!terms.hasInterior()) {
      explainCandidates("all keys of a row are computed in one step");
      addEdge();
      return std::move(steps);
    }
    if (AffineMap begin = terms.getInteriorBegin(); begin.getNumResults())
      steps.push_back({"entry", begin, /*isMasked=*/true, /*isMaximum=*/true});
    SmallVector<Piece> pieces = findPieces();
    if (llvm::all_of(pieces,
                     [](const Piece &piece) { return piece.isGeneral; })) {
      addInterior();
      addEdge();
      return std::move(steps);
    }
    addPieces(pieces);
    return std::move(steps);
  }

private:
  Block &getBody() { return general.getBody().front(); }

  //===--------------------------------------------------------------------===//
  // Pieces
  //===--------------------------------------------------------------------===//

  SmallVector<Candidate> findCandidates() {
    SmallVector<Candidate> candidates;
    llvm::DenseSet<Value> seen;
    for (Operation &op : getBody()) {
      if (auto select = dyn_cast<SelectOp>(op); select && select.getOther())
        candidates.push_back({&op, select, Value()});
      for (OpOperand &operand : op.getOpOperands())
        if (looksUpByRelation(operand) && seen.insert(operand.get()).second)
          candidates.push_back(
              {operand.get().getDefiningOp(), SelectOp(), operand.get()});
    }
    return candidates;
  }

  static std::optional<int64_t> evaluate(const Candidate &candidate,
                                         const DistanceFacts &facts) {
    if (!candidate.select)
      return facts.getConstant(candidate.relation);
    std::optional<bool> allowed = facts.decide(candidate.select);
    return allowed ? std::optional<int64_t>(*allowed) : std::nullopt;
  }

  void explain(const Candidate &candidate, StringRef reason) {
    // A score may be there in base 2 and natural.
    if (explained.insert(candidate.op->getLoc()).second)
      missed(candidate.op, "Bands",
             (candidate.select ? "both scores are evaluated for every pair: "
                               : "rows are looked up for every pair: ") +
                 reason);
  }
  void explainCandidates(StringRef reason) {
    for (const Candidate &candidate : findCandidates())
      explain(candidate, reason);
  }

  /// The cost of a score at these distances.
  double getCost(const DistanceFacts &facts) {
    OpBuilder builder(general);
    auto copy = cast<StepOp>(builder.clone(*general));
    specializeStep(copy, facts);
    double cost = countScoreOps(copy);
    copy.erase();
    return cost;
  }

  /// All distances that count, from the largest to the least.
  SmallVector<Piece> findPieces() {
    SmallVector<Candidate> candidates = findCandidates();
    std::optional<Alignment> found = findAlignment(getBody());
    if (!found) {
      explainCandidates("its positions are not counted from storage indices");
      return {};
    }
    alignment = *found;
    seen = getSeenDistances(terms.masks, alignment);
    SmallVector<Candidate> decided;
    // Where runs of one candidate begin.
    llvm::SmallSetVector<int64_t, 8> lows;
    lows.insert(seen.low);
    for (const Candidate &candidate : candidates) {
      auto runs = findDistanceRuns(seen, getShortest(), [&](Distances part) {
        return evaluate(candidate, DistanceFacts(alignment, part));
      });
      if (runs.empty())
        explain(candidate, "it is no function of the distance between storage "
                           "indices that is the same over many of them");
      else
        decided.push_back(candidate);
      for (const DistanceRun &run : runs) {
        lows.insert(run.distances.low);
        if (run.distances.high < seen.high)
          lows.insert(run.distances.high + 1);
      }
    }
    SmallVector<int64_t> sorted = lows.takeVector();
    llvm::sort(sorted, std::greater<int64_t>());
    SmallVector<Piece> pieces;
    double general = countScoreOps(this->general);
    int64_t high = seen.high;
    for (int64_t low : sorted) {
      Distances distances{low, high};
      high = low - 1;
      bool isGeneral =
          distances.size() < getShortest() ||
          getCost(DistanceFacts(alignment, distances)) > kWorthAStep * general;
      if (isGeneral && !pieces.empty() && pieces.back().isGeneral)
        pieces.back().distances.low = low;
      else
        pieces.push_back({distances, isGeneral});
    }
    keepFew(pieces);
    if (llvm::all_of(pieces, std::mem_fn(&Piece::isGeneral)))
      for (const Candidate &candidate : decided)
        explain(candidate, "nothing is saved where it does not vary");
    return pieces;
  }

  /// A shorter run has few keys that all rows of a tile see.
  int64_t getShortest() const { return 2 * rows; }

  /// The shortest ones get the general body.
  static void keepFew(SmallVector<Piece> &pieces) {
    auto count = [&] {
      return llvm::count_if(
          pieces, [](const Piece &piece) { return !piece.isGeneral; });
    };
    while (static_cast<size_t>(count()) > kMostPieces) {
      Piece *shortest = nullptr;
      for (Piece &piece : pieces)
        if (!piece.isGeneral &&
            (!shortest || piece.distances.size() < shortest->distances.size()))
          shortest = &piece;
      shortest->isGeneral = true;
    }
  }

  //===--------------------------------------------------------------------===//
  // Ranges
  //===--------------------------------------------------------------------===//

  /// Up to a bound of the tile, and no farther than all rows see all keys.
  AffineMap makeUntil(TileBound bound) {
    AffineExpr end = makeTileBound(context, bound, alignment);
    SmallVector<AffineExpr> results{end};
    if (!terms.masks.empty())
      for (AffineExpr limit : terms.getInteriorEnd().getResults())
        if (!isAtMost(end, limit, rows))
          results.push_back(limit);
    return AffineMap::get(4, 0, results, context);
  }

  void addInterior() {
    StepRange &step = steps.emplace_back();
    step.name = "interior";
    step.until = terms.getInteriorEnd();
    step.hasWholeBlocks = true;
  }
  void addEdge() {
    steps.push_back({"edge", terms.getKeysEnd(), /*isMasked=*/true});
  }

  /// The keys from those that all rows see at distances of at most `high` on.
  int64_t countKeys(int64_t high) const { return high - seen.low + 2 - rows; }

  void addPieces(ArrayRef<Piece> pieces) {
    int runs = 0, bands = 0;
    for (const Piece &piece : ArrayRef(pieces).drop_back()) {
      if (piece.isGeneral)
        continue;
      addBand(piece, bands);
      noteRun(piece, steps
                         .emplace_back(StepRange{
                             "run" + std::to_string(runs++),
                             makeUntil({false, 1 - piece.distances.low})})
                         .name);
    }
    const Piece &last = pieces.back();
    if (!last.isGeneral)
      addBand(last, bands);
    // Masks of few keys cost less than a step more.
    constexpr int64_t fewBlocks = 8;
    if (!terms.masks.empty() &&
        countKeys(last.distances.high) >= fewBlocks * keys)
      addInterior();
    if (!last.isGeneral)
      noteRun(last, steps.empty() || steps.back().name != "interior"
                        ? "edge"
                        : "interior");
    addEdge();
  }

  /// What lies before a piece.
  void addBand(const Piece &piece, int &bands) {
    if (piece.distances.high == seen.high)
      return;
    steps.push_back({"band" + std::to_string(bands++),
                     makeUntil({true, -1 - piece.distances.high})});
  }

  void noteRun(const Piece &piece, StringRef name) {
    std::string where;
    if (piece.distances.low > seen.low)
      where += " from " + std::to_string(piece.distances.low) + " on";
    if (piece.distances.high < seen.high)
      where += " up to " + std::to_string(piece.distances.high);
    if (where.empty())
      where = " of any size";
    DistanceFacts facts(alignment, piece.distances);
    llvm::DenseSet<Location> noted;
    for (const Candidate &candidate : findCandidates())
      if (std::optional<int64_t> value = evaluate(candidate, facts);
          value && noted.insert(candidate.op->getLoc()).second)
        planned(candidate.op, "Bands",
                "@" + name + " has the keys at distances" + where + ": " +
                    (candidate.select
                         ? std::string("one score is evaluated")
                         : "the row is " + std::to_string(*value)));
  }

  const ScoreTerms &terms;
  StepOp general;
  MLIRContext *context;
  int64_t rows, keys;
  Alignment alignment = Alignment::bottom_right;
  Distances seen;
  SmallVector<StepRange> steps;
  llvm::DenseSet<Location> explained;
};
} // namespace

SmallVector<StepRange> posenc::planSteps(const ScoreTerms &terms,
                                         StepOp general, int64_t rows,
                                         int64_t keys) {
  return StepPlanner(terms, general, rows, keys).run();
}

void posenc::specializeSteps(PlanOp plan, int64_t rows) {
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  std::optional<Alignment> alignment =
      findAlignment(steps.back().getBody().front());
  if (!alignment)
    return;
  // Masks are read from the last step: it is changed after all are known.
  SmallVector<Distances> distances;
  for (StepOp step : steps)
    distances.push_back(getStepDistances(step, *alignment, rows));
  for (auto [step, seen] : llvm::zip_equal(steps, distances))
    if (!seen.isEmpty())
      specializeStep(step, DistanceFacts(*alignment, seen));
}
