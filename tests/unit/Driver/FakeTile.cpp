// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeTile.h"

#include "posenc/IR/ScalarRegion.h"
#include "posenc/Reference/Philox.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <map>

using namespace mlir;
using namespace posenc;
using namespace posenc::test;

namespace {

struct Buffer {
  struct Dimension {
    int32_t min, extent, stride, flags;
  };
  char *host = nullptr;
  const Dimension *dims = nullptr;
  int32_t rank = 0;
  /// Where the rows of the last dimension are, if they are given one by one.
  const int32_t *rows = nullptr;

  explicit Buffer(const char *bytes, const TileArg &arg) {
    memcpy(&host, bytes + TileBuffer::kHostOffset, sizeof(host));
    memcpy(&rank, bytes + TileBuffer::kDimensionsOffset, sizeof(rank));
    memcpy(&dims, bytes + TileBuffer::kDimOffset, sizeof(dims));
    uint8_t code = bytes[TileBuffer::kTypeOffset];
    uint8_t bits = bytes[TileBuffer::kTypeOffset + 1];
    EXPECT_EQ(rank, arg.rank) << arg.getName();
    EXPECT_EQ(code, arg.isInteger ? TileBuffer::kTypeCodeInt
                                  : TileBuffer::kTypeCodeFloat);
    EXPECT_EQ(bits, 32);
    int64_t total = 0;
    for (int32_t d = 0; d < rank; ++d) {
      EXPECT_GE(dims[d].extent, 0);
      EXPECT_LT(span(d), int64_t(1) << 31);
      total += span(d);
    }
    EXPECT_LT(total, int64_t(1) << 31) << arg.getName();
  }

  int64_t span(int32_t d) const {
    return std::max(dims[d].extent - 1, 0) * int64_t(dims[d].stride);
  }

  template <typename T = float>
  T &at(ArrayRef<int64_t> index) const {
    int64_t offset = 0;
    for (int32_t d = 0; d < rank; ++d) {
      int64_t local = index[d] - dims[d].min;
      if (local < 0 || local >= dims[d].extent) {
        ADD_FAILURE() << "index " << index[d] << " of dimension " << d
                      << " is outside of [" << dims[d].min << ", "
                      << dims[d].min + dims[d].extent << ")";
        std::abort();
      }
      offset += (rows && d + 1 == rank ? rows[local] : local) * dims[d].stride;
    }
    return reinterpret_cast<T *>(host)[offset];
  }

  int64_t clamp(int32_t dim, double index) const {
    double low = dims[dim].min, high = low + dims[dim].extent - 1;
    return std::llround(index > low ? std::min(index, high) : low);
  }
};

/// Real arithmetic in double.
struct Doubles {
  double constant(double value) { return value; }
  double truth(bool value) { return value; }
  double compare(arith::CmpFPredicate predicate, double a, double b) {
    switch (predicate) {
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::OGT:
      return a > b;
    case arith::CmpFPredicate::OGE:
      return a >= b;
    case arith::CmpFPredicate::OEQ:
      return a == b;
    default:
      ADD_FAILURE() << "not needed by these tests";
      return 0;
    }
  }
  double select(double condition, double a, double b) {
    return condition != 0 ? a : b;
  }
  double apply(ScalarFunction function, ArrayRef<double> x) {
    switch (function) {
    case ScalarFunction::Neg:
      return -x[0];
    case ScalarFunction::Abs:
      return std::fabs(x[0]);
    case ScalarFunction::Exp:
      return std::exp(x[0]);
    case ScalarFunction::Log:
      return std::log(x[0]);
    case ScalarFunction::Log1p:
      return std::log1p(x[0]);
    case ScalarFunction::Tanh:
      return std::tanh(x[0]);
    case ScalarFunction::Cos:
      return std::cos(x[0]);
    case ScalarFunction::Sin:
      return std::sin(x[0]);
    case ScalarFunction::Floor:
      return std::floor(x[0]);
    case ScalarFunction::Add:
      return x[0] + x[1];
    case ScalarFunction::Sub:
      return x[0] - x[1];
    case ScalarFunction::Mul:
      return x[0] * x[1];
    case ScalarFunction::Div:
      return x[0] / x[1];
    case ScalarFunction::Maximum:
    case ScalarFunction::Maxnum:
      return std::max(x[0], x[1]);
    case ScalarFunction::Minimum:
    case ScalarFunction::Minnum:
      return std::min(x[0], x[1]);
    case ScalarFunction::And:
      return x[0] != 0 && x[1] != 0;
    case ScalarFunction::Or:
      return x[0] != 0 || x[1] != 0;
    default:
      ADD_FAILURE() << "not needed by these tests";
      return 0;
    }
  }
};

using Numbers = std::vector<double>;

/// The row of the tile and the key of the run that a value is wanted for, and
/// the head in tables of all heads.
struct Place {
  int64_t row = 0, key = 0, head = 0;
};

class Call {
public:
  Call(const FakeTile &tile, const int64_t *words)
      : tile(tile), plan(tile.plan) {
    for (auto [index, arg] : llvm::enumerate(tile.function.args)) {
      if (arg.rank == 0)
        numbers[arg.getName()] = static_cast<int32_t>(words[index]);
      else if (!buffers
                    .insert(
                        {arg.getName(),
                         Buffer(reinterpret_cast<char *>(words[index]), arg)})
                    .second)
        ADD_FAILURE() << "two arguments are called " << arg.getName();
    }
    for (auto [vectors, rows] : {std::pair("k", "key_rows"),
                                 {"all_k", "key_rows"},
                                 {"v", "value_rows"},
                                 {"own_v", "own_value_rows"}})
      if (auto list = buffers.find(rows); list != buffers.end())
        if (auto found = buffers.find(vectors); found != buffers.end())
          found->second.rows =
              reinterpret_cast<const int32_t *>(list->second.host);
  }

  void transformKeys() {
    const Buffer &k = buffer("k");
    Block &body = plan.getKeysOp().getBody().front();
    for (int64_t j = 0; j < k.dims[1].extent; ++j) {
      std::vector<Numbers> keys = transform(body, read(k, {j}), {0, j});
      for (auto [index, key] : llvm::enumerate(keys)) {
        std::string symbol = getKeySymbol(plan, index);
        if (symbol.empty())
          continue;
        const Buffer &out = buffer("keys_" + symbol);
        EXPECT_EQ(out.dims[1].extent, k.dims[1].extent);
        for (size_t d = 0; d < key.size(); ++d)
          out.at({int64_t(d), j}) = static_cast<float>(key[d]);
      }
    }
  }

  void computeTile() {
    int64_t n = numbers.lookup("rows"), m = numbers.lookup("key_count");
    EXPECT_GT(n, 0);
    EXPECT_LE(n, tile.function.rows);
    checkHeads(n);
    EXPECT_EQ(buffer("v").dims[1].extent, m);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer("state").host) % 64, 0u);
    EXPECT_EQ(buffer("state").dims[0].extent, tile.function.stateRows);
    EXPECT_EQ(buffer("state").dims[1].extent, tile.function.stateColumns);
    checkScratch(m);
    std::vector<int64_t> ends = checkSteps(m);
    FakeTile::pairs += n * m;
    for (int64_t i = 0; i < n; ++i)
      computeRow(i, m, ends);
  }

  /// What a network takes of one head.
  void computeScores() {
    HeadMlpOp network = getNetworks(plan)[tile.network];
    int64_t n = numbers.lookup("rows"), m = numbers.lookup("key_count");
    const Buffer &out = buffer("head_scores_" + std::to_string(tile.network));
    EXPECT_EQ(out.dims[0].extent, tile.function.rows);
    EXPECT_EQ(out.dims[1].extent, m);
    EXPECT_EQ(out.dims[1].stride, tile.function.rows);
    EXPECT_EQ(out.dims[2].extent, int64_t(network.getScores().size()));
    for (int64_t i = 0; i < tile.function.rows; ++i) {
      // Rows beyond the last are written, and mean nothing.
      Scores scores{*network->getBlock(), std::min(i, n - 1), 0, m, {}};
      queries = transform(plan.getPrologueOp().getBody().front(),
                          read(buffer("q"), {scores.row}), {scores.row, 0});
      for (Operation &op : scores.body) {
        if (&op == network.getOperation())
          break;
        evaluate(op, scores);
      }
      for (auto [s, score] : llvm::enumerate(network.getScores())) {
        for (int64_t j = 0; j < m; ++j)
          out.at({i, j, int64_t(s)}) =
              i < n ? static_cast<float>(scores[score][j]) : NAN;
        // Whole groups of keys are written.
        float *channel = reinterpret_cast<float *>(out.host) +
                         s * int64_t(out.dims[2].stride);
        for (int64_t j = m; j < m + kKeysBehind; ++j)
          channel[j * tile.function.rows + i] = NAN;
      }
    }
  }

  void mixHeads() {
    HeadMlpOp op = getNetworks(plan)[tile.network];
    std::string symbol = std::to_string(tile.network);
    const Buffer &in = buffer("all_scores_" + symbol),
                 &out = buffer("all_mixed_" + symbol);
    int64_t taps = op.getTaps(), heads = plan.getHeads(),
            hidden = *op.getBiasIn().getDefiningOp<TableOp>().getNumChannels(),
            first = in.dims[1].min, end = first + in.dims[1].extent;
    EXPECT_EQ(out.dims[2].extent, heads);
    EXPECT_EQ(in.dims[2].extent, heads * int64_t(op.getScores().size()));
    EXPECT_LE(first, 0);
    EXPECT_GE(end, out.dims[1].extent);
    for (int64_t i = 0; i < out.dims[0].extent; ++i) {
      auto isMasked = [&](int64_t j, int64_t channel) {
        return in.at({i, j, channel}) <= -1e30;
      };
      auto unit = [&](int64_t j, int64_t m) {
        bool isSeen = false;
        double sum = lookUp(op.getBiasIn(), 0, m, {});
        for (int64_t c = 0; c < in.dims[2].extent; ++c)
          for (int64_t t = 0; t < taps; ++t) {
            int64_t key = j + t - taps / 2;
            if (key < first || key >= end || isMasked(key, c))
              continue;
            isSeen |= key == j;
            sum += lookUp(op.getWeightsIn(), double(c * taps + t), m, {}) *
                   in.at({i, key, c});
          }
        double result =
            evaluateScalarRegion<double>(op.getBody(), {sum}, Doubles());
        return isSeen ? result : 0;
      };
      for (int64_t j = 0; j < out.dims[1].extent; ++j) {
        Numbers units(taps * hidden);
        for (int64_t m = 0; m < hidden; ++m)
          for (int64_t t = 0; t < taps; ++t)
            if (int64_t key = j + t - taps / 2; key >= first && key < end)
              units[m * taps + t] = unit(key, m);
        for (int64_t h = 0; h < heads; ++h) {
          double sum = lookUp(op.getBiasOut(), 0, 0, {0, 0, h});
          for (auto [row, value] : llvm::enumerate(units))
            sum +=
                lookUp(op.getWeightsOut(), double(row), 0, {0, 0, h}) * value;
          for (int64_t c = h; c < in.dims[2].extent; c += heads)
            if (isMasked(j, c))
              sum = -INFINITY;
          out.at({i, j, h}) = static_cast<float>(sum);
        }
      }
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  const Buffer &buffer(const std::string &name) const {
    auto found = buffers.find(name);
    if (found == buffers.end()) {
      ADD_FAILURE() << "no buffer " << name;
      std::abort();
    }
    return found->second;
  }

  const TileArg &findArg(llvm::function_ref<bool(const TileArg &)> isIt) const {
    const TileArg *found = llvm::find_if(tile.function.args, isIt);
    if (found == tile.function.args.end()) {
      ADD_FAILURE() << "no argument for an operation";
      std::abort();
    }
    return *found;
  }

  static Numbers read(const Buffer &vectors, ArrayRef<int64_t> row) {
    Numbers result(vectors.dims[0].extent);
    SmallVector<int64_t> index{0};
    llvm::append_range(index, row);
    for (size_t d = 0; d < result.size(); ++d) {
      index[0] = int64_t(d);
      result[d] = vectors.at(index);
    }
    return result;
  }

  /// The query and head of a row.
  Place getPlace(int64_t i) const {
    return {i / tile.function.group, 0, i % tile.function.group};
  }
  /// Its index in buffers with a number for each query, and for each head of
  /// the tile if it may have several.
  SmallVector<int64_t> getRow(Place place) const {
    if (hasHeadDimension(plan))
      return {place.head, place.row};
    return {place.row};
  }

  /// Rows are all heads of each query, or the heads of a part of one.
  void checkHeads(int64_t n) {
    const Buffer &q = buffer("q");
    if (!hasHeadDimension(plan)) {
      EXPECT_EQ(q.dims[1].extent, n);
      return;
    }
    int64_t heads = q.dims[1].extent, count = q.dims[2].extent;
    EXPECT_EQ(heads * count, n);
    EXPECT_LE(heads, tile.function.group);
    EXPECT_TRUE(heads == tile.function.group || count == 1);
    EXPECT_LE(count, tile.function.queries);
  }

  void checkScratch(int64_t m) {
    bool hasOneRun = plan.getDescending();
    for (const TileArg &arg : tile.function.args) {
      if (arg.kind == TileArgKind::Strip && m > 0) {
        // Rows behind the last have distances too.
        for (int64_t distance : {1 - m, tile.function.queries - 1}) {
          SmallVector<int64_t> index{distance};
          if (hasHeadDimension(plan))
            index.push_back(0);
          buffer(arg.getName()).at(index);
        }
      }
      if (arg.kind != TileArgKind::Scan)
        continue;
      hasOneRun = true;
      const Buffer &scan = buffer(arg.getName());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scan.host) % 64, 0u);
      EXPECT_EQ(scan.dims[0].extent, tile.function.rows);
      EXPECT_EQ(scan.dims[1].extent, 2 * m);
      for (int64_t j = 0; j < 2 * m; ++j)
        for (int64_t i = 0; i < tile.function.rows; ++i)
          scan.at({i, j}) = NAN;
    }
    if (hasOneRun) {
      EXPECT_TRUE(numbers.lookup("first"));
      const Buffer &out = buffer("out");
      EXPECT_EQ(out.dims[out.rank - 1].extent,
                buffer("q").dims[out.rank - 1].extent);
    }
  }

  std::vector<int64_t> checkSteps(int64_t m) {
    std::vector<int64_t> ends;
    int64_t previous = 0;
    for (StepOp step : getTileSteps(plan)) {
      int64_t end = numbers.lookup("end_" + step.getSymName().str());
      EXPECT_GE(end, previous);
      EXPECT_LE(end, m);
      if (step.getWholeBlocks()) {
        EXPECT_EQ((end - previous) % int64_t(plan.getKeys()), 0);
      }
      ends.push_back(previous = end);
    }
    EXPECT_EQ(previous, m);
    return ends;
  }

  //===--------------------------------------------------------------------===//
  // Numbers that do not depend on content
  //===--------------------------------------------------------------------===//

  double getPosition(PositionOp op, Place place) {
    bool isQuery = op.getSide() == Side::query;
    int64_t token = isQuery ? place.row : place.key;
    Alignment alignment = op.getLaw().getAlignment();
    if (auto law = dyn_cast<IotaAttr>(op.getLaw())) {
      token += law.getOffset() +
               numbers.lookup(isQuery ? "query_begin" : "key_begin");
      if (isQuery && alignment == Alignment::bottom_right)
        token += numbers.lookup("query_shift");
      return static_cast<double>(token);
    }
    auto law = cast<PositionTensorAttr>(op.getLaw());
    const TileArg &arg = findArg([&](const TileArg &candidate) {
      auto other = dyn_cast_or_null<PositionTensorAttr>(candidate.law);
      return other && other.getName() == law.getName() &&
             other.getAxis() == law.getAxis() &&
             (isQuery ? candidate.kind == TileArgKind::QueryPositions &&
                            candidate.alignment == alignment
                      : candidate.kind == TileArgKind::KeyPositions);
    });
    return buffer(arg.getName()).at<int32_t>({token});
  }

  /// A position or relation.
  double getIndex(Value value, Place place) {
    if (auto position = value.getDefiningOp<PositionOp>())
      return getPosition(position, place);
    if (auto remap = value.getDefiningOp<RemapOp>())
      return evaluateScalarRegion<double>(
          remap.getBody(), {getIndex(remap.getPosition(), place)}, Doubles());
    if (auto relation = value.getDefiningOp<RelationOp>()) {
      double distance = getIndex(relation.getQuery(), place) -
                        getIndex(relation.getKey(), place);
      if (auto law = dyn_cast<DifferenceAttr>(relation.getLaw()))
        return law.getOrientation() == Orientation::query_minus_key ? distance
                                                                    : -distance;
      return relation.getLaw().apply(static_cast<int64_t>(distance));
    }
    auto map = value.getDefiningOp<RelationMapOp>();
    double result = evaluateTerm(map.getBody(), map.getInputs(), {}, place);
    if (map.getRows())
      result = std::clamp<double>(result, 0, *map.getRows() - 1);
    return result;
  }

  /// The argument of a table operation, and its buffer.
  const TileArg &findTable(Value table) {
    auto atQuery = table.getDefiningOp<AtQueryOp>();
    if (atQuery)
      table = atQuery.getTable();
    return findArg([&](const TileArg &arg) {
      if (arg.isAtQuery != static_cast<bool>(atQuery) ||
          (atQuery && arg.alignment != atQuery.getAlignment()))
        return false;
      if (auto load = table.getDefiningOp<TileLoadTableOp>())
        return arg.kind == TileArgKind::PreparedTable &&
               arg.symbol == load.getTable();
      auto op = table.getDefiningOp<TableOp>();
      return arg.kind == TileArgKind::Table && arg.law == op.getLaw() &&
             arg.type == op.getType();
    });
  }

  double lookUp(Value table, double row, int64_t channel, Place place) {
    if (auto map = table.getDefiningOp<TableMapOp>())
      return evaluateScalarRegion<double>(
          map.getBody(), {double(std::llround(row)), double(channel)},
          Doubles());
    if (auto project = table.getDefiningOp<ProjectOp>()) {
      auto map = project.getTable().getDefiningOp<TableMapOp>();
      double sum = 0;
      for (int64_t m = 0; m < int64_t(map.getChannels()); ++m)
        sum += lookUp(map, row, m, place) *
               lookUp(project.getWeights(), double(m), channel, place);
      return sum;
    }
    const TileArg &arg = findTable(table);
    const Buffer &numbers = buffer(arg.getName());
    SmallVector<int64_t> index;
    for (auto [dim, axis] : llvm::enumerate(arg.dims))
      index.push_back(axis == TableAxis::key       ? place.key
                      : axis == TableAxis::query   ? place.row
                      : axis == TableAxis::head    ? place.head
                      : axis == TableAxis::channel ? channel
                      // A table of the call's distances has all of them.
                      : arg.hasRelationRows ? std::llround(row)
                                            : numbers.clamp(dim, row));
    index.resize(std::max<size_t>(index.size(), 1));
    if (arg.hasRest)
      index.push_back(0);
    double number = numbers.at(index);
    if (arg.hasRest) {
      index.back() = 1;
      number += numbers.at(index);
    }
    bool isDense = llvm::is_contained(arg.dims, TableAxis::query) &&
                   llvm::is_contained(arg.dims, TableAxis::key);
    return isDense && number <= -1e30 ? -INFINITY : number;
  }

  double evaluateTerm(Region &region, ValueRange inputs, Numbers scores,
                      Place place) {
    int64_t extent = 1;
    bool isSum = false;
    for (Value input : inputs)
      if (auto index = input.getDefiningOp<SumIndexOp>()) {
        extent = index.getExtent();
        isSum = true;
      }
    double sum = 0;
    for (int64_t m = 0; m < extent; ++m) {
      SmallVector<double> arguments(scores.begin(), scores.end());
      double row = 0;
      for (Value input : inputs) {
        if (isa<TableType>(input.getType())) {
          arguments.push_back(lookUp(input, row, m, place));
          continue;
        }
        row = input.getDefiningOp<SumIndexOp>() ? m : getIndex(input, place);
        arguments.push_back(row);
      }
      double value = evaluateScalarRegion<double>(region, arguments, Doubles());
      sum = isSum ? sum + value : value;
    }
    return sum;
  }

  //===--------------------------------------------------------------------===//
  // Vectors
  //===--------------------------------------------------------------------===//

  std::vector<Numbers> transform(Block &body, Numbers vector, Place place) {
    std::map<void *, Numbers> vectors;
    vectors[body.getArgument(0).getAsOpaquePointer()] = std::move(vector);
    for (Operation &op : body.without_terminator()) {
      if (!isa<QueryType, KeyType>(op.getResult(0).getType()))
        continue;
      Numbers result = vectors.at(op.getOperand(0).getAsOpaquePointer());
      change(op, result, place);
      vectors[op.getResult(0).getAsOpaquePointer()] = std::move(result);
    }
    std::vector<Numbers> yielded;
    for (Value value : body.getTerminator()->getOperands())
      yielded.push_back(vectors.at(value.getAsOpaquePointer()));
    return yielded;
  }

  void change(Operation &op, Numbers &vector, Place place) {
    if (auto rotate = dyn_cast<TileRotateOp>(op))
      return turn(rotate, vector, place);
    if (auto norm = dyn_cast<VectorNormOp>(op))
      return normalize(norm, vector, place);
    double factor = 1;
    if (auto scale = dyn_cast<TileScaleOp>(op))
      factor = scale.getFactor().convertToDouble();
    else if (auto scale = dyn_cast<RowScaleOp>(op))
      factor = evaluateTerm(scale.getBody(), scale.getInputs(), {}, place);
    for (auto [c, x] : llvm::enumerate(vector)) {
      x *= factor;
      if (auto add = dyn_cast<VaddOp>(op))
        x += lookUp(add.getTable(),
                    add.getPosition() ? getIndex(add.getPosition(), place) : 0,
                    c, place);
      else if (auto scale = dyn_cast<ChannelScaleOp>(op))
        x *= scale.getOffset().convertToDouble() +
             lookUp(scale.getTable(), 0, c, place);
      else if (auto map = dyn_cast<VectorMapOp>(op))
        x = evaluateScalarRegion<double>(map.getBody(), {x}, Doubles());
    }
  }

  void turn(TileRotateOp op, Numbers &vector, Place place) {
    bool isQuery = isa<QueryType>(op.getType());
    bool isLoaded = !isQuery && tile.kind == FakeTile::Tile;
    const Buffer &angles =
        buffer((isLoaded ? "key_angles_" : "angles_") + op.getTable().str());
    int64_t pairs = op.getDims() / 2;
    SmallVector<int64_t> token{place.key};
    if (isQuery)
      token = getRow(place);
    EXPECT_EQ(angles.dims[0].extent, 2 * pairs);
    for (size_t d = 1; d <= token.size(); ++d)
      EXPECT_EQ(angles.dims[d].extent,
                buffer(isQuery ? "q" : "k").dims[d].extent);
    bool isHalf = op.getPairing() == Pairing::half;
    for (int64_t p = 0; p < pairs; ++p) {
      double &a = vector[op.getFirstDim() + (isHalf ? p : 2 * p)];
      double &b = vector[op.getFirstDim() + (isHalf ? p + pairs : 2 * p + 1)];
      SmallVector<int64_t> index{p};
      llvm::append_range(index, token);
      double c = angles.at(index);
      index[0] += pairs;
      double s = angles.at(index), x = a;
      a = x * c - b * s;
      b = x * s + b * c;
    }
  }

  void normalize(VectorNormOp op, Numbers &vector, Place place) {
    Numbers all = vector;
    if (op.getOver() == NormAxis::all_heads) {
      bool isQuery = isa<QueryType>(op.getType());
      const Buffer &heads = buffer(isQuery ? "all_q" : "all_k");
      EXPECT_EQ(heads.dims[1].extent,
                int64_t(isQuery ? plan.getHeads() : plan.getKvHeads()));
      all.clear();
      for (int64_t h = 0; h < heads.dims[1].extent; ++h)
        for (int64_t c = 0; c < heads.dims[0].extent; ++c)
          all.push_back(heads.at({c, h, isQuery ? place.row : place.key}));
    }
    double mean = 0, squares = 0, count = static_cast<double>(all.size());
    if (op.getKind() == NormKind::layer)
      for (double x : all)
        mean += x / count;
    for (double x : all)
      squares += (x - mean) * (x - mean);
    if (op.getKind() != NormKind::l2)
      squares /= count;
    double epsilon = op.getEpsilon().convertToDouble();
    double length = op.getEpsilonSite() == EpsilonSite::added
                        ? std::sqrt(squares + epsilon)
                        : std::max(std::sqrt(squares), epsilon);
    for (double &x : vector)
      x = (x - mean) / length;
  }

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// The scores of a step for row `i` and its keys [begin, end).
  struct Scores {
    Block &body;
    int64_t row, begin, end;
    std::map<void *, Numbers> values;
    int64_t head = 0;

    Place at(int64_t key) const { return {row, key, head}; }

    Numbers &operator[](Value value) {
      return values[value.getAsOpaquePointer()];
    }
  };

  Numbers getVector(Value vector, int64_t j) {
    unsigned number = cast<BlockArgument>(vector).getArgNumber();
    if (number < queries.size())
      return queries[number];
    number -= queries.size();
    std::string symbol = getKeySymbol(plan, number);
    if (!symbol.empty() && plan.getKeysOp().getOnLoad())
      return transform(plan.getKeysOp().getBody().front(),
                       read(buffer("k"), {j}), {0, j})[number];
    return read(buffer(symbol.empty() ? "k" : "k_" + symbol), {j});
  }

  void evaluate(Operation &op, Scores &scores) {
    auto of = [&](Value score, int64_t j) {
      return scores[score][j - scores.begin];
    };
    auto forKeys = [&](llvm::function_ref<double(int64_t)> get) {
      Numbers result;
      for (int64_t j = scores.begin; j < scores.end; ++j)
        result.push_back(get(j));
      scores[op.getResult(0)] = std::move(result);
    };
    if (auto dot = dyn_cast<DotOp>(op))
      return forKeys([&](int64_t j) {
        Numbers q = getVector(dot.getQuery(), j),
                k = getVector(dot.getKey(), j);
        int64_t shape[] = {0, 0, int64_t(q.size())};
        if (dot.getChannels())
          llvm::copy(*dot.getChannels(), shape);
        double sum = 0;
        for (int64_t c = 0; c < shape[2]; ++c)
          sum += q[shape[0] + c] * k[shape[1] + c];
        return sum * dot.getScale().convertToDouble();
      });
    if (auto dot = dyn_cast<TableDotOp>(op))
      return forKeys([&](int64_t j) {
        Value index = dot.getIndex();
        double row = isa<ScoreType>(index.getType())
                         ? of(index, j)
                         : getIndex(index, scores.at(j));
        double low = isa<ScoreType>(index.getType()) ? std::floor(row) : row;
        Numbers vector = getVector(dot.getVector(), j);
        double sum = 0;
        for (auto [c, x] : llvm::enumerate(vector)) {
          Place place = scores.at(j);
          double value = lookUp(dot.getTable(), low, c, place);
          if (row != low)
            value = (1 - (row - low)) * value +
                    (row - low) * lookUp(dot.getTable(), low + 1, c, place);
          sum += x * value;
        }
        return sum * dot.getScale().convertToDouble();
      });
    if (isa<AddOp>(op))
      return forKeys([&](int64_t j) {
        return of(op.getOperand(0), j) + of(op.getOperand(1), j);
      });
    if (isa<TileToBase2Op>(op))
      return forKeys([&](int64_t j) {
        return of(op.getOperand(0), j) * llvm::numbers::log2e;
      });
    if (auto strip = dyn_cast<TileLoadStripOp>(op))
      return forKeys([&](int64_t j) {
        SmallVector<int64_t> index{scores.row - j};
        if (hasHeadDimension(plan))
          index.push_back(scores.head);
        return buffer("strip_" + strip.getTable().str()).at(index);
      });
    if (auto select = dyn_cast<SelectOp>(op))
      return forKeys([&](int64_t j) {
        if (isAllowed(select, scores.at(j)))
          return of(select.getScore(), j);
        return select.getOther() ? of(select.getOther(), j) : -INFINITY;
      });
    if (auto bias = dyn_cast<BiasOp>(op))
      return forKeys([&](int64_t j) {
        return evaluateTerm(bias.getBody(), bias.getInputs(), {}, scores.at(j));
      });
    if (auto map = dyn_cast<MapOp>(op))
      return forKeys([&](int64_t j) {
        Numbers arguments;
        for (Value score : map.getScores())
          arguments.push_back(of(score, j));
        if (llvm::is_contained(arguments, -INFINITY))
          return -double(INFINITY);
        return evaluateTerm(map.getBody(), map.getInputs(), arguments,
                            scores.at(j));
      });
    if (auto network = dyn_cast<HeadMlpOp>(op)) {
      const Buffer &mixed = buffer("mixed_" + getNetworkSymbol(network));
      return forKeys([&](int64_t j) { return mixed.at({scores.row, j}); });
    }
    if (auto scan = dyn_cast<RowscanOp>(op)) {
      Numbers input = scores[scan.getScore()], result(input.size());
      double sum = 0;
      for (size_t j = input.size(); j-- > 0;) {
        bool isMasked = input[j] == -INFINITY;
        double term = isMasked ? 0
                               : evaluateScalarRegion<double>(
                                     scan.getBody(), {input[j]}, Doubles());
        bool isExclusive = scan.getKind() == ScanKind::exclusive;
        result[j] = isMasked ? -INFINITY : isExclusive ? sum : sum + term;
        sum += term;
      }
      scores[scan.getResult()] = std::move(result);
    }
    // Positions, relations and tables are read where they are used.
  }

  bool isAllowed(SelectOp op, Place place) {
    if (!op.getMask())
      return evaluateTerm(op.getBody(), op.getInputs(), {}, place) != 0;
    double a = static_cast<double>(place.row + numbers.lookup("query_begin"));
    double b = static_cast<double>(place.key + numbers.lookup("key_begin"));
    auto alignment = op.getMaskAttr().getMaskAlignment();
    if (alignment.value_or(Alignment::top_left) == Alignment::bottom_right)
      a += static_cast<double>(numbers.lookup("query_shift"));
    if (!op.getPositions().empty()) {
      a = getIndex(op.getPositions()[0], place);
      b = getIndex(op.getPositions()[1], place);
    }
    return op.getMaskAttr().allowsPair(a, b);
  }

  //===--------------------------------------------------------------------===//
  // The state
  //===--------------------------------------------------------------------===//

  struct Row {
    double maximum = -INFINITY, sum = 0, weights = 0;
    Numbers output;

    /// Makes room for an exponent.
    void rescale(double exponent) {
      double next = std::max(maximum, exponent);
      double factor = maximum == next ? 1 : std::exp2(maximum - next);
      sum *= factor;
      weights *= factor;
      for (double &x : output)
        x *= factor;
      maximum = next;
    }
  };

  /// The sum of weights, where plans need one besides the sum they divide by.
  static constexpr int64_t kWeights = TileState::FirstSum + 1;

  /// Outputs come last.
  int64_t getOutputColumn() {
    const TileFunction &function = tile.function;
    return function.stateColumns - (function.outputColumns
                                        ? function.rows * function.outputColumns
                                        : buffer("v").dims[0].extent);
  }
  float &outputAt(int64_t i, int64_t c) {
    const Buffer &state = buffer("state");
    int64_t first = getOutputColumn(), perRow = tile.function.outputColumns,
            lanes = tile.function.stateRows;
    if (perRow == 0)
      return state.at({i, first + c});
    return state.at({c % lanes, first + i * perRow + c / lanes});
  }

  Row loadState(int64_t i) {
    const Buffer &state = buffer("state");
    Row row;
    row.output.resize(buffer("v").dims[0].extent);
    if (numbers.lookup("first"))
      return row;
    row.maximum = state.at({i, TileState::Maximum});
    row.sum = state.at({i, TileState::FirstSum});
    int64_t output = getOutputColumn();
    row.weights = output > kWeights ? state.at({i, kWeights}) : row.sum;
    for (size_t c = 0; c < row.output.size(); ++c)
      row.output[c] = outputAt(i, c);
    return row;
  }

  void storeState(const Row &row, int64_t i) {
    const Buffer &state = buffer("state");
    int64_t output = getOutputColumn();
    for (int64_t c = 0; c < output; ++c)
      state.at({i, c}) = 0;
    state.at({i, TileState::Maximum}) =
        static_cast<float>(std::max(row.maximum, double(-FLT_MAX)));
    state.at({i, TileState::FirstSum}) = static_cast<float>(row.sum);
    if (output > kWeights)
      state.at({i, kWeights}) = static_cast<float>(row.weights);
    for (size_t c = 0; c < row.output.size(); ++c)
      outputAt(i, c) = static_cast<float>(row.output[c]);
  }

  void computeRow(int64_t i, int64_t m, ArrayRef<int64_t> ends) {
    Row row = loadState(i);
    Place place = getPlace(i);
    queries = transform(plan.getPrologueOp().getBody().front(),
                        read(buffer("q"), getRow(place)), place);
    int64_t begin = 0;
    for (auto [step, end] : llvm::zip_equal(getTileSteps(plan), ends)) {
      Scores scores{
          step.getBody().front(), place.row, begin, end, {}, place.head};
      for (Operation &op : scores.body.without_terminator())
        evaluate(op, scores);
      for (int64_t j = begin; j < end; ++j)
        accumulate(row, scores, j);
      begin = end;
    }
    storeState(row, i);
    finish(row, i);
  }

  void accumulate(Row &row, Scores &scores, int64_t j) {
    ValueRange yielded = scores.body.getTerminator()->getOperands();
    double score = scores[yielded[0]][j - scores.begin];
    yielded = yielded.drop_front();
    if (score == -INFINITY)
      return;
    double weight = score;
    switch (plan.getNormalizeOp().getKind()) {
    case NormalizeKind::softmax:
    case NormalizeKind::exp:
      row.rescale(score);
      weight = std::exp2(score - row.maximum);
      row.sum += weight;
      break;
    case NormalizeKind::identity:
      row.sum += score;
      break;
    case NormalizeKind::abs_sum:
      row.sum += std::fabs(score);
      break;
    case NormalizeKind::linear: {
      double other = scores[yielded[0]][j - scores.begin];
      yielded = yielded.drop_front();
      if (other == -INFINITY)
        return;
      row.sum += other;
      break;
    }
    }
    row.weights += weight;
    Place place = scores.at(j);
    if (isDropped(place))
      return;
    const Buffer &v = buffer("v");
    Numbers rows;
    for (size_t t = 0; t < yielded.size(); t += 2)
      rows.push_back(getIndex(yielded[t + 1], place));
    for (size_t c = 0; c < row.output.size(); ++c) {
      double value = v.at({int64_t(c), j});
      for (auto [t, index] : llvm::enumerate(rows))
        value += lookUp(yielded[2 * t], index, c, place);
      row.output[c] += weight * value;
    }
  }

  bool isDropped(Place place) {
    std::optional<APFloat> rate = plan.getNormalizeOp().getDropout();
    if (!rate)
      return false;
    auto number = [&](StringRef name) {
      return static_cast<uint32_t>(numbers.lookup(name));
    };
    uint32_t query = number("query_begin") + number("query_shift") +
                     static_cast<uint32_t>(place.row);
    uint32_t key = number("key_begin") + static_cast<uint32_t>(place.key);
    auto words =
        philox({key / 4, query, number("dropout_2"), number("dropout_3")},
               {number("dropout_0"), number("dropout_1")});
    return words[key % 4] * 0x1p-32 < rate->convertToDouble();
  }

  /// Divides by what the kind says and writes the results.
  void finish(Row row, int64_t i) {
    TileNormalizeOp op = plan.getNormalizeOp();
    double divisor = 1;
    switch (op.getKind()) {
    case NormalizeKind::softmax:
      if (op.getSink()) {
        double sink = lookUp(op.getSink(), 0, 0, getPlace(i));
        row.rescale(sink * llvm::numbers::log2e);
        row.sum += std::exp2(sink * llvm::numbers::log2e - row.maximum);
      }
      divisor = row.sum;
      break;
    case NormalizeKind::exp:
      divisor = row.sum == 0 ? 1 : std::exp2(-row.maximum);
      break;
    case NormalizeKind::identity:
      break;
    case NormalizeKind::abs_sum:
      divisor = std::clamp(row.sum, (*op.getBounds())[0], (*op.getBounds())[1]);
      break;
    case NormalizeKind::linear:
      divisor = row.sum;
      break;
    }
    auto share = [&](double x) { return divisor == 0 ? 0 : x / divisor; };
    if (std::optional<APFloat> rate = op.getDropout())
      for (double &x : row.output)
        x /= 1 - rate->convertToDouble();
    bool hasRest = !plan.getEpilogueOp()
                        .getBody()
                        .front()
                        .getOps<TileRemainderOp>()
                        .empty();
    Place place = getPlace(i);
    const Buffer &out = buffer("out");
    if (out.dims[out.rank - 1].extent)
      for (int64_t c = 0, e = row.output.size(); c < e; ++c) {
        double value = share(row.output[c]);
        if (hasRest)
          value +=
              (1 - share(row.weights)) * buffer("own_v").at({c, place.row});
        SmallVector<int64_t> index{c};
        llvm::append_range(index, getRow(place));
        out.at(index) = static_cast<float>(value);
      }
    if (!buffers.count("lse"))
      return;
    const Buffer &lse = buffer("lse");
    if (lse.dims[lse.rank - 1].extent)
      lse.at(getRow(place)) = static_cast<float>(
          (row.maximum + std::log2(row.sum)) * llvm::numbers::ln2);
  }

  const FakeTile &tile;
  PlanOp plan;
  llvm::StringMap<int64_t> numbers;
  std::map<std::string, Buffer> buffers;
  /// Of the current row.
  std::vector<Numbers> queries;
};

} // namespace

int32_t FakeTile::run(const int64_t *words) const {
  Call call(*this, words);
  switch (kind) {
  case Tile:
    call.computeTile();
    break;
  case KeyTransform:
    call.transformKeys();
    break;
  case NetworkScores:
    call.computeScores();
    break;
  case Network:
    call.mixHeads();
    break;
  }
  return 0;
}
