// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums along rows, from the right: posenc.rowscan.
#ifndef POSENC_GENERATORS_HALIDE_SCANS_H
#define POSENC_GENERATORS_HALIDE_SCANS_H

#include "Score.h"

#include <memory>

namespace posenc {

/// Scans of a step. A block of keys needs the sums over all keys behind it, and
/// what is computed for a block cannot read the running state that it is for.
/// So each scan walks the whole run before the blocks do, into memory of the
/// caller's.
class Scans {
public:
  Scans(const TileContext &context, const StepVectors &vectors);
  ~Scans();

  mlir::LogicalResult add(StepOp step);

  const ScanFuncs &getFuncs() const { return funcs; }
  /// Outputs of the pipeline, in the order of the arguments.
  const std::vector<Halide::Func> &getOutputs() const { return outputs; }

private:
  struct Pass;
  mlir::LogicalResult addScan(RowscanOp op);

  const TileContext &context;
  const StepVectors &vectors;
  ScanFuncs funcs;
  std::vector<Halide::Func> outputs;
  std::vector<std::unique_ptr<Pass>> passes;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_SCANS_H
