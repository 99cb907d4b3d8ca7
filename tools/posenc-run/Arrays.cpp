// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From .npy files to the tensors of a kernel.
#include "Arrays.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc;

/// The option that gives a tensor's file.
static std::string getOption(StringRef name) {
  if (is_contained({"q", "k", "v", "x"}, name))
    return ("--" + name).str();
  return ("--input " + name).str();
}

/// Whether a file gives what is there before the call.
static bool isRead(const KernelTensor &tensor) {
  return !tensor.isOutput || tensor.isCache;
}

static Error checkNames(ArrayRef<KernelTensor> tensors,
                        const StringMap<std::string> &files) {
  for (const auto &entry : files) {
    bool known = any_of(tensors, [&](const KernelTensor &tensor) {
      return isRead(tensor) && tensor.name == entry.first();
    });
    if (known)
      continue;
    std::string operands;
    raw_string_ostream stream(operands);
    interleaveComma(make_filter_range(tensors,
                                      [](const KernelTensor &tensor) {
                                        return isRead(tensor) &&
                                               !is_contained(
                                                   {"q", "k", "v", "x"},
                                                   tensor.name);
                                      }),
                    stream, [&](const KernelTensor &tensor) {
                      stream << "'" << tensor.name << "'";
                    });
    return createStringError("expected an operand of the kernel after "
                             "--input, but got '" +
                             entry.first() + "'; the kernel has " +
                             (operands.empty() ? "none" : operands));
  }
  for (const KernelTensor &tensor : tensors)
    if (isRead(tensor) && !tensor.isOptional && !files.contains(tensor.name))
      return createStringError(
          "expected " + getOption(tensor.name) +
          (getOption(tensor.name).size() == 3 ? " " : "=") + "FILE.npy, " +
          tensor.getTypeString() + ", but got none");
  return Error::success();
}

/// The type of a file of codes.
static NpyType getCodeType(const KernelTensor &tensor) {
  return tensor.storage.isInteger() ? NpyType::I8 : NpyType::U8;
}

Expected<NpyArray> posenc::makeCache(const KernelTensor &tensor,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<double> numbers) {
  if (!tensor.hasCodes())
    return NpyArray::fromDoubles(NpyType::F32, shape, numbers);
  std::vector<double> codes(numbers);
  if (getCodeType(tensor) == NpyType::U8)
    for (double &code : codes)
      code = tensor.toBits(static_cast<float>(code));
  return NpyArray::fromDoubles(getCodeType(tensor), shape, codes);
}

Expected<std::vector<float>> posenc::readCache(const KernelTensor &tensor,
                                               const NpyArray &array) {
  Expected<std::vector<float>> values = array.toFloats();
  if (values && tensor.hasCodes() && array.type == NpyType::U8)
    for (float &value : *values)
      value = tensor.fromBits(static_cast<uint16_t>(value));
  return values;
}

NpyType posenc::getResultType(const KernelTensor &tensor) {
  return tensor.isWide() ? NpyType::F64 : NpyType::F32;
}

/// As the tensor stores them: that is what the kernel, and the reference, see.
static Expected<std::vector<double>> readReals(const KernelTensor &tensor,
                                               const NpyArray &array) {
  if (tensor.isWide())
    return array.toDoubles();
  Expected<std::vector<float>> values = readCache(tensor, array);
  if (!values)
    return values.takeError();
  if (tensor.storage)
    for (float &value : *values)
      value = tensor.fromBits(tensor.toBits(value));
  return std::vector<double>(values->begin(), values->end());
}

static Expected<InputArray> readInput(const KernelTensor &tensor,
                                      StringRef path, size_t &rank) {
  Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  auto fail = [&](const Twine &expected, const Twine &found) {
    return createStringError("'" + tensor.name + "': " + path + ": expected " +
                             expected + ", found " + found);
  };

  InputArray input;
  input.isInteger = tensor.isInteger;
  bool isInteger = is_contained({NpyType::I32, NpyType::I64}, array->type);
  // numpy has no bf16: it is stored as its 16 bits.
  if (!tensor.isInteger && array->type == NpyType::U16) {
    Expected<NpyArray> bits = array->asBF16();
    if (!bits)
      return bits.takeError();
    *array = std::move(*bits);
  }
  bool isVector = is_contained({"q", "k", "v", "x"}, tensor.name);
  bool isReal =
      is_contained({NpyType::BF16, NpyType::F16, NpyType::F32, NpyType::F64},
                   array->type) ||
      (!isVector && (isInteger || array->type == NpyType::Bool));
  if (tensor.hasCodes() && array->type != getCodeType(tensor))
    return fail(tensor.storage.isInteger() ? "codes of type i8"
                                           : "codes of type f8E4M3FN (as u8)",
                stringifyNpyType(array->type));
  if (!tensor.hasCodes() && (tensor.isInteger ? !isInteger : !isReal))
    return fail(tensor.isInteger ? "elements of type i32 or i64"
                : isVector
                    ? "elements of type f16, f32, f64 or bf16 (as u16)"
                    : "elements of type f16, f32, f64, bf16 (as u16), i32, i64 "
                      "or bool",
                stringifyNpyType(array->type));
  if (tensor.isInteger) {
    Expected<std::vector<int32_t>> values = array->toInt32s();
    if (!values)
      return values.takeError();
    input.integers = std::move(*values);
  } else {
    Expected<std::vector<double>> values = readReals(tensor, *array);
    if (!values)
      return values.takeError();
    input.reals = std::move(*values);
  }

  size_t optional = 0;
  auto mayBeAbsent = [](const Extent &extent) {
    return is_contained({ExtentKind::Batch, ExtentKind::Heads,
                         ExtentKind::KvHeads, ExtentKind::HeadsOr1,
                         ExtentKind::BatchOr1},
                        extent.kind);
  };
  while (optional < tensor.extents.size() &&
         mayBeAbsent(tensor.extents[optional]))
    ++optional;
  rank = array->shape.size();
  size_t full = tensor.extents.size();
  if (rank > full || rank + optional < full)
    return fail(
        tensor.getTypeString() +
            (optional ? ", where leading axes of extent 1 may be absent" : ""),
        Twine(rank) + (rank == 1 ? " axis" : " axes"));
  input.shape.assign(full - rank, 1);
  append_range(input.shape, array->shape);
  return input;
}

Expected<InputArrays> posenc::readInputs(ArrayRef<KernelTensor> tensors,
                                         const StringMap<std::string> &files) {
  if (Error error = checkNames(tensors, files))
    return error;
  InputArrays inputs;
  for (const KernelTensor &tensor : tensors) {
    auto file = files.find(tensor.name);
    if (!isRead(tensor) || file == files.end())
      continue;
    size_t rank = 0;
    Expected<InputArray> input = readInput(tensor, file->second, rank);
    if (!input)
      return input.takeError();
    if (is_contained({"q", "x", "k_cache"}, tensor.name))
      inputs.resultRank = rank;
    inputs.arrays[tensor.name] = std::move(*input);
  }
  return inputs;
}
