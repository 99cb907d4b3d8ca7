// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Biases of low rank as more channels of queries and keys.
//
// A bias that sums r products costs r more channels of the products of queries
// and keys, r / (2 head_dim) of a tile, and r numbers of each token before the
// tiles. Evaluated for each score it costs r times its region, in double
// precision: channels always cost less. Yet each vector of head_dim channels
// is kept for all keys, and on the stack for the rows of a tile.
#include "PlanFactors.h"
#include "PlanRemarks.h"

#include "posenc/IR/FactorOps.h"

using namespace mlir;
using namespace posenc;

/// Vectors of factors that a bias may have.
static constexpr int64_t kMostVectors = 2;

/// Whether a number outside regions differs by an axis of tables, or by batch
/// entry through the law of a position.
static bool readsAxis(Value input, TableAxis axis) {
  if (auto type = dyn_cast<TableType>(input.getType()); type)
    return type.hasAxis(axis);
  Operation *op = input.getDefiningOp();
  if (auto position = dyn_cast<PositionOp>(op))
    return axis == TableAxis::batch &&
           isa<PositionTensorAttr>(position.getLaw());
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return readsAxis(operand, axis); });
}

/// Whether a number depends on where the queries of a sequence stand among its
/// keys.
static bool readsPlace(Value input) {
  Operation *op = input.getDefiningOp();
  return isa<PositionOp, AtQueryOp>(op) ||
         llvm::any_of(op->getOperands(), readsPlace);
}

/// Finds the tables by head: operands are those of the call's heads, constants
/// those of the kernel's.
static void findHeads(Value input, bool &areOperands, bool &areConstants) {
  if (auto table = input.getDefiningOp<TableOp>();
      table && table.getType().hasAxis(TableAxis::head))
    (isa<OperandAttr>(table.getLaw()) ? areOperands : areConstants) = true;
  for (Value operand : input.getDefiningOp()->getOperands())
    findHeads(operand, areOperands, areConstants);
}

static TableType getFactorType(BiasOp bias, ArrayRef<Value> inputs, Side side) {
  SmallVector<TableAxis> axes;
  auto kernel = bias->getParentOfType<KernelOp>();
  bool differs = side == Side::query && kernel.hasSequences() &&
                 llvm::any_of(inputs, readsPlace);
  auto reads = [&](TableAxis axis) {
    return llvm::any_of(inputs,
                        [&](Value input) { return readsAxis(input, axis); });
  };
  if (differs || reads(TableAxis::batch))
    axes.push_back(TableAxis::batch);
  if (reads(TableAxis::head))
    axes.push_back(TableAxis::head);
  axes.push_back(side == Side::query ? TableAxis::query : TableAxis::key);
  axes.push_back(TableAxis::channel);
  return TableType::get(bias.getContext(), axes);
}

/// One side's factors of a product.
static PreparedFactors prepare(BiasOp bias, FactorRegion region, Side side,
                               PlanTables &tables) {
  TableType type = getFactorType(bias, region.inputs, side);
  return tables.getFactors(bias.getLoc(), std::move(region), type);
}

FailureOr<FactoredBias> posenc::placeFactors(BiasOp bias, PlanTables &tables,
                                             std::string &reason) {
  if (bias->getParentOfType<KernelOp>().isRing()) {
    reason = "a ring has keys at any place, and factors are tables from the "
             "first one on";
    return failure();
  }
  FailureOr<SmallVector<FactorProduct>> products = factorBias(bias, reason);
  if (failed(products))
    return failure();
  int64_t headDim = bias->getParentOfType<KernelOp>().getHeadDim();
  SmallVector<std::pair<FactorRegion, FactorRegion>> regions;
  FactoredBias result;
  for (const FactorProduct &product : *products) {
    regions.emplace_back(writeFactor(bias, product.query, product),
                         writeFactor(bias, product.key, product));
    for (const auto *region : {&regions.back().first, &regions.back().second}) {
      bool areOperands = false, areConstants = false;
      for (Value input : region->inputs)
        findHeads(input, areOperands, areConstants);
      if (areOperands && areConstants) {
        reason = "a factor reads both constants and an operand with a head "
                 "axis, and the heads of a call may be a part of the kernel's";
        return failure();
      }
    }
    if (product.channels > headDim) {
      reason = "a product has more channels than a head";
      return failure();
    }
    if (result.parts.empty() ||
        result.parts.back().channels + product.channels > headDim)
      result.parts.emplace_back();
    result.parts.back().channels += product.channels;
  }
  if (static_cast<int64_t>(result.parts.size()) > kMostVectors) {
    reason = "its rank is more than " + std::to_string(kMostVectors) +
             " times the channels of a head";
    return failure();
  }
  // Nothing is prepared for a bias that is refused.
  auto *part = result.parts.begin();
  int64_t channels = 0;
  for (auto [product, factors] : llvm::zip_equal(*products, regions)) {
    if (channels == part->channels) {
      ++part;
      channels = 0;
    }
    channels += product.channels;
    part->queries.push_back(
        prepare(bias, std::move(factors.first), Side::query, tables));
    part->keys.push_back(
        prepare(bias, std::move(factors.second), Side::key, tables));
  }
  return result;
}

std::string posenc::describeFactors(const FactoredBias &bias) {
  int64_t channels = 0;
  std::string names;
  for (const FactorVectors &part : bias.parts) {
    channels += part.channels;
    for (const auto *tables : {&part.queries, &part.keys})
      for (const PreparedFactors &table : *tables)
        names += (names.empty() ? "@" : ", @") + table.name.str();
  }
  return std::to_string(channels) +
         " more channels of queries and keys, from " + "the prepared tables " +
         names;
}

Value posenc::writeFactorVector(OpBuilder &builder, Location loc,
                                ArrayRef<PreparedFactors> tables, Side side) {
  SmallVector<Value> loads;
  for (const PreparedFactors &table : tables)
    loads.push_back(
        TileLoadTableOp::create(builder, loc, table.type, table.name));
  Type type = side == Side::query ? Type(QueryType::get(builder.getContext()))
                                  : Type(KeyType::get(builder.getContext()));
  return TileVectorOp::create(builder, loc, type, loads);
}

Value posenc::writeFactorProducts(OpBuilder &builder, Location loc,
                                  const FactoredBias &bias, ValueRange queries,
                                  ValueRange keys, int64_t headDim) {
  Value sum;
  for (auto [part, query, key] : llvm::zip_equal(bias.parts, queries, keys)) {
    DenseI64ArrayAttr channels;
    if (part.channels != headDim)
      channels = builder.getDenseI64ArrayAttr({0, 0, part.channels});
    Value product =
        DotOp::create(builder, loc, query, key, APFloat(1.0), channels);
    sum = sum ? AddOp::create(builder, loc, sum, product).getResult() : product;
  }
  return sum;
}
