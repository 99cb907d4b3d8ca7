// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A posenc.bias as a sum of products of a number of the query and one of the
// key, proved from its region.
#ifndef POSENC_ANALYSIS_BIASFACTORS_H
#define POSENC_ANALYSIS_BIASFACTORS_H

#include "posenc/IR/Posenc.h"

#include <memory>
#include <string>

namespace posenc {

/// A number of one side, as an expression over parts of a bias's region.
struct Factor;
using FactorRef = std::shared_ptr<const Factor>;

/// `query` times `key`, with a channel for each value of the bias's
/// posenc.sum_index if it is `indexed`, and one otherwise. Null stands for 1.
struct FactorProduct {
  FactorRef query, key;
  bool indexed = false;
  int64_t channels = 1;
};

/// The products whose sum a bias is, with factors that f32 can hold: bounded
/// functions and numbers that the caller learned. Factors that grow with the
/// position would cancel. Fails with a reason.
mlir::FailureOr<llvm::SmallVector<FactorProduct>>
factorBias(BiasOp bias, std::string &reason);

/// A region that yields one factor of a bias, and its inputs in their order.
struct FactorRegion {
  llvm::SmallVector<mlir::Value> inputs;
  std::unique_ptr<mlir::Region> body;
};
FactorRegion writeFactor(BiasOp bias, const FactorRef &factor,
                         const FactorProduct &product);

} // namespace posenc

#endif // POSENC_ANALYSIS_BIASFACTORS_H
