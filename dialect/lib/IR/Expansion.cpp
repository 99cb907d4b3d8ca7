// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings build with, and how a kernel is put together of it.
#include "posenc/IR/Expansion.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Positions, relations, tables
//===----------------------------------------------------------------------===//

void ExpansionBase::fillRegion(Region &region, unsigned arguments,
                               Formula formula) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  SmallVector<Real> reals;
  for (unsigned i = 0; i < arguments; ++i)
    reals.emplace_back(block->addArgument(builder.getF64Type(), loc));
  YieldOp::create(builder, loc, formula(reals).build(builder, loc));
}

Value ExpansionBase::position(Side side) { return position(side, positionLaw); }

Value ExpansionBase::position(Side side, PositionLawAttrInterface law) {
  std::pair<Side, Attribute> key{side, law};
  for (auto &entry : positions)
    if (entry.first == key)
      return entry.second;
  Value value = PositionOp::create(builder, loc, side, law);
  positions.push_back({key, value});
  return value;
}

Value ExpansionBase::remap(Value position, Formula formula) {
  return create<RemapOp>(1, formula, position);
}

Value ExpansionBase::relation(Attribute law) {
  // Named, since the order in which arguments are evaluated is not fixed.
  Value query = position(Side::query), key = position(Side::key);
  return relation(query, key, law);
}

Value ExpansionBase::relation(Value query, Value key, Attribute law) {
  return RelationOp::create(builder, loc, query, key,
                            cast<RelationLawAttrInterface>(law));
}

Value ExpansionBase::relationMap(ValueRange inputs, std::optional<int64_t> rows,
                                 Formula formula) {
  return create<RelationMapOp>(inputs.size(), formula, inputs,
                               rows ? builder.getI64IntegerAttr(*rows)
                                    : IntegerAttr());
}

Value ExpansionBase::sumIndex(int64_t extent) {
  return SumIndexOp::create(builder, loc, extent);
}

Value ExpansionBase::operand(StringRef name, ArrayRef<TableAxis> axes,
                             int64_t rows, int64_t channels) {
  return TableOp::create(
      builder, loc, TableType::get(getContext(), axes),
      OperandAttr::get(getContext(), name, rows, channels, tableType));
}

Value ExpansionBase::constants(ArrayRef<double> values,
                               ArrayRef<TableAxis> axes, int64_t channels) {
  return TableOp::create(
      builder, loc, TableType::get(getContext(), axes),
      ConstantsAttr::get(getContext(),
                         DenseF64ArrayAttr::get(getContext(), values),
                         channels));
}

Value ExpansionBase::tableMap(int64_t channels, Formula formula) {
  return create<TableMapOp>(2, formula, channels);
}

Value ExpansionBase::freqs(ArrayRef<double> values) {
  return FreqsOp::create(
      builder, loc,
      FrequenciesAttr::get(getContext(),
                           DenseF64ArrayAttr::get(getContext(), values)));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Expansion::Expansion(OpBuilder &builder, KernelOp kernel, Value query,
                     Value key, Value value)
    : ExpansionBase(builder, kernel.getLoc(), kernel.getPositionsOrDefault()),
      kernel(kernel), value(value), scale(kernel.getDotScale()) {
  if (!kernel.getTableElementType().isF32())
    tableType = kernel.getTableElementType();
  branches.push_back({query, key, {}});
}

void Expansion::transformQueries(function_ref<Value(Value)> function) {
  for (Branch &branch : branches)
    branch.query = function(branch.query);
}
void Expansion::transformKeys(function_ref<Value(Value)> function) {
  for (Branch &branch : branches)
    branch.key = function(branch.key);
}

Value Expansion::bias(ValueRange inputs, Formula formula) {
  return create<BiasOp>(inputs.size(), formula, inputs);
}

Value Expansion::lookup(Value relation, StringRef operandName, int64_t rows) {
  Value table = operand(operandName, {TableAxis::row, TableAxis::head}, rows);
  return bias({relation, table}, [](ArrayRef<Real> x) { return x[1]; });
}

Value Expansion::map(ValueRange scores, ValueRange inputs, Formula formula) {
  return create<MapOp>(scores.size() + inputs.size(), formula, scores, inputs);
}

Value Expansion::selectWhere(Value score, Value other, ValueRange inputs,
                             Formula formula) {
  return create<SelectOp>(inputs.size(), formula, ScoreType::get(getContext()),
                          score, other, ValueRange(), inputs,
                          MaskAttrInterface());
}

Value Expansion::index(Side side, Alignment alignment) {
  return position(side, IotaAttr::get(getContext(), int64_t{0}, alignment));
}

void Expansion::finish(MaskClauseAttrInterface mask) {
  auto addTo = [&](Value score, ArrayRef<Value> terms) {
    for (Value term : terms)
      score = AddOp::create(builder, loc, score, term);
    return score;
  };
  auto apply = [](Value score, ArrayRef<ScoreFunction> functions) {
    for (const ScoreFunction &function : functions)
      score = function(score);
    return score;
  };
  Value score;
  if (buildDots) {
    score = buildDots(*this);
  } else {
    for (Branch &branch : branches) {
      Value dot =
          DotOp::create(builder, loc, branch.query, branch.key, APFloat(scale));
      score = branch.select ? branch.select(score, dot) : dot;
    }
  }
  score = apply(addTo(score, insideTerms), caps);
  score = apply(addTo(score, outsideTerms), maps);
  // Masks compare integers, which are f32 whatever the encodings' numbers are.
  Type type = std::exchange(tableType, Type());
  score = mask.expandMask(*this, score);
  tableType = type;
  score = apply(score, scans);
  Value weights = normalize ? normalize(score)
                            : NormalizeOp::create(builder, loc,
                                                  NormalizeKind::softmax, score)
                                  .getResult();
  Value kept = weights;
  if (std::optional<APFloat> rate = kernel.getDropout();
      rate && !rate->isZero())
    kept = DropWeightsOp::create(builder, loc, weights, *rate);
  Value output = WeightedSumOp::create(builder, loc, kept, value);
  for (auto &term : valueTerms) {
    Value other = term(kept);
    output = AddOp::create(builder, loc, output, other);
  }
  for (auto &term : restTerms) {
    Value other = term(weights);
    output = AddOp::create(builder, loc, output, other);
  }
  YieldOp::create(builder, loc, output);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

EmbedExpansion::EmbedExpansion(OpBuilder &builder, EmbedOp embed, Value tokens)
    : ExpansionBase(builder, embed.getLoc(), embed.getPositionsOrDefault()),
      embed(embed), input(tokens), tokens(tokens) {
  if (!embed.getTableElementType().isF32())
    tableType = embed.getTableElementType();
}

Value EmbedExpansion::getCoord() {
  if (!coord)
    coord = position(Side::token);
  return coord;
}

Value EmbedExpansion::coordMap(ValueRange inputs, Formula formula) {
  return create<CoordMapOp>(inputs.size(), formula, inputs);
}

Value EmbedExpansion::numbers(StringRef name, ArrayRef<TableAxis> axes) {
  Type type = tableType;
  if (type && !type.isF64())
    tableType = Type();
  Value table = operand(name, axes);
  tableType = type;
  return table;
}

Value EmbedExpansion::bounded(Value position, int64_t rows, StringRef what) {
  return BoundedOp::create(builder, loc, position, rows, what);
}

Value EmbedExpansion::random(RandomScope scope) {
  return RandomOp::create(builder, loc, scope, nextStream++);
}

void EmbedExpansion::channelMap(ValueRange inputs,
                                std::optional<Pairing> pairing,
                                Formula formula) {
  PairingAttr attribute =
      pairing ? PairingAttr::get(getContext(), *pairing) : PairingAttr();
  tokens = create<ChannelMapOp>(3 + inputs.size(), formula, tokens, inputs,
                                attribute);
}
