// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The items of work of one plan: chunks of keys and query tiles.
#include "DriverItems.h"
#include "DriverArguments.h"
#include "DriverKept.h"
#include "DriverRanges.h"
#include "DriverRows.h"
#include "DriverSkips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace posenc;

/// Keys that one item transforms.
static constexpr int64_t kKeyChunk = 256;

/// The frame of a batch entry.
static DriverFrame enterBatch(DriverKernel &kernel, DriverFrame call,
                              Value batch) {
  return kernel.hasSequences() ? call.enterSequence(batch) : call;
}

void posenc::returnStatus(DriverBuilder &b, DriverFrame frame, Value code) {
  b.ret(b.ifElse(
      b.equal(code, b.i32(0)), [&] { return b.i32(0); },
      [&] {
        return b.call("posenc_kernel_tile_failed", b.getI32Type(),
                      {frame.getAddress(), code});
      }));
}

Value posenc::emitKeyHead(DriverBuilder &b, DriverKernel &kernel, Value head) {
  int64_t group = kernel.op.getHeads() / kernel.op.getNumKvHeads();
  return b.div(head, b.i64(group));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

DriverItems posenc::emitKeyItems(DriverBuilder &b, DriverKernel &kernel,
                                 DriverPlan &plan) {
  auto emitChunks = [](DriverBuilder &b, DriverFrame frame) {
    return b.ceilDiv(frame.keptKeys(), kKeyChunk);
  };
  bool isByHead = plan.hasKeysByHead;
  auto emitHeads = [=](DriverFrame frame) {
    return isByHead ? frame.heads() : frame.kvHeads();
  };
  DriverItems items;
  items.emitCount = [=](DriverBuilder &b, DriverFrame frame) {
    return b.mul(b.mul(frame.batch(), emitHeads(frame)), emitChunks(b, frame));
  };
  items.function = b.defineItem(plan.op.getSymName() + "_key_item");
  DriverFrame call(b, items.function.getArgument(0));
  Value item = items.function.getArgument(1);

  Value chunks = emitChunks(b, call);
  Value head = b.div(item, chunks);
  CallSite site;
  Value heads = emitHeads(call);
  site.batch = b.div(head, heads);
  site.kvHead = site.head = b.rem(head, heads);
  if (isByHead)
    site.kvHead = emitKeyHead(b, kernel, site.head);
  DriverFrame frame = enterBatch(kernel, call, site.batch);
  DriverArguments arguments(b, frame, kernel, plan);
  Value first = b.mul(b.rem(item, chunks), b.i64(kKeyChunk));
  Value begin = b.min(b.add(frame.firstKey(), first), frame.keyLen());
  Value end = b.min(b.add(begin, b.i64(kKeyChunk)), frame.keyLen());
  // One value more is read, unless there is no room for two.
  Value limit = arguments.emitKeyLimit(*plan.keys);
  Value isRoom = b.less(b.i64(1), limit);
  Value piece = b.select(isRoom, b.sub(limit, b.i64(1)), limit);
  Value code = b.forPieces(begin, end, piece, [&](Value at, Value count) {
    site.keyBegin = at;
    site.keyCount = count;
    Value values = b.min(b.add(count, b.i64(1)), b.sub(frame.keyLen(), at));
    site.valueCount = b.select(isRoom, values, count);
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
static Value emitHeadsTogether(DriverBuilder &b, DriverFrame frame, Value tiles,
                               Value allHeads) {
  Value wanted = b.mul(frame.workers(), b.i64(4));
  Value heads = b.div(b.add(wanted, b.sub(tiles, b.i64(1))), tiles);
  return b.min(heads, allHeads);
}

namespace {
/// The body of an item that computes a tile or a part of one, or that merges
/// the parts of a tile.
class TileItem {
public:
  TileItem(DriverBuilder &b, func::FuncOp function, DriverKernel &kernel,
           DriverPlan &plan, const TileCut &cut, const KeySplits &splits,
           const KeySkips &skips)
      : b(b), call(b, function.getArgument(0)), frame(call), kernel(kernel),
        plan(plan), cut(cut), splits(splits), skips(skips),
        item(function.getArgument(1)), worker(function.getArgument(2)) {}

  /// The i32 code of the first tile function that failed, or 0. Tiles follow
  /// one another with the same part of their keys: what heads share of these,
  /// as tables, is then still in the cache.
  Value emitTile() {
    parts = splits.emitCount(b, call);
    Value tiles = emitTiles(b, call, plan, cut);
    part = b.div(item, tiles);
    tile = b.rem(item, tiles);
    return enterTile(tile, [&](TileRows rows) { return emitPart(rows); });
  }

  /// Merges the states of a tile's parts and writes its outputs.
  Value emitMerge() {
    parts = splits.emitCount(b, call);
    return enterTile(item, [&](TileRows rows) { return emitMerge(rows); });
  }

private:
  struct TileRows {
    Value begin, end;
  };

  Value emitPart(TileRows rows) {
    isWhole = b.equal(parts, b.i64(1));
    site.state = b.select(isWhole, frame.workerScratch(worker),
                          emitPartState(b.add(b.mul(tile, parts), part)));
    states = frame.workerScratch(worker);
    site.scan = site.scores = b.byteOffset(states, kernel.getAllStateBytes());
    Value rowLimit = getArguments().emitRowLimit(plan.tiles.front());
    return b.forPieces(
        rows.begin, rows.end, rowLimit,
        [&](Value at, Value count) { return emitRows(at, count); });
  }

  Value emitMerge(TileRows rows) {
    Value firstPart = b.mul(item, parts);
    site.state = emitPartState(firstPart);
    site.scan = site.state; // there is none
    b.loop(b.i64(1), parts, [&](Value other) {
      splits.emitMerge(b, site.state, emitPartState(b.add(firstPart, other)),
                       getStateShape());
    });
    site.queryBegin = rows.begin;
    site.rows = b.sub(rows.end, rows.begin);
    site.keyBegin = site.keyCount = b.i64(0);
    site.stepEnds.assign(getTileSteps(plan.op).size(), b.i64(0));
    site.isFirst = b.bit(false);
    site.isLast = b.bit(true);
    return emitTileCall(site);
  }

  /// Finds the head and rows of a tile.
  Value enterTile(Value tileItem, function_ref<Value(TileRows)> body) {
    Value number = emitHeadAndTile(tileItem);
    frame = enterBatch(kernel, call, site.batch);
    auto run = [&] {
      TileCut::Tile tile = cut.emitTile(b, frame.queryLen(), number);
      function = tile.function;
      site.tileRows = ofFunction([](auto &tile) { return tile.queries; });
      site.stateRows = ofFunction([](auto &tile) { return tile.stateRows; });
      site.stateColumns =
          ofFunction([](auto &tile) { return tile.stateColumns; });
      if (tile.head)
        site.head =
            b.add(b.mul(site.kvHead, b.i64(plan.op.getGroup())), tile.head);
      if (plan.hasHeads())
        site.heads = tile.heads;
      if (plan.networks.empty())
        drawDropout(site);
      // A tile of several heads may have rows left over.
      Value rows =
          ofFunction([](auto &tile) { return tile.rows / tile.group; });
      Value end = b.min(b.add(tile.begin, rows), tile.end);
      return body({tile.begin, end});
    };
    if (!kernel.hasSequences())
      return run();
    // Short sequences have fewer tiles.
    Value exists = b.less(number, cut.emitCount(b, frame.queryLen()));
    return b.ifElse(exists, run, [&] { return b.i32(0); });
  }

  DriverArguments getArguments() {
    return DriverArguments(b, frame, kernel, plan);
  }

  /// The random words of the site's head, which all runs of its keys share.
  void drawDropout(CallSite &at) {
    TileNormalizeOp normalize = plan.op.getNormalizeOp();
    if (normalize && normalize.getDropout())
      at.dropout = b.call("posenc_kernel_dropout", b.getI64Type(),
                          {frame.getAddress(), at.batch, at.head});
  }

  /// Tiles of the heads of a group: the last tile of each head, then the one
  /// before, since with a causal mask later tiles see more keys.
  Value emitHeadAndTile(Value tileItem) {
    Value tiles = cut.emitCount(b, call.queryLen());
    Value allHeads = emitSeparateHeads(b, call, plan);
    Value together = emitHeadsTogether(b, call, tiles, allHeads);
    Value perGroup = b.mul(together, tiles);
    Value firstHead = b.mul(b.div(tileItem, perGroup), together);
    Value inGroup = b.rem(tileItem, perGroup);
    Value heads = b.min(together, b.sub(allHeads, firstHead));
    Value batchHead = b.add(firstHead, b.rem(inGroup, heads));
    if (!plan.networks.empty()) {
      site.batch = batchHead;
    } else if (plan.op.getPacked()) {
      site.batch = b.div(batchHead, call.kvHeads());
      site.kvHead = b.rem(batchHead, call.kvHeads());
    } else {
      site.batch = b.div(batchHead, call.heads());
      site.head = b.rem(batchHead, call.heads());
      site.kvHead = emitKeyHead(b, kernel, site.head);
    }
    return b.sub(b.sub(tiles, b.i64(1)), b.div(inGroup, heads));
  }

  KeySplits::StateShape getStateShape() {
    Value outputColumns =
        ofFunction([](auto &tile) { return tile.outputColumns; });
    Value firstOutput = ofFunction([](auto &tile) {
      return tile.stateColumns - tile.rows * tile.outputColumns;
    });
    return {site.stateRows, site.stateColumns, firstOutput, outputColumns};
  }

  /// States of parts are behind the keys in the shared scratch.
  Value emitPartState(Value number) {
    Value keys = b.add(emitRowBytes(b, frame, kernel),
                       emitTransformedBytes(b, frame, plan));
    Value states = b.mul(number, b.i64(kernel.getStateBytes()));
    return b.element(frame.shared(), b.add(keys, states), b.getI8Type());
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
    if (!plan.networks.empty())
      run = b.min(run, b.i64(plan.op.getKeys()));
    if (skips)
      return emitSeenRuns(range, begin, end, run);
    auto walk = [&](Value from, Value to, ArrayRef<Value> stepEnds) {
      return b.forPieces(from, to, run, [&](Value at, Value length) {
        Value isEnd = b.equal(b.add(at, length), end);
        setRun(at, length, b.equal(at, begin), isEnd, stepEnds);
        return plan.networks.empty() ? emitTileCall(site) : emitAllHeads();
      });
    };
    if (!range.entryEnd)
      return walk(begin, end, range.stepEnds);
    // All steps but the last one end before these keys.
    Value entry = emitEntryEnd(range, begin, end);
    SmallVector<Value> none(range.stepEnds.size(), begin);
    auto skip = [&] { return b.i32(0); };
    Value status = b.ifElse(
        b.less(begin, entry), [&] { return walk(begin, entry, none); }, skip);
    // One call is made even where there are no keys.
    Value isOver =
        b.select(b.equal(begin, end), b.bit(false), b.equal(entry, end));
    return b.ifOk(status, [&] {
      return b.ifElse(isOver, skip,
                      [&] { return walk(entry, end, range.stepEnds); });
    });
  }

  /// Where keys end that a mask hides from some rows, before the interior.
  Value emitEntryEnd(const KeyRange &range, Value begin, Value end) {
    return b.min(b.max(range.entryEnd, begin), end);
  }

  /// The keys of the next call. `isEnd` says whether they are the last ones.
  void setRun(Value at, Value count, Value isFirst, Value isEnd,
              ArrayRef<Value> stepEnds) {
    site.keyBegin = at;
    site.keyCount = count;
    site.isFirst = isFirst;
    site.isLast = b.select(isWhole, isEnd, b.bit(false));
    site.stepEnds = emitRunEnds(stepEnds);
  }

  /// Runs of the blocks that masks may show. One more call, without keys, ends
  /// rows whose last block is hidden.
  Value emitSeenRuns(const KeyRange &range, Value begin, Value end, Value run) {
    Value entry = range.entryEnd ? emitEntryEnd(range, begin, end) : begin;
    auto emitRun = [&](Value at, Value stop, Value isFirst, Value isEnd) {
      Value isEntry = b.less(at, entry);
      auto stepEnds =
          llvm::map_to_vector(range.stepEnds, [&](Value stepEnd) -> Value {
            return b.select(isEntry, begin, stepEnd);
          });
      setRun(at, b.sub(stop, at), isFirst, isEnd, stepEnds);
      return emitTileCall(site);
    };
    Type types[] = {b.getI64Type(), b.getI32Type(), b.getI1Type(),
                    b.getI1Type()};
    SmallVector<Location> locs(4, b.getLoc());
    Value first = skips.emitNext(b, frame, site, begin, end, false);
    Value initial[] = {first, b.i32(0), b.bit(true), b.bit(false)};
    auto loop = scf::WhileOp::create(b, types, initial);
    {
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(&loop.getBefore(), {}, types, locs);
      Value goOn =
          arith::AndIOp::create(b, b.less(block->getArgument(0), end),
                                b.equal(block->getArgument(1), b.i32(0)));
      scf::ConditionOp::create(b, goOn, block->getArguments());
      block = b.createBlock(&loop.getAfter(), {}, types, locs);
      Value at = block->getArgument(0);
      Value stop = skips.emitNext(b, frame, site, at, end, true);
      stop = b.min(stop, b.add(at, run));
      stop = b.select(b.less(at, entry), b.min(stop, entry), stop);
      Value isEnd = b.equal(stop, end);
      Value status = emitRun(at, stop, block->getArgument(2), isEnd);
      Value next = skips.emitNext(b, frame, site, stop, end, false);
      scf::YieldOp::create(b, ValueRange{next, status, b.bit(false), isEnd});
    }
    // A part has no end, but a state from its first run on.
    Value isFirst = loop.getResult(2);
    Value hasState = b.select(isFirst, b.bit(false), b.bit(true));
    Value isDone = b.select(isWhole, loop.getResult(3), hasState);
    return b.ifOk(loop.getResult(1), [&] {
      return b.ifElse(
          isDone, [&] { return b.i32(0); },
          [&] { return emitRun(end, end, isFirst, b.bit(true)); });
    });
  }

  Value emitTileCall(const CallSite &at) {
    return emitCall(at, [](DriverPlan &plan, unsigned index) -> auto & {
      return plan.tiles[index];
    });
  }

  /// Calls a function that there is one of for each tile function; all have
  /// the same arguments.
  Value emitCall(
      const CallSite &at,
      function_ref<const TileFunction &(DriverPlan &, unsigned)> getFunction) {
    SmallVector<Value> values = getArguments().emit(getFunction(plan, 0), at);
    return b.switchCase(function, plan.tiles.size(), [&](unsigned index) {
      return b.call(getFunction(plan, index).symbol, b.getI32Type(), values);
    });
  }

  /// The tiles of all heads for the keys of a run, with what networks give.
  Value emitAllHeads() {
    site.firstColumn = b.sub(site.keyBegin, b.i64(plan.getScoreMargin()));
    Value status = b.i32(0);
    for (size_t number = 0; number < plan.networks.size(); ++number)
      status = b.ifOk(status, [&] { return emitNetwork(number); });
    return b.ifOk(status, [&] {
      return forHeads(site, [&](CallSite ofHead) {
        drawDropout(ofHead);
        return emitTileCall(ofHead);
      });
    });
  }

  Value forHeads(const CallSite &base,
                 function_ref<Value(const CallSite &)> body) {
    return b.forPieces(
        b.i64(0), frame.heads(), b.i64(1), [&](Value head, Value) {
          CallSite ofHead = base;
          ofHead.head = head;
          ofHead.kvHead = emitKeyHead(b, kernel, head);
          Value bytes = b.mul(head, b.i64(kernel.getStateBytes()));
          ofHead.state = b.element(states, bytes, b.getI8Type());
          return body(ofHead);
        });
  }

  /// The run's keys and `margin` more on either side, where there are keys.
  CallSite widenRun(int64_t margin) {
    CallSite wide = site;
    Value end = b.add(b.add(site.keyBegin, site.keyCount), b.i64(margin));
    wide.keyBegin = b.max(b.sub(site.keyBegin, b.i64(margin)), b.i64(0));
    wide.keyCount = b.sub(b.min(end, frame.keyLen()), wide.keyBegin);
    return wide;
  }

  Value emitNetwork(size_t number) {
    DriverPlan::Network &network = plan.networks[number];
    auto getScores = [=](DriverPlan &plan, unsigned index) -> auto & {
      return plan.networks[number].functions[index].scores;
    };
    auto getNetwork = [=](DriverPlan &plan, unsigned index) -> auto & {
      return plan.networks[number].functions[index].network;
    };
    CallSite seen = widenRun(network.getReach());
    Value limit = getArguments().emitKeyLimit(getScores(plan, 0));
    Value seenEnd = b.add(seen.keyBegin, seen.keyCount);
    Value status = forHeads(seen, [&](const CallSite &ofHead) {
      return b.forPieces(seen.keyBegin, seenEnd, limit,
                         [&](Value at, Value count) {
                           CallSite piece = ofHead;
                           piece.keyBegin = at;
                           piece.keyCount = count;
                           return emitCall(piece, getScores);
                         });
    });
    return b.ifOk(
        status, [&] { return emitCall(widenRun(network.margin), getNetwork); });
  }

  /// The keys of one call: all that fit, in whole blocks if possible.
  Value emitRunLength() {
    Value limit = getArguments().emitKeyLimit(plan.tiles.front());
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
    for (auto [step, end] : llvm::zip_equal(getTileSteps(plan.op), ends)) {
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
  DriverFrame call;
  DriverFrame frame; // of the tile's batch entry
  DriverKernel &kernel;
  DriverPlan &plan;
  const TileCut &cut;
  const KeySplits &splits;
  const KeySkips &skips;
  Value item, worker;
  Value function;    // number of the tile function
  Value tile;        // its number in the call
  Value parts, part; // of the keys of a tile
  Value isWhole;     // i1: there is one part
  Value states;      // of all heads
  CallSite site;
};
} // namespace

static std::shared_ptr<const TileCut> makeCut(DriverPlan &plan) {
  std::string name = plan.op.getSymName().str();
  if (std::optional<int64_t> packed = plan.op.getPacked())
    return std::make_shared<PackedCut>(name, plan.tiles, plan.op.getGroup(),
                                       *packed);
  auto heights = llvm::map_to_vector(
      plan.tiles, [](const TileFunction &tile) { return tile.rows; });
  std::optional<BlockListAttr> blocks = plan.op.getBlocks();
  return std::make_shared<RowCut>(name, heights,
                                  blocks ? blocks->getQueries() : 0);
}

TileItems posenc::emitTileItems(DriverBuilder &b, DriverKernel &kernel,
                                DriverPlan &plan) {
  std::string name = plan.op.getSymName().str();
  std::shared_ptr<const TileCut> cut = makeCut(plan);
  KeySplits splits(b, kernel, plan, cut);
  KeySkips skips(b, kernel, plan);
  auto define = [&](StringRef suffix, Value (TileItem::*emit)()) {
    func::FuncOp function = b.defineItem(name + suffix);
    TileItem body(b, function, kernel, plan, *cut, splits, skips);
    Value code = (body.*emit)();
    returnStatus(b, DriverFrame(b, function.getArgument(0)), code);
    return function;
  };

  TileItems items;
  items.emitPartBytes = [=](DriverBuilder &b, DriverFrame frame) {
    return splits.emitBytes(b, frame);
  };
  items.tiles.function = define("_tile_item", &TileItem::emitTile);
  items.tiles.emitCount = [=, &plan](DriverBuilder &b, DriverFrame frame) {
    return b.mul(emitTiles(b, frame, plan, *cut), splits.emitCount(b, frame));
  };
  if (!KeySplits::canSplit(plan))
    return items;
  items.merges.function = define("_merge_item", &TileItem::emitMerge);
  items.merges.emitCount = [=, &plan](DriverBuilder &b, DriverFrame frame) {
    return b.select(b.equal(splits.emitCount(b, frame), b.i64(1)), b.i64(0),
                    emitTiles(b, frame, plan, *cut));
  };
  return items;
}

Value posenc::emitUsesPacked(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel, DriverPlan &packed) {
  int64_t most = *packed.op.getPacked();
  Value isShort = b.less(frame.queryLen(), b.i64(most + 1));
  Value fits = DriverArguments(b, frame, kernel, packed)
                   .emitHeadsFit(packed.tiles.front());
  return arith::AndIOp::create(b, isShort, fits);
}
