// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How query rows are cut into tiles.
#include "DriverTiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <tuple>

using namespace mlir;
using namespace posenc;

Value posenc::emitEntry(DriverBuilder &b, const Twine &name,
                        ArrayRef<int64_t> entries, Value index) {
  Type type = b.getIntegerType(16);
  auto numbers = llvm::map_to_vector(
      entries, [](int64_t entry) { return static_cast<int16_t>(entry); });
  auto shape =
      RankedTensorType::get({static_cast<int64_t>(entries.size())}, type);
  Value array =
      b.constantArray(name, DenseElementsAttr::get(shape, ArrayRef(numbers)));
  Value entry = b.load(type, b.element(array, index, type));
  return arith::ExtUIOp::create(b, b.getI64Type(), entry);
}

//===----------------------------------------------------------------------===//
// Packed rows
//===----------------------------------------------------------------------===//

PackedCut::PackedCut(std::string name, ArrayRef<TileFunction> tiles,
                     int64_t group, int64_t most)
    : name(std::move(name)), group(group) {
  for (const TileFunction &tile : tiles)
    shapes.push_back({tile.group, tile.rows / tile.group});
  int64_t tallest = 0;
  for (auto [index, tile] : llvm::enumerate(tiles))
    if (tile.rows > tiles[tallest].rows)
      tallest = index;
  functions.assign(most + 1, tallest);
  for (int64_t queries = 1; queries <= most; ++queries)
    for (auto [index, tile] : llvm::enumerate(tiles))
      if (queries * group <= tile.rows &&
          tile.rows < tiles[functions[queries]].rows)
        functions[queries] = index;
}

Value PackedCut::emitFunction(DriverBuilder &b, Value length) const {
  if (shapes.size() == 1)
    return b.i64(0);
  Value last = b.i64(functions.size() - 1);
  return emitEntry(b, name + "_functions", functions, b.min(length, last));
}

Value PackedCut::ofFunction(DriverBuilder &b, Value function,
                            function_ref<int64_t(const Shape &)> get) const {
  Value result = b.i64(get(shapes.front()));
  for (auto [index, shape] : llvm::drop_begin(llvm::enumerate(shapes)))
    result =
        b.select(b.equal(function, b.i64(index)), b.i64(get(shape)), result);
  return result;
}

/// Tiles that the heads of one query are in.
int64_t PackedCut::countParts(const Shape &shape) const {
  return llvm::divideCeil(group, shape.heads);
}

Value PackedCut::emitCount(DriverBuilder &b, Value length) const {
  Value function = emitFunction(b, length);
  Value queries =
      ofFunction(b, function, [](const Shape &shape) { return shape.queries; });
  Value parts = ofFunction(
      b, function, [this](const Shape &shape) { return countParts(shape); });
  return b.mul(parts, b.ceilDiv(length, queries));
}

/// All queries of some heads before those of the next.
TileCut::Tile PackedCut::emitTile(DriverBuilder &b, Value length,
                                  Value tile) const {
  Tile result;
  result.function = emitFunction(b, length);
  Value queries = ofFunction(b, result.function,
                             [](const Shape &shape) { return shape.queries; });
  Value heads = ofFunction(b, result.function,
                           [](const Shape &shape) { return shape.heads; });
  Value perHeads = b.ceilDiv(length, queries);
  result.head = b.mul(b.div(tile, perHeads), heads);
  result.heads = b.min(b.sub(b.i64(group), result.head), heads);
  result.begin = b.mul(b.rem(tile, perHeads), queries);
  result.end = length;
  return result;
}

//===----------------------------------------------------------------------===//
// Rows of one head
//===----------------------------------------------------------------------===//

RowCut::RowCut(std::string name, ArrayRef<int64_t> rows, int64_t blockRows)
    : name(std::move(name)), rows(rows), blockRows(blockRows) {
  tallest = std::distance(rows.begin(), llvm::max_element(rows));
  cuts.resize(2 * rows[tallest]);
  SmallVector<int64_t> padded(cuts.size(), 0); // rows computed
  for (size_t left = 1; left < cuts.size(); ++left) {
    // Padding, number of tiles, height of the first (taller is better).
    std::optional<std::tuple<int64_t, size_t, int64_t>> best;
    for (auto [index, height] : llvm::enumerate(rows)) {
      size_t rest = left - std::min<int64_t>(left, height);
      std::tuple<int64_t, size_t, int64_t> cost = {
          height + padded[rest], cuts[rest].size() + 1, -height};
      if (best && *best <= cost)
        continue;
      best = cost;
      padded[left] = std::get<0>(cost);
      cuts[left].assign(1, index);
      llvm::append_range(cuts[left], cuts[rest]);
    }
    longest = std::max(longest, cuts[left].size());
  }
}

/// The tallest tiles before the rest.
Value RowCut::emitWholeTiles(DriverBuilder &b, Value length) const {
  Value fitting = b.div(length, b.i64(rows[tallest]));
  return b.max(b.sub(fitting, b.i64(1)), b.i64(0));
}

/// Whole blocks before the last one, which may be short.
static Value emitWholeBlocks(DriverBuilder &b, Value length, int64_t rows) {
  return b.max(b.sub(b.ceilDiv(length, rows), b.i64(1)), b.i64(0));
}

Value RowCut::emitCount(DriverBuilder &b, Value length) const {
  if (blockRows == 0)
    return emitBlockCount(b, length);
  Value blocks = emitWholeBlocks(b, length, blockRows);
  Value rest = b.sub(length, b.mul(blocks, b.i64(blockRows)));
  return b.add(b.mul(blocks, emitBlockCount(b, b.i64(blockRows))),
               emitBlockCount(b, rest));
}

RowCut::Tile RowCut::emitTile(DriverBuilder &b, Value length,
                              Value tile) const {
  if (blockRows == 0)
    return emitBlockTile(b, length, tile);
  Value perBlock = emitBlockCount(b, b.i64(blockRows));
  Value block =
      b.min(b.div(tile, perBlock), emitWholeBlocks(b, length, blockRows));
  Value first = b.mul(block, b.i64(blockRows));
  Value rows = b.min(b.sub(length, first), b.i64(blockRows));
  Tile result = emitBlockTile(b, rows, b.sub(tile, b.mul(block, perBlock)));
  result.begin = b.add(first, result.begin);
  result.end = b.add(first, rows);
  return result;
}

Value RowCut::emitBlockCount(DriverBuilder &b, Value length) const {
  Value whole = emitWholeTiles(b, length);
  Value left = b.sub(length, b.mul(whole, b.i64(rows[tallest])));
  auto counts = llvm::map_to_vector(
      cuts, [](auto &cut) { return static_cast<int64_t>(cut.size()); });
  return b.add(whole, emitEntry(b, name + "_counts", counts, left));
}

RowCut::Tile RowCut::emitBlockTile(DriverBuilder &b, Value length,
                                   Value tile) const {
  SmallVector<int64_t> begins, functions;
  for (ArrayRef<unsigned> cut : cuts) {
    int64_t begin = 0;
    for (size_t i = 0; i < longest; ++i) {
      begins.push_back(i < cut.size() ? begin : 0);
      functions.push_back(i < cut.size() ? cut[i] : 0);
      begin += i < cut.size() ? rows[cut[i]] : 0;
    }
  }
  Value height = b.i64(rows[tallest]);
  Value whole = emitWholeTiles(b, length);
  Value wholeRows = b.mul(whole, height);
  Value left = b.sub(length, wholeRows);
  Value isWhole = b.less(tile, whole);
  Value inRest = b.max(b.sub(tile, whole), b.i64(0));
  Value index = b.add(b.mul(left, b.i64(longest)), inRest);
  Value begin = b.add(wholeRows, emitEntry(b, name + "_begins", begins, index));
  Tile result;
  result.begin = b.select(isWhole, b.mul(tile, height), begin);
  result.function =
      b.select(isWhole, b.i64(tallest),
               emitEntry(b, name + "_functions", functions, index));
  result.end = length;
  return result;
}
