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
  // The one variant that was compiled, which is all that an emulator has.
  if (!options.emulator)
    setenv("POSENC_ISA", loaded.kernel.isas.front().c_str(), /*overwrite=*/1);
  Expected<std::unique_ptr<NativeKernel>> native =
      options.emulator ? options.emulator->load(loaded.kernel)
                       : NativeKernel::load(loaded.kernel);
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

/// Numbers as a tensor stores them, and back.
static std::vector<char> toStorage(const KernelTensor &tensor,
                                   ArrayRef<double> numbers) {
  size_t size = tensor.getTypeBits() / 8;
  std::vector<char> bytes(numbers.size() * size);
  for (auto [index, number] : enumerate(numbers)) {
    char *place = &bytes[index * size];
    if (tensor.isWide()) {
      std::memcpy(place, &number, size);
      continue;
    }
    auto narrow = static_cast<float>(number);
    // The low byte comes first.
    uint16_t bits = tensor.storage ? tensor.toBits(narrow) : 0;
    std::memcpy(place,
                tensor.storage ? static_cast<const void *>(&bits) : &narrow,
                size);
  }
  return bytes;
}
static void fromStorage(const KernelTensor &tensor, ArrayRef<char> bytes,
                        double *numbers) {
  size_t size = tensor.getTypeBits() / 8;
  for (size_t index = 0; index < bytes.size() / size; ++index) {
    const char *place = &bytes[index * size];
    if (tensor.isWide()) {
      std::memcpy(&numbers[index], place, size);
    } else if (tensor.storage) {
      uint16_t bits = 0;
      std::memcpy(&bits, place, size);
      numbers[index] = tensor.fromBits(bits);
    } else {
      float narrow;
      std::memcpy(&narrow, place, size);
      numbers[index] = narrow;
    }
  }
}

/// What a call does with the pool and the random numbers of the options.
static Error withCall(const RunOptions &options,
                      function_ref<posenc_status(const posenc_call *)> run) {
  posenc_call call = POSENC_CALL_INIT;
  call.first_head = options.firstHead;
  call.seed = options.seed;
  call.offset = options.offset;
  if (posenc_status status = posenc_pool_create(options.threads, &call.pool))
    return makeError(status);
  scope_exit destroyPool([&] { posenc_pool_destroy(call.pool); });
  if (posenc_status status = run(&call))
    return makeError(status);
  return Error::success();
}

/// Numbers of an output, and its shape; no shape if it is not wanted.
using Result = std::pair<double *, ArrayRef<int64_t>>;

/// Calls with a tensor for each of the entry's; outputs are given by name.
static Error call(const Entry &entry, const InputArrays &inputs,
                  const RunOptions &options,
                  function_ref<Result(StringRef)> getOutput) {
  std::vector<DLTensor> tensors(entry.tensors.size());
  std::vector<std::vector<char>> stored(entry.tensors.size());
  NativeKernel::Arguments arguments(tensors.size());
  for (auto [index, tensor] : enumerate(entry.tensors)) {
    const void *data = nullptr;
    ArrayRef<int64_t> shape;
    if (tensor.isOutput) {
      auto [numbers, extents] = getOutput(tensor.name);
      if (extents.empty())
        continue;
      // What a cache holds already.
      stored[index] = toStorage(tensor, ArrayRef(numbers, count(extents)));
      data = stored[index].data();
      shape = extents;
    } else {
      const InputArray *given = inputs.find(tensor.name);
      if (!given) // it need not be there
        continue;
      const InputArray &input = *given;
      stored[index] = toStorage(tensor, input.reals);
      data = tensor.isInteger ? static_cast<const void *>(input.integers.data())
                              : stored[index].data();
      shape = input.shape;
    }
    tensors[index] = makeTensor(const_cast<void *>(data), shape, tensor);
    arguments.set(index, &tensors[index]);
  }

  if (Error error = withCall(options, [&](const posenc_call *call) {
        return entry.run(arguments, call);
      }))
    return error;
  for (auto [tensor, bytes] : zip_equal(entry.tensors, stored))
    if (tensor.isOutput && !bytes.empty())
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
  std::vector<double> numbers = {};
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
  std::vector<double> output(count(outputShape));
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
    constexpr double none = -std::numeric_limits<double>::infinity();
    if (other.isWanted)
      other.numbers.assign(count(other.shape), none);
  }
  auto run = runKernel(*loaded);
  Error error = call({loaded->kernel.tensors, run}, inputs, options,
                     [&](StringRef tensor) -> Result {
                       for (WantedResult &other : others)
                         if (tensor == other.tensor && other.isWanted)
                           return {other.numbers.data(), other.shape};
                         else if (tensor == other.tensor)
                           return {nullptr, {}};
                       return {output.data(), outputShape};
                     });
  if (error)
    return error;

  Expected<NpyArray> array =
      NpyArray::fromDoubles(NpyType::F32, outputShape, output);
  if (!array)
    return array.takeError();
  results.o = std::move(*array);
  for (WantedResult &other : others) {
    if (!other.isWanted)
      continue;
    array = NpyArray::fromDoubles(NpyType::F32, other.shape, other.numbers);
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
      call({tensors, run}, inputs, options, [&](StringRef tensor) -> Result {
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
    Expected<NpyArray> array = makeCache(tensor, cache.shape, cache.reals);
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
  std::vector<double> output(count(shape));
  auto run = runKernel(*loaded);
  Error error =
      call({loaded->kernel.tensors, run}, inputs, options,
           [&](StringRef) -> Result { return {output.data(), shape}; });
  if (error)
    return error;
  const KernelTensor &y = *find_if(
      loaded->kernel.tensors, [](auto &tensor) { return tensor.isOutput; });
  Expected<NpyArray> array =
      NpyArray::fromDoubles(getResultType(y), shape, output);
  if (!array)
    return array.takeError();
  RunResults results;
  results.o = std::move(*array);
  return results;
}

//===----------------------------------------------------------------------===//
// Masks of dropout
//===----------------------------------------------------------------------===//

namespace {
/// The queries and keys of one sequence of a call.
struct Sequence {
  int64_t firstQuery = 0, queries = 0, keys = 0;
};
} // namespace

static std::vector<Sequence> getSequences(KernelOp kernel,
                                          const InputArrays &inputs) {
  bool isPacked = kernel.getQueryStorage() == QueryStorage::packed;
  ArrayRef<int64_t> query = inputs.get("q").shape;
  auto number = [&](StringRef name, size_t at) -> int64_t {
    return inputs.get(name).integers[at];
  };
  std::vector<Sequence> sequences(
      isPacked ? inputs.get("cu_seqlens_q").shape[0] - 1 : query[0]);
  for (auto [b, sequence] : enumerate(sequences)) {
    if (isPacked) {
      sequence.firstQuery = number("cu_seqlens_q", b);
      sequence.queries = number("cu_seqlens_q", b + 1) - sequence.firstQuery;
    } else {
      sequence.queries = query[2];
    }
    if (kernel.hasCache())
      sequence.keys = number("key_lengths", b);
    else if (kernel.getKeyStorage() == KeyStorage::packed)
      sequence.keys = number("cu_seqlens_k", b + 1) - number("cu_seqlens_k", b);
    else
      sequence.keys = inputs.get("k").shape[2];
  }
  return sequences;
}

Expected<NpyArray> posenc::makeDropoutMask(KernelOp kernel,
                                           const InputArrays &inputs,
                                           const RunOptions &options) {
  std::vector<Sequence> sequences = getSequences(kernel, inputs);
  int64_t longest = 0;
  for (const Sequence &sequence : sequences)
    longest = std::max(longest, sequence.keys);
  NpyArray mask;
  mask.type = NpyType::U8;
  mask.shape.assign(inputs.get("q").shape.begin(), inputs.get("q").shape.end());
  mask.shape.back() = longest;
  mask.data.resize(count(mask.shape));
  bool isPacked = mask.shape.size() == 3;
  int64_t heads = mask.shape[1], rows = isPacked ? 1 : mask.shape[2];
  int64_t strides[] = {0, rows * longest, (isPacked ? heads : 1) * longest, 1};
  for (int64_t b = 0, e = sequences.size(); b < e; ++b) {
    const Sequence &sequence = sequences[b];
    int64_t shape[] = {1, heads, sequence.queries, sequence.keys};
    int64_t firstRow =
        isPacked ? sequence.firstQuery * heads : b * heads * rows;
    DLTensor tensor = {};
    tensor.data = mask.data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 4;
    tensor.dtype = {kDLUInt, 8, 1};
    tensor.shape = shape;
    tensor.strides = strides;
    tensor.byte_offset = firstRow * longest;
    if (Error error = withCall(options, [&](const posenc_call *call) {
          return posenc_dropout_mask(getDropout(kernel), b, call, &tensor);
        }))
      return error;
  }
  return mask;
}
