// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel in the reference interpreter.
#include "Backend.h"

#include "posenc/Reference/Reference.h"

#include "llvm/Support/Parallel.h"

using namespace llvm;
using namespace posenc;

static Expected<NpyArray> makeArray(const RealTensor &tensor) {
  return NpyArray::fromDoubles(NpyType::F64, tensor.shape, tensor.data);
}

Expected<RunResults> posenc::runReference(KernelOp kernel,
                                          const InputArrays &inputs,
                                          const RunOptions &options) {
  if (options.threads > 0)
    parallel::strategy = hardware_concurrency(options.threads);
  ReferenceInputs given;
  given.firstHead = options.firstHead;
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
    else
      given.tables[entry.first()] = std::move(tensor);
  }
  ReferenceOptions what;
  what.scores = options.wantScores;
  Expected<ReferenceOutputs> outputs = evaluateReference(kernel, given, what);
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
  if (options.wantLse)
    if (Error error = keep(results.lse, outputs->lse))
      return error;
  if (options.wantScores)
    if (Error error = keep(results.scores, outputs->scores))
      return error;
  return results;
}
