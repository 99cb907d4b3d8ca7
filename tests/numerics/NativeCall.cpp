// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of a compiled kernel, compared with the reference.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

#include "mlir/IR/Diagnostics.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

std::string LoadedKernel::load(StringRef text, const std::string &isa) {
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      &getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          diagnostics += diagnostic.str() + "; ";
        return mlir::success();
      });
  spec = std::make_unique<Spec>(text);
  CompileOptions options;
  options.isas = {isa};
  options.cacheDirectory = getDefaultCacheDirectory();
  mlir::FailureOr<std::vector<CompiledKernel>> kernels =
      compile(spec->getModule(), options);
  if (mlir::failed(kernels))
    return "does not compile: " + diagnostics;
  compiled = std::move(kernels->front());
  Expected<std::unique_ptr<NativeKernel>> loaded = loadKernel(compiled);
  if (!loaded)
    return "does not load: " + toString(loaded.takeError());
  native = std::move(*loaded);
  return "";
}

static std::string describe(const char *what, posenc_status status) {
  return std::string(what) + " failed: " + posenc_status_string(status) + ": " +
         posenc_last_error();
}

std::string posenc::numerics::callNative(const LoadedKernel &kernel,
                                         const ReferenceInputs &inputs,
                                         const NativeCall &how,
                                         NativeResults &results) {
  CallTensors tensors(kernel.compiled.tensors, inputs, how.arrangement,
                      how.wantLse);
  posenc_call call = POSENC_CALL_INIT;
  call.pool = how.pool;
  call.first_head = inputs.firstHead;
  call.seed = inputs.seed;
  call.offset = inputs.offset;
  auto makeWorkspace = [](size_t bytes) {
    return std::make_unique<GuardedBuffer>((bytes + 3) / 4);
  };
  std::unique_ptr<GuardedBuffer> prepared, scratch;
  if (how.prepared) {
    size_t bytes = kernel.native->preparedBytes(tensors.getArguments());
    prepared = makeWorkspace(bytes);
    if (posenc_status status = kernel.native->prepare(tensors.getArguments(),
                                                      prepared->data(), bytes))
      return describe("prepare", status);
    prepared->remember();
    call.prepared = prepared->data();
  }
  if (how.ownScratch) {
    call.scratch_bytes =
        kernel.native->scratchBytes(tensors.getArguments(), &call);
    scratch = makeWorkspace(call.scratch_bytes);
    call.scratch = scratch->data();
    for (size_t word = 0; word < scratch->size(); ++word)
      scratch->allowWrite(word);
    scratch->remember();
  }
  if (posenc_status status = kernel.native->run(tensors.getArguments(), &call))
    return describe("the call", status);

  if (std::string problem = tensors.check(); !problem.empty())
    return problem;
  for (auto [buffer, name] :
       {std::pair(prepared.get(), "prepared"), {scratch.get(), "scratch"}})
    if (buffer)
      if (std::string problem = buffer->check(); !problem.empty())
        return std::string(name) + " buffer: " + problem;
  results.o = tensors.read("o");
  if (how.wantLse)
    results.lse = tensors.read("lse");
  results.state = tensors.readIfThere("state_out");
  results.sums = tensors.readIfThere("sums_out");
  return "";
}

std::string posenc::numerics::appendNative(const LoadedKernel &kernel,
                                           const ReferenceInputs &inputs,
                                           Arrangement arrangement,
                                           RealTensor &kCache,
                                           RealTensor &vCache) {
  CallTensors tensors(kernel.compiled.appendTensors, inputs, arrangement,
                      /*wantLse=*/false);
  if (posenc_status status =
          kernel.native->append(tensors.getArguments(), nullptr))
    return describe("append", status);
  for (auto [name, cache] :
       {std::pair("k_cache", &kCache), std::pair("v_cache", &vCache)}) {
    std::vector<float> held = tensors.read(name);
    cache->data.assign(held.begin(), held.end());
  }
  return tensors.check();
}

/// Makes of packed rows that belong to no sequence what the reference has
/// there. False if one was written, as far as that shows.
static bool skipUnowned(const ReferenceInputs &inputs, bool isF32,
                        NativeResults &results) {
  auto bounds = inputs.positions.find("cu_seqlens_q");
  if (bounds == inputs.positions.end())
    return true;
  int64_t rows = inputs.q.shape[0], owned = bounds->second.data.back();
  bool isUntouched = true;
  auto skip = [&](std::vector<float> &values, bool isNan, float value) {
    size_t first = rows ? values.size() / rows * owned : 0;
    for (size_t x = first; x < values.size(); ++x) {
      isUntouched &= !isNan || std::isnan(values[x]);
      values[x] = value;
    }
  };
  skip(results.o, isF32, 0);
  skip(results.lse, true, -std::numeric_limits<float>::infinity());
  return isUntouched;
}

std::string posenc::numerics::checkNative(const LoadedKernel &kernel,
                                          const ReferenceInputs &inputs,
                                          const NativeCall &call) {
  NativeResults results;
  std::string problem = callNative(kernel, inputs, call, results);
  if (!problem.empty())
    return problem;
  ReferenceOutputs reference =
      cantFail(evaluateReference(kernel.spec->getKernel(), inputs));
  Rounding rounding = kernel.getRounding();
  if (!skipUnowned(inputs, rounding.outputs == 0, results))
    return "a row that is no sequence's was written";
  Accuracy output = measureOutput(reference, results.o, rounding);
  if (!output.isAccurate())
    return output.describe("o");
  if (call.wantLse)
    if (Accuracy lse = measureLse(reference, results.lse); !lse.isAccurate())
      return lse.describe("lse");
  for (auto [name, wanted, bound, got] :
       {std::tuple("state", &reference.state, &reference.stateBound,
                   &results.state),
        {"sums", &reference.sums, &reference.sumsBound, &results.sums}})
    if (Accuracy accuracy = measureState(*wanted, *bound, *got);
        !accuracy.isAccurate())
      return accuracy.describe(name);
  if (!call.pool)
    return "";
  NativeCall alone = call;
  alone.pool = nullptr;
  NativeResults again;
  problem = callNative(kernel, inputs, alone, again);
  if (!problem.empty())
    return "on one thread: " + problem;
  auto differ = [](ArrayRef<float> x, ArrayRef<float> y) {
    return !x.empty() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(float));
  };
  skipUnowned(inputs, rounding.outputs == 0, again);
  if (differ(results.o, again.o) || differ(results.lse, again.lse) ||
      differ(results.state, again.state) || differ(results.sums, again.sums))
    return "the bits of the result depend on the number of threads";
  return "";
}
