// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the tile functions of a plan on one head, as a driver would, with every
// buffer between pages that may not be touched.
#ifndef POSENC_TESTS_UNIT_HALIDE_TILEHARNESS_H
#define POSENC_TESTS_UNIT_HALIDE_TILEHARNESS_H

#include "posenc/Halide/TileObjects.h"
#include "posenc/Reference/Accuracy.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace posenc::test {

/// What a test varies about a plan. Scores are base 2 from the prologue's
/// scale.
struct PlanOptions {
  std::string isa = "x86-64-avx512";
  std::string rows = "48, 32";
  int64_t keys = 64;
  int64_t headDim = 32, valueDim = 32;
  double scale = 0.25; // of the dot product, natural
  /// Rotation; `pairing` empty: none.
  std::string pairing;
  int64_t firstDim = 0, rotatedDims = 0;
  /// Lines of a step between %s, the dot product, and %t, its result.
  std::string terms = "%t = posenc.tile.to_base2 %s\n";
  /// More that the step yields, with its types: a table and a relation.
  std::string yields, yieldTypes;
  bool strip = false;
  bool causal = false;
  /// One step for all keys instead of interior and edge.
  bool oneStep = false;
};

/// For GoogleTest's messages.
void PrintTo(const PlanOptions &options, std::ostream *stream);

std::string makePlan(const PlanOptions &options);

/// A plan that has been compiled and loaded.
class CompiledPlan {
public:
  /// Null after a diagnostic, which `getDiagnostics` returns.
  explicit CompiledPlan(const std::string &text);

  bool isValid() const { return !tiles.empty(); }
  const std::string &getDiagnostics() const { return diagnostics; }
  PlanOp getPlan() { return *module->getOps<PlanOp>().begin(); }
  const std::vector<TileObject> &getObjects() const { return objects; }

  struct Function {
    TileFunction signature;
    void *address;
  };
  std::vector<Function> tiles;
  std::vector<Function> keyTransform; // one or none

private:
  std::string diagnostics;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<TileObject> objects;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// One head with everything that a plan may read, filled with random numbers.
struct Problem {
  Problem(const PlanOptions &options, int64_t queryLen, int64_t keyLen);

  const PlanOptions options;
  int64_t queryLen, keyLen;
  bool bottomRight = true;
  std::vector<float> q, k, v;
  std::vector<float> pairs;    // [Lq, Lk]
  std::vector<float> rowTable; // [rows]
  std::vector<int32_t> queryPositions, keyPositions;
  std::function<double(int64_t)> strip; // of the distance, base 2
  /// What is added to channel d of the value of (row, key).
  std::function<double(int64_t, int64_t, int64_t)> tableValue;
  /// Natural score of (row, key) from the scaled dot product, before the mask.
  std::function<double(double, int64_t, int64_t)> score;

  /// An element of any other table.
  static float element(llvm::StringRef table, int64_t channel, int64_t key,
                       int64_t query, int64_t row);

  int64_t shift() const { return bottomRight ? keyLen - queryLen : 0; }
  double angle(int64_t position, int64_t pair) const;
};

struct RunOptions {
  /// The keys of a tile are given in so many calls.
  int64_t runs = 1;
  /// Which entry of the plan's rows.
  size_t tile = 0;
  /// Buffers end, or begin, at a page that may not be touched.
  bool atEnd = true;
};

struct Outputs {
  std::vector<float> o, lse;
};

Outputs runTiles(CompiledPlan &plan, const Problem &problem,
                 const RunOptions &run = {});

/// The same in double precision.
ReferenceOutputs evaluateProblem(const Problem &problem);

/// "" or what is not accurate.
std::string compare(CompiledPlan &plan, const Problem &problem,
                    const RunOptions &run = {});

/// The instruction sets of this machine, with the rows to ask for.
std::vector<PlanOptions> getTestTargets();

} // namespace posenc::test

#endif // POSENC_TESTS_UNIT_HALIDE_TILEHARNESS_H
