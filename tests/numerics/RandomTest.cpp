// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels, compiled and compared with the reference. The same seed makes
// the same kernels on every machine.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Analysis/InstructionSets.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
/// What a random kernel is made of. The library's own distributions differ from
/// one standard library to the next, so numbers come from the engine alone.
class SpecGenerator {
public:
  explicit SpecGenerator(unsigned seed) : random(seed) {}

  int64_t number(int64_t below) { return random() % below; }
  template <typename T>
  T choose(ArrayRef<T> list) {
    return list[number(list.size())];
  }

  /// A specification that need not be valid.
  std::string makeText();
  Extents makeExtents();

private:
  Extents kernel;
  std::mt19937 random;
};
} // namespace

/// Applied to queries and keys.
static const StringRef vectorPieces[] = {
    "#posenc.rope",
    "#posenc.rope<pairing = interleaved, base = 500.0>",
    "#posenc.rope<dims = 4, placement = last>",
    "#posenc.rope<scaling = #posenc.linear_scaling<factor = 3.0>>",
    "#posenc.rope<scaling = #posenc.ntk<alpha = 4.0>>",
    "#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, original_length "
    "= 20>>",
    "#posenc.rope<base = 100.0, scaling = #posenc.yarn<factor = 4.0, "
    "original_length = 64>>",
    "#posenc.rope<base = 100.0, scaling = #posenc.llama3<factor = 8.0, "
    "original_length = 100>>",
    "#posenc.rope<attention_factor = 1.1, base = 100.0, scaling = "
    "#posenc.dynamic_yarn<original_length = 40>>",
    "#posenc.xpos<scale_base = 64.0>",
    "#posenc.qk_norm<kind = rms>",
    "#posenc.qk_norm<kind = l2>",
    "#posenc.log_n<length = 7>",
    "#posenc.query_temperature<attn_scale = 0.1, floor_scale = 5.0>",
    "#posenc.rope_bias",
    "#posenc.fope<length = 9>",
    "#posenc.rerope<window = 6>",
    "#posenc.self_extend<group = 2, window = 6>",
};

/// Added to scores.
static const StringRef termPieces[] = {
    "#posenc.alibi",
    "#posenc.alibi<form = symmetric>",
    "#posenc.alibi<site = inside, name = \"inner\">",
    "#posenc.t5_bias<buckets = 8, max_distance = 16>",
    "#posenc.t5_bias<buckets = 8, max_distance = 16, direction = "
    "bidirectional, name = \"both\">",
    "#posenc.toeplitz_bias<max_distance = 5>",
    "#posenc.dense_bias",
    "#posenc.kerple",
    "#posenc.kerple<kind = power, name = \"power\">",
    "#posenc.kerple<kind = power, weight = on, name = \"product\">",
    "#posenc.fire<hidden = 3>",
    "#posenc.sandwich",
    "#posenc.shaw<max_distance = 4>",
    "#posenc.shaw<max_distance = 2, values = off, name = \"keys\">",
    "#posenc.transformer_xl<model_dim = 6>",
    "#posenc.mtf_contextual<buckets = 8, max_distance = 16>",
    "#posenc.fox",
    "#posenc.dape<hidden = 5>",
    "#posenc.dape<version = v2, hidden = 3, name = \"along\">",
    "#posenc.softcap<cap = 5.0>",
    "#posenc.softcap<cap = 3000.0, name = \"wide\">",
    "#posenc.softcap<cap = 9.0, site = after_bias, name = \"late\">",
    "#posenc.attention_sink",
    "#posenc.softmax_off_by_one",
};

static const StringRef masks[] = {
    "#posenc.full",
    "#posenc.causal",
    "#posenc.causal<top_left>",
    "#posenc.window<left = 5>",
    "#posenc.window<left = 3, right = 4>",
    "#posenc.window<left = 6, by = position>",
    "#posenc.chunk<size = 9>",
    "#posenc.segments",
    "#posenc.prefix",
    "#posenc.group<size = 4, wrap = 12>",
    "#posenc.all<[#posenc.causal, #posenc.segments]>",
    "#posenc.any<[#posenc.window<left = 2>, #posenc.prefix]>",
};

std::string SpecGenerator::makeText() {
  static const int64_t groups[] = {1, 1, 2, 4};
  static const int64_t sizes[] = {8, 8, 16, 20, 34};
  int64_t group = choose<int64_t>(groups);
  kernel.kvHeads = 1 + number(3);
  kernel.heads = group * kernel.kvHeads;
  kernel.headDim = choose<int64_t>(sizes);
  kernel.valueDim = number(3) ? kernel.headDim : 1 + number(20);

  SmallVector<StringRef> pieces;
  for (int64_t count = number(3); count > 0; --count)
    pieces.push_back(choose<StringRef>(vectorPieces));
  for (int64_t count = number(4); count > 0; --count)
    pieces.push_back(choose<StringRef>(termPieces));
  StringRef mask = choose<StringRef>(masks);
  std::string text = formatv(
      "posenc.kernel @random heads({0}) kv_heads({1}) head_dim({2}) "
      "value_dim({3}) mask({4})",
      kernel.heads, kernel.kvHeads, kernel.headDim, kernel.valueDim, mask);
  // The planner refuses projected sinusoids of distances that only a call
  // knows.
  bool isProjected = llvm::is_contained(
      pieces, StringRef("#posenc.transformer_xl<model_dim = 6>"));
  if (number(4) == 0 && !isProjected)
    text += " positions(#posenc.position_tensor)";
  return text + "\n  encode [" + join(pieces, ",\n          ") + "]\n";
}

Extents SpecGenerator::makeExtents() {
  static const int64_t lengths[] = {1, 2, 5, 16, 31, 33, 49, 65, 130, 259};
  kernel.batch = 1 + number(2);
  kernel.keyLen = choose<int64_t>(lengths);
  // Positions that are an operand need as many keys as queries.
  kernel.queryLen = std::min(choose<int64_t>(lengths), kernel.keyLen);
  return kernel;
}

/// Whether the verifier takes the specification: some pieces contradict each
/// other.
static bool isValid(StringRef text) {
  mlir::ScopedDiagnosticHandler quiet(
      &getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  return static_cast<bool>(
      mlir::parseSourceString<mlir::ModuleOp>(text, &getContext()));
}

static std::string checkRandom(unsigned seed, const std::string &isa) {
  SpecGenerator generator(seed);
  std::string text = generator.makeText();
  while (!isValid(text))
    text = generator.makeText();
  Extents extents = generator.makeExtents();
  auto describe = [&](const std::string &problem) {
    return formatv("{0}\nwith batch {1}, {2} queries and {3} keys of\n{4}",
                   problem, extents.batch, extents.queryLen, extents.keyLen,
                   text)
        .str();
  };
  LoadedKernel kernel;
  std::string problem = kernel.load(text, isa);
  if (!problem.empty())
    return describe(problem);
  ReferenceInputs inputs =
      makeInputs(kernel.spec->getKernel(), extents, seed, 0.75);
  problem = checkNative(kernel, inputs, {});
  return problem.empty() ? problem : describe(problem);
}

void posenc::numerics::testRandom(TestRun &run, unsigned first,
                                  unsigned count) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    // Every instruction set in turn.
    ArrayRef<InstructionSet> isas = getInstructionSets();
    std::string isa = isas[seed % isas.size()].name.str();
    std::string name = "random/" + std::to_string(seed) + "/" + isa;
    uint64_t needed = isas[seed % isas.size()].features;
    if ((posenc_cpu_features() & needed) != needed) {
      if (run.isSelected(name))
        run.skip(name, "this CPU cannot run it");
      continue;
    }
    runGuarded(run, name, [&] { return checkRandom(seed, isa); });
  }
}
