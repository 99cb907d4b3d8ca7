// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that are stated at level 1 only: checks and meaning.
#include "posenc/IR/Encodings.h"

#include "MaskSides.h"
#include "TermMath.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace posenc;

/// A mask whose predicate is built in one region.
static Value applyPredicate(Expansion &expansion, Value score,
                            MaskClauseAttrInterface mask) {
  SmallVector<Value> inputs = mask.getPredicateInputs(expansion);
  return expansion.selectWhere(
      score, /*other=*/Value(), inputs, [&](ArrayRef<Real> x) {
        SmallVector<Expression> operands(x.begin(), x.end());
        return Truth(operands,
                     [&](OpBuilder &builder, Location loc, ValueRange values) {
                       return mask.buildPredicate(builder, loc, values);
                     });
      });
}

/// Numbers of an int32 operand at the query and at the key.
static SmallVector<Value> readTokens(Expansion &expansion, StringRef name,
                                     Alignment alignment) {
  auto law = PositionTensorAttr::get(expansion.getContext(), name,
                                     /*axes=*/int64_t{1}, /*axis=*/int64_t{0},
                                     alignment, /*queries=*/"");
  Value query = expansion.position(Side::query, law);
  return {query, expansion.position(Side::key, law)};
}

static std::optional<Alignment> getAlignmentBy(MaskBasis by,
                                               Alignment alignment) {
  return by == MaskBasis::index ? std::optional(alignment) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// All and Any
//===----------------------------------------------------------------------===//

static auto getMasks(ArrayAttr clauses) {
  return clauses.getAsRange<MaskClauseAttrInterface>();
}

FailureOr<ArrayAttr> posenc::parseMaskList(AsmParser &parser) {
  // all_c3: parsers, verifiers and expansions recurse.
  constexpr int kDeepest = 32;
  static thread_local int depth = 0;
  llvm::SaveAndRestore level(depth, depth + 1);
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (depth > kDeepest)
    return parser.emitError(loc, "expected lists of masks to be at most ")
           << kDeepest << " levels deep";
  ArrayAttr clauses;
  if (parser.parseAttribute(clauses))
    return failure();
  return clauses;
}

static LogicalResult verifyList(StringRef mnemonic, ArrayAttr clauses,
                                function_ref<InFlightDiagnostic()> emitError) {
  // all_c1
  if (!clauses || clauses.empty())
    return emitError() << "expected #posenc." << mnemonic
                       << " to hold at least one mask";
  for (Attribute clause : clauses)
    if (!isa<MaskClauseAttrInterface>(clause))
      return emitError() << "expected #posenc." << mnemonic
                         << " to hold masks, but got " << clause;
  // all_c2
  std::optional<Alignment> common;
  for (MaskClauseAttrInterface mask : getMasks(clauses)) {
    std::optional<Alignment> own = mask.getClauseAlignment();
    if (own && common && *own != *common)
      return emitError() << "expected the masks of #posenc." << mnemonic
                         << " to have one alignment, but got "
                         << stringifyAlignment(*common) << " and "
                         << stringifyAlignment(*own);
    if (own)
      common = own;
  }
  return success();
}

static std::optional<Alignment> getCommonAlignment(ArrayAttr clauses) {
  for (MaskClauseAttrInterface mask : getMasks(clauses))
    if (std::optional<Alignment> alignment = mask.getClauseAlignment())
      return alignment;
  return std::nullopt;
}

/// Two masks of a list may read the same tensor.
static SmallVector<std::string> joinOperandNames(ArrayAttr clauses) {
  SmallVector<std::string> names;
  for (MaskClauseAttrInterface mask : getMasks(clauses))
    for (std::string &name : mask.getOperandNames())
      if (!llvm::is_contained(names, name))
        names.push_back(std::move(name));
  return names;
}

static LogicalResult verifyMasks(ArrayAttr clauses, KernelOp kernel,
                                 function_ref<InFlightDiagnostic()> emitError) {
  for (MaskClauseAttrInterface mask : getMasks(clauses))
    if (failed(mask.verifyMask(kernel, emitError)))
      return failure();
  return success();
}

static SmallVector<Value> joinInputs(ArrayAttr clauses, Expansion &expansion) {
  SmallVector<Value> inputs;
  for (MaskClauseAttrInterface mask : getMasks(clauses))
    llvm::append_range(inputs, mask.getPredicateInputs(expansion));
  return inputs;
}

static unsigned countInputs(ArrayAttr clauses) {
  unsigned count = 0;
  for (MaskClauseAttrInterface mask : getMasks(clauses))
    count += mask.getNumPredicateInputs();
  return count;
}

/// The predicates of a list, each on its own inputs, combined.
static Value joinPredicates(ArrayAttr clauses, OpBuilder &builder, Location loc,
                            ValueRange inputs,
                            Truth (*combine)(const Truth &, const Truth &)) {
  std::optional<Truth> result;
  for (MaskClauseAttrInterface mask : getMasks(clauses)) {
    unsigned count = mask.getNumPredicateInputs();
    Truth own(mask.buildPredicate(builder, loc, inputs.take_front(count)));
    inputs = inputs.drop_front(count);
    result = result ? combine(*result, own) : own;
  }
  return result->build(builder, loc);
}

LogicalResult AllMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayAttr clauses) {
  return verifyList(getMnemonic(), clauses, emitError);
}
bool AllMaskAttr::showsFuture() const {
  return llvm::all_of(getMasks(getClauses()), [](MaskClauseAttrInterface mask) {
    return mask.showsFuture();
  });
}
std::optional<Alignment> AllMaskAttr::getClauseAlignment() const {
  return getCommonAlignment(getClauses());
}
SmallVector<std::string> AllMaskAttr::getOperandNames() const {
  return joinOperandNames(getClauses());
}
LogicalResult
AllMaskAttr::verifyMask(KernelOp &kernel,
                        function_ref<InFlightDiagnostic()> emitError) const {
  return verifyMasks(getClauses(), kernel, emitError);
}
Value AllMaskAttr::expandMask(Expansion &expansion, Value score) const {
  // One after the other: each keeps what is known of it.
  for (MaskClauseAttrInterface mask : getMasks(getClauses()))
    score = mask.expandMask(expansion, score);
  return score;
}
unsigned AllMaskAttr::getNumPredicateInputs() const {
  return countInputs(getClauses());
}
SmallVector<Value> AllMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return joinInputs(getClauses(), expansion);
}
Value AllMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                  ValueRange inputs) const {
  return joinPredicates(getClauses(), builder, loc, inputs, both);
}

LogicalResult AnyMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayAttr clauses) {
  return verifyList(getMnemonic(), clauses, emitError);
}
bool AnyMaskAttr::showsFuture() const {
  return llvm::any_of(getMasks(getClauses()), [](MaskClauseAttrInterface mask) {
    return mask.showsFuture();
  });
}
std::optional<Alignment> AnyMaskAttr::getClauseAlignment() const {
  return getCommonAlignment(getClauses());
}
SmallVector<std::string> AnyMaskAttr::getOperandNames() const {
  return joinOperandNames(getClauses());
}
LogicalResult
AnyMaskAttr::verifyMask(KernelOp &kernel,
                        function_ref<InFlightDiagnostic()> emitError) const {
  return verifyMasks(getClauses(), kernel, emitError);
}
Value AnyMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
unsigned AnyMaskAttr::getNumPredicateInputs() const {
  return countInputs(getClauses());
}
SmallVector<Value> AnyMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return joinInputs(getClauses(), expansion);
}
Value AnyMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                  ValueRange inputs) const {
  return joinPredicates(getClauses(), builder, loc, inputs, either);
}

//===----------------------------------------------------------------------===//
// Prefix
//===----------------------------------------------------------------------===//

bool PrefixMaskAttr::showsFuture() const { return true; }
std::optional<Alignment> PrefixMaskAttr::getClauseAlignment() const {
  return getAlignmentBy(getBy(), getAlign());
}
SmallVector<std::string> PrefixMaskAttr::getOperandNames() const {
  return {getName().str()};
}
Value PrefixMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
unsigned PrefixMaskAttr::getNumPredicateInputs() const { return 3; }
SmallVector<Value>
PrefixMaskAttr::getPredicateInputs(Expansion &expansion) const {
  SmallVector<Value> inputs = getTwoSides(expansion, getBy(), getAlign());
  inputs.push_back(expansion.operand(getName(), {TableAxis::batch}));
  return inputs;
}
Value PrefixMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                     ValueRange inputs) const {
  Real query(inputs[0]), key(inputs[1]), length(inputs[2]);
  return either(key <= query, key < length).build(builder, loc);
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

bool SegmentsMaskAttr::showsFuture() const { return true; }
std::optional<Alignment> SegmentsMaskAttr::getClauseAlignment() const {
  return getAlign();
}
SmallVector<std::string> SegmentsMaskAttr::getOperandNames() const {
  return {getName().str()};
}
Value SegmentsMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
SmallVector<Value>
SegmentsMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return readTokens(expansion, getName(), getAlign());
}
Value SegmentsMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                       ValueRange inputs) const {
  return (Real(inputs[0]) == Real(inputs[1])).build(builder, loc);
}

//===----------------------------------------------------------------------===//
// Permutation
//===----------------------------------------------------------------------===//

bool PermutationMaskAttr::showsFuture() const { return true; }
std::optional<Alignment> PermutationMaskAttr::getClauseAlignment() const {
  return getAlign();
}
SmallVector<std::string> PermutationMaskAttr::getOperandNames() const {
  return {getName().str()};
}
Value PermutationMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
SmallVector<Value>
PermutationMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return readTokens(expansion, getName(), getAlign());
}
Value PermutationMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                          ValueRange inputs) const {
  Real query(inputs[0]), key(inputs[1]);
  Truth isShown = getSelf() == SelfSight::visible ? key <= query : key < query;
  return isShown.build(builder, loc);
}

//===----------------------------------------------------------------------===//
// Group
//===----------------------------------------------------------------------===//

LogicalResult
GroupMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t size, int64_t shift, int64_t wrap, MaskBasis,
                      Alignment) {
  // group_c1
  if (size < 1 || size > (int64_t{1} << 30))
    return emitError() << "expected 'size' of #posenc.group to be from 1 to "
                          "2^30, but got "
                       << size;
  if (shift < -1 || shift >= size)
    return emitError() << "expected 'shift' of #posenc.group to be from 0 to "
                          "'size' - 1, or -1 for half of it, but got "
                       << shift;
  if (shift == -1 && size % 2 != 0)
    return emitError() << "expected 'size' of #posenc.group to be even, since "
                          "'shift' is half of it, but got "
                       << size;
  // group_c3
  if (wrap < 0 || wrap % size != 0 || wrap > (int64_t{1} << 30))
    return emitError() << "expected 'wrap' of #posenc.group to be 0 or a "
                          "multiple of 'size' ("
                       << size << ") up to 2^30, but got " << wrap;
  return success();
}
bool GroupMaskAttr::showsFuture() const { return getWrap() != 0; }
std::optional<Alignment> GroupMaskAttr::getClauseAlignment() const {
  return getAlignmentBy(getBy(), getAlign());
}
LogicalResult
GroupMaskAttr::verifyMask(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // group_c2
  if (kernel.getHeads() % 2 != 0)
    return emitError() << "expects an even number of heads with #posenc.group, "
                          "which shifts the groups of half of them, but got "
                       << kernel.getHeads();
  return success();
}
Value GroupMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
unsigned GroupMaskAttr::getNumPredicateInputs() const { return 3; }
SmallVector<Value>
GroupMaskAttr::getPredicateInputs(Expansion &expansion) const {
  SmallVector<Value> inputs = getTwoSides(expansion, getBy(), getAlign());
  int64_t heads = expansion.kernel.getHeads();
  SmallVector<double> shifts(heads / 2, 0.0);
  shifts.append(heads / 2, getShift() < 0 ? getSize() / 2 : getShift());
  inputs.push_back(expansion.constants(shifts, {TableAxis::head}));
  return inputs;
}
Value GroupMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                    ValueRange inputs) const {
  Real query(inputs[0]), key(inputs[1]), shift(inputs[2]);
  // Places after the shift, for which those of the tail come first.
  Real i = query + shift, j = key + shift;
  if (int64_t length = getWrap()) {
    i = i - length * floor(i / length);
    j = j - length * floor(j / length);
  }
  return both(floor(i / getSize()) == floor(j / getSize()), j <= i)
      .build(builder, loc);
}

//===----------------------------------------------------------------------===//
// Window of an operand
//===----------------------------------------------------------------------===//

LogicalResult
OperandWindowMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              StringRef, int64_t right, MaskBasis, Alignment) {
  // operand_window_c1
  if (right < -1 || right > (int64_t{1} << 30))
    return emitError() << "expected 'right' of #posenc.operand_window to be "
                          "from -1 to 2^30, but got "
                       << right;
  return success();
}
bool OperandWindowMaskAttr::showsFuture() const { return getRight() != 0; }
std::optional<Alignment> OperandWindowMaskAttr::getClauseAlignment() const {
  return getAlignmentBy(getBy(), getAlign());
}
SmallVector<std::string> OperandWindowMaskAttr::getOperandNames() const {
  return {getName().str()};
}
Value OperandWindowMaskAttr::expandMask(Expansion &expansion,
                                        Value score) const {
  // What is known of the future ends the range of keys.
  if (getRight() >= 0)
    score = WindowMaskAttr::get(getContext(), /*left=*/int64_t{-1}, getRight(),
                                getBy(), getAlign())
                .expandMask(expansion, score);
  return applyPredicate(expansion, score, *this);
}
unsigned OperandWindowMaskAttr::getNumPredicateInputs() const { return 3; }
SmallVector<Value>
OperandWindowMaskAttr::getPredicateInputs(Expansion &expansion) const {
  SmallVector<Value> inputs = getTwoSides(expansion, getBy(), getAlign());
  inputs.push_back(expansion.operand(getName(), {TableAxis::head}));
  return inputs;
}
Value OperandWindowMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                            ValueRange inputs) const {
  Real query(inputs[0]), key(inputs[1]), left(inputs[2]);
  Truth isSeen = either(left < 0, query - key <= left);
  if (getRight() >= 0)
    isSeen = both(isSeen, key - query <= getRight());
  return isSeen.build(builder, loc);
}

//===----------------------------------------------------------------------===//
// Dense
//===----------------------------------------------------------------------===//

bool DenseMaskAttr::showsFuture() const { return true; }
std::optional<Alignment> DenseMaskAttr::getClauseAlignment() const {
  return std::nullopt;
}
SmallVector<std::string> DenseMaskAttr::getOperandNames() const {
  return {getName().str()};
}
Value DenseMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyPredicate(expansion, score, *this);
}
unsigned DenseMaskAttr::getNumPredicateInputs() const { return 1; }
SmallVector<Value>
DenseMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return {expansion.operand(getName(), getPairAxes(getBatch()))};
}
Value DenseMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                    ValueRange inputs) const {
  return (Real(inputs[0]) != 0).build(builder, loc);
}
