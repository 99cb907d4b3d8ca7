// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel and runs it in this process.
#include "Backend.h"

#include "posenc/Compiler/NativeKernel.h"

#include "llvm/ADT/ScopeExit.h"

#include <cstdlib>

using namespace llvm;
using namespace posenc;

/// The runtime's sentence about the call that failed.
static Error makeError(posenc_status status) {
  return createStringError(Twine(posenc_status_string(status)) + ": " +
                           posenc_last_error());
}

/// A compact tensor over memory that somebody else owns.
static DLTensor makeTensor(void *data, ArrayRef<int64_t> shape,
                           bool isInteger) {
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = shape.size();
  tensor.dtype = {static_cast<uint8_t>(isInteger ? kDLInt : kDLFloat), 32, 1};
  // The struct is not const-correct; nobody writes to shapes.
  tensor.shape = const_cast<int64_t *>(shape.data());
  return tensor;
}

Expected<RunResults> posenc::runNative(mlir::ModuleOp module, StringRef name,
                                       const InputArrays &inputs,
                                       const RunOptions &options) {
  CompileOptions compileOptions;
  compileOptions.kernel = name.str();
  compileOptions.isas = {options.isa};
  compileOptions.cacheDirectory = getDefaultCacheDirectory();
  mlir::FailureOr<std::vector<CompiledKernel>> compiled =
      compile(module, compileOptions);
  if (mlir::failed(compiled))
    return createStringError("");
  const CompiledKernel &kernel = compiled->front();
  Expected<std::unique_ptr<NativeKernel>> native = NativeKernel::load(kernel);
  if (!native)
    return native.takeError();

  ArrayRef<int64_t> query = inputs.get("q").shape;
  SmallVector<int64_t, 4> outputShape(query), rowShape(query.drop_back());
  outputShape.back() = inputs.get("v").shape.back();
  auto count = [](ArrayRef<int64_t> shape) {
    int64_t product = 1;
    for (int64_t extent : shape)
      product *= extent;
    return product;
  };
  std::vector<float> output(count(outputShape)), lse(count(rowShape));

  std::vector<DLTensor> tensors(kernel.tensors.size());
  NativeKernel::Arguments arguments(tensors.size());
  for (auto [index, tensor] : enumerate(kernel.tensors)) {
    if (tensor.isOutput) {
      bool isLse = tensor.name == "lse";
      if (isLse && !options.wantLse)
        continue;
      tensors[index] = makeTensor(isLse ? lse.data() : output.data(),
                                  isLse ? rowShape : outputShape,
                                  /*isInteger=*/false);
    } else {
      const InputArray &input = inputs.get(tensor.name);
      const void *data = tensor.isInteger
                             ? static_cast<const void *>(input.integers.data())
                             : input.reals.data();
      tensors[index] =
          makeTensor(const_cast<void *>(data), input.shape, tensor.isInteger);
    }
    arguments.set(index, &tensors[index]);
  }

  posenc_call call = POSENC_CALL_INIT;
  call.first_head = options.firstHead;
  if (posenc_status status = posenc_pool_create(options.threads, &call.pool))
    return makeError(status);
  scope_exit destroyPool([&] { posenc_pool_destroy(call.pool); });
  // The one variant that was compiled.
  setenv("POSENC_ISA", options.isa.c_str(), /*overwrite=*/1);
  if (posenc_status status = (*native)->run(arguments, &call))
    return makeError(status);

  RunResults results;
  Expected<NpyArray> array = NpyArray::fromFloats(outputShape, output);
  if (!array)
    return array.takeError();
  results.o = std::move(*array);
  if (options.wantLse) {
    array = NpyArray::fromFloats(rowShape, lse);
    if (!array)
      return array.takeError();
    results.lse = std::move(*array);
  }
  return results;
}
