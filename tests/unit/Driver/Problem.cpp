// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Problem.h"

#include "posenc/Reference/Accuracy.h"
#include "support/SequenceShape.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <random>
#include <sys/mman.h>

using namespace posenc;
using namespace posenc::test;

namespace {

// Of random numbers: all halves count.
constexpr uint64_t kSeed = 0x9e3779b97f4a7c15, kOffset = 0xfedcba9876543210;

/// A DLTensor of 4-byte elements in memory of its own.
class Tensor {
public:
  Tensor(std::vector<int64_t> extents, std::vector<int64_t> strideList,
         bool isInteger)
      : shape(std::move(extents)), strides(std::move(strideList)) {
    int64_t span = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      span += std::max<int64_t>(shape[i] - 1, 0) * strides[i];
    // One more element, so that byte_offset counts.
    bytes = (span + 1) * 4;
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    value.data = memory;
    value.byte_offset = 4;
    value.device = {kDLCPU, 0};
    value.ndim = static_cast<int>(shape.size());
    value.dtype = {static_cast<uint8_t>(isInteger ? kDLInt : kDLFloat), 32, 1};
    value.shape = shape.data();
    value.strides = strides.data();
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() { munmap(memory, bytes); }

  bool isMapped() const { return memory != MAP_FAILED; }

  int64_t count() const {
    int64_t result = 1;
    for (int64_t extent : shape)
      result *= extent;
    return result;
  }

  /// Element number `index` in C order.
  template <typename T>
  T &at(int64_t index) {
    int64_t offset = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += index % shape[axis] * strides[axis];
      index /= shape[axis];
    }
    return static_cast<T *>(memory)[offset];
  }

  std::vector<int64_t> shape, strides;
  DLTensor value;

private:
  void *memory;
  int64_t bytes;
};

/// The tensors of one call.
class Problem {
public:
  Problem(HostProgram &program, const Shape &shape, const CallOptions &options)
      : program(program), kernel(program.getKernel()), shape(shape),
        options(options), descriptions(getKernelTensors(kernel)) {
    if (!this->shape.heads)
      this->shape.heads = kernel.getHeads();
    for (const KernelTensor &tensor : descriptions)
      tensors.push_back(make(tensor));
    words.push_back((descriptions.size() + 1) * sizeof(uintptr_t));
    for (auto [tensor, description] : llvm::zip_equal(tensors, descriptions))
      words.push_back(description.name == "lse" && !options.wantsLse
                          ? 0
                          : reinterpret_cast<uintptr_t>(&tensor->value));
  }

  bool isMapped() const {
    return llvm::all_of(tensors, [](auto &t) { return t->isMapped(); });
  }

  std::string run();
  std::string compare();
  size_t getScratchBytes() {
    posenc_call call = POSENC_CALL_INIT;
    return program.scratchBytes(words.data(), &call);
  }

private:
  std::unique_ptr<Tensor> make(const KernelTensor &description);
  std::vector<int64_t> getStrides(const KernelTensor &description,
                                  llvm::ArrayRef<int64_t> extents) const;
  std::vector<double> read(Tensor &tensor) const;
  int64_t countWritten(const Tensor &tensor) const;

  HostProgram &program;
  mutable KernelOp kernel; // operations know no const
  Shape shape;
  CallOptions options;
  std::vector<KernelTensor> descriptions;
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<uintptr_t> words; // NAME_args
  std::mt19937 random{1};
};

std::unique_ptr<Tensor> Problem::make(const KernelTensor &description) {
  int64_t group = kernel.getHeads() / kernel.getNumKvHeads();
  SequenceShape sequences(kernel, shape.batch, shape.queryLen, shape.keyLen);
  std::vector<int64_t> extents;
  for (const Extent &extent : description.extents)
    switch (extent.kind) {
    case ExtentKind::Const:
      extents.push_back(extent.value);
      break;
    case ExtentKind::Batch:
      extents.push_back(shape.batch);
      break;
    case ExtentKind::Heads:
      extents.push_back(shape.heads);
      break;
    case ExtentKind::KvHeads:
      extents.push_back(shape.heads / group);
      break;
    case ExtentKind::QueryLen:
      extents.push_back(shape.queryLen);
      break;
    case ExtentKind::KeyLen:
    case ExtentKind::Len:
      extents.push_back(shape.keyLen);
      break;
    case ExtentKind::HeadsOr1:
      extents.push_back(options.sharesHeads ? 1 : shape.heads);
      break;
    default:
      extents.push_back(sequences.getExtent(extent));
      break;
    }
  auto tensor = std::make_unique<Tensor>(
      extents, getStrides(description, extents), description.isInteger);
  if (!tensor->isMapped())
    return tensor;
  std::normal_distribution<float> normal;
  auto counts = [&](ExtentKind kind) {
    return llvm::any_of(description.extents, [&](const Extent &extent) {
      return extent.kind == kind;
    });
  };
  bool isOfPairs = !description.isOutput && counts(ExtentKind::QueryLen) &&
                   counts(ExtentKind::KeyLen);
  for (int64_t i = 0; i < tensor->count(); ++i) {
    if (description.role != SequenceRole::None)
      tensor->at<int32_t>(i) = sequences.getNumber(description, i);
    else if (description.isInteger)
      tensor->at<int32_t>(i) = static_cast<int32_t>(random() % 40);
    else
      tensor->at<float>(i) = description.isOutput ? NAN : normal(random);
    // Pairs may be masked by value.
    if (isOfPairs && i % 7 == 3)
      tensor->at<float>(i) = -INFINITY;
  }
  return tensor;
}

std::vector<int64_t>
Problem::getStrides(const KernelTensor &description,
                    llvm::ArrayRef<int64_t> extents) const {
  std::vector<int64_t> strides(extents.size());
  std::vector<size_t> order(extents.size()); // innermost first
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = order.size() - 1 - i;
  bool isKey = description.name == "k" || description.name == "v";
  bool isQuery = llvm::is_contained({"q", "o", "lse"}, description.name);
  int64_t rowStride = isKey     ? options.keyStride
                      : isQuery ? options.queryStride
                                : 0;
  if (options.isStrided && extents.size() == 4 && description.unitStride)
    std::swap(order[1], order[2]);
  // Tables, but not positions, may be transposed.
  if (options.isStrided && !description.unitStride)
    std::reverse(order.begin(), order.end());
  int64_t stride = 1;
  for (size_t axis : order) {
    // Of packed tensors, the first.
    bool isPacked = isQuery ? kernel.getQueryStorage() == QueryStorage::packed
                            : kernel.getKeyStorage() == KeyStorage::packed;
    bool isRow = axis == (isPacked ? 0 : 2) && extents.size() > 2;
    if (isRow && rowStride)
      stride = rowStride;
    if (isQuery && axis == 1 && options.headStride)
      stride = options.headStride;
    strides[axis] = stride;
    stride *= std::max<int64_t>(extents[axis], 1);
    if (options.isStrided && axis + 1 == extents.size())
      stride += 3;
  }
  return strides;
}

/// Memory that notices when more is written than was asked for.
class Memory {
public:
  void resize(size_t newSize) {
    size = newSize;
    bytes.assign(size + kMargin, kMark);
  }
  char *data() { return bytes.data(); }
  size_t getSize() const { return size; }
  bool isIntact() const {
    return bytes.empty() ||
           std::all_of(bytes.end() - kMargin, bytes.end(),
                       [](char byte) { return byte == kMark; });
  }

private:
  static constexpr size_t kMargin = 4096;
  static constexpr char kMark = 0x5a;
  size_t size = 0;
  std::vector<char> bytes;
};

std::string Problem::run() {
  auto fail = [](const char *what) {
    return std::string(what) + " fails: " + posenc_last_error();
  };
  posenc_call call = POSENC_CALL_INIT;
  call.first_head = options.firstHead;
  call.seed = kSeed;
  call.offset = kOffset;
  Memory prepared, scratch;
  posenc_pool *pool = nullptr;
  if (options.threads > 1 && posenc_pool_create(options.threads, &pool))
    return fail("creating a pool");
  call.pool = pool;
  if (options.usesPrepared) {
    prepared.resize(program.preparedBytes(words.data()));
    if (program.prepare(words.data(), prepared.data(), prepared.getSize()))
      return fail("preparing");
    call.prepared = prepared.data();
  }
  if (options.bringsScratch) {
    scratch.resize(program.scratchBytes(words.data(), &call));
    call.scratch = scratch.data();
    call.scratch_bytes = scratch.getSize();
  }
  posenc_status status = program.run(words.data(), &call);
  posenc_pool_destroy(pool);
  if (!prepared.isIntact() || !scratch.isIntact())
    return "memory behind a buffer was written";
  return status ? fail("the call") : "";
}

std::vector<double> Problem::read(Tensor &tensor) const {
  std::vector<double> numbers(tensor.count());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = tensor.at<float>(i);
  return numbers;
}

/// The elements of an output that belong to a sequence.
int64_t Problem::countWritten(const Tensor &tensor) const {
  if (kernel.getQueryStorage() == QueryStorage::dense)
    return tensor.count();
  SequenceShape sequences(kernel, shape.batch, shape.queryLen, shape.keyLen);
  int64_t rows = 0;
  for (int64_t b = 0; b < shape.batch; ++b)
    rows += sequences.getQueries(b);
  return tensor.count() / tensor.shape.front() * rows;
}

std::string Problem::compare() {
  ReferenceInputs inputs;
  inputs.firstHead = options.firstHead;
  inputs.seed = kSeed;
  inputs.offset = kOffset;
  auto real = [&](Tensor &tensor) {
    RealTensor result;
    result.shape.assign(tensor.shape.begin(), tensor.shape.end());
    result.data = read(tensor);
    return result;
  };
  std::vector<float> o, lse;
  for (auto [tensor, description] : llvm::zip_equal(tensors, descriptions)) {
    if (description.name == "q") {
      inputs.q = real(*tensor);
    } else if (description.name == "k") {
      inputs.k = real(*tensor);
    } else if (description.name == "v") {
      inputs.v = real(*tensor);
    } else if (description.isOutput) {
      bool isLse = description.name == "lse";
      std::vector<float> &result = isLse ? lse : o;
      int64_t written = countWritten(*tensor);
      for (int64_t i = 0; i < tensor->count(); ++i) {
        result.push_back(tensor->at<float>(i));
        if (i < written)
          continue;
        if (!std::isnan(result.back()))
          return "a row that is no sequence's was written";
        // What the reference has there.
        result.back() = isLse && options.wantsLse ? -INFINITY : isLse ? NAN : 0;
      }
    } else if (description.isInteger) {
      IntTensor positions;
      positions.shape.assign(tensor->shape.begin(), tensor->shape.end());
      for (int64_t i = 0; i < tensor->count(); ++i)
        positions.data.push_back(tensor->at<int32_t>(i));
      inputs.positions[description.name] = positions;
    } else {
      inputs.tables[description.name] = real(*tensor);
    }
  }
  auto reference = evaluateReference(kernel, inputs);
  if (!reference)
    return "the reference fails: " + llvm::toString(reference.takeError());
  Accuracy accuracy = measureOutput(*reference, o);
  if (!accuracy.isAccurate())
    return accuracy.describe("o");
  if (!kernel.exportsLse())
    return "";
  if (!options.wantsLse) {
    bool untouched = llvm::all_of(lse, [](float x) { return std::isnan(x); });
    return untouched ? "" : "lse was written";
  }
  accuracy = measureLse(*reference, lse);
  return accuracy.isAccurate() ? "" : accuracy.describe("lse");
}

} // namespace

std::string posenc::test::check(HostProgram &program, const Shape &shape,
                                const CallOptions &options) {
  Problem problem(program, shape, options);
  if (!problem.isMapped())
    return "not enough address space";
  std::string error = problem.run();
  return error.empty() ? problem.compare() : error;
}

size_t posenc::test::getScratchBytes(HostProgram &program, const Shape &shape,
                                     const CallOptions &options) {
  return Problem(program, shape, options).getScratchBytes();
}
