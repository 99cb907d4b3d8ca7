// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of one part of a prepared table, in double precision.
#include "DriverFill.h"
#include "DriverTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cfloat>

using namespace mlir;
using namespace posenc;

/// Doubles that a projection keeps on the stack at a time.
static constexpr int64_t kChannelsAtOnce = 1024;

/// How many frequencies each axis of a rotation has, which differs from the
/// number of pairs when they are mixed.
static int64_t getFrequencyCount(DriverTable &table) {
  if (table.rotation.getMix().empty())
    return table.pairs;
  return *getTableRows(table.rotation.getMix().front());
}

static int64_t getMixedPairs(DriverTable &table) {
  return table.rotation.getMix().empty() ? 1 : table.pairs;
}

int64_t posenc::getUnitCost(DriverTable &table) {
  switch (table.op.getKind()) {
  case TableKind::angles:
    return 2 * getFrequencyCount(table) * getMixedPairs(table);
  case TableKind::strip:
  case TableKind::decays:
    return 1;
  case TableKind::rows:
    if (auto project = table.values.getDefiningOp<ProjectOp>())
      return getTableChannels(project.getTable()) *
             getTableChannels(table.values);
    return 1;
  }
  llvm_unreachable("all kinds are handled");
}

Value posenc::emitPartUnits(DriverBuilder &b, DriverTable &table,
                            const TableLayout &layout) {
  if (table.op.getKind() == TableKind::angles ||
      (table.values && table.values.getDefiningOp<ProjectOp>()))
    return layout.axes.front();
  if (table.hasParts())
    return b.i64(1);
  return layout.partSize;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Rounds to f32. What is finite stays finite: -inf would mask the pair.
static Value toF32(DriverBuilder &b, Value value) {
  auto f64 = [&](double number) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(number));
  };
  Value magnitude = math::AbsFOp::create(b, value);
  Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE,
                                         magnitude, f64(DBL_MAX));
  Value clamped = arith::MaximumFOp::create(
      b, arith::MinimumFOp::create(b, value, f64(FLT_MAX)), f64(-FLT_MAX));
  return arith::TruncFOp::create(b, b.getF32Type(),
                                 b.select(isFinite, clamped, value));
}

void TableFill::storeEntry(Value value, Value entry) {
  b.store(toF32(b, value), b.element(address, entry, b.getF32Type()));
}

/// The f32 nearest to the value, and at `rest` what it lacks.
void TableFill::storeParts(Value value, Value entry, Value rest) {
  storeEntry(value, entry);
  Value zero = arith::ConstantOp::create(b, b.getF64FloatAttr(0.0));
  Value stored = arith::ExtFOp::create(b, b.getF64Type(), toF32(b, value));
  Value lacking = arith::SubFOp::create(b, value, stored);
  // Infinity lacks nothing.
  Value isNumber =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, lacking, lacking);
  storeEntry(b.select(isNumber, lacking, zero), rest);
}

Value TableFill::stackNumbers(int64_t count) {
  return b.stack(count * sizeof(double), alignof(double));
}
Value TableFill::loadNumber(Value numbers, Value index) {
  return b.load(b.getF64Type(), b.element(numbers, index, b.getF64Type()));
}
void TableFill::storeNumber(Value value, Value numbers, Value index) {
  b.store(value, b.element(numbers, index, b.getF64Type()));
}

void TableFill::emit(Value part, Value base, Value begin, Value end) {
  address = base;
  site.batch = b.div(part, layout.heads);
  // Constants and operands in one table: then no head is missing.
  Value head = b.rem(part, layout.heads);
  site.kernelHead = head;
  site.head = head;
  if (table.hasBatches && kernel.hasSequences())
    frame = frame.enterSequence(site.batch);
  switch (table.op.getKind()) {
  case TableKind::angles:
    return emitAngles(begin, end);
  case TableKind::strip:
    return emitStrip(begin, end);
  case TableKind::decays:
    return emitDecays(begin, end);
  case TableKind::rows:
    if (auto project = table.values.getDefiningOp<ProjectOp>())
      return emitProjected(project, begin, end);
    if (auto sum = table.values.getDefiningOp<PrefixSumOp>())
      return emitRunningSum(sum);
    return emitEntries(begin, end);
  }
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// The token of a row.
ScalarSite TableFill::getToken(Value row) {
  ScalarSite result = site;
  if (table.side == Side::key) {
    result.key = b.add(row, emitFirstToken(b, frame, kernel, table));
    return result;
  }
  // A query has the position of the key at its place.
  result.query = row;
  result.key = b.add(row, emitPlaceShift(b, frame, kernel, table.alignment));
  return result;
}

void TableFill::emitFrequencies() {
  int64_t count = getFrequencyCount(table);
  ScalarEmitter emitter(b, frame, kernel, site);
  for (auto [position, freqs] : llvm::zip_equal(table.positions, table.freqs)) {
    auto law = dyn_cast<IotaAttr>(findPosition(position).getLaw());
    int64_t offset = law ? law.getOffset() : 0;
    Value numbers = stackNumbers(count);
    Value list = freqs;
    b.loop(b.i64(0), b.i64(count), [&](Value number) {
      storeNumber(emitter.emitFrequency(list, number, offset), numbers, number);
    });
    frequencies.push_back(numbers);
  }
}

void TableFill::emitAngles(Value begin, Value end) {
  emitFrequencies();
  // Behind a sequence that is shorter than others there are no positions.
  if (table.hasTokenRows)
    end = b.min(end, emitTokens(frame, kernel, table.side));
  else if (kernel.isRing())
    end = b.min(end,
                b.sub(frame.keyLen(), emitFirstToken(b, frame, kernel, table)));
  b.loop(begin, end, [&](Value row) { emitAnglesRow(row); });
}

/// sum_a p_a w_a
Value TableFill::emitAngle(ScalarEmitter &emitter, ArrayRef<Value> positions,
                           Value number) {
  Value angle;
  for (auto [position, numbers] : llvm::zip_equal(positions, frequencies)) {
    Value term =
        arith::MulFOp::create(b, position, loadNumber(numbers, number));
    angle = angle ? arith::AddFOp::create(b, angle, term).getResult() : term;
  }
  return angle;
}

void TableFill::storePair(ScalarEmitter &emitter, ArrayRef<Value> positions,
                          Value pair, Value cosine, Value sine, Value cosines) {
  if (!table.rotation.getModulus().empty()) {
    Value arguments[] = {emitter.toF64(pair), positions.front()};
    Value modulus = emitter.emitRegion(table.rotation.getModulus(), arguments);
    cosine = arith::MulFOp::create(b, cosine, modulus);
    sine = arith::MulFOp::create(b, sine, modulus);
  }
  storeEntry(cosine, b.add(cosines, pair));
  storeEntry(sine, b.add(cosines, b.add(pair, b.i64(table.pairs))));
}

void TableFill::emitAnglesRow(Value row) {
  ScalarEmitter emitter(b, frame, kernel, getToken(row));
  SmallVector<Value> positions;
  for (Value position : table.positions)
    positions.push_back(emitter.emit(position));
  Value cosines = b.mul(row, b.i64(2 * table.pairs));
  if (!table.rotation.getMix().empty())
    return emitMixedRow(emitter, positions, cosines);
  b.loop(b.i64(0), b.i64(table.pairs), [&](Value pair) {
    Value angle = emitAngle(emitter, positions, pair);
    Value cosine = math::CosOp::create(b, angle);
    Value sine = math::SinOp::create(b, angle);
    storePair(emitter, positions, pair, cosine, sine, cosines);
  });
}

/// Sums over the frequencies, for all pairs at once.
void TableFill::emitMixedRow(ScalarEmitter &emitter, ArrayRef<Value> positions,
                             Value cosines) {
  Value sums[] = {stackNumbers(table.pairs), stackNumbers(table.pairs)};
  Value zero = b.i64(0), pairs = b.i64(table.pairs);
  b.loop(zero, pairs, [&](Value pair) {
    for (Value sum : sums)
      storeNumber(emitter.f64(0.0), sum, pair);
  });
  b.loop(zero, b.i64(getFrequencyCount(table)), [&](Value number) {
    Value angle = emitAngle(emitter, positions, number);
    Value turned[] = {math::CosOp::create(b, angle),
                      math::SinOp::create(b, angle)};
    Value row = emitter.toF64(number);
    b.loop(zero, pairs, [&](Value pair) {
      for (auto [sum, mix, value] :
           llvm::zip_equal(sums, table.rotation.getMix(), turned)) {
        Value weight = emitter.emitTable(mix, row, pair);
        Value term = arith::MulFOp::create(b, weight, value);
        Value old = loadNumber(sum, pair);
        storeNumber(arith::AddFOp::create(b, old, term), sum, pair);
      }
    });
  });
  b.loop(zero, pairs, [&](Value pair) {
    storePair(emitter, positions, pair, loadNumber(sums[0], pair),
              loadNumber(sums[1], pair), cosines);
  });
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

void TableFill::emitStrip(Value begin, Value end) {
  Value score = table.op.getBody().front().getTerminator()->getOperand(0);
  b.loop(begin, end, [&](Value entry) {
    // Any pair at the distance stands for all of them.
    ScalarSite pair = site;
    Value shift = b.sub(emitLongestShift(b, frame, table.alignment),
                        emitQueryShift(b, frame, table.alignment));
    pair.query =
        b.add(b.add(entry, shift), b.sub(b.i64(1), frame.longestKey()));
    pair.key = b.i64(0);
    ScalarEmitter emitter(b, frame, kernel, pair);
    storeEntry(emitter.emit(score), entry);
  });
}

/// Entry d is the value at distance d.
void TableFill::emitDecays(Value begin, Value end) {
  Value score = table.op.getBody().front().getTerminator()->getOperand(0);
  b.loop(begin, end, [&](Value entry) {
    ScalarSite pair = site;
    pair.query = b.sub(entry, emitQueryShift(b, frame, table.alignment));
    pair.key = b.i64(0);
    ScalarEmitter emitter(b, frame, kernel, pair);
    storeEntry(emitter.emit(score), entry);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The relation's value of a row.
static Value emitRowValue(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, DriverTable &table, Value row) {
  Value lowest = emitLowestRow(b, frame, kernel, table);
  Value value = lowest ? b.add(row, lowest) : row;
  return arith::SIToFPOp::create(b, b.getF64Type(), value);
}

/// A token of the part's sequence: tables have room for longer ones.
static Value clipToken(DriverBuilder &b, Value token, Value length) {
  return b.min(token, b.sub(length, b.i64(1)));
}

void TableFill::emitEntries(Value begin, Value end) {
  bool isClipped = table.hasBatches && kernel.hasSequences();
  auto skipWithout = [&](TableAxis axis, Value length) {
    if (isClipped && table.type.hasAxis(axis))
      end = b.select(b.equal(length, b.i64(0)), begin, end);
  };
  skipWithout(TableAxis::query, frame.queryLen());
  skipWithout(TableAxis::key, frame.keyLen());
  b.loop(begin, end, [&](Value entry) {
    ScalarSite at = site;
    Value row, channel, rest = entry;
    size_t number = layout.axes.size();
    for (TableAxis axis : llvm::reverse(table.type.getAxes())) {
      if (axis == TableAxis::head || axis == TableAxis::batch)
        continue;
      // The outermost axis is what the others leave.
      Value index = --number ? b.rem(rest, layout.axes[number]) : rest;
      if (number)
        rest = b.div(rest, layout.axes[number]);
      (axis == TableAxis::row       ? row
       : axis == TableAxis::channel ? channel
       : axis == TableAxis::query   ? at.query
                                    : at.key) = index;
    }
    if (row)
      row = emitRowValue(b, frame, kernel, table, row);
    if (isClipped && at.query)
      at.query = clipToken(b, at.query, frame.queryLen());
    if (isClipped && at.key)
      at.key = clipToken(b, at.key, frame.keyLen());
    ScalarEmitter emitter(b, frame, kernel, at);
    storeEntry(emitter.emitTable(table.values, row, channel), entry);
  });
}

/// Rows of a product with a matrix: each number of the table's row is computed
/// once for all channels.
void TableFill::emitProjected(ProjectOp project, Value begin, Value end) {
  int64_t channels = getTableChannels(table.values);
  int64_t inner = getTableChannels(project.getTable());
  Value sums = stackNumbers(std::min(channels, kChannelsAtOnce));
  Value zero = b.i64(0);
  ScalarEmitter emitter(b, frame, kernel, site);
  b.loop(begin, end, [&](Value row) {
    Value value = emitRowValue(b, frame, kernel, table, row);
    for (int64_t first = 0; first < channels; first += kChannelsAtOnce) {
      Value count = b.i64(std::min(channels - first, kChannelsAtOnce));
      b.loop(zero, count, [&](Value channel) {
        storeNumber(emitter.f64(0.0), sums, channel);
      });
      b.loop(zero, b.i64(inner), [&](Value index) {
        Value number = emitter.emitTable(project.getTable(), value, index);
        Value weightRow = emitter.toF64(index);
        b.loop(zero, count, [&](Value channel) {
          Value weight = emitter.emitTable(project.getWeights(), weightRow,
                                           b.add(channel, b.i64(first)));
          Value term = arith::MulFOp::create(b, number, weight);
          Value old = loadNumber(sums, channel);
          storeNumber(arith::AddFOp::create(b, old, term), sums, channel);
        });
      });
      b.loop(zero, count, [&](Value channel) {
        Value entry =
            b.add(b.mul(row, b.i64(channels)), b.add(channel, b.i64(first)));
        storeEntry(loadNumber(sums, channel), entry);
      });
    }
  });
}

void TableFill::emitRunningSum(PrefixSumOp sum) {
  Value running = stackNumbers(1), zero = b.i64(0);
  storeNumber(arith::ConstantOp::create(b, b.getF64FloatAttr(0.0)), running,
              zero);
  b.loop(zero, frame.keyLen(), [&](Value key) {
    ScalarSite at = site;
    at.key = key;
    ScalarEmitter emitter(b, frame, kernel, at);
    Value number = emitter.emitTable(sum.getTable(), Value(), Value());
    Value term = emitter.emitRegion(sum.getBody(), number);
    Value total = arith::AddFOp::create(b, loadNumber(running, zero), term);
    storeNumber(total, running, zero);
    storeParts(total, key, b.add(key, frame.longestKey()));
  });
}
