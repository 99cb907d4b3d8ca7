// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the inputs of a call with the kernel's tensors.
#include "Checks.h"

#include "posenc/Analysis/KernelTensors.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace posenc;

namespace {

/// Compares tensors with what the kernel and the tensors before them say. The
/// first tensor that mentions a symbolic extent fixes it.
class ShapeChecker {
public:
  explicit ShapeChecker(KernelOp kernel) : kernel(kernel) {}

  llvm::Expected<CallShape> check(const ReferenceInputs &inputs);

private:
  std::optional<int64_t> getExtent(const Extent &extent) const;
  std::string printExpected(const KernelTensor &tensor) const;
  llvm::Error checkShape(const KernelTensor &tensor,
                         llvm::ArrayRef<int64_t> actual, size_t elements);
  llvm::Error checkHeads(llvm::StringRef name, int64_t heads,
                         int64_t firstHead);
  llvm::Error checkPositions(llvm::StringRef name, const IntTensor &tensor);

  KernelOp kernel;
  llvm::DenseMap<int32_t, int64_t> symbols; // by ExtentKind
};

} // namespace

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static std::string printShape(llvm::ArrayRef<int64_t> extents) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(extents, stream);
  stream << ']';
  return text;
}

/// Whether 1 stands for the same in all heads or batch entries.
static bool canBeOne(const Extent &extent) {
  return extent.kind == ExtentKind::HeadsOr1 ||
         extent.kind == ExtentKind::BatchOr1;
}

std::optional<int64_t> ShapeChecker::getExtent(const Extent &extent) const {
  if (extent.kind == ExtentKind::Const)
    return extent.value;
  if (extent.kind == ExtentKind::Bounds) {
    std::optional<int64_t> batch = getExtent({ExtentKind::Batch});
    return batch ? std::optional(*batch + 1) : std::nullopt;
  }
  ExtentKind kind = extent.kind == ExtentKind::HeadsOr1   ? ExtentKind::Heads
                    : extent.kind == ExtentKind::BatchOr1 ? ExtentKind::Batch
                                                          : extent.kind;
  auto found = symbols.find(static_cast<int32_t>(kind));
  if (found == symbols.end())
    return std::nullopt;
  return found->second;
}

std::string ShapeChecker::printExpected(const KernelTensor &tensor) const {
  std::string names, numbers;
  llvm::raw_string_ostream nameStream(names), numberStream(numbers);
  llvm::interleaveComma(tensor.extents, nameStream, [&](const Extent &extent) {
    nameStream << extent.str();
  });
  llvm::interleaveComma(tensor.extents, numberStream,
                        [&](const Extent &extent) {
                          if (std::optional<int64_t> number = getExtent(extent))
                            numberStream << *number;
                          else
                            numberStream << "any";
                          if (canBeOne(extent))
                            numberStream << " or 1";
                        });
  return "[" + names + "] = [" + numbers + "]";
}

llvm::Error ShapeChecker::checkShape(const KernelTensor &tensor,
                                     llvm::ArrayRef<int64_t> actual,
                                     size_t elements) {
  bool fits = actual.size() == tensor.extents.size();
  for (size_t axis = 0; fits && axis < actual.size(); ++axis) {
    std::optional<int64_t> expected = getExtent(tensor.extents[axis]);
    bool isOne = canBeOne(tensor.extents[axis]) && actual[axis] == 1;
    fits = actual[axis] >= (tensor.extents[axis].kind == ExtentKind::Bounds) &&
           (!expected || actual[axis] == *expected || isOne);
  }
  if (!fits)
    return fail("expected '" + tensor.name + "' to have the shape " +
                printExpected(tensor) + ", but got " + printShape(actual));
  int64_t count = 1;
  for (auto [axis, extent] : llvm::enumerate(tensor.extents)) {
    if (!getExtent(extent)) {
      bool isBounds = extent.kind == ExtentKind::Bounds;
      ExtentKind kind = isBounds ? ExtentKind::Batch : extent.kind;
      symbols[static_cast<int32_t>(kind)] = actual[axis] - isBounds;
    }
    if (llvm::MulOverflow(count, actual[axis], count))
      return fail("expected the size of '" + tensor.name +
                  "' to fit in 63 bits, but got the shape " +
                  printShape(actual));
  }
  if (static_cast<size_t>(count) != elements)
    return fail("expected '" + tensor.name + "' to have " + llvm::Twine(count) +
                " elements for the shape " + printShape(actual) + ", but got " +
                llvm::Twine(elements));
  return llvm::Error::success();
}

llvm::Error ShapeChecker::checkHeads(llvm::StringRef name, int64_t heads,
                                     int64_t firstHead) {
  int64_t limit = kernel.getHeads(), group = limit / kernel.getNumKvHeads();
  if (firstHead < 0 || firstHead + heads > limit)
    return fail("expected the heads of '" + name +
                "' to be among the kernel's " + llvm::Twine(limit) +
                ", but got " + llvm::Twine(heads) + " from head " +
                llvm::Twine(firstHead));
  if (heads % group || firstHead % group)
    return fail("expected the heads of '" + name +
                "' and the first head to be multiples of " +
                llvm::Twine(group) + " (heads / kv_heads), but got " +
                llvm::Twine(heads) + " and " + llvm::Twine(firstHead));
  symbols[static_cast<int32_t>(ExtentKind::Heads)] = heads;
  symbols[static_cast<int32_t>(ExtentKind::KvHeads)] = heads / group;
  return llvm::Error::success();
}

llvm::Error ShapeChecker::checkPositions(llvm::StringRef name,
                                         const IntTensor &tensor) {
  // Sequences are compared one by one.
  if (!kernel.hasSequences() && kernel.looksUpQueriesAmongKeys()) {
    int64_t queryLen = *getExtent({ExtentKind::QueryLen});
    int64_t keyLen = *getExtent({ExtentKind::KeyLen});
    if (queryLen > keyLen)
      return fail("expected at most as many queries as positions in '" + name +
                  "' (" + llvm::Twine(keyLen) + "), but got " +
                  llvm::Twine(queryLen));
  }
  for (int64_t position : tensor.data)
    if (!llvm::isInt<32>(position))
      return fail("expected the positions in '" + name +
                  "' to be 32-bit integers, but got " + llvm::Twine(position));
  return llvm::Error::success();
}

llvm::Expected<CallShape> ShapeChecker::check(const ReferenceInputs &inputs) {
  for (const KernelTensor &tensor : getKernelTensors(kernel)) {
    if (tensor.isOutput && !tensor.isCache)
      continue;
    if (tensor.isInteger) {
      auto found = inputs.positions.find(tensor.name);
      if (found == inputs.positions.end())
        return fail("expected integers for the operand '" + tensor.name +
                    "', but got none");
      const IntTensor &given = found->second;
      if (llvm::Error error =
              checkShape(tensor, given.shape, given.data.size()))
        return error;
      if (tensor.role != SequenceRole::None)
        continue;
      if (llvm::Error error = checkPositions(tensor.name, given))
        return error;
      continue;
    }
    const RealTensor *given =
        llvm::StringSwitch<const RealTensor *>(tensor.name)
            .Case("q", &inputs.q)
            .Case("k", &inputs.k)
            .Case("v", &inputs.v)
            .Case("k_cache", &inputs.kCache)
            .Case("v_cache", &inputs.vCache)
            .Default(nullptr);
    if (!given) {
      auto found = inputs.tables.find(tensor.name);
      if (found == inputs.tables.end() && tensor.isOptional)
        continue;
      if (found == inputs.tables.end())
        return fail("expected numbers for the operand '" + tensor.name +
                    "', but got none");
      given = &found->second;
    }
    if (llvm::Error error =
            checkShape(tensor, given->shape, given->data.size()))
      return error;
    if (given == &inputs.q)
      if (llvm::Error error =
              checkHeads("q", inputs.q.shape[1], inputs.firstHead))
        return error;
    // Key heads count as the query heads that read them.
    if (given == &inputs.k && kernel.isAppend())
      if (llvm::Error error = checkHeads(
              "k",
              inputs.k.shape[1] * (static_cast<int64_t>(kernel.getHeads()) /
                                   kernel.getNumKvHeads()),
              inputs.firstHead))
        return error;
  }
  CallShape shape;
  // Packed tensors have no batch axis; lengths that differ count as 0 here.
  auto getOr0 = [&](ExtentKind kind) { return getExtent({kind}).value_or(0); };
  shape.batch = getOr0(ExtentKind::Batch);
  shape.heads = *getExtent({ExtentKind::Heads});
  shape.kvHeads = *getExtent({ExtentKind::KvHeads});
  shape.queryLen = getOr0(ExtentKind::QueryLen);
  shape.keyLen = getOr0(ExtentKind::KeyLen);
  shape.headDim = kernel.getHeadDim();
  shape.valueDim = kernel.getValueSize();
  shape.firstHead = inputs.firstHead;
  return shape;
}

llvm::Expected<CallShape> posenc::checkShapes(KernelOp kernel,
                                              const ReferenceInputs &inputs) {
  return ShapeChecker(kernel).check(inputs);
}
