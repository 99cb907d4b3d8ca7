// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant that is added to all positions is dropped where only distances
// matter: <rotate(q, p_i + c), rotate(k, p_j + c)> is <rotate(q, p_i),
// rotate(k, p_j)>. Smaller positions have more exact angles, and kernels that
// differ in the constant alone have one form.
#include "PositionIdentities.h"

#include "posenc/Analysis/AffineRegions.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

namespace {

/// The angle by which the constant turns the pairs of some channels.
struct Turn {
  RotateOp rotation;
  /// By how much each axis moves.
  SmallVector<double> shifts;

  bool isNone() const {
    return llvm::all_of(shifts, [](double shift) { return shift == 0; });
  }
  int64_t getFirst() { return rotation.getFirstDim(); }
  int64_t getEnd() { return getFirst() + 2 * *rotation.getNumPairs(); }
};

/// Looks for what would notice that `offset` is missing.
class ShiftAnalysis {
public:
  ShiftAnalysis(KernelOp kernel, int64_t offset)
      : kernel(kernel), offset(offset) {}

  /// Empty if nothing does.
  std::string findObserver();

private:
  std::optional<double> getShift(Value position);
  bool isMoved(Value position) { return getShift(position) != 0.0; }
  std::string checkUser(Operation *user, Value position);
  std::string checkFrequencies(RotateOp rotation);
  std::string findTurns(Value vector, SmallVectorImpl<Turn> &turns);
  std::string checkDot(DotOp dot);
  std::string checkTableDot(TableDotOp dot);

  KernelOp kernel;
  int64_t offset;
};

} // namespace

/// The law of the positions behind any map, if they are counted.
static IotaAttr getIota(Value position) {
  while (auto remap = position.getDefiningOp<RemapOp>())
    position = remap.getPosition();
  return dyn_cast<IotaAttr>(position.getDefiningOp<PositionOp>().getLaw());
}

/// By how much a position moves; nothing if that depends on the token.
std::optional<double> ShiftAnalysis::getShift(Value position) {
  auto [base, function] = resolvePosition(position);
  IotaAttr iota = getIota(base);
  if (!iota || iota.getOffset() != offset)
    return 0;
  if (!base.getDefiningOp<PositionOp>())
    return std::nullopt;
  return function.slope * static_cast<double>(offset);
}

static bool isOfDistance(MaskAttrInterface mask) {
  return isa_and_nonnull<FullMaskAttr, CausalMaskAttr, WindowMaskAttr>(mask);
}

/// What an operation does with a position that moves.
std::string ShiftAnalysis::checkUser(Operation *user, Value position) {
  if (isa<RemapOp, RotateOp>(user)) // their own users are asked
    return "";
  Value query, key;
  auto select = dyn_cast<SelectOp>(user);
  if (auto relation = dyn_cast<RelationOp>(user)) {
    query = relation.getQuery();
    key = relation.getKey();
  } else if (select && isOfDistance(select.getMaskAttr())) {
    query = select.getPositions()[0];
    key = select.getPositions()[1];
  } else {
    return ("a " + user->getName().getStringRef() + " reads it").str();
  }
  std::optional<double> ofQuery = getShift(query), ofKey = getShift(key);
  if (ofQuery && ofKey && *ofQuery == *ofKey)
    return "";
  return "queries and keys are not moved alike";
}

/// A length counts the offset.
std::string ShiftAnalysis::checkFrequencies(RotateOp rotation) {
  for (auto [position, freqs] :
       llvm::zip(rotation.getPositions(), rotation.getFreqs())) {
    IotaAttr iota = getIota(position);
    auto map = freqs.getDefiningOp<FreqsMapOp>();
    if (iota && iota.getOffset() == offset && map &&
        !map.getBody().getArgument(1).use_empty())
      return "frequencies depend on the length of the call, which counts it";
  }
  return "";
}

/// Whether what is done to a vector keeps the angles between those that a turn
/// of their pairs makes of two vectors.
static bool keepsTurns(Operation *op) {
  if (auto norm = dyn_cast<VectorNormOp>(op))
    return norm.getKind() != NormKind::layer;
  return isa<RowScaleOp>(op);
}

static bool commute(Turn &a, Turn &b) {
  bool areApart = a.getEnd() <= b.getFirst() || b.getEnd() <= a.getFirst();
  bool areAlike = a.getFirst() == b.getFirst() && a.getEnd() == b.getEnd() &&
                  a.rotation.getPairing() == b.rotation.getPairing();
  return areApart || areAlike;
}

/// The turns of a vector, last to first.
std::string ShiftAnalysis::findTurns(Value vector,
                                     SmallVectorImpl<Turn> &turns) {
  std::string blocker; // what stands between a turn and the product
  SmallVector<Turn> all;
  for (; Operation *op = vector.getDefiningOp(); vector = op->getOperand(0)) {
    auto rotation = dyn_cast<RotateOp>(op);
    if (!rotation) {
      if (!keepsTurns(op))
        blocker =
            ("a " + op->getName().getStringRef() + " follows a rotation").str();
      continue;
    }
    Turn turn{rotation, {}};
    for (Value position : rotation.getPositions()) {
      std::optional<double> shift = getShift(position);
      if (!shift)
        return "a map of it is no affine function";
      turn.shifts.push_back(*shift);
    }
    if (!rotation.getNumPairs())
      return "the pairs of a rotation are not known";
    if (!turn.isNone()) {
      Region &modulus = rotation.getModulus();
      if (!blocker.empty())
        return blocker;
      if (!rotation.getMix().empty())
        return "mixed rotations do not add up";
      if (!modulus.empty() && !modulus.getArgument(1).use_empty())
        return "the modulus of a rotation depends on it";
    }
    all.push_back(turn);
  }
  for (Turn &turn : all) {
    if (turn.isNone())
      continue;
    if (!llvm::all_of(all, [&](Turn &other) { return commute(turn, other); }))
      return "rotations of different pairs follow one another";
    turns.push_back(turn);
  }
  return "";
}

/// Whether two lists of frequencies are the same.
static bool areSame(Value a, Value b) {
  auto listA = a.getDefiningOp<FreqsOp>(), listB = b.getDefiningOp<FreqsOp>();
  if (listA && listB)
    return listA.getLaw().getFrequencies() == listB.getLaw().getFrequencies();
  return OperationEquivalence::isEquivalentTo(
      a.getDefiningOp(), b.getDefiningOp(),
      OperationEquivalence::IgnoreLocations);
}

static bool areSame(Turn &a, Turn &b) {
  return a.shifts == b.shifts &&
         a.getEnd() - a.getFirst() == b.getEnd() - b.getFirst() &&
         a.rotation.getPairing() == b.rotation.getPairing() &&
         llvm::all_of(llvm::zip(a.rotation.getFreqs(), b.rotation.getFreqs()),
                      [](auto pair) {
                        return areSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

std::string ShiftAnalysis::checkDot(DotOp dot) {
  SmallVector<Turn> query, key;
  std::string observer = findTurns(dot.getQuery(), query);
  if (observer.empty())
    observer = findTurns(dot.getKey(), key);
  if (!observer.empty())
    return observer;
  int64_t firstQuery = 0, firstKey = 0, count = kernel.getHeadDim();
  if (!dot.isWhole()) {
    firstQuery = (*dot.getChannels())[0];
    firstKey = (*dot.getChannels())[1];
    count = (*dot.getChannels())[2];
  }
  // Turns of channels that the product does not read do not matter.
  auto dropUnread = [&](SmallVector<Turn> &turns, int64_t first) {
    llvm::erase_if(turns, [&](Turn &turn) {
      return turn.getEnd() <= first || turn.getFirst() >= first + count;
    });
  };
  dropUnread(query, firstQuery);
  dropUnread(key, firstKey);
  bool areAll = query.size() == key.size();
  for (size_t n = 0; areAll && n < query.size(); ++n)
    areAll = areSame(query[n], key[n]) &&
             query[n].getFirst() - firstQuery == key[n].getFirst() - firstKey &&
             query[n].getFirst() >= firstQuery &&
             query[n].getEnd() <= firstQuery + count;
  return areAll ? "" : "queries and keys are not turned alike";
}

std::string ShiftAnalysis::checkTableDot(TableDotOp dot) {
  SmallVector<Turn> turns;
  std::string observer = findTurns(dot.getVector(), turns);
  if (observer.empty() && !turns.empty())
    return "rows of a table are not turned with the vectors";
  return observer;
}

std::string ShiftAnalysis::findObserver() {
  std::string observer;
  for (Operation &op : kernel.getBody().front()) {
    if (auto dot = dyn_cast<DotOp>(op))
      observer = checkDot(dot);
    else if (auto dot = dyn_cast<TableDotOp>(op))
      observer = checkTableDot(dot);
    else if (auto rotation = dyn_cast<RotateOp>(op))
      observer = checkFrequencies(rotation);
    for (Value operand : op.getOperands())
      if (observer.empty() && isa<CoordType>(operand.getType()) &&
          isMoved(operand))
        observer = checkUser(&op, operand);
    if (!observer.empty())
      return observer;
  }
  return "";
}

static void dropOffset(KernelOp kernel, int64_t offset) {
  for (PositionOp position : kernel.getBody().getOps<PositionOp>()) {
    auto iota = dyn_cast<IotaAttr>(position.getLaw());
    if (!iota || iota.getOffset() != offset)
      continue;
    position.setLawAttr(cast<PositionLawAttrInterface>(
        Attribute(IotaAttr::get(kernel.getContext(), 0, iota.getAlign()))));
    reportPassed(position.getLoc(), "PositionShift",
                 "dropped the offset " + Twine(offset) +
                     " of positions whose distances alone matter");
  }
}

bool posenc::dropPositionShifts(KernelOp kernel) {
  llvm::SetVector<int64_t> offsets;
  for (PositionOp position : kernel.getBody().getOps<PositionOp>())
    if (auto iota = dyn_cast<IotaAttr>(position.getLaw()))
      if (iota.getOffset() != 0)
        offsets.insert(iota.getOffset());
  bool changed = false;
  for (int64_t offset : offsets) {
    std::string observer = ShiftAnalysis(kernel, offset).findObserver();
    if (observer.empty()) {
      dropOffset(kernel, offset);
      changed = true;
      continue;
    }
    for (PositionOp position : kernel.getBody().getOps<PositionOp>())
      if (auto iota = dyn_cast<IotaAttr>(position.getLaw()))
        if (iota.getOffset() == offset)
          reportMissed(position.getLoc(), "PositionShift",
                       "kept the offset " + Twine(offset) +
                           " of positions: " + observer);
  }
  return changed;
}
