// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel in the reference interpreter.
#include "Backend.h"

#include "posenc/Reference/Accuracy.h"
#include "posenc/Reference/Embed.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace posenc;

static Expected<NpyArray> makeArray(const RealTensor &tensor) {
  return NpyArray::fromDoubles(NpyType::F64, tensor.shape, tensor.data);
}

static ReferenceInputs makeInputs(const InputArrays &inputs,
                                  const RunOptions &options) {
  if (options.threads > 0)
    parallel::strategy = hardware_concurrency(options.threads);
  ReferenceInputs given;
  given.firstHead = options.firstHead;
  given.seed = options.seed;
  given.offset = options.offset;
  for (const auto &entry : inputs.arrays) {
    const InputArray &input = entry.second;
    if (input.isInteger) {
      given.positions[entry.first()] = {
          input.shape, {input.integers.begin(), input.integers.end()}};
      continue;
    }
    RealTensor tensor = {input.shape, {input.reals.begin(), input.reals.end()}};
    if (entry.first() == "q")
      given.q = std::move(tensor);
    else if (entry.first() == "k")
      given.k = std::move(tensor);
    else if (entry.first() == "v")
      given.v = std::move(tensor);
    else if (entry.first() == "k_cache")
      given.kCache = std::move(tensor);
    else if (entry.first() == "v_cache")
      given.vCache = std::move(tensor);
    else
      given.tables[entry.first()] = std::move(tensor);
  }
  return given;
}

static Expected<ReferenceOutputs> evaluate(KernelOp kernel,
                                           const InputArrays &inputs,
                                           const RunOptions &options) {
  ReferenceOptions what;
  what.scores = options.wantScores;
  what.kept = options.wantMask;
  return evaluateReference(kernel, makeInputs(inputs, options), what);
}

static const RealTensor &getCache(const AppendOutputs &outputs,
                                  StringRef tensor) {
  return tensor == "k_cache"    ? outputs.kCache
         : tensor == "v_cache"  ? outputs.vCache
         : tensor == "k_scales" ? outputs.kScales
                                : outputs.vScales;
}

static Expected<RunResults> runAppend(KernelOp kernel,
                                      const InputArrays &inputs,
                                      const RunOptions &options) {
  Expected<AppendOutputs> outputs =
      evaluateAppend(kernel, makeInputs(inputs, options));
  if (!outputs)
    return outputs.takeError();
  RunResults results;
  for (const KernelTensor &tensor : getKernelTensors(kernel)) {
    if (!tensor.isCache)
      continue;
    const RealTensor &cache = getCache(*outputs, tensor.name);
    Expected<NpyArray> array = tensor.hasCodes()
                                   ? makeCache(tensor, cache.shape, cache.data)
                                   : makeArray(cache);
    if (!array)
      return array.takeError();
    results.getCache(tensor.name) = std::move(*array);
  }
  return results;
}

Expected<RunResults> posenc::runReference(KernelOp kernel,
                                          const InputArrays &inputs,
                                          const RunOptions &options) {
  if (kernel.isAppend())
    return runAppend(kernel, inputs, options);
  Expected<ReferenceOutputs> outputs = evaluate(kernel, inputs, options);
  if (!outputs)
    return outputs.takeError();

  RunResults results;
  auto keep = [](auto &result, const RealTensor &tensor) -> Error {
    Expected<NpyArray> array = makeArray(tensor);
    if (!array)
      return array.takeError();
    result = std::move(*array);
    return Error::success();
  };
  if (Error error = keep(results.o, outputs->o))
    return error;
  for (auto [isWanted, result, tensor] :
       {std::tuple(options.wantLse, &results.lse, &outputs->lse),
        {options.wantScores, &results.scores, &outputs->scores},
        {options.wantState, &results.state, &outputs->state},
        {options.wantSums, &results.sums, &outputs->sums}})
    if (isWanted)
      if (Error error = keep(*result, *tensor))
        return error;
  if (options.wantMask) {
    Expected<NpyArray> mask = NpyArray::fromDoubles(
        NpyType::U8, outputs->kept.shape, outputs->kept.data);
    if (!mask)
      return mask.takeError();
    results.mask = std::move(*mask);
  }
  return results;
}

/// `wanted` is what the reference gives; where that is NaN, nothing is checked
/// but that the kernel gives NaN too.
static Error report(StringRef name, const RealTensor &wanted,
                    const Accuracy &accuracy) {
  if (size_t nans =
          count_if(wanted.data, [](double x) { return std::isnan(x); }))
    WithColor::warning(errs(), "posenc-run")
        << name << ": the reference gives NaN for " << nans << " of "
        << wanted.data.size() << " numbers: look for NaN or infinity in the "
        << "inputs\n";
  if (!accuracy.isAccurate())
    return createStringError(accuracy.describe(name));
  if (accuracy.isOfAll) {
    outs() << name << ": relative root mean square error "
           << format("%.3g", accuracy.got) << ", "
           << format("%.3g", accuracy.ratio) << " of what is allowed\n";
    return Error::success();
  }
  outs() << name << ": largest error " << format("%.3g", accuracy.error) << ", "
         << format("%.3g", accuracy.ratio) << " of what is allowed\n";
  return Error::success();
}

static Error compareCaches(KernelOp kernel, const InputArrays &inputs,
                           const RunOptions &options, RunResults &results) {
  Expected<AppendOutputs> reference =
      evaluateAppend(kernel, makeInputs(inputs, options));
  if (!reference)
    return reference.takeError();
  for (const KernelTensor &tensor : getKernelTensors(kernel)) {
    if (!tensor.isCache)
      continue;
    Expected<std::vector<float>> cache =
        readCache(tensor, results.getCache(tensor.name));
    if (!cache)
      return cache.takeError();
    const RealTensor &wanted = getCache(*reference, tensor.name);
    bool areScales = StringRef(tensor.name).ends_with("_scales");
    Accuracy accuracy =
        tensor.hasCodes()
            ? measureCodes(wanted, *cache, tensor.storage.isInteger())
        : areScales ? measureScales(wanted, *cache)
                    : measureCache(wanted, *cache, tensor.getRoundoff());
    if (Error error = report(tensor.name, wanted, accuracy))
      return error;
  }
  return Error::success();
}

Error posenc::compareWithReference(KernelOp kernel, const InputArrays &inputs,
                                   const RunOptions &options,
                                   RunResults &results) {
  if (kernel.isAppend())
    return compareCaches(kernel, inputs, options, results);
  Expected<ReferenceOutputs> reference = evaluate(kernel, inputs, options);
  if (!reference)
    return reference.takeError();
  Expected<std::vector<float>> o = results.o.toFloats();
  if (!o)
    return o.takeError();
  Rounding rounding = getRounding(kernel, options.isa);
  if (Error error =
          report("o", reference->o, measureOutput(*reference, *o, rounding)))
    return error;
  for (auto [name, result, wanted, bound] :
       {std::tuple("state", &results.state, &reference->state,
                   &reference->stateBound),
        {"sums", &results.sums, &reference->sums, &reference->sumsBound}}) {
    if (!*result)
      continue;
    Expected<std::vector<float>> numbers = (*result)->toFloats();
    if (!numbers)
      return numbers.takeError();
    if (Error error =
            report(name, *wanted, measureState(*wanted, *bound, *numbers)))
      return error;
  }
  if (!results.lse)
    return Error::success();
  Expected<std::vector<float>> lse = results.lse->toFloats();
  if (!lse)
    return lse.takeError();
  return report("lse", reference->lse, measureLse(*reference, *lse));
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

static Expected<RealTensor> evaluate(EmbedOp embed, const InputArrays &inputs,
                                     const RunOptions &options) {
  EmbedInputs given;
  given.seed = options.seed;
  given.offset = options.offset;
  for (const auto &entry : inputs.arrays) {
    const InputArray &input = entry.second;
    if (input.isInteger) {
      given.positions[entry.first()] = {
          input.shape, {input.integers.begin(), input.integers.end()}};
      continue;
    }
    RealTensor tensor = {input.shape, {input.reals.begin(), input.reals.end()}};
    if (entry.first() == "x")
      given.x = std::move(tensor);
    else
      given.tables[entry.first()] = std::move(tensor);
  }
  return evaluateEmbed(embed, given);
}

Expected<RunResults> posenc::runReference(EmbedOp embed,
                                          const InputArrays &inputs,
                                          const RunOptions &options) {
  Expected<RealTensor> y = evaluate(embed, inputs, options);
  if (!y)
    return y.takeError();
  Expected<NpyArray> array = makeArray(*y);
  if (!array)
    return array.takeError();
  RunResults results;
  results.o = std::move(*array);
  return results;
}

Error posenc::compareWithReference(EmbedOp embed, const InputArrays &inputs,
                                   const RunOptions &options,
                                   RunResults &results) {
  Expected<RealTensor> reference = evaluate(embed, inputs, options);
  if (!reference)
    return reference.takeError();
  Expected<std::vector<double>> y = results.o.toDoubles();
  if (!y)
    return y.takeError();
  bool isWide = results.o.type == NpyType::F64;
  std::vector<float> narrow(y->begin(), y->end());
  return report("y", *reference,
                isWide ? measureEmbed(*reference, ArrayRef<double>(*y))
                       : measureEmbed(*reference, ArrayRef<float>(narrow)));
}
