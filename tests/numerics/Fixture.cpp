// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Specifications and inputs of the numeric tests.
#include "Fixture.h"

#include "posenc/Compiler/Compile.h"
#include "support/SequenceShape.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

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
  expanded = cantFail(cloneExpanded(*module));
  kernel = *expanded->getOps<KernelOp>().begin();
}

KernelOp Spec::getAppend() const {
  mlir::ModuleOp kernels = *expanded;
  for (KernelOp op : kernels.getOps<KernelOp>())
    if (op.isAppend())
      return op;
  report_fatal_error("a specification of the numeric tests has no cache");
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
      // Segments have several tokens each.
      int64_t divisor = StringRef(tensor.name).starts_with("segment") ? 64 : 1;
      int64_t rows = 1;
      for (int64_t extent : ArrayRef(shape).drop_back())
        rows *= extent;
      for (int64_t b = 0; b < rows; ++b) {
        int64_t position = 3 * b;
        for (int64_t j = 0; j < shape.back(); ++j) {
          positions.data.push_back(position / divisor);
          position += random() % 8 == 0 ? 5 : random() % 16 != 0;
        }
      }
      continue;
    }
    RealTensor values = makeRandom(random, shape, magnitude);
    if (tensor.name == "prefix")
      for (double &value : values.data)
        value = std::floor(200 * std::abs(value));
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
  options.scores = true;
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
