// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: verification of scores, weights and outputs.
#include "RegionVerifier.h"

#include "KernelShape.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Terms that depend on content
//===----------------------------------------------------------------------===//

void DotOp::build(OpBuilder &builder, OperationState &state, Value query,
                  Value key, APFloat scale) {
  build(builder, state, query, key, scale, DenseI64ArrayAttr());
}

LogicalResult DotOp::verify() {
  // dot_c1
  if (!getScale().isFinite())
    return emitOpError("expects 'scale' to be finite, but got ")
           << getScale().convertToDouble();
  // dot_c2
  if (isWhole())
    return success();
  ArrayRef<int64_t> channels = *getChannels();
  if (channels.size() != 3)
    return emitOpError("expects 'channels' to be the first channel of the "
                       "query, that of the key, and their number, but got ")
           << channels.size() << " numbers";
  auto kernel = (*this)->getParentOfType<KernelOp>();
  for (int64_t first : channels.take_front(2))
    if (kernel && !isWithin(first, channels[2], kernel.getHeadDim()))
      return emitOpError("expects the channels [")
             << first << ", " << first << " + " << channels[2]
             << ") to lie within the kernel's 'head_dim' ("
             << kernel.getHeadDim() << ")";
  return success();
}

/// A table of vectors that a relation looks up.
static LogicalResult verifyVectorTable(Operation *op, Value table, Value index,
                                       std::optional<int64_t> size) {
  auto type = cast<TableType>(table.getType());
  if (!hasAxes(type, {TableAxis::row, TableAxis::channel}, {TableAxis::head}))
    return op->emitOpError("expects a table over row, channel and at most "
                           "head, but got ")
           << type;
  std::optional<int64_t> channels = getNumChannels(table);
  if (channels && size && *channels != *size)
    return op->emitOpError("expects its table to have ")
           << *size << " channels, but got " << *channels;
  std::optional<int64_t> rows = getNumRows(table);
  if (!rows || !isa<RelationType>(index.getType()))
    return success();
  std::optional<int64_t> cardinality = getCardinality(index);
  if (!cardinality)
    return op->emitOpError("expects the relation that looks up a table of ")
           << *rows << " rows to have finitely many values";
  if (*cardinality > *rows)
    return op->emitOpError("expects its table to have at least ")
           << *cardinality
           << " rows, one for each value of its relation, but it has " << *rows;
  return success();
}

LogicalResult TableDotOp::verify() {
  // table_dot_c1
  if (!getScale().isFinite())
    return emitOpError("expects 'scale' to be finite, but got ")
           << getScale().convertToDouble();
  // table_dot_c2, table_dot_c3
  std::optional<int64_t> size;
  if (auto kernel = (*this)->getParentOfType<KernelOp>())
    size = kernel.getHeadDim();
  return verifyVectorTable(*this, getTable(), getIndex(), size);
}

//===----------------------------------------------------------------------===//
// Functions of pairs and scores
//===----------------------------------------------------------------------===//

LogicalResult BiasOp::verify() { return verifyLookups(*this, getInputs()); }
LogicalResult BiasOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), getInputs().size());
}

LogicalResult MapOp::verify() {
  if (getScores().empty())
    return emitOpError("expects at least one score");
  return verifyLookups(*this, getInputs());
}
LogicalResult MapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(),
                            getScores().size() + getInputs().size());
}

static ParseResult parseOrScore(OpAsmParser &parser, Type &type) {
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(type);
  type = ScoreType::get(parser.getContext());
  return success();
}
static void printOrScore(OpAsmPrinter &printer, Operation *, Type type) {
  if (!isa<ScoreType>(type))
    printer << ": " << type;
}

void SelectOp::build(OpBuilder &builder, OperationState &state, Value score,
                     MaskAttrInterface mask) {
  build(builder, state, ScoreType::get(builder.getContext()), score,
        /*other=*/Value(), /*positions=*/ValueRange(), /*inputs=*/ValueRange(),
        mask);
}

LogicalResult SelectOp::verify() {
  // select_c1
  if (static_cast<bool>(getMaskAttr()) != getBody().empty())
    return emitOpError("expects either a 'mask' or a region 'where'");
  if (!getMaskAttr() && !getPositions().empty())
    return emitOpError("expects 'at' beside a 'mask' only");
  if (getMaskAttr() && !getInputs().empty())
    return emitOpError("expects inputs beside a region only");
  // select_c2
  if (!getPositions().empty() &&
      (getPositions().size() != 2 || getSide(getPositions()[0]) == Side::key ||
       getSide(getPositions()[1]) == Side::query))
    return emitOpError("expects 'at' to be a position of the query side and "
                       "one of the key side");
  // select_c3
  return verifyLookups(*this, getInputs(), /*allowsSum=*/false);
}
LogicalResult SelectOp::verifyRegions() {
  if (getBody().empty())
    return success();
  return verifyScalarRegion(*this, getBody(), getInputs().size(),
                            /*yieldsTruth=*/true);
}

LogicalResult RowscanOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 1);
}

//===----------------------------------------------------------------------===//
// HeadMlpOp
//===----------------------------------------------------------------------===//

ParseResult HeadMlpOp::parse(OpAsmParser &parser, OperationState &result) {
  MLIRContext *context = parser.getContext();
  SmallVector<OpAsmParser::UnresolvedOperand> scores, tables;
  int64_t taps;
  if (parser.parseOperandList(scores, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("weights") ||
      parser.parseOperandList(tables, 4, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("taps") || parser.parseLParen() ||
      parser.parseInteger(taps) || parser.parseRParen() ||
      parser.parseRegion(*result.addRegion()) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addAttribute(getTapsAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(taps));
  auto table = [&](ArrayRef<TableAxis> axes) {
    return TableType::get(context, axes);
  };
  Type types[] = {
      table({TableAxis::row, TableAxis::channel}), table({TableAxis::channel}),
      table({TableAxis::row, TableAxis::head}), table({TableAxis::head})};
  for (auto [operand, type] : llvm::zip_equal(tables, types))
    if (parser.resolveOperand(operand, type, result.operands))
      return failure();
  if (parser.resolveOperands(scores, ScoreType::get(context), result.operands))
    return failure();
  result.addTypes(ScoreType::get(context));
  return success();
}

void HeadMlpOp::print(OpAsmPrinter &printer) {
  printer << "(" << getScores() << ") weights(" << getWeightsIn() << ", "
          << getBiasIn() << ", " << getWeightsOut() << ", " << getBiasOut()
          << ") taps(" << getTaps() << ") ";
  printer.printRegion(getBody());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getTapsAttrName()});
}

LogicalResult HeadMlpOp::verify() {
  // head_mlp_c2
  int64_t taps = getTaps();
  if (taps != 1 && taps != 3)
    return emitOpError("expects 'taps' to be 1 or 3, but got ") << taps;
  // head_mlp_c1
  if (getScores().empty())
    return emitOpError("expects at least one score");
  auto kernel = (*this)->getParentOfType<KernelOp>();
  std::optional<int64_t> hidden = getNumChannels(getBiasIn());
  if (!kernel || !hidden)
    return success();
  int64_t in = getScores().size() * kernel.getHeads() * taps;
  struct {
    StringRef what;
    std::optional<int64_t> actual;
    int64_t expected;
  } extents[] = {
      {"rows of the first weights", getNumRows(getWeightsIn()), in},
      {"channels of the first weights", getNumChannels(getWeightsIn()),
       *hidden},
      {"rows of the second weights", getNumRows(getWeightsOut()),
       *hidden * taps},
  };
  for (const auto &extent : extents)
    if (extent.actual && *extent.actual != extent.expected)
      return emitOpError("expects the ")
             << extent.what << " to be " << extent.expected << ", but got "
             << *extent.actual;
  return success();
}
LogicalResult HeadMlpOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 1);
}

//===----------------------------------------------------------------------===//
// Weights and outputs
//===----------------------------------------------------------------------===//

void NormalizeOp::build(OpBuilder &builder, OperationState &state,
                        NormalizeKind kind, Value score) {
  build(builder, state, WeightsType::get(builder.getContext()), kind, score,
        /*denominator=*/Value(), /*sink=*/Value(),
        /*bounds=*/DenseF64ArrayAttr());
}

LogicalResult NormalizeOp::verify() {
  // normalize_c1
  NormalizeKind kind = getKind();
  if ((kind == NormalizeKind::linear) != static_cast<bool>(getDenominator()))
    return emitOpError("expects 'by' exactly with linear normalisation");
  if ((kind == NormalizeKind::abs_sum) != getBounds().has_value())
    return emitOpError("expects 'bounds' exactly with abs_sum normalisation");
  if (getSink() && kind != NormalizeKind::softmax)
    return emitOpError("expects a 'sink' with softmax normalisation only");
  // normalize_c2
  if (getSink() && !hasAxes(getSink().getType(), {TableAxis::head}))
    return emitOpError("expects its sink to be a table over head, but got ")
           << getSink().getType();
  // normalize_c3
  if (getBounds()) {
    ArrayRef<double> bounds = *getBounds();
    if (bounds.size() != 2 || !(bounds[0] > 0) || !(bounds[1] >= bounds[0]))
      return emitOpError("expects 'bounds' to be two positive numbers that do "
                         "not decrease");
  }
  return success();
}

LogicalResult DropWeightsOp::verify() {
  // drop_weights_c1
  double rate = getProbability().convertToDouble();
  if (!(rate >= 0 && rate < 1))
    return emitOpError("expects 'probability' to be at least 0 and below 1, "
                       "but got ")
           << rate;
  // drop_weights_c2
  if (!getWeights().getDefiningOp<NormalizeOp>())
    return emitOpError("expects weights of a posenc.normalize, of which "
                       "nothing has been dropped");
  return success();
}

LogicalResult RemainderOp::verify() {
  // remainder_c1
  if (!getWeights().getDefiningOp<NormalizeOp>())
    return emitOpError("expects weights of a posenc.normalize: what a row "
                       "leaves over does not depend on what is dropped");
  return success();
}

LogicalResult ValueTableOp::verify() {
  std::optional<int64_t> size;
  if (auto kernel = (*this)->getParentOfType<KernelOp>())
    size = kernel.getValueSize();
  return verifyVectorTable(*this, getTable(), getRelation(), size);
}

//===----------------------------------------------------------------------===//
// RecurrenceOp
//===----------------------------------------------------------------------===//

/// [x, ...] with every digit that matters.
static ParseResult parseNumbers(OpAsmParser &parser,
                                DenseF64ArrayAttr &numbers) {
  FailureOr<DenseF64ArrayAttr> parsed = parseF64Array(parser);
  if (failed(parsed))
    return failure();
  numbers = *parsed;
  return success();
}
static void printNumbers(OpAsmPrinter &printer, Operation *,
                         DenseF64ArrayAttr numbers) {
  printF64Array(printer, numbers);
}

/// recurrence_c1, recurrence_c2, of an operation of level 2 or 3.
template <typename OpT>
static LogicalResult verifyRecurrence(OpT op, size_t products) {
  if (op.getQueries().size() != products || op.getKeys().size() != products ||
      products == 0)
    return op.emitOpError("expects as many queries as keys")
           << (isa<RecurrenceOp>(op) ? " and scales" : "")
           << ", at least one, but got " << op.getQueries().size()
           << " queries, " << op.getKeys().size() << " keys"
           << (isa<RecurrenceOp>(op)
                   ? " and " + std::to_string(products) + " scales"
                   : std::string());
  if (op.getByQueries().size() != op.getByKeys().size())
    return op.emitOpError("expects as many queries as keys in 'by', but got ")
           << op.getByQueries().size() << " queries and "
           << op.getByKeys().size() << " keys";
  if (!op.divides() && (op.getEpsilon() || op.getDecayedBy()))
    return op.emitOpError("expects 'epsilon' and 'decayed_by' beside 'by' "
                          "only");
  if (std::optional<APFloat> epsilon = op.getEpsilon();
      epsilon &&
      (!epsilon->isFinite() || (epsilon->isNegative() && !epsilon->isZero())))
    return op.emitOpError("expects 'epsilon' to be finite and not negative, "
                          "but got ")
           << epsilon->convertToDouble();
  return success();
}

LogicalResult RecurrenceOp::verify() {
  if (failed(verifyRecurrence(*this, getScales().size())))
    return failure();
  for (double scale : getScales())
    if (!std::isfinite(scale))
      return emitOpError("expects 'scales' to be finite, but got ") << scale;
  // recurrence_c3
  for (Value table : getTables())
    if (!hasAxes(cast<TableType>(table.getType()), {TableAxis::head}))
      return emitOpError("expects its decay to be made of tables over head, "
                         "but got ")
             << table.getType();
  if (!decays() && (!getTables().empty() || getDecayedBy()))
    return emitOpError("expects a region that makes the decay beside tables "
                       "and 'decayed_by'");
  // recurrence_c4
  if (!(*this)->hasOneUse() || !isa<YieldOp>(*(*this)->user_begin()))
    return emitOpError("expects to be what its kernel yields");
  return success();
}
LogicalResult RecurrenceOp::verifyRegions() {
  if (!decays())
    return success();
  return verifyScalarRegion(*this, getDecay(), getTables().size());
}

LogicalResult TileRecurrenceOp::verify() {
  // tile_recurrence_c1
  if (failed(verifyRecurrence(*this, getQueries().size())))
    return failure();
  if (getDecayedBy() && !getDecays())
    return emitOpError("expects 'decays' beside 'decayed_by'");
  return success();
}

#define GET_OP_CLASSES
#include "posenc/IR/PosencOps.cpp.inc"
