// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeTile.h"

#include "posenc/IR/ScalarRegion.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

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
    for (int32_t d = 0; d < rank; ++d) {
      EXPECT_GE(dims[d].extent, 0);
      EXPECT_LT((dims[d].extent - 1) * int64_t(dims[d].stride), int64_t(1)
                                                                    << 31);
    }
  }

  template <typename T = float>
  T &at(int64_t x, int64_t y = 0, int64_t z = 0) const {
    int64_t index[] = {x, y, z}, offset = 0;
    for (int32_t d = 0; d < rank; ++d) {
      int64_t local = index[d] - dims[d].min;
      if (local < 0 || local >= dims[d].extent) {
        ADD_FAILURE() << "index " << index[d] << " of dimension " << d
                      << " is outside of [" << dims[d].min << ", "
                      << dims[d].min + dims[d].extent << ")";
        std::abort();
      }
      offset += local * dims[d].stride;
    }
    return reinterpret_cast<T *>(host)[offset];
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
    case arith::CmpFPredicate::OGT:
      return a > b;
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
    case ScalarFunction::Tanh:
      return std::tanh(x[0]);
    case ScalarFunction::Add:
      return x[0] + x[1];
    case ScalarFunction::Sub:
      return x[0] - x[1];
    case ScalarFunction::Mul:
      return x[0] * x[1];
    case ScalarFunction::Div:
      return x[0] / x[1];
    default:
      ADD_FAILURE() << "not needed by these tests";
      return 0;
    }
  }
};

class Call {
public:
  Call(const FakeTile &tile, const int64_t *words)
      : tile(tile), plan(tile.plan) {
    for (auto [index, arg] : llvm::enumerate(tile.function.args)) {
      if (arg.rank == 0)
        numbers[arg.getName()] = static_cast<int32_t>(words[index]);
      else
        buffers.insert({arg.getName(),
                        Buffer(reinterpret_cast<char *>(words[index]), arg)});
    }
  }

  void transformKeys() {
    const Buffer &k = buffer("k"), &out = buffer("keys");
    int64_t count = k.dims[1].extent;
    EXPECT_EQ(out.dims[1].extent, count);
    for (int64_t j = 0; j < count; ++j) {
      std::vector<double> key = read(k, j);
      apply(plan.getKeysOp().getBody().front(), key, j, count);
      for (size_t d = 0; d < key.size(); ++d)
        out.at(d, j) = static_cast<float>(key[d]);
    }
  }

  void computeTile() {
    int64_t n = numbers.lookup("rows"), m = numbers.lookup("key_count");
    EXPECT_GT(n, 0);
    EXPECT_LE(n, tile.function.rows);
    EXPECT_EQ(buffer("q").dims[1].extent, n);
    EXPECT_EQ(buffer("k").dims[1].extent, m);
    EXPECT_EQ(buffer("v").dims[1].extent, m);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer("state").host) % 64, 0u);
    EXPECT_EQ(buffer("state").dims[0].extent, tile.function.rows);
    EXPECT_EQ(buffer("state").dims[1].extent, tile.function.stateColumns);
    checkStripsCover(m);
    std::vector<int64_t> ends = checkSteps(m);
    for (int64_t i = 0; i < n; ++i)
      computeRow(i, n, ends);
  }

private:
  const Buffer &buffer(const std::string &name) const {
    auto found = buffers.find(name);
    if (found == buffers.end()) {
      ADD_FAILURE() << "no buffer " << name;
      std::abort();
    }
    return found->second;
  }

  static std::vector<double> read(const Buffer &vectors, int64_t row) {
    std::vector<double> result(vectors.dims[0].extent);
    for (size_t d = 0; d < result.size(); ++d)
      result[d] = vectors.at(d, row);
    return result;
  }

  void checkStripsCover(int64_t m) {
    for (const TileArg &arg : tile.function.args)
      if (arg.kind == TileArgKind::Strip && m > 0) {
        buffer(arg.getName()).at(1 - m);
        buffer(arg.getName()).at(tile.function.rows - 1);
      }
  }

  std::vector<int64_t> checkSteps(int64_t m) {
    std::vector<int64_t> ends;
    int64_t previous = 0;
    for (StepOp step : plan.getStepOps()) {
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

  /// Rotations and scales of a vector.
  void apply(Block &body, std::vector<double> &vector, int64_t row,
             int64_t rows) {
    for (Operation &op : body.without_terminator()) {
      if (auto scale = dyn_cast<TileScaleOp>(op)) {
        for (double &x : vector)
          x *= scale.getFactor().convertToDouble();
        continue;
      }
      auto rotate = cast<TileRotateOp>(op);
      const Buffer &angles = buffer("angles_" + rotate.getTable().str());
      int64_t pairs = rotate.getDims() / 2;
      EXPECT_EQ(angles.dims[0].extent, 2 * pairs);
      EXPECT_EQ(angles.dims[1].extent, rows);
      bool isHalf = rotate.getPairing() == Pairing::half;
      for (int64_t p = 0; p < pairs; ++p) {
        double &a = vector[rotate.getFirstDim() + (isHalf ? p : 2 * p)];
        double &b =
            vector[rotate.getFirstDim() + (isHalf ? p + pairs : 2 * p + 1)];
        double c = angles.at(p, row), s = angles.at(pairs + p, row), x = a;
        a = x * c - b * s;
        b = x * s + b * c;
      }
    }
  }

  void computeRow(int64_t i, int64_t n, ArrayRef<int64_t> ends) {
    const Buffer &state = buffer("state"), &v = buffer("v");
    int64_t width = v.dims[0].extent;
    double maximum = -INFINITY, sum = 0;
    std::vector<double> output(width);
    if (!numbers.lookup("first")) {
      maximum = state.at(i, 0);
      sum = state.at(i, 1);
      for (int64_t d = 0; d < width; ++d)
        output[d] = state.at(i, 2 + d);
    }
    query = read(buffer("q"), i);
    apply(plan.getPrologueOp().getBody().front(), query, i, n);
    int64_t j = 0;
    for (auto [step, end] : llvm::zip_equal(plan.getStepOps(), ends))
      for (; j < end; ++j) {
        double score = computeScore(StepOp(step).getBody().front(), i, j);
        if (score == -INFINITY)
          continue;
        double next = std::max(maximum, score);
        double scale = std::exp2(maximum - next);
        double weight = std::exp2(score - next);
        maximum = next;
        sum = sum * scale + weight;
        for (int64_t d = 0; d < width; ++d)
          output[d] = output[d] * scale + weight * v.at(d, j);
      }
    state.at(i, 0) = static_cast<float>(maximum);
    state.at(i, 1) = static_cast<float>(sum);
    for (int64_t d = 0; d < width; ++d)
      state.at(i, 2 + d) = static_cast<float>(output[d]);
    if (buffer("out").dims[1].extent)
      for (int64_t d = 0; d < width; ++d)
        buffer("out").at(d, i) =
            static_cast<float>(sum == 0 ? 0 : output[d] / sum);
    if (buffer("lse").dims[0].extent)
      buffer("lse").at(i) =
          static_cast<float>((maximum + std::log2(sum)) * llvm::numbers::ln2);
  }

  double computeScore(Block &body, int64_t i, int64_t j) {
    llvm::DenseMap<Value, double> values;
    for (Operation &op : body.without_terminator())
      if (op.getNumResults() == 1)
        values[op.getResult(0)] = evaluate(op, values, i, j);
    return values.lookup(body.getTerminator()->getOperand(0));
  }

  double evaluate(Operation &op, llvm::DenseMap<Value, double> &values,
                  int64_t i, int64_t j) {
    auto in = [&](unsigned index) {
      return values.lookup(op.getOperand(index));
    };
    if (auto dot = dyn_cast<DotOp>(op)) {
      const Buffer &k = buffer("k");
      double sum = 0;
      for (size_t d = 0; d < query.size(); ++d)
        sum += query[d] * k.at(d, j);
      return sum * dot.getScale().convertToDouble();
    }
    if (isa<AddOp>(op))
      return in(0) + in(1);
    if (isa<TileToBase2Op>(op))
      return in(0) * llvm::numbers::log2e;
    if (auto strip = dyn_cast<TileLoadStripOp>(op))
      return buffer("strip_" + strip.getTable().str()).at(i - j);
    if (auto select = dyn_cast<SelectOp>(op)) {
      // The alignment is in the shift.
      int64_t row = i + numbers.lookup("query_begin");
      int64_t shift = numbers.lookup("query_shift");
      int64_t key = j + numbers.lookup("key_begin");
      return isa<CausalMaskAttr>(select.getMaskAttr()) && key > row + shift
                 ? -INFINITY
                 : in(0);
    }
    if (auto position = dyn_cast<PositionOp>(op))
      return getPosition(position, i, j);
    if (auto relation = dyn_cast<RelationOp>(op))
      return relation.getLaw().apply(in(0) - in(1));
    if (auto bias = dyn_cast<BiasOp>(op))
      return evaluateRegion(bias.getBody(), bias.getInputs(), {}, values, i, j);
    if (auto map = dyn_cast<MapOp>(op))
      return evaluateRegion(map.getBody(), map.getInputs(),
                            {values.lookup(map.getScores().front())}, values, i,
                            j);
    return 0; // tables are read where they are used
  }

  double getPosition(PositionOp op, int64_t i, int64_t j) {
    bool isQuery = op.getSide() == Side::query;
    if (auto law = dyn_cast<PositionTensorAttr>(op.getLaw())) {
      std::string name = (isQuery ? "query_positions_" : "key_positions_") +
                         law.getName().str();
      return buffer(name).at<int32_t>(isQuery ? i : j);
    }
    auto law = cast<IotaAttr>(op.getLaw());
    return law.getOffset() + (isQuery ? i + numbers.lookup("query_begin") +
                                            numbers.lookup("query_shift")
                                      : j + numbers.lookup("key_begin"));
  }

  double evaluateRegion(Region &region, ValueRange inputs,
                        SmallVector<double> arguments,
                        llvm::DenseMap<Value, double> &values, int64_t i,
                        int64_t j) {
    double relation = 0;
    for (Value input : inputs) {
      auto table = input.getDefiningOp<TableOp>();
      if (!table) {
        arguments.push_back(values.lookup(input));
        relation = arguments.back();
        continue;
      }
      const TileArg *arg =
          llvm::find_if(tile.function.args, [&](const TileArg &candidate) {
            return candidate.kind == TileArgKind::Table &&
                   candidate.law == table.getLaw() &&
                   candidate.type == table.getType();
          });
      SmallVector<int64_t, 3> index;
      for (TableAxis axis : arg->dims)
        index.push_back(axis == TableAxis::key     ? j
                        : axis == TableAxis::query ? i
                                                   : relation);
      index.resize(3, 0);
      double number = buffer(arg->getName()).at(index[0], index[1], index[2]);
      if (llvm::is_contained(arg->dims, TableAxis::query) &&
          llvm::is_contained(arg->dims, TableAxis::key) && number <= -1e30)
        return -INFINITY;
      arguments.push_back(number);
    }
    return evaluateScalarRegion<double>(region, arguments, Doubles());
  }

  const FakeTile &tile;
  PlanOp plan;
  llvm::StringMap<int64_t> numbers;
  std::map<std::string, Buffer> buffers;
  std::vector<double> query;
};

} // namespace

int32_t FakeTile::run(const int64_t *words) const {
  Call call(*this, words);
  if (isKeyTransform)
    call.transformKeys();
  else
    call.computeTile();
  return 0;
}
