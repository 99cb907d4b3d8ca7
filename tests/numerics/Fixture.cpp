// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Specifications and inputs of the numeric tests.
#include "Fixture.h"

#include "posenc/Compiler/Compile.h"
#include "support/SequenceShape.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

mlir::MLIRContext &posenc::numerics::getContext() {
  static mlir::MLIRContext context = [] {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    return mlir::MLIRContext(registry);
  }();
  return context;
}

Spec::Spec(StringRef text) {
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  if (!module)
    report_fatal_error("a specification of the numeric tests does not parse: " +
                       text);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> copy = cloneExpanded(*module);
  if (!copy)
    report_fatal_error(
        "a specification of the numeric tests does not expand: " +
        Twine(toString(copy.takeError())) + "\n" + text);
  expanded = std::move(*copy);
  kernel = *expanded->getOps<KernelOp>().begin();
}

KernelOp Spec::getAppend() const {
  mlir::ModuleOp kernels = *expanded;
  for (KernelOp op : kernels.getOps<KernelOp>())
    if (op.isAppend())
      return op;
  report_fatal_error("a specification of the numeric tests has no cache");
}

std::string posenc::numerics::replaceAll(std::string text, StringRef from,
                                         StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to.str());
  return text;
}

RealTensor posenc::numerics::makeRandom(std::mt19937 &random,
                                        ArrayRef<int64_t> shape,
                                        double magnitude) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  tensor.data.resize(count);
  // Sums of uniform numbers: the same on every machine, which
  // std::normal_distribution is not.
  for (double &value : tensor.data) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += random() / 4294967296.0 - 0.5;
    value = static_cast<float>(sum * std::sqrt(3.0) * magnitude);
  }
  return tensor;
}

/// Positions rise with gaps and repeats, and so do numbers of segments and
/// regions, which have several tokens each. Orders are permutations.
static void fillIntegers(std::mt19937 &random, StringRef name,
                         IntTensor &numbers) {
  int64_t length = numbers.shape.back(), rows = 1;
  for (int64_t extent : ArrayRef(numbers.shape).drop_back())
    rows *= extent;
  int64_t divisor =
      name.contains("segment") || name.contains("region") ? 64 : 1;
  for (int64_t b = 0; b < rows; ++b) {
    int64_t position = 3 * b;
    for (int64_t j = 0; j < length; ++j) {
      numbers.data.push_back(name == "order" ? j : position / divisor);
      position += random() % 8 == 0 ? 5 : random() % 16 != 0;
    }
    if (name == "order")
      for (int64_t j = length; j > 1; --j)
        std::swap(numbers.data[b * length + j - 1],
                  numbers.data[b * length + random() % j]);
  }
}

/// Makes of random numbers what an operand of that name can have.
static void suit(StringRef name, RealTensor &values) {
  auto forEach = [&](auto function) {
    for (double &value : values.data)
      value = static_cast<float>(function(value));
  };
  if (name == "prefix")
    forEach([](double x) { return std::floor(200 * std::abs(x)); });
  else if (name.ends_with("window")) // one head without a bound
    for (auto [h, value] : enumerate(values.data))
      value = h % 4 == 3 ? -1 : std::floor(150 * std::abs(value));
  else if (name.ends_with(".gamma"))
    forEach([](double x) { return 1 - std::min(std::abs(x), 1.0) / 8; });
  else if (name.ends_with(".slopes"))
    forEach([](double x) { return std::abs(x); });
  else if (name.ends_with(".length"))
    forEach([](double x) { return 1 + 40 * std::abs(x); });
  else if (name.starts_with("negative."))
    forEach([](double x) { return -std::abs(x); });
  else if (name.ends_with("mask")) // a third is hidden, and all of row 1
    for (size_t x = 0; x < values.data.size(); ++x) {
      size_t row = x / values.shape.back() % values.shape.rbegin()[1];
      if (row == 1 || x % 3 == row % 2)
        values.data[x] = 0;
    }
}

ReferenceInputs posenc::numerics::makeInputs(KernelOp kernel,
                                             const Extents &extents,
                                             unsigned seed, double magnitude) {
  std::mt19937 random(seed);
  ReferenceInputs inputs;
  SequenceShape sequences(kernel, extents.batch, extents.queryLen,
                          extents.keyLen);
  for (const KernelTensor &tensor : getKernelTensors(kernel)) {
    if (tensor.isOutput)
      continue;
    SmallVector<int64_t> shape;
    for (const Extent &extent : tensor.extents)
      switch (extent.kind) {
      case ExtentKind::Const:
        shape.push_back(extent.value);
        break;
      case ExtentKind::Batch:
        shape.push_back(extents.batch);
        break;
      case ExtentKind::Heads:
        shape.push_back(extents.heads);
        break;
      case ExtentKind::KvHeads:
        shape.push_back(extents.kvHeads);
        break;
      case ExtentKind::QueryLen:
        shape.push_back(extents.queryLen);
        break;
      case ExtentKind::KeyLen:
      case ExtentKind::Len:
        shape.push_back(extents.keyLen);
        break;
      case ExtentKind::HeadsOr1:
        shape.push_back(
            StringRef(tensor.name).starts_with("one") ? 1 : extents.heads);
        break;
      default:
        shape.push_back(sequences.getExtent(extent));
        break;
      }
    if (tensor.role != SequenceRole::None) {
      IntTensor &numbers = inputs.positions[tensor.name];
      numbers.shape.assign(shape.begin(), shape.end());
      int64_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      for (int64_t index = 0; index < count; ++index)
        numbers.data.push_back(sequences.getNumber(tensor, index));
      continue;
    }
    if (tensor.isInteger) {
      IntTensor &positions = inputs.positions[tensor.name];
      positions.shape.assign(shape.begin(), shape.end());
      fillIntegers(random, tensor.name, positions);
      continue;
    }
    // Codes have about the numbers of others once they are scaled.
    double largest = tensor.hasCodes() ? tensor.getLargestCode() : 4;
    RealTensor values = makeRandom(random, shape, magnitude * largest / 4);
    suit(tensor.name, values);
    if (is_contained({"k_scales", "v_scales"}, tensor.name))
      for (double &value : values.data)
        value = static_cast<float>(
            std::abs(value) /
            (kernel.getKeyElementType().isInteger(8) ? 32 : 112));
    if (tensor.storage)
      for (double &value : values.data)
        value = tensor.fromBits(tensor.toBits(static_cast<float>(value)));
    if (tensor.name == "q")
      inputs.q = std::move(values);
    else if (tensor.name == "k")
      inputs.k = std::move(values);
    else if (tensor.name == "v")
      inputs.v = std::move(values);
    else
      inputs.tables[tensor.name] = std::move(values);
  }
  return inputs;
}

ReferenceOutputs posenc::numerics::evaluate(KernelOp kernel,
                                            const ReferenceInputs &inputs) {
  ReferenceOptions options;
  options.scores = !kernel.getRecurrence();
  return cantFail(evaluateReference(kernel, inputs, options));
}

std::string posenc::numerics::compare(StringRef name, const RealTensor &got,
                                      const RealTensor &wanted,
                                      double tolerance) {
  std::string text;
  raw_string_ostream stream(text);
  if (got.shape != wanted.shape) {
    stream << name << " has the shape [";
    interleaveComma(got.shape, stream);
    stream << "], wanted [";
    interleaveComma(wanted.shape, stream);
    stream << "]";
    return text;
  }
  for (size_t i = 0; i < got.data.size(); ++i) {
    double x = got.data[i], y = wanted.data[i];
    if (x == y || std::abs(x - y) <= tolerance)
      continue;
    stream << name << " differs at element " << i << ": " << format("%.17g", x)
           << ", wanted " << format("%.17g", y);
    return text;
  }
  return text;
}

std::string posenc::numerics::compareAll(const ReferenceOutputs &got,
                                         const ReferenceOutputs &wanted,
                                         double tolerance) {
  std::string problem = compare("scores", got.scores, wanted.scores, tolerance);
  if (problem.empty())
    problem = compare("output", got.o, wanted.o, tolerance);
  if (problem.empty())
    problem = compare("lse", got.lse, wanted.lse, tolerance);
  return problem;
}
