// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as a specification: parsed, verified, expanded, simplified, planned
// and lowered to the driver, embeddings and now and then a kernel to machine
// code. Errors are fine, crashes are not.
#include "FuzzTarget.h"

#include "posenc/Compiler/Compile.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;
using namespace posenc;

static MLIRContext &getContext() {
  static DialectRegistry *registry = [] {
    auto *made = new DialectRegistry();
    registerCompilerDialects(*made);
    return made;
  }();
  static auto *context =
      new MLIRContext(*registry, MLIRContext::Threading::DISABLED);
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = getContext();
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  // The parser looks one character ahead, so the text needs an end.
  std::string text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return 0;
  std::vector<std::string> isas = {"x86-64-avx2"};
  auto compileOne = [&](StringRef name) {
    CompileOptions options;
    options.kernel = name.str();
    options.isas = isas;
    (void)compile(*module, options);
  };
  for (EmbedOp embed : module->getOps<EmbedOp>())
    compileOne(embed.getSymName());
  for (KernelOp kernel : module->getOps<KernelOp>()) {
    FailureOr<OwningOpRef<ModuleOp>> plans = lowerToPlans(kernel, isas);
    if (failed(plans))
      continue;
    PassManager manager(&context);
    manager.addPass(createPosencLowerDriver());
    // Tile functions take their time.
    static unsigned lowered = 0;
    if (succeeded(manager.run(**plans)) && ++lowered % 64 == 0 &&
        kernel.getHeadDim() <= 64)
      compileOne(kernel.getSymName());
  }
  return 0;
}

/// The specifications of published models, which know all encodings.
static void addSpecs(std::vector<std::string> &seeds) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(POSENC_SPECS, error), end;
       !error && at != end; at.increment(error))
    if (llvm::sys::path::extension(at->path()) == ".mlir")
      paths.push_back(at->path());
  std::sort(paths.begin(), paths.end()); // the same seeds everywhere
  for (const std::string &path : paths)
    if (auto buffer = llvm::MemoryBuffer::getFile(path))
      seeds.push_back((*buffer)->getBuffer().str());
}

std::vector<std::string> posencFuzzSeeds() {
  std::vector<std::string> seeds = {
      "posenc.kernel @a heads(4) kv_heads(2) head_dim(16) dtype(f32) "
      "mask(#posenc.causal)\n  encode [#posenc.rope<base = 500000.0, pairing = "
      "interleaved, dims = 8>, #posenc.alibi<max_exponent = 16>]\n",
      "posenc.kernel @b heads(3) head_dim(8) value_dim(5) scale(1.0) encode "
      "[#posenc.t5_bias<buckets = 8, max_distance = 16, direction = "
      "bidirectional>, #posenc.dense_bias, #posenc.toeplitz_bias]\n",
      "posenc.kernel @c heads(2) head_dim(8) positions(#posenc.position_tensor)"
      " no_lse encode [#posenc.rope]\n",
      R"(posenc.kernel @d heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<offset = 3>)
  %j = posenc.position key law(#posenc.iota<offset = 3>)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 4>)
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb1(%d: f64, %slope: f64):
    %t = arith.mulf %d, %slope : f64
    %n = math.tanh %t : f64
    posenc.yield %n : f64
  }
  %s = posenc.dot %q, %k scale(0.35)
  %t = posenc.add %s, %b
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
)"};
  addSpecs(seeds);
  return seeds;
}
