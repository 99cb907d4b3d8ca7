// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled kernels against the reference: lengths, layouts, threads, buffers.
#include "Fixture.h"
#include "GuardedBuffer.h"
#include "NativeSpecs.h"
#include "Pairwise.h"
#include "TestRun.h"

#include "posenc/Compiler/NativeKernel.h"
#include "posenc/Reference/Accuracy.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <unistd.h>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Choices of a call
//===----------------------------------------------------------------------===//

namespace {

enum class Arrangement {
  Compact, // strides are NULL
  Blhd,    // [B, L, H, D]
  Packed,  // q, k and v of a token, or its k and v, side by side
  Padded,  // gaps after each row and each head
};

struct CallChoices {
  int64_t queryLen, keyLen, batch;
  Arrangement arrangement;
  int threads;
  bool wantLse, prepared, ownScratch;
  /// The deviation of the scores without biases.
  double deviation;

  std::string str() const;
};

} // namespace

static constexpr int64_t lengths[] = {0,  1,   2,   47,  48,  49, 64,
                                      97, 255, 256, 257, 300, 520};
static constexpr const char *arrangements[] = {"compact", "blhd", "packed",
                                               "padded"};
static constexpr int threadCounts[] = {1, 3};
static constexpr double deviations[] = {1, 40};

std::string CallChoices::str() const {
  return ("B=" + Twine(batch) + "/Lq=" + Twine(queryLen) + "/Lk=" +
          Twine(keyLen) + "/" + arrangements[static_cast<int>(arrangement)] +
          "/threads=" + Twine(threads) + "/lse=" + Twine(wantLse) +
          "/prepared=" + Twine(prepared) + "/own_scratch=" + Twine(ownScratch) +
          "/deviation=" + Twine(static_cast<int>(deviation)))
      .str();
}

//===----------------------------------------------------------------------===//
// The tensors of a call
//===----------------------------------------------------------------------===//

namespace {

class CallTensors {
public:
  CallTensors(const CompiledKernel &kernel, const NativeSpec &spec,
              const CallChoices &choices, const ReferenceInputs &inputs);

  const NativeKernel::Arguments &getArguments() const { return arguments; }
  std::vector<float> read(StringRef name) const {
    return tensors.find(name)->second->read();
  }
  /// What was written that must not be.
  std::string check() const;

private:
  std::shared_ptr<GuardedBuffer> makeBuffer(int64_t words);
  Layout makeLayout(const KernelTensor &tensor, ArrayRef<int64_t> shape,
                    std::shared_ptr<GuardedBuffer> &buffer);

  const NativeSpec &spec;
  const CallChoices &choices;
  NativeKernel::Arguments arguments;
  StringMap<std::unique_ptr<GuardedTensor>> tensors;
  std::vector<std::shared_ptr<GuardedBuffer>> buffers;
  std::shared_ptr<GuardedBuffer> packed;
};

} // namespace

std::shared_ptr<GuardedBuffer> CallTensors::makeBuffer(int64_t words) {
  buffers.push_back(std::make_shared<GuardedBuffer>(words));
  return buffers.back();
}

/// Chooses strides; they cover a buffer of their own unless tensors are packed.
Layout CallTensors::makeLayout(const KernelTensor &tensor,
                               ArrayRef<int64_t> shape,
                               std::shared_ptr<GuardedBuffer> &buffer) {
  Layout layout;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  bool isVectors = shape.size() == 4; // q, k, v, o
  bool isPacked = choices.arrangement == Arrangement::Packed && isVectors &&
                  !tensor.isOutput;
  if (isPacked) {
    // [q of every head, k of every key head, v of every key head] of a token.
    bool hasQueries = choices.queryLen == choices.keyLen;
    int64_t queries = hasQueries ? spec.heads * spec.headDim : 0;
    int64_t keys = spec.kvHeads * spec.headDim;
    int64_t row = queries + keys + spec.kvHeads * spec.valueDim;
    if (hasQueries || tensor.name != "q") {
      if (!packed)
        packed = makeBuffer(choices.batch * choices.keyLen * row);
      buffer = packed;
      layout.offset = tensor.name == "q"   ? 0
                      : tensor.name == "k" ? queries
                                           : queries + keys;
      layout.strides = {choices.keyLen * row, shape[3], row, 1};
      return layout;
    }
  }
  switch (choices.arrangement) {
  case Arrangement::Compact:
  case Arrangement::Packed:
    break;
  case Arrangement::Blhd:
    if (isVectors)
      layout.strides = {shape[1] * shape[2] * shape[3], shape[3],
                        shape[1] * shape[3], 1};
    break;
  case Arrangement::Padded: {
    // Gaps of 3 after each row and of 5 after each head; tables are stored with
    // their first axis innermost where the last one may have a stride.
    layout.offset = 3;
    layout.strides.resize(shape.size());
    int64_t stride = tensor.unitStride ? 1 : 2;
    bool isReversed =
        !tensor.unitStride && !tensor.isOutput && shape.size() == 2;
    for (size_t x = shape.size(); x-- > 0;) {
      size_t axis = isReversed ? shape.size() - 1 - x : x;
      layout.strides[axis] = stride;
      stride = stride * shape[axis] + (x + 1 == shape.size() ? 3 : 5);
    }
    elements = elements ? stride : 0;
    break;
  }
  }
  buffer = makeBuffer(elements + layout.offset);
  return layout;
}

CallTensors::CallTensors(const CompiledKernel &kernel, const NativeSpec &spec,
                         const CallChoices &choices,
                         const ReferenceInputs &inputs)
    : spec(spec), choices(choices), arguments(kernel.tensors.size()) {
  for (auto [index, tensor] : enumerate(kernel.tensors)) {
    if (tensor.name == "lse" && !choices.wantLse)
      continue;
    SmallVector<int64_t, 4> shape;
    auto table = inputs.tables.find(tensor.name);
    if (tensor.name == "o" || tensor.name == "lse") {
      shape = {choices.batch, spec.heads, choices.queryLen};
      if (tensor.name == "o")
        shape.push_back(spec.valueDim);
    } else if (tensor.isInteger) {
      shape = inputs.positions.find(tensor.name)->second.shape;
    } else {
      shape = tensor.name == "q"   ? inputs.q.shape
              : tensor.name == "k" ? inputs.k.shape
              : tensor.name == "v" ? inputs.v.shape
                                   : table->second.shape;
    }
    std::shared_ptr<GuardedBuffer> buffer;
    Layout layout = makeLayout(tensor, shape, buffer);
    auto guarded = std::make_unique<GuardedTensor>(buffer, shape, layout,
                                                   tensor.isInteger);
    if (tensor.isOutput)
      guarded->allowWrite();
    else if (tensor.isInteger)
      guarded->write(
          ArrayRef<int64_t>(inputs.positions.find(tensor.name)->second.data));
    else
      guarded->write(ArrayRef<double>(tensor.name == "q"   ? inputs.q.data
                                      : tensor.name == "k" ? inputs.k.data
                                      : tensor.name == "v"
                                          ? inputs.v.data
                                          : table->second.data));
    arguments.set(index, guarded->get());
    tensors[tensor.name] = std::move(guarded);
  }
  for (auto &buffer : buffers)
    buffer->remember();
}

std::string CallTensors::check() const {
  for (const auto &buffer : buffers)
    if (std::string problem = buffer->check(); !problem.empty())
      return problem;
  return "";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// A kernel, compiled and loaded.
struct LoadedKernel {
  std::unique_ptr<Spec> spec;
  CompiledKernel compiled;
  std::unique_ptr<NativeKernel> native;
};

} // namespace

/// Fills `kernel`; says what went wrong, or nothing.
static std::string load(const NativeSpec &native, LoadedKernel &kernel) {
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      &getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          diagnostics += diagnostic.str() + "; ";
        return mlir::success();
      });
  kernel.spec = std::make_unique<Spec>(native.text);
  CompileOptions options;
  options.isas = {native.isa};
  options.cacheDirectory = getDefaultCacheDirectory();
  mlir::FailureOr<std::vector<CompiledKernel>> compiled =
      compile(kernel.spec->getModule(), options);
  if (mlir::failed(compiled))
    return "does not compile: " + diagnostics;
  kernel.compiled = std::move(compiled->front());
  Expected<std::unique_ptr<NativeKernel>> loaded =
      NativeKernel::load(kernel.compiled);
  if (!loaded)
    return "does not load: " + toString(loaded.takeError());
  kernel.native = std::move(*loaded);
  return "";
}

/// The word that precedes a signal's end of the program.
static char currentTest[1024];

static void reportCrash(int) {
  // Only what is allowed in a signal handler.
  auto print = [](const char *text, size_t size) {
    ssize_t written = write(STDOUT_FILENO, text, size);
    (void)written;
  };
  print("FAILED: ", 8);
  print(currentTest, strlen(currentTest));
  constexpr char reason[] = ": ended by a signal: memory outside a tensor?\n";
  print(reason, sizeof(reason) - 1);
  _exit(1);
}

static std::string describeStatus(const char *what, posenc_status status) {
  return std::string(what) + " failed: " + posenc_status_string(status) + ": " +
         posenc_last_error();
}

/// Makes one call and compares it with the reference.
static std::string runCall(const LoadedKernel &kernel, const NativeSpec &spec,
                           const CallChoices &choices, unsigned seed,
                           posenc_pool *pool) {
  KernelOp op = kernel.spec->getKernel();
  Extents extents{choices.batch,  spec.heads,   spec.kvHeads, choices.queryLen,
                  choices.keyLen, spec.headDim, spec.valueDim};
  ReferenceInputs inputs = makeInputs(op, extents, seed);
  double scale = 0;
  op.walk([&](DotOp dot) { scale = dot.getScale().convertToDouble(); });
  for (double &value : inputs.q.data)
    value = static_cast<float>(value * choices.deviation / std::abs(scale) /
                               std::sqrt(double(spec.headDim)));
  for (auto &entry : inputs.tables) {
    RealTensor &table = entry.second;
    bool isOfPairs =
        table.shape.size() >= 2 && table.shape.end()[-1] == choices.keyLen &&
        table.shape.end()[-2] == choices.queryLen && entry.first() != "rows";
    // A row that sees nothing, and pairs masked in each of the three ways.
    for (size_t x = 0; isOfPairs && x < table.data.size(); ++x)
      if (int64_t i = x / choices.keyLen % choices.queryLen;
          i == 1 || x % 7 == 3)
        table.data[x] = x % 3 == 0   ? -infinity
                        : x % 3 == 1 ? -1e30
                                     : std::numeric_limits<float>::lowest();
  }
  CallTensors tensors(kernel.compiled, spec, choices, inputs);

  posenc_call call = POSENC_CALL_INIT;
  call.pool = choices.threads > 1 ? pool : nullptr;
  std::unique_ptr<GuardedBuffer> prepared, scratch;
  auto countWords = [](size_t bytes) { return (bytes + 3) / 4; };
  if (choices.prepared) {
    size_t bytes = kernel.native->preparedBytes(tensors.getArguments());
    prepared = std::make_unique<GuardedBuffer>(countWords(bytes));
    if (posenc_status status = kernel.native->prepare(tensors.getArguments(),
                                                      prepared->data(), bytes))
      return describeStatus("prepare", status);
    prepared->remember();
    call.prepared = prepared->data();
  }
  if (choices.ownScratch) {
    call.scratch_bytes =
        kernel.native->scratchBytes(tensors.getArguments(), &call);
    scratch = std::make_unique<GuardedBuffer>(countWords(call.scratch_bytes));
    call.scratch = scratch->data();
  }
  if (posenc_status status = kernel.native->run(tensors.getArguments(), &call))
    return describeStatus("the call", status);

  std::string problem = tensors.check();
  if (problem.empty() && prepared)
    if (problem = prepared->check(); !problem.empty())
      problem = "prepared buffer: " + problem;
  if (!problem.empty())
    return problem;
  ReferenceOutputs reference = evaluate(op, inputs);
  Accuracy output = measureOutput(reference, tensors.read("o"));
  if (!output.isAccurate())
    return output.describe("o");
  if (choices.wantLse) {
    Accuracy lse = measureLse(reference, tensors.read("lse"));
    if (!lse.isAccurate())
      return lse.describe("lse");
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// The instruction sets that this machine has.
static std::vector<std::string> findInstructionSets(TestRun &run) {
  std::vector<std::string> found;
  for (StringRef isa : getInstructionSets()) {
    NativeSpec spec = {"",        "posenc.kernel @probe heads(1) head_dim(2)",
                       isa.str(), 1,
                       1,         2,
                       2,         false};
    LoadedKernel kernel;
    std::string problem = load(spec, kernel);
    if (problem.empty()) {
      CallChoices choices = {1,     1,     1, Arrangement::Compact, 1, false,
                             false, false, 1};
      ReferenceInputs inputs = makeInputs(kernel.spec->getKernel(), {}, 1);
      CallTensors tensors(kernel.compiled, spec, choices, inputs);
      if (kernel.native->run(tensors.getArguments(), nullptr) ==
          POSENC_UNSUPPORTED_CPU) {
        run.skip("native/" + isa, "this CPU cannot run it");
        continue;
      }
    }
    // A kernel that does not compile is found by the tests.
    found.push_back(isa.str());
  }
  return found;
}

void posenc::numerics::testNative(TestRun &run,
                                  const NativeTestOptions &options) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    std::signal(signal, reportCrash);
  // Kernels are compiled for one instruction set each.
  unsetenv("POSENC_ISA");
  std::vector<NativeSpec> specs =
      makeNativeSpecs(findInstructionSets(run), options.full);

  enum {
    SpecIndex,
    QueryLen,
    KeyLen,
    Batch,
    Arranged,
    Threads,
    Lse,
    Prepared,
    Scratch,
    Deviation
  };
  size_t counts[] = {specs.size(),
                     std::size(lengths),
                     std::size(lengths),
                     2,
                     std::size(arrangements),
                     std::size(threadCounts),
                     2,
                     2,
                     2,
                     std::size(deviations)};
  auto isValid = [&](ArrayRef<size_t> row) {
    const NativeSpec &spec = specs[row[SpecIndex]];
    bool hasLse = !StringRef(spec.text).contains("no_lse");
    // The rule of accuracy knows the final scores only. Large dot products fit
    // it if every row has a large score and few products cancel.
    bool fitsLarge = spec.headDim <= 16 &&
                     StringRef(spec.text).contains("#posenc.full") &&
                     !StringRef(spec.text).contains("posenc.map") &&
                     lengths[row[KeyLen]] >= 64;
    return (!spec.hasPositions || row[QueryLen] <= row[KeyLen]) &&
           (hasLse || !row[Lse]) && (fitsLarge || !row[Deviation]);
  };
  std::vector<std::vector<size_t>> rows = coverPairs(counts, isValid);
  if (options.full)
    for (size_t spec = 0; spec < specs.size(); ++spec)
      for (size_t q = 0; q < std::size(lengths); ++q)
        for (size_t k = 0; k < std::size(lengths); ++k) {
          std::vector<size_t> row = {spec, q, k};
          size_t x = rows.size(); // the other choices take turns
          for (size_t p = Batch; p <= Deviation; ++p)
            row.push_back(x % counts[p]), x /= counts[p];
          if (isValid(row))
            rows.push_back(row);
        }
  stable_sort(rows, [](const auto &x, const auto &y) { return x[0] < y[0]; });

  posenc_pool *pool = nullptr;
  if (posenc_pool_create(threadCounts[1], &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });

  auto at = rows.begin();
  for (size_t x = 0; x < specs.size(); ++x) {
    const NativeSpec &spec = specs[x];
    LoadedKernel kernel;
    std::optional<std::string> problem; // what load() said
    auto loadOnce = [&] {
      if (!problem)
        problem = load(spec, kernel);
      return *problem;
    };
    run.test("native/compile/" + spec.name, loadOnce);
    for (; at != rows.end() && (*at)[SpecIndex] == x; ++at) {
      const std::vector<size_t> &row = *at;
      CallChoices choices = {lengths[row[QueryLen]],
                             lengths[row[KeyLen]],
                             static_cast<int64_t>(row[Batch] + 1),
                             static_cast<Arrangement>(row[Arranged]),
                             threadCounts[row[Threads]],
                             row[Lse] != 0,
                             row[Prepared] != 0,
                             row[Scratch] != 0,
                             deviations[row[Deviation]]};
      std::string name = "native/run/" + spec.name + "/" + choices.str();
      // A kernel that does not compile has failed once, above.
      if (!run.isSelected(name) || !loadOnce().empty())
        continue;
      strncpy(currentTest, name.c_str(), sizeof(currentTest) - 1);
      unsigned seed = at - rows.begin();
      run.test(name,
               [&] { return runCall(kernel, spec, choices, seed, pool); });
    }
  }
}
