// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The items of work of one plan: chunks of keys and query tiles.
#include "DriverItems.h"
#include "DriverArguments.h"
#include "DriverRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

/// Keys that one item transforms.
static constexpr int64_t kKeyChunk = 256;

static func::FuncOp defineItem(DriverBuilder &b, const Twine &name) {
  auto type = b.getFunctionType(
      {b.getPtrType(), b.getI64Type(), b.getI64Type()}, b.getI32Type());
  return b.define(name, type, /*isPublic=*/false);
}

/// Returns a tile function's code as a status.
static void returnStatus(DriverBuilder &b, DriverFrame frame, Value code) {
  b.ret(b.ifElse(
      b.equal(code, b.i32(0)), [&] { return b.i32(0); },
      [&] {
        return b.call("posenc_kernel_tile_failed", b.getI32Type(),
                      {frame.getAddress(), code});
      }));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Value posenc::emitKeyBytes(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel) {
  if (kernel.keyVectors == 0)
    return b.i64(0);
  Value rows = b.mul(b.mul(frame.batch(), frame.kvHeads()), frame.keyLen());
  int64_t rowBytes = kernel.keyVectors * kernel.op.getHeadDim() * sizeof(float);
  return b.roundUp(b.mul(rows, b.i64(rowBytes)), 64);
}

DriverItems posenc::emitKeyItems(DriverBuilder &b, DriverKernel &kernel,
                                 DriverPlan &plan) {
  auto emitChunks = [](DriverBuilder &b, DriverFrame frame) {
    return b.ceilDiv(frame.keyLen(), kKeyChunk);
  };
  DriverItems items;
  items.emitCount = [=](DriverBuilder &b, DriverFrame frame) {
    return b.mul(b.mul(frame.batch(), frame.kvHeads()), emitChunks(b, frame));
  };
  items.function = defineItem(b, plan.op.getSymName() + "_key_item");
  DriverFrame frame(b, items.function.getArgument(0));
  Value item = items.function.getArgument(1);
  DriverArguments arguments(b, frame, kernel, plan);

  Value chunks = emitChunks(b, frame);
  Value head = b.div(item, chunks);
  CallSite site;
  site.batch = b.div(head, frame.kvHeads());
  site.kvHead = site.head = b.rem(head, frame.kvHeads());
  Value begin = b.mul(b.rem(item, chunks), b.i64(kKeyChunk));
  Value end = b.min(b.add(begin, b.i64(kKeyChunk)), frame.keyLen());
  Value limit = arguments.emitKeyLimit(*plan.keys);
  Value code = b.forPieces(begin, end, limit, [&](Value at, Value count) {
    site.keyBegin = at;
    site.keyCount = count;
    return b.call(plan.keys->symbol, b.getI32Type(),
                  arguments.emit(*plan.keys, site));
  });
  returnStatus(b, frame, code);
  return items;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The heads of the batch whose tiles are handed out together, longest first
/// among them: enough of them that every worker has several tiles, and few, so
/// that workers meet in the same keys and values.
static Value emitHeadsTogether(DriverBuilder &b, DriverFrame frame,
                               Value tiles) {
  Value wanted = b.mul(frame.workers(), b.i64(4));
  Value heads = b.div(b.add(wanted, b.sub(tiles, b.i64(1))), tiles);
  return b.min(heads, b.mul(frame.batch(), frame.heads()));
}

namespace {
/// The body of an item that computes a tile or a part of one, or that merges
/// the parts of a tile.
class TileItem {
public:
  TileItem(DriverBuilder &b, func::FuncOp function, DriverKernel &kernel,
           DriverPlan &plan, const RowCut &cut, const KeySplits &splits)
      : b(b), frame(b, function.getArgument(0)), kernel(kernel), plan(plan),
        cut(cut), splits(splits), arguments(b, frame, kernel, plan),
        item(function.getArgument(1)), worker(function.getArgument(2)) {}

  /// The i32 code of the first tile function that failed, or 0.
  Value emitTile() {
    parts = splits.emitCount(b, frame);
    part = b.rem(item, parts);
    KeyRows rows = enterTile(b.div(item, parts));
    isWhole = b.equal(parts, b.i64(1));
    site.state =
        b.select(isWhole, frame.workerScratch(worker), emitPartState(item));
    site.scan =
        b.byteOffset(frame.workerScratch(worker), kernel.getStateBytes());
    // A state is that of all rows of a tile.
    Value rowLimit = b.select(
        isWhole, arguments.emitRowLimit(plan.tiles.front()), site.tileRows);
    return b.forPieces(
        rows.begin, rows.end, rowLimit,
        [&](Value at, Value count) { return emitRows(at, count); });
  }

  /// Merges the states of a tile's parts and writes its outputs.
  Value emitMerge() {
    parts = splits.emitCount(b, frame);
    KeyRows rows = enterTile(item);
    Value firstPart = b.mul(item, parts);
    site.state = emitPartState(firstPart);
    site.scan = site.state; // there is none
    b.loop(b.i64(1), parts, [&](Value other) {
      splits.emitMerge(b, site.state, emitPartState(b.add(firstPart, other)),
                       site.tileRows, site.stateColumns);
    });
    site.queryBegin = rows.begin;
    site.rows = b.sub(rows.end, rows.begin);
    site.keyBegin = site.keyCount = b.i64(0);
    site.stepEnds.assign(plan.op.getStepOps().size(), b.i64(0));
    site.isFirst = b.bit(false);
    site.isLast = b.bit(true);
    return emitCall();
  }

private:
  struct KeyRows {
    Value begin, end;
  };

  /// The head and rows of a tile.
  KeyRows enterTile(Value tileItem) {
    RowCut::Tile tile =
        cut.emitTile(b, frame.queryLen(), emitHeadAndTile(tileItem));
    function = tile.function;
    site.tileRows = ofFunction([](auto &tile) { return tile.rows; });
    site.stateColumns =
        ofFunction([](auto &tile) { return tile.stateColumns; });
    return {tile.begin,
            b.min(b.add(tile.begin, site.tileRows), frame.queryLen())};
  }

  /// Tiles of the heads of a group: the last tile of each head, then the one
  /// before, since with a causal mask later tiles see more keys.
  Value emitHeadAndTile(Value tileItem) {
    Value tiles = cut.emitCount(b, frame.queryLen());
    Value together = emitHeadsTogether(b, frame, tiles);
    Value perGroup = b.mul(together, tiles);
    Value firstHead = b.mul(b.div(tileItem, perGroup), together);
    Value inGroup = b.rem(tileItem, perGroup);
    Value heads =
        b.min(together, b.sub(b.mul(frame.batch(), frame.heads()), firstHead));
    Value batchHead = b.add(firstHead, b.rem(inGroup, heads));
    int64_t group = kernel.op.getHeads() / kernel.op.getNumKvHeads();
    site.batch = b.div(batchHead, frame.heads());
    site.head = b.rem(batchHead, frame.heads());
    site.kvHead = b.div(site.head, b.i64(group));
    return b.sub(b.sub(tiles, b.i64(1)), b.div(inGroup, heads));
  }

  /// States of parts are behind the keys in the shared scratch.
  Value emitPartState(Value number) {
    Value bytes = b.add(emitKeyBytes(b, frame, kernel),
                        b.mul(number, b.i64(kernel.getStateBytes())));
    return b.element(frame.shared(), bytes, b.getI8Type());
  }

  /// A constant that depends on the tile function.
  Value ofFunction(function_ref<int64_t(TileFunction &)> get) {
    Value result = b.i64(get(plan.tiles.front()));
    for (auto [index, tile] : llvm::drop_begin(llvm::enumerate(plan.tiles)))
      result =
          b.select(b.equal(function, b.i64(index)), b.i64(get(tile)), result);
    return result;
  }

  /// Rows [at, at + count) against all their keys, or those of a part.
  Value emitRows(Value at, Value count) {
    site.queryBegin = at;
    site.rows = count;
    KeyRange range = emitKeyRange(b, frame, plan, at, b.add(at, count));
    Value begin = range.begin, end = range.end();
    if (KeySplits::canSplit(plan)) {
      Value keys = b.ceilDiv(b.sub(end, begin), parts);
      Value partKeys = b.roundUp(keys, plan.op.getKeys());
      begin = b.min(b.add(begin, b.mul(part, partKeys)), end);
      end = b.min(b.add(begin, partKeys), end);
    }
    Value run = plan.hasOneRun() ? b.sub(end, begin) : emitRunLength();
    return b.forPieces(begin, end, run, [&](Value at, Value length) {
      site.keyBegin = at;
      site.keyCount = length;
      site.isFirst = b.equal(at, begin);
      site.isLast =
          b.select(isWhole, b.equal(b.add(at, length), end), b.bit(false));
      site.stepEnds = emitRunEnds(range.stepEnds);
      return emitCall();
    });
  }

  Value emitCall() {
    SmallVector<Value> values = arguments.emit(plan.tiles.front(), site);
    return b.switchCase(function, plan.tiles.size(), [&](unsigned index) {
      return b.call(plan.tiles[index].symbol, b.getI32Type(), values);
    });
  }

  /// The keys of one call: all that fit, in whole blocks if possible.
  Value emitRunLength() {
    Value limit = arguments.emitKeyLimit(plan.tiles.front());
    Value block = b.i64(plan.op.getKeys());
    return b.select(b.less(limit, block), limit,
                    b.sub(limit, b.rem(limit, block)));
  }

  /// Step ends of this call's keys. What a step of whole blocks leaves belongs
  /// to the next one, also where a run ends.
  SmallVector<Value> emitRunEnds(ArrayRef<Value> ends) {
    SmallVector<Value> runEnds;
    Value previous = b.i64(0);
    Value block = b.i64(plan.op.getKeys());
    for (auto [step, end] : llvm::zip_equal(plan.op.getStepOps(), ends)) {
      Value local = b.min(b.sub(end, site.keyBegin), site.keyCount);
      local = b.max(local, previous);
      if (step.getWholeBlocks())
        local = b.sub(local, b.rem(b.sub(local, previous), block));
      previous = local;
      runEnds.push_back(local);
    }
    runEnds.back() = site.keyCount;
    return runEnds;
  }

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  DriverPlan &plan;
  const RowCut &cut;
  const KeySplits &splits;
  DriverArguments arguments;
  Value item, worker;
  Value function;    // number of the tile function
  Value parts, part; // of the keys of a tile
  Value isWhole;     // i1: there is one part
  CallSite site;
};
} // namespace

TileItems posenc::emitTileItems(DriverBuilder &b, DriverKernel &kernel,
                                DriverPlan &plan) {
  std::string name = plan.op.getSymName().str();
  auto heights = llvm::map_to_vector(
      plan.tiles, [](const TileFunction &tile) { return tile.rows; });
  RowCut cut(name, heights);
  KeySplits splits(b, kernel, plan, cut);
  auto emitTiles = [=](DriverBuilder &b, DriverFrame frame) {
    return b.mul(b.mul(frame.batch(), frame.heads()),
                 cut.emitCount(b, frame.queryLen()));
  };
  auto define = [&](StringRef suffix, Value (TileItem::*emit)()) {
    func::FuncOp function = defineItem(b, name + suffix);
    TileItem body(b, function, kernel, plan, cut, splits);
    Value code = (body.*emit)();
    returnStatus(b, DriverFrame(b, function.getArgument(0)), code);
    return function;
  };

  TileItems items;
  items.emitPartBytes = [=](DriverBuilder &b, DriverFrame frame) {
    return splits.emitBytes(b, frame);
  };
  items.tiles.function = define("_tile_item", &TileItem::emitTile);
  items.tiles.emitCount = [=](DriverBuilder &b, DriverFrame frame) {
    return b.mul(emitTiles(b, frame), splits.emitCount(b, frame));
  };
  if (!KeySplits::canSplit(plan))
    return items;
  items.merges.function = define("_merge_item", &TileItem::emitMerge);
  items.merges.emitCount = [=](DriverBuilder &b, DriverFrame frame) {
    return b.select(b.equal(splits.emitCount(b, frame), b.i64(1)), b.i64(0),
                    emitTiles(b, frame));
  };
  return items;
}
