// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings: specifications, inputs, and calls of what they compile to.
#include "EmbedCall.h"

#include "GuardedBuffer.h"
#include "TestRun.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

std::string LoadedEmbed::load(StringRef text, const std::string &isa) {
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      &getContext(), [&](mlir::Diagnostic &diagnostic) {
        diagnostics += diagnostic.str() + "; ";
        return mlir::success();
      });
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  if (!module)
    return "does not parse: " + diagnostics;
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> clone = cloneExpanded(*module);
  if (!clone)
    return toString(clone.takeError());
  expanded = std::move(*clone);
  embed = *expanded->getOps<EmbedOp>().begin();
  CompileOptions options;
  options.isas = {isa};
  mlir::FailureOr<std::vector<CompiledKernel>> kernels =
      compile(*module, options);
  if (mlir::failed(kernels))
    return "does not compile: " + diagnostics;
  compiled = std::move(kernels->front());
  Expected<std::unique_ptr<NativeKernel>> loaded = loadKernel(compiled);
  if (!loaded)
    return "does not load: " + toString(loaded.takeError());
  native = std::move(*loaded);
  return "";
}

static SmallVector<int64_t, 4> getShape(const KernelTensor &tensor,
                                        EmbedExtents extents) {
  SmallVector<int64_t, 4> shape;
  for (const Extent &extent : tensor.extents)
    shape.push_back(extent.kind == ExtentKind::Batch ? extents.batch
                    : extent.kind == ExtentKind::Len ? extents.length
                                                     : extent.value);
  return shape;
}

EmbedInputs posenc::numerics::makeEmbedInputs(EmbedOp embed,
                                              EmbedExtents extents,
                                              int64_t limit, unsigned seed) {
  std::mt19937 random(seed);
  EmbedInputs inputs;
  inputs.seed = 0x123456789abcdef0 + seed;
  inputs.offset = 3 * seed;
  for (const KernelTensor &tensor : getKernelTensors(embed)) {
    if (tensor.isOutput)
      continue;
    SmallVector<int64_t, 4> shape = getShape(tensor, extents);
    RealTensor values = makeRandom(random, shape);
    if (!tensor.isInteger) {
      (tensor.name == "x" ? inputs.x : inputs.tables[tensor.name]) =
          std::move(values);
      continue;
    }
    IntTensor &integers = inputs.positions[tensor.name];
    integers.shape = shape;
    for (size_t i = 0; i < values.data.size(); ++i)
      integers.data.push_back(random() % limit);
  }
  return inputs;
}

std::string posenc::numerics::callEmbed(const LoadedEmbed &loaded,
                                        const EmbedInputs &inputs,
                                        EmbedExtents extents,
                                        const EmbedOptions &options,
                                        std::vector<float> &y) {
  const std::vector<KernelTensor> &descriptions = loaded.compiled.tensors;
  std::vector<std::shared_ptr<GuardedBuffer>> buffers;
  std::vector<std::unique_ptr<GuardedTensor>> tensors;
  NativeKernel::Arguments arguments(descriptions.size());
  const GuardedTensor *output = nullptr;
  for (auto [index, description] : enumerate(descriptions)) {
    SmallVector<int64_t, 4> shape = getShape(description, extents);
    Layout layout;
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    if (options.padded && elements) {
      layout.offset = 5;
      layout.strides.resize(shape.size());
      int64_t stride = description.unitStride ? 1 : 3;
      for (size_t axis = shape.size(); axis-- > 0;) {
        layout.strides[axis] = stride;
        stride = stride * shape[axis] + 2;
      }
      elements = stride;
    }
    buffers.push_back(
        std::make_shared<GuardedBuffer>(elements + layout.offset));
    auto tensor = std::make_unique<GuardedTensor>(buffers.back(), shape, layout,
                                                  description.isInteger);
    if (description.isOutput) {
      tensor->allowWrite();
      output = tensor.get();
    } else if (description.isInteger) {
      tensor->write(ArrayRef<int64_t>(
          inputs.positions.find(description.name)->second.data));
    } else {
      tensor->write(ArrayRef<double>(
          description.name == "x"
              ? inputs.x.data
              : inputs.tables.find(description.name)->second.data));
    }
    buffers.back()->remember();
    arguments.set(index, tensor->get());
    tensors.push_back(std::move(tensor));
  }

  posenc_call call = POSENC_CALL_INIT;
  call.pool = options.pool;
  call.seed = inputs.seed;
  call.offset = inputs.offset;
  std::unique_ptr<GuardedBuffer> scratch;
  if (options.ownScratch) {
    call.scratch_bytes = loaded.native->scratchBytes(arguments, &call);
    scratch = std::make_unique<GuardedBuffer>((call.scratch_bytes + 3) / 4);
    call.scratch = scratch->data();
  }
  if (posenc_status status = loaded.native->run(arguments, &call))
    return std::string("the call failed: ") + posenc_status_string(status) +
           ": " + posenc_last_error();
  for (const auto &buffer : buffers)
    if (std::string problem = buffer->check(); !problem.empty())
      return problem;
  y = output->read();
  return "";
}
