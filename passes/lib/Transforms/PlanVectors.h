// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the query and key vectors of a kernel.
#ifndef POSENC_LIB_TRANSFORMS_PLANVECTORS_H
#define POSENC_LIB_TRANSFORMS_PLANVECTORS_H

#include "PlanTables.h"

namespace posenc {

/// The rotations between the kernel's argument and `vector`, first one first.
mlir::FailureOr<llvm::SmallVector<RotateOp>>
collectRotations(mlir::Value vector);

/// Applies rotations to the vector of a part of the plan.
mlir::Value writeRotations(mlir::OpBuilder &builder,
                           llvm::ArrayRef<RotateOp> rotations,
                           mlir::Value vector, PlanTables &tables);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANVECTORS_H
