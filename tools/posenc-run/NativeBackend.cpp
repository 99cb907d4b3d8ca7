// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel and runs it in this process.
#include "Backend.h"

#include "posenc/Compiler/NativeKernel.h"

#include "llvm/ADT/ScopeExit.h"

#include <cstdlib>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace posenc;

/// The runtime's sentence about the call that failed.
static Error makeError(posenc_status status) {
  return createStringError(Twine(posenc_status_string(status)) + ": " +
                           posenc_last_error());
}

/// A compact tensor over memory that somebody else owns.
static DLTensor makeTensor(void *data, ArrayRef<int64_t> shape,
                           const KernelTensor &description) {
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = shape.size();
  tensor.dtype = {description.getTypeCode(), description.getTypeBits(), 1};
  // The struct is not const-correct; nobody writes to shapes.
  tensor.shape = const_cast<int64_t *>(shape.data());
  return tensor;
}

namespace {
/// A kernel or an embedding, compiled for one instruction set and loaded.
struct Loaded {
  CompiledKernel kernel;
  std::unique_ptr<NativeKernel> native;
};

/// A function of a loaded kernel and its tensors.
struct Entry {
  ArrayRef<KernelTensor> tensors;
  function_ref<posenc_status(const NativeKernel::Arguments &,
                             const posenc_call *)>
      run;
};
} // namespace

static Expected<Loaded> load(mlir::ModuleOp module, StringRef name,
                             const RunOptions &options) {
  CompileOptions compileOptions;
  compileOptions.kernel = name.str();
  compileOptions.isas = {options.isa};
  compileOptions.cacheDirectory = options.cacheDirectory;
  mlir::FailureOr<std::vector<CompiledKernel>> compiled =
      compile(module, compileOptions);
  if (mlir::failed(compiled))
    return createStringError("");
  Loaded loaded;
  loaded.kernel = std::move(compiled->front());
  Expected<std::unique_ptr<NativeKernel>> native =
      NativeKernel::load(loaded.kernel);
  if (!native)
    return native.takeError();
  loaded.native = std::move(*native);
  return loaded;
}

static int64_t count(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

/// Numbers as a tensor of 8 or 16 bits stores them, and back.
static std::vector<char> toStorage(const KernelTensor &tensor,
                                   ArrayRef<float> numbers) {
  size_t size = tensor.getTypeBits() / 8;
  std::vector<char> bytes(numbers.size() * size);
  for (auto [index, number] : enumerate(numbers)) {
    // The low byte comes first.
    uint16_t bits = tensor.toBits(number);
    std::memcpy(&bytes[index * size], &bits, size);
  }
  return bytes;
}
static void fromStorage(const KernelTensor &tensor, ArrayRef<char> bytes,
                        float *numbers) {
  size_t size = tensor.getTypeBits() / 8;
  for (size_t index = 0; index < bytes.size() / size; ++index) {
    uint16_t bits = 0;
    std::memcpy(&bits, &bytes[index * size], size);
    numbers[index] = tensor.fromBits(bits);
  }
}

/// Calls with a tensor for each of the entry's; outputs are given by name.
static Error
call(const Entry &entry, const InputArrays &inputs, const RunOptions &options,
     function_ref<std::pair<float *, ArrayRef<int64_t>>(StringRef)> getOutput) {
  std::vector<DLTensor> tensors(entry.tensors.size());
  std::vector<std::vector<char>> stored(entry.tensors.size());
  NativeKernel::Arguments arguments(tensors.size());
  for (auto [index, tensor] : enumerate(entry.tensors)) {
    if (tensor.isOutput) {
      auto [data, shape] = getOutput(tensor.name);
      if (shape.empty())
        continue;
      void *memory = data;
      if (tensor.storage) {
        // What a cache holds already.
        stored[index] = toStorage(tensor, ArrayRef(data, count(shape)));
        memory = stored[index].data();
      }
      tensors[index] = makeTensor(memory, shape, tensor);
    } else {
      const InputArray *given = inputs.find(tensor.name);
      if (!given) // it need not be there
        continue;
      const InputArray &input = *given;
      const void *data = tensor.isInteger
                             ? static_cast<const void *>(input.integers.data())
                             : input.reals.data();
      if (tensor.storage) {
        stored[index] = toStorage(tensor, input.reals);
        data = stored[index].data();
      }
      tensors[index] =
          makeTensor(const_cast<void *>(data), input.shape, tensor);
    }
    arguments.set(index, &tensors[index]);
  }

  posenc_call call = POSENC_CALL_INIT;
  call.first_head = options.firstHead;
  call.seed = options.seed;
  call.offset = options.offset;
  if (posenc_status status = posenc_pool_create(options.threads, &call.pool))
    return makeError(status);
  scope_exit destroyPool([&] { posenc_pool_destroy(call.pool); });
  // The one variant that was compiled.
  setenv("POSENC_ISA", options.isa.c_str(), /*overwrite=*/1);
  if (posenc_status status = entry.run(arguments, &call))
    return makeError(status);
  for (auto [tensor, bytes] : zip_equal(entry.tensors, stored))
    if (tensor.isOutput && tensor.storage)
      fromStorage(tensor, bytes, getOutput(tensor.name).first);
  return Error::success();
}

/// Calls NAME.
static auto runKernel(const Loaded &loaded) {
  return
      [&](const NativeKernel::Arguments &arguments, const posenc_call *call) {
        return loaded.native->run(arguments, call);
      };
}

namespace {
/// A result that need not be wanted.
struct WantedResult {
  StringRef tensor;
  bool isWanted;
  std::optional<NpyArray> &result;
  SmallVector<int64_t, 4> shape = {};
  std::vector<float> numbers = {};
};
} // namespace

/// [B, H, ...] of a recurrence's state.
static SmallVector<int64_t, 4> getStateShape(const KernelTensor &tensor,
                                             const InputArrays &inputs) {
  SmallVector<int64_t, 4> shape = {inputs.get("key_lengths").shape[0],
                                   inputs.get("q").shape[1]};
  for (const Extent &extent : ArrayRef(tensor.extents).drop_front(2))
    shape.push_back(extent.value);
  return shape;
}

Expected<RunResults> posenc::runNative(mlir::ModuleOp module, StringRef name,
                                       const InputArrays &inputs,
                                       const RunOptions &options) {
  Expected<Loaded> loaded = load(module, name, options);
  if (!loaded)
    return loaded.takeError();
  ArrayRef<int64_t> query = inputs.get("q").shape;
  SmallVector<int64_t, 4> outputShape(query), rowShape(query.drop_back());
  outputShape.back() = inputs.get("v").shape.back();
  std::vector<float> output(count(outputShape));
  RunResults results;
  WantedResult others[] = {
      {"lse", options.wantLse, results.lse, rowShape},
      {"state_out", options.wantState, results.state},
      {"sums_out", options.wantSums, results.sums},
  };
  for (WantedResult &other : others) {
    for (const KernelTensor &tensor : loaded->kernel.tensors)
      if (tensor.name == other.tensor && other.shape.empty())
        other.shape = getStateShape(tensor, inputs);
    // Rows that belong to no sequence are not written.
    constexpr float none = -std::numeric_limits<float>::infinity();
    if (other.isWanted)
      other.numbers.assign(count(other.shape), none);
  }
  auto run = runKernel(*loaded);
  Error error =
      call({loaded->kernel.tensors, run}, inputs, options,
           [&](StringRef tensor) -> std::pair<float *, ArrayRef<int64_t>> {
             for (WantedResult &other : others)
               if (tensor == other.tensor && other.isWanted)
                 return {other.numbers.data(), other.shape};
               else if (tensor == other.tensor)
                 return {nullptr, {}};
             return {output.data(), outputShape};
           });
  if (error)
    return error;

  Expected<NpyArray> array = NpyArray::fromFloats(outputShape, output);
  if (!array)
    return array.takeError();
  results.o = std::move(*array);
  for (WantedResult &other : others) {
    if (!other.isWanted)
      continue;
    array = NpyArray::fromFloats(other.shape, other.numbers);
    if (!array)
      return array.takeError();
    other.result = std::move(*array);
  }
  return results;
}

Expected<RunResults> posenc::runNativeAppend(mlir::ModuleOp module,
                                             StringRef name,
                                             const InputArrays &inputs,
                                             const RunOptions &options) {
  Expected<Loaded> loaded = load(module, name, options);
  if (!loaded)
    return loaded.takeError();
  ArrayRef<KernelTensor> tensors = loaded->kernel.appendTensors;
  StringMap<InputArray> caches;
  for (const KernelTensor &tensor : tensors)
    if (tensor.isCache)
      caches[tensor.name] = inputs.get(tensor.name);
  auto run = [&](const NativeKernel::Arguments &arguments,
                 const posenc_call *call) {
    return loaded->native->append(arguments, call);
  };
  Error error =
      call({tensors, run}, inputs, options,
           [&](StringRef tensor) -> std::pair<float *, ArrayRef<int64_t>> {
             InputArray &cache = caches[tensor];
             return {cache.reals.data(), cache.shape};
           });
  if (error)
    return error;
  RunResults results;
  for (const KernelTensor &tensor : tensors) {
    if (!tensor.isCache)
      continue;
    const InputArray &cache = caches[tensor.name];
    std::vector<double> numbers(cache.reals.begin(), cache.reals.end());
    Expected<NpyArray> array = makeCache(tensor, cache.shape, numbers);
    if (!array)
      return array.takeError();
    results.getCache(tensor.name) = std::move(*array);
  }
  return results;
}

/// [B, L, dim] from the first inputs that mention B and L; the runtime checks
/// the others.
static SmallVector<int64_t> getEmbedShape(ArrayRef<KernelTensor> tensors,
                                          const InputArrays &inputs) {
  SmallVector<int64_t> shape = {1, 1, 1};
  for (const KernelTensor &tensor : reverse(tensors))
    for (auto [axis, extent] : enumerate(tensor.extents)) {
      if (tensor.isOutput)
        shape[2] = tensor.extents[2].value;
      else if (extent.kind == ExtentKind::Batch)
        shape[0] = inputs.get(tensor.name).shape[axis];
      else if (extent.kind == ExtentKind::Len)
        shape[1] = inputs.get(tensor.name).shape[axis];
    }
  return shape;
}

Expected<RunResults> posenc::runNativeEmbed(mlir::ModuleOp module,
                                            StringRef name,
                                            const InputArrays &inputs,
                                            const RunOptions &options) {
  Expected<Loaded> loaded = load(module, name, options);
  if (!loaded)
    return loaded.takeError();
  SmallVector<int64_t> shape = getEmbedShape(loaded->kernel.tensors, inputs);
  std::vector<float> output(count(shape));
  auto run = runKernel(*loaded);
  Error error = call({loaded->kernel.tensors, run}, inputs, options,
                     [&](StringRef) -> std::pair<float *, ArrayRef<int64_t>> {
                       return {output.data(), shape};
                     });
  if (error)
    return error;
  Expected<NpyArray> array = NpyArray::fromFloats(shape, output);
  if (!array)
    return array.takeError();
  RunResults results;
  results.o = std::move(*array);
  return results;
}
