// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences that come in steps, with every named encoding and mask: new keys go
// to a cache, raw or encoded, and each step gives what one call over the whole
// sequence gives.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Compiler/Compile.h"
#include "posenc/Reference/Accuracy.h"
#include "support/EncodingList.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/InitLLVM.h"

#include <cmath>
#include <cstring>
#include <thread>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
constexpr int64_t batch = 2, heads = 4, headDim = 16, capacity = 110;
/// Tokens of each step: one by one, a few, and more than a tile has rows.
constexpr int64_t steps[] = {1, 1, 13, 1, 3, 16, 1, 34, 30};

struct Policy {
  const char *name, *clauses;
};
constexpr Policy policies[] = {
    {"raw", "keys(lengths) key_cache(raw) "},
    {"encoded", "keys(lengths) key_cache(encoded) "},
};

/// A sequence, as a whole and in steps.
class Generation {
public:
  Generation(const LoadedKernel &kernel, const Spec &raw);

  /// `dependsOnLength`: whether what a query sees depends on how many tokens
  /// the call has.
  std::string run(bool dependsOnLength);

private:
  ReferenceInputs makeAppend(ArrayRef<KernelTensor> tensors, int64_t begin,
                             int64_t end) const;
  ReferenceInputs makeStep(int64_t begin, int64_t end) const;
  std::string append(int64_t begin, int64_t end);
  std::string attend(int64_t begin, int64_t end, bool dependsOnLength);

  const LoadedKernel &kernel;
  const Spec &raw;
  int64_t length = 0;
  /// All queries, the caches of raw keys, and the tokens to be appended.
  ReferenceInputs whole;
  RealTensor newKeys, newValues;
  /// What the kernel's own cache holds.
  RealTensor kCache, vCache;
  ReferenceOutputs wanted;
  bool differs = false;
};
} // namespace

Generation::Generation(const LoadedKernel &kernel, const Spec &raw)
    : kernel(kernel), raw(raw) {
  for (int64_t tokens : steps)
    length += tokens;
  KernelOp op = raw.getKernel();
  int64_t kvHeads = op.getNumKvHeads(), valueDim = op.getValueSize();
  whole = makeInputs(
      op, {batch, heads, kvHeads, length, capacity, headDim, valueDim}, 9, 0.5);
  whole.positions["key_lengths"] = {{batch}, {length, length}};
  std::mt19937 random(4);
  newKeys = makeRandom(random, {batch, kvHeads, length, headDim}, 0.5);
  newValues = makeRandom(random, {batch, kvHeads, length, valueDim}, 0.5);
  // Rows that are never written must not be read.
  for (RealTensor *cache : {&whole.k, &whole.v})
    std::fill(cache->data.begin(), cache->data.end(), std::nan(""));
  kCache = whole.k;
  vCache = whole.v;
  KernelOp rawAppend = raw.getAppend();
  ReferenceInputs inputs = makeAppend(getKernelTensors(rawAppend), 0, length);
  AppendOutputs caches = cantFail(evaluateAppend(rawAppend, inputs));
  whole.k = caches.kCache;
  whole.v = caches.vCache;
  wanted = evaluate(op, whole);
}

/// Tokens begin .. end - 1 for the end of the sequence so far.
ReferenceInputs Generation::makeAppend(ArrayRef<KernelTensor> tensors,
                                       int64_t begin, int64_t end) const {
  ReferenceInputs inputs;
  inputs.k = slice(newKeys, 2, begin, end);
  inputs.v = slice(newValues, 2, begin, end);
  inputs.kCache = kCache;
  inputs.vCache = vCache;
  inputs.tables = whole.tables;
  for (const KernelTensor &tensor : tensors) {
    auto numbers = whole.positions.find(tensor.name);
    if (numbers == whole.positions.end())
      continue;
    bool isOfTokens = tensor.extents.back().kind == ExtentKind::QueryLen;
    inputs.positions[tensor.name] =
        isOfTokens ? slice(numbers->second, numbers->second.shape.size() - 1,
                           begin, end)
                   : numbers->second;
  }
  inputs.positions["key_lengths"] = {{batch}, {end, end}};
  return inputs;
}

/// The attention of queries begin .. end - 1, over raw keys.
ReferenceInputs Generation::makeStep(int64_t begin, int64_t end) const {
  ReferenceInputs inputs = whole;
  inputs.q = slice(whole.q, 2, begin, end);
  for (const KernelTensor &tensor : kernel.compiled.tensors)
    for (auto [axis, extent] : enumerate(tensor.extents)) {
      if (extent.kind != ExtentKind::QueryLen)
        continue;
      if (auto table = inputs.tables.find(tensor.name);
          table != inputs.tables.end())
        table->second = slice(table->second, axis, begin, end);
      if (auto numbers = inputs.positions.find(tensor.name);
          numbers != inputs.positions.end())
        numbers->second = slice(numbers->second, axis, begin, end);
    }
  inputs.positions["key_lengths"] = {{batch}, {end, end}};
  return inputs;
}

std::string Generation::append(int64_t begin, int64_t end) {
  return appendNative(kernel,
                      makeAppend(kernel.compiled.appendTensors, begin, end),
                      Arrangement::Blhd, kCache, vCache);
}

/// Two callers at once, which must not disturb each other.
static std::string callTwice(const LoadedKernel &kernel,
                             const ReferenceInputs &inputs,
                             const NativeCall &call, NativeResults &results) {
  NativeResults other;
  std::string problem, otherProblem;
  std::thread caller(
      [&] { otherProblem = callNative(kernel, inputs, call, other); });
  problem = callNative(kernel, inputs, call, results);
  caller.join();
  if (problem.empty())
    problem = otherProblem;
  auto equal = [](ArrayRef<float> a, ArrayRef<float> b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  };
  if (problem.empty() &&
      !(equal(results.o, other.o) && equal(results.lse, other.lse)))
    problem = "two callers at once get different results";
  return problem;
}

/// Rows begin .. end - 1.
static ReferenceOutputs sliceRows(const ReferenceOutputs &outputs,
                                  int64_t begin, int64_t end) {
  ReferenceOutputs rows;
  for (RealTensor ReferenceOutputs::*tensor :
       {&ReferenceOutputs::o, &ReferenceOutputs::lse,
        &ReferenceOutputs::maxScore, &ReferenceOutputs::maxValue})
    if (!(outputs.*tensor).data.empty())
      rows.*tensor = slice(outputs.*tensor, 2, begin, end);
  return rows;
}

std::string Generation::attend(int64_t begin, int64_t end,
                               bool dependsOnLength) {
  ReferenceInputs inputs = makeStep(begin, end);
  ReferenceOutputs rows = sliceRows(wanted, begin, end);
  ReferenceOutputs alone = evaluate(raw.getKernel(), inputs);
  std::string difference = compare("o", alone.o, rows.o, 1e-9);
  if (difference.empty())
    difference = compare("lse", alone.lse, rows.lse, 1e-9);
  differs |= !difference.empty();
  if (!difference.empty() && !dependsOnLength)
    return "the reference of the step: " + difference;

  inputs.k = kCache;
  inputs.v = vCache;
  NativeCall call;
  call.wantLse = raw.getKernel().exportsLse();
  NativeResults results;
  std::string problem = callTwice(kernel, inputs, call, results);
  if (!problem.empty())
    return problem;
  Accuracy accuracy = measureOutput(alone, results.o);
  if (!accuracy.isAccurate())
    return accuracy.describe("o");
  if (call.wantLse)
    if (Accuracy lse = measureLse(alone, results.lse); !lse.isAccurate())
      return lse.describe("lse");
  return "";
}

std::string Generation::run(bool dependsOnLength) {
  int64_t begin = 0;
  for (int64_t tokens : steps) {
    std::string problem = append(begin, begin + tokens);
    if (problem.empty())
      problem = attend(begin, begin + tokens, dependsOnLength);
    if (!problem.empty())
      return "tokens " + std::to_string(begin) + " to " +
             std::to_string(begin + tokens) + ": " + problem;
    begin += tokens;
  }
  if (dependsOnLength && !differs)
    return "steps give what one call gives, although frequencies depend on the "
           "number of tokens";
  return "";
}

/// The clauses of the list, with a mask that hides later keys.
static std::string makeText(StringRef clauses, const Policy &policy) {
  std::string text = ("posenc.kernel @generate heads(" + Twine(heads) +
                      ") head_dim(" + Twine(headDim) + ") " + policy.clauses)
                         .str();
  if (!clauses.contains("kv_heads("))
    text += "kv_heads(2) ";
  if (!clauses.contains("value_dim("))
    text += "value_dim(10) ";
  if (!clauses.contains("mask("))
    return text + "mask(#posenc.causal) " + clauses.str();
  if (clauses.contains("mask(#posenc.causal)"))
    return text + clauses.str();
  // From "mask(" to the parenthesis that closes it.
  size_t begin = clauses.find("mask(") + 5, end = begin;
  for (int depth = 1; depth > 0; ++end)
    depth += clauses[end] == '(' ? 1 : clauses[end] == ')' ? -1 : 0;
  return text + clauses.take_front(begin).str() +
         "#posenc.all<[#posenc.causal, " + clauses.slice(begin, end - 1).str() +
         "]>" + clauses.drop_front(end - 1).str();
}

/// Whether frequencies depend on how many tokens there are.
static bool dependsOnLength(StringRef clauses) {
  if (clauses.contains("#posenc.longrope"))
    return clauses.contains("interpolate = true") ||
           !clauses.contains("select = ");
  return clauses.contains("#posenc.dynamic_");
}

/// Whether keys must stay as they were: they turn by the length of the call, a
/// product reads them in two ways, or query heads change them.
static bool mustStayRaw(StringRef clauses) {
  return dependsOnLength(clauses) || clauses.contains("rerope<") ||
         clauses.contains("#posenc.self_extend") ||
         clauses.contains("\"olmo2\"") ||
         (clauses.contains("#posenc.linear_attention") &&
          clauses.contains("#posenc.rope"));
}

/// Why the kernel's cache cannot hold encoded keys, or nothing.
static std::string findRefusal(StringRef text) {
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(&getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          reason += diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> expanded = cloneExpanded(*module);
  if (expanded)
    return "";
  consumeError(expanded.takeError());
  return reason;
}

static std::string checkRefusal(StringRef reason, bool isExpected) {
  if (reason.empty())
    return "encoded keys are taken";
  if (!isExpected || !reason.contains("cannot have key_cache(encoded)"))
    return reason.str();
  return "";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options =
      parseOptions(argc, argv, "posenc's tests of sequences in steps\n");
  TestRun run(options);
  std::vector<std::string> isas = findInstructionSets(run);
  std::vector<std::string> lines = readEncodingList(POSENC_NUMERICS_ENCODINGS);
  size_t turn = 0;
  for (const std::string &clauses : lines) {
    // Queries of a step are not the sequence's first.
    if (StringRef(clauses).contains("top_left"))
      continue;
    // Kernels that do nothing to keys are the same under both policies.
    const std::string &isa = isas[turn++ % isas.size()];
    for (const Policy &policy : policies)
      runGuarded(run, "generation/" + isa + "/" + policy.name + "/" + clauses,
                 [&]() -> std::string {
                   std::string text = makeText(clauses, policy);
                   bool isRefused = StringRef(policy.name) == "encoded" &&
                                    mustStayRaw(clauses);
                   std::string reason = findRefusal(text);
                   if (isRefused || !reason.empty())
                     return checkRefusal(reason, isRefused);
                   LoadedKernel kernel;
                   if (std::string problem = kernel.load(text, isa);
                       !problem.empty())
                     return problem;
                   Spec raw(replaceAll(text, "(encoded)", "(raw)"));
                   return Generation(kernel, raw).run(dependsOnLength(clauses));
                 });
  }
  return run.finish();
}
