// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace posenc;
using namespace posenc::test;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

void posenc::test::PrintTo(const PlanOptions &options, std::ostream *stream) {
  *stream << options.isa;
}

static std::string makeStep(const PlanOptions &options, bool whole) {
  std::string text = whole ? "posenc.step @interior" : "posenc.step @edge";
  text += " until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>)";
  text += whole ? " whole_blocks {\n" : " {\n";
  text += "^bb0(%q: !posenc.query, %k: !posenc.key):\n"
          "%s = posenc.dot %q, %k scale(1.0)\n" +
          options.terms;
  bool masks = options.causal && !whole;
  if (masks)
    text += "%u = posenc.select %t mask(#posenc.causal)\n";
  return text + "posenc.yield " + (masks ? "%u" : "%t") + options.yields +
         " : !posenc.score" + options.yieldTypes + "\n}\n";
}

std::string posenc::test::makePlan(const PlanOptions &options) {
  auto number = [](auto value) { return std::to_string(value); };
  char scale[32]; // to_string has six digits only
  std::snprintf(scale, sizeof(scale), "%.17e", options.scale);
  std::string rotation = " by @angles0 pairing(" + options.pairing +
                         ") first_dim(" + number(options.firstDim) + ") dims(" +
                         number(options.rotatedDims) + ") : ";
  std::string text = "posenc.plan @k kernel(@kernel) isa(\"" + options.isa +
                     "\") heads(1) kv_heads(1) head_dim(" +
                     number(options.headDim) + ") value_dim(" +
                     number(options.valueDim) + ") rows([" + options.rows +
                     "]) keys(" + number(options.keys) + ") {\n";
  if (!options.pairing.empty())
    text += "posenc.prepare @angles0 angles {\n"
            "^bb0(%k: !posenc.key):\n"
            "%p = posenc.position key law(#posenc.iota)\n"
            "%f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = " +
            number(options.rotatedDims) +
            ">)\n"
            "%r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) "
            ": !posenc.key\n"
            "posenc.yield %r : !posenc.key\n}\n";
  if (options.strip)
    text += "posenc.prepare @strip0 strip {\n"
            "%b = posenc.bias() {\n"
            "%c = arith.constant 0.0 : f64\nposenc.yield %c : f64\n}\n"
            "posenc.yield %b : !posenc.score\n}\n";
  if (!options.pairing.empty())
    text += "posenc.keys {\n^bb0(%k: !posenc.key):\n"
            "%0 = posenc.tile.rotate %k" +
            rotation + "!posenc.key\nposenc.yield %0 : !posenc.key\n}\n";
  text += "posenc.prologue {\n^bb0(%q: !posenc.query):\n";
  if (!options.pairing.empty())
    text += "%0 = posenc.tile.rotate %q" + rotation + "!posenc.query\n";
  text += std::string("%1 = posenc.tile.scale ") +
          (options.pairing.empty() ? "%q" : "%0") + " by(" + scale +
          ")\nposenc.yield %1 : !posenc.query\n}\n";
  if (!options.oneStep)
    text += makeStep(options, /*whole=*/true);
  text += makeStep(options, /*whole=*/false);
  return text + "posenc.epilogue {\n^bb0(%s: !posenc.state):\n"
                "%o = posenc.tile.normalize softmax %s\n"
                "posenc.yield %o : !posenc.output\n}\n}\n";
}

CompiledPlan::CompiledPlan(const std::string &text) {
  context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          diagnostics += diagnostic.str();
                                          return mlir::success();
                                        });
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return;
  auto emitted = emitTileObjects(getPlan(), getHostPlatform());
  if (mlir::failed(emitted))
    return;
  objects = std::move(*emitted);

  static bool initialized = !llvm::InitializeNativeTarget() &&
                            !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialized)
    return;
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  jit->getMainJITDylib().addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  for (const TileObject &object : objects)
    llvm::cantFail(jit->addObjectFile(
        llvm::MemoryBuffer::getMemBufferCopy(object.bytes, object.symbol)));
  auto load = [&](const TileFunction &signature) {
    return Function{
        signature,
        llvm::cantFail(jit->lookup(signature.symbol)).toPtr<void *>()};
  };
  auto signatures = getTileFunctions(getPlan());
  for (const TileFunction &signature : *signatures)
    tiles.push_back(load(signature));
  if (std::optional<TileFunction> signature = getKeyFunction(getPlan()))
    keyTransform.push_back(load(*signature));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {
/// `count` elements that end (or begin) where memory may not be touched.
template <typename T>
class GuardedArray {
public:
  GuardedArray(size_t count, bool atEnd) {
    size_t page = sysconf(_SC_PAGESIZE);
    size_t bytes = count * sizeof(T);
    size_t inner = (bytes + page - 1) / page * page;
    mapped = inner + 2 * page;
    base = static_cast<char *>(
        mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED ||
        (inner != 0 &&
         mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0))
      std::abort();
    begin = reinterpret_cast<T *>(base + page + (atEnd ? inner - bytes : 0));
    std::fill_n(begin, count, T(77));
  }
  GuardedArray(const GuardedArray &) = delete;
  GuardedArray &operator=(const GuardedArray &) = delete;
  ~GuardedArray() { munmap(base, mapped); }

  T *data() { return begin; }

private:
  char *base;
  size_t mapped;
  T *begin;
};

/// The arguments of one call.
class Call {
public:
  explicit Call(bool atEnd) : atEnd(atEnd) {}

  void addNumber(int64_t value) { words.push_back(value); }

  /// A compact f32 buffer, filled by `value(index in dimension 1, in 0)`.
  template <typename Fill>
  void addFloats(std::vector<int64_t> extents, Fill value, int64_t min = 0) {
    float *data = addArray(extents, min);
    for (int64_t outer = 0; outer < (extents.size() > 1 ? extents[1] : 1);
         ++outer)
      for (int64_t inner = 0; inner < extents[0]; ++inner)
        *data++ = static_cast<float>(value(outer, inner));
  }

  float *addArray(const std::vector<int64_t> &extents, int64_t min = 0) {
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    floats.push_back(std::make_unique<GuardedArray<float>>(count, atEnd));
    addBuffer(floats.back()->data(), extents, min, /*isInteger=*/false);
    return floats.back()->data();
  }

  void addIntegers(const int32_t *begin, int64_t count) {
    integers.push_back(std::make_unique<GuardedArray<int32_t>>(count, atEnd));
    std::copy_n(begin, count, integers.back()->data());
    addBuffer(integers.back()->data(), {count}, 0, /*isInteger=*/true);
  }

  void addBuffer(void *data, const std::vector<int64_t> &extents, int64_t min,
                 bool isInteger) {
    auto buffer = std::make_unique<Buffer>();
    int32_t stride = 1;
    for (size_t i = 0; i < extents.size(); ++i) {
      buffer->dims[i] = {static_cast<int32_t>(i == 0 ? min : 0),
                         static_cast<int32_t>(extents[i]), stride, 0};
      stride *= static_cast<int32_t>(extents[i]);
    }
    auto set = [&](unsigned offset, auto value) {
      std::memcpy(buffer->bytes + offset, &value, sizeof(value));
    };
    set(TileBuffer::kHostOffset, data);
    set(TileBuffer::kTypeOffset,
        static_cast<uint8_t>(isInteger ? TileBuffer::kTypeCodeInt
                                       : TileBuffer::kTypeCodeFloat));
    set(TileBuffer::kTypeOffset + 1, static_cast<uint8_t>(32));
    set(TileBuffer::kTypeOffset + 2, static_cast<uint16_t>(1));
    set(TileBuffer::kDimensionsOffset, static_cast<int32_t>(extents.size()));
    set(TileBuffer::kDimOffset, &buffer->dims[0]);
    words.push_back(reinterpret_cast<int64_t>(&buffer->bytes[0]));
    buffers.push_back(std::move(buffer));
  }

  /// Every argument is one word for the x86-64 calling convention, and words
  /// that a function does not expect do no harm.
  int run(void *address) {
    constexpr size_t kWords = 24;
    if (words.size() > kWords)
      std::abort();
    words.resize(kWords);
    return apply(address, std::make_index_sequence<kWords>());
  }

private:
  template <size_t>
  using WordAt = long;
  template <size_t... index>
  int apply(void *address, std::index_sequence<index...>) {
    auto function = reinterpret_cast<int (*)(WordAt<index>...)>(address);
    return function(words[index]...);
  }

  struct Dimension {
    int32_t min, extent, stride, flags;
  };
  struct Buffer {
    alignas(8) char bytes[TileBuffer::kBytes] = {};
    Dimension dims[4] = {};
  };

  bool atEnd;
  std::vector<long> words;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<GuardedArray<float>>> floats;
  std::vector<std::unique_ptr<GuardedArray<int32_t>>> integers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

Problem::Problem(const PlanOptions &options, int64_t queryLen, int64_t keyLen)
    : options(options), queryLen(queryLen), keyLen(keyLen) {
  std::mt19937 generator(
      static_cast<unsigned>(queryLen * 1000 + keyLen * 7 + options.headDim));
  std::normal_distribution<float> normal;
  auto fill = [&](std::vector<float> &values, int64_t count) {
    values.resize(count);
    for (float &value : values)
      value = normal(generator);
  };
  fill(q, queryLen * options.headDim);
  fill(k, keyLen * options.headDim);
  fill(v, keyLen * options.valueDim);
  fill(pairs, queryLen * keyLen);
  for (float &pair : pairs)
    if (generator() % 7 == 0)
      pair = generator() % 2 != 0 ? -INFINITY : -1e30f;
  fill(rowTable, 16);
  auto fillPositions = [&](std::vector<int32_t> &positions, int64_t count) {
    positions.resize(count);
    for (int32_t &position : positions)
      position = static_cast<int32_t>(generator() % 1000);
  };
  fillPositions(queryPositions, queryLen);
  fillPositions(keyPositions, keyLen);
  strip = [](int64_t distance) {
    // A function of the distance may mask too.
    return distance % 11 == 5 ? -INFINITY : std::sin(0.1 * distance);
  };
  score = [](double dot, int64_t, int64_t) { return dot; };
}

float Problem::element(llvm::StringRef table, int64_t channel, int64_t key,
                       int64_t query, int64_t row) {
  double phase = static_cast<double>(table.size());
  return static_cast<float>(
      std::sin(phase + 1.7 * channel + 0.3 * key + 0.7 * query + 2.3 * row));
}

double Problem::angle(int64_t position, int64_t pair) const {
  return position * std::pow(1.0e4, -2.0 * pair / options.rotatedDims);
}

/// One row as the tile function sees its angles: cosines, then sines.
static float angleEntry(const Problem &problem, int64_t position,
                        int64_t entry) {
  int64_t count = problem.options.rotatedDims / 2;
  double angle = problem.angle(position, entry % count);
  return static_cast<float>(entry < count ? std::cos(angle) : std::sin(angle));
}

static std::vector<float> transformKeys(CompiledPlan &plan,
                                        const Problem &problem, bool atEnd) {
  if (plan.keyTransform.empty())
    return problem.k;
  const PlanOptions &options = problem.options;
  std::vector<float> keys;
  // Chunks of any length must do.
  for (int64_t begin = 0; begin < problem.keyLen; begin += 37) {
    int64_t count = std::min<int64_t>(37, problem.keyLen - begin);
    Call call(atEnd);
    float *out = nullptr;
    for (const TileArg &arg : plan.keyTransform[0].signature.args) {
      if (arg.kind == TileArgKind::Key)
        call.addFloats({options.headDim, count}, [&](int64_t j, int64_t d) {
          return problem.k[(begin + j) * options.headDim + d];
        });
      else if (arg.kind == TileArgKind::Angles)
        call.addFloats({options.rotatedDims, count},
                       [&](int64_t j, int64_t entry) {
                         return angleEntry(problem, begin + j, entry);
                       });
      else
        out = call.addArray({options.headDim, count});
    }
    if (call.run(plan.keyTransform[0].address) != 0)
      std::abort();
    keys.insert(keys.end(), out, out + count * options.headDim);
  }
  return keys;
}

/// Where the steps of a tile end among all keys.
static std::vector<int64_t> getStepEnds(const Problem &problem, int64_t begin,
                                        int64_t end) {
  const PlanOptions &options = problem.options;
  int64_t all = problem.keyLen, open = problem.keyLen;
  if (options.causal) {
    all = std::clamp<int64_t>(end + problem.shift(), 0, problem.keyLen);
    open = std::clamp<int64_t>(begin + problem.shift() + 1, 0, problem.keyLen);
  }
  if (options.oneStep)
    return {all};
  return {open / options.keys * options.keys, all};
}

namespace {
/// The keys and rows of a call.
struct Range {
  int64_t keyBegin, keyCount, begin, rows;
};
} // namespace

static void addTable(Call &call, const TileArg &arg, const Problem &problem,
                     Range range) {
  int64_t numRows = 1, channels = 1;
  if (auto operand = llvm::dyn_cast<OperandAttr>(arg.law)) {
    numRows = operand.getRows();
    channels = operand.getChannels();
  }
  std::vector<int64_t> extents;
  for (TableAxis axis : arg.dims)
    extents.push_back(axis == TableAxis::channel ? channels
                      : axis == TableAxis::key   ? range.keyCount
                      : axis == TableAxis::query ? range.rows
                                                 : numRows);
  float *data = call.addArray(extents);
  std::vector<int64_t> at(extents.size());
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, index[4] = {}; // channel, key, query, row
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      TableAxis axis = arg.dims[dim];
      int64_t x = rest % extents[dim];
      rest /= extents[dim];
      if (axis == TableAxis::channel)
        index[0] = x;
      else if (axis == TableAxis::key)
        index[1] = range.keyBegin + x;
      else if (axis == TableAxis::query)
        index[2] = range.begin + x;
      else
        index[3] = x;
    }
    data[n] =
        Problem::element(arg.symbol, index[0], index[1], index[2], index[3]);
  }
}

/// One tile over its keys in `runs` calls.
static void runTile(const CompiledPlan::Function &tile, const Problem &problem,
                    const std::vector<float> &keys, int64_t begin, int64_t end,
                    const RunOptions &run, Outputs &outputs) {
  const PlanOptions &options = problem.options;
  int64_t rows = end - begin, dim = options.headDim,
          valueDim = options.valueDim;
  std::vector<int64_t> stepEnds = getStepEnds(problem, begin, end);
  int64_t total = stepEnds.back();
  GuardedArray<float> state(tile.signature.rows * tile.signature.stateColumns,
                            run.atEnd);

  for (int64_t part = 0; part < run.runs; ++part) {
    int64_t keyBegin = total * part / run.runs;
    int64_t keyEnd = total * (part + 1) / run.runs;
    int64_t keyCount = keyEnd - keyBegin, last = 0, step = 0;
    bool isLast = part + 1 == run.runs;
    Call call(run.atEnd);
    float *out = nullptr, *lse = nullptr;
    for (const TileArg &arg : tile.signature.args) {
      switch (arg.kind) {
      case TileArgKind::Query:
        call.addFloats({dim, rows}, [&](int64_t i, int64_t d) {
          return problem.q[(begin + i) * dim + d];
        });
        break;
      case TileArgKind::Key:
        call.addFloats({dim, keyCount}, [&](int64_t j, int64_t d) {
          return keys[(keyBegin + j) * dim + d];
        });
        break;
      case TileArgKind::Value:
        call.addFloats({valueDim, keyCount}, [&](int64_t j, int64_t d) {
          return problem.v[(keyBegin + j) * valueDim + d];
        });
        break;
      case TileArgKind::Angles:
        call.addFloats(
            {options.rotatedDims, rows}, [&](int64_t i, int64_t entry) {
              return angleEntry(problem, begin + i + problem.shift(), entry);
            });
        break;
      case TileArgKind::Strip: {
        int64_t min = std::min<int64_t>(0, 1 - keyCount);
        call.addFloats(
            {tile.signature.rows - min},
            [&](int64_t, int64_t entry) {
              return problem.strip(entry + min + begin + problem.shift() -
                                   keyBegin);
            },
            min);
        break;
      }
      case TileArgKind::Table:
        if (arg.symbol != "bias" && arg.symbol != "rows")
          addTable(call, arg, problem, {keyBegin, keyCount, begin, rows});
        else if (arg.dims.size() == 2)
          call.addFloats({keyCount, rows}, [&](int64_t i, int64_t j) {
            return problem.pairs[(begin + i) * problem.keyLen + keyBegin + j];
          });
        else
          call.addFloats(
              {static_cast<int64_t>(problem.rowTable.size())},
              [&](int64_t, int64_t r) { return problem.rowTable[r]; });
        break;
      case TileArgKind::QueryPositions:
        call.addIntegers(problem.queryPositions.data() + begin, rows);
        break;
      case TileArgKind::KeyPositions:
        call.addIntegers(problem.keyPositions.data() + keyBegin, keyCount);
        break;
      case TileArgKind::Rows:
        call.addNumber(rows);
        break;
      case TileArgKind::KeyCount:
        call.addNumber(keyCount);
        break;
      case TileArgKind::QueryBegin:
        call.addNumber(begin);
        break;
      case TileArgKind::QueryShift:
        call.addNumber(problem.shift());
        break;
      case TileArgKind::KeyBegin:
        call.addNumber(keyBegin);
        break;
      case TileArgKind::StepEnd: {
        int64_t stop = std::clamp(stepEnds[step], keyBegin, keyEnd) - keyBegin;
        bool whole = ++step < static_cast<int64_t>(stepEnds.size());
        last = whole ? last + (stop - last) / options.keys * options.keys
                     : keyCount;
        call.addNumber(last);
        break;
      }
      case TileArgKind::First:
        call.addNumber(part == 0);
        break;
      case TileArgKind::State:
        call.addBuffer(state.data(),
                       {tile.signature.rows, tile.signature.stateColumns}, 0,
                       /*isInteger=*/false);
        break;
      case TileArgKind::Output:
        out = call.addArray({valueDim, isLast ? rows : 0});
        break;
      case TileArgKind::LogSumExp:
        lse = call.addArray({isLast ? rows : 0});
        break;
      case TileArgKind::Scan:
        call.addArray({tile.signature.rows, 2 * keyCount});
        break;
      case TileArgKind::DropoutWord:
      case TileArgKind::TransformedKey:
      case TileArgKind::ValuePairs:
      case TileArgKind::PairedValue:
      case TileArgKind::KeyAngles:
      case TileArgKind::OwnValue:
      case TileArgKind::AllQueries:
      case TileArgKind::AllKeys:
      case TileArgKind::PreparedTable:
      case TileArgKind::AllScores:
      case TileArgKind::Mixed:
      case TileArgKind::KeyRows:
      case TileArgKind::ValueRows:
      case TileArgKind::OwnValueRows:
      case TileArgKind::KeyScales:
      case TileArgKind::AllKeyScales:
      case TileArgKind::ValueScales:
      case TileArgKind::OwnValueScales:
      case TileArgKind::KeyScaleRows:
      case TileArgKind::ValueScaleRows:
      case TileArgKind::OwnValueScaleRows:
      case TileArgKind::HeadScores:
      case TileArgKind::AllMixed:
      case TileArgKind::Decays:
      case TileArgKind::StateBefore:
      case TileArgKind::SumsBefore:
      case TileArgKind::StateBehind:
      case TileArgKind::SumsBehind:
        std::abort();
      }
    }
    if (call.run(tile.address) != 0)
      std::abort();
    if (isLast) {
      outputs.o.insert(outputs.o.end(), out, out + rows * valueDim);
      outputs.lse.insert(outputs.lse.end(), lse, lse + rows);
    }
  }
}

Outputs posenc::test::runTiles(CompiledPlan &plan, const Problem &problem,
                               const RunOptions &run) {
  std::vector<float> keys = transformKeys(plan, problem, run.atEnd);
  const CompiledPlan::Function &tile = plan.tiles[run.tile];
  Outputs outputs;
  for (int64_t begin = 0; begin < problem.queryLen;) {
    int64_t end = std::min(begin + tile.signature.rows, problem.queryLen);
    runTile(tile, problem, keys, begin, end, run, outputs);
    begin = end;
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// The same in double precision
//===----------------------------------------------------------------------===//

static std::vector<double> rotateRow(const Problem &problem, const float *row,
                                     int64_t position) {
  const PlanOptions &options = problem.options;
  std::vector<double> result(row, row + options.headDim);
  int64_t pairs = options.rotatedDims / 2;
  if (options.pairing.empty())
    return result;
  for (int64_t p = 0; p < pairs; ++p) {
    bool half = options.pairing == "half";
    int64_t a = options.firstDim + (half ? p : 2 * p);
    int64_t b = half ? a + pairs : a + 1;
    double angle = problem.angle(position, p), x = result[a], y = result[b];
    result[a] = x * std::cos(angle) - y * std::sin(angle);
    result[b] = x * std::sin(angle) + y * std::cos(angle);
  }
  return result;
}

static double getValue(const Problem &problem, int64_t i, int64_t j,
                       int64_t d) {
  double value = problem.v[j * problem.options.valueDim + d];
  return problem.tableValue ? value + problem.tableValue(i, j, d) : value;
}

ReferenceOutputs posenc::test::evaluateProblem(const Problem &problem) {
  const PlanOptions &options = problem.options;
  int64_t rows = problem.queryLen, keys = problem.keyLen,
          valueDim = options.valueDim;
  ReferenceOutputs result;
  result.o.shape = {1, 1, rows, valueDim};
  result.lse.shape = {1, 1, rows};
  std::vector<std::vector<double>> k;
  for (int64_t j = 0; j < keys; ++j)
    k.push_back(rotateRow(problem, &problem.k[j * options.headDim], j));
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> q = rotateRow(problem, &problem.q[i * options.headDim],
                                      i + problem.shift());
    std::vector<double> scores(keys);
    double maximum = -INFINITY, maxScore = 0, maxValue = 0, sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < options.headDim; ++d)
        dot += q[d] * k[j][d];
      double score = problem.score(dot * options.scale, i, j);
      if (options.causal && j > i + problem.shift())
        score = -INFINITY;
      scores[j] = score;
      if (std::isinf(score))
        continue;
      maximum = std::max(maximum, score);
      maxScore = std::max(maxScore, std::abs(score));
      for (int64_t d = 0; d < valueDim; ++d)
        maxValue = std::max(maxValue, std::abs(getValue(problem, i, j, d)));
    }
    std::vector<double> o(valueDim);
    for (int64_t j = 0; j < keys; ++j) {
      if (std::isinf(scores[j]))
        continue;
      double weight = std::exp(scores[j] - maximum);
      sum += weight;
      for (int64_t d = 0; d < valueDim; ++d)
        o[d] += weight * getValue(problem, i, j, d);
    }
    for (double value : o)
      result.o.data.push_back(sum > 0 ? value / sum : 0);
    result.lse.data.push_back(sum > 0 ? maximum + std::log(sum) : -INFINITY);
    result.maxScore.data.push_back(maxScore);
    result.maxValue.data.push_back(maxValue);
  }
  return result;
}

std::string posenc::test::compare(CompiledPlan &plan, const Problem &problem,
                                  const RunOptions &run) {
  Outputs outputs = runTiles(plan, problem, run);
  ReferenceOutputs reference = evaluateProblem(problem);
  Accuracy o = measureOutput(reference, outputs.o);
  Accuracy lse = measureLse(reference, outputs.lse);
  std::string where = " (Lq " + std::to_string(problem.queryLen) + ", Lk " +
                      std::to_string(problem.keyLen) + ", " +
                      std::to_string(run.runs) + " runs)";
  if (!o.isAccurate())
    return o.describe("o") + where;
  if (!lse.isAccurate())
    return lse.describe("lse") + where;
  return "";
}

std::vector<PlanOptions> posenc::test::getTestTargets() {
  std::vector<PlanOptions> targets;
  auto add = [&](const char *isa, const char *rows) {
    PlanOptions options;
    options.isa = isa;
    options.rows = rows;
    targets.push_back(options);
  };
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    add("x86-64-avx512", "48, 32");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    add("x86-64-avx2", "24");
  add("x86-64", "8");
  return targets;
}
