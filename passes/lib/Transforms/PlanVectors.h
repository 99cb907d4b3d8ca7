// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the query and key vectors of a kernel.
#ifndef POSENC_LIB_TRANSFORMS_PLANVECTORS_H
#define POSENC_LIB_TRANSFORMS_PLANVECTORS_H

#include "PlanTables.h"

namespace posenc {

/// Checks that everything between the kernel's argument and `vector` has a
/// place.
mlir::LogicalResult checkVector(mlir::Value vector);

/// Writes the vectors of one part of a plan, each once.
class VectorWriter {
public:
  /// `argument` is the part's vector in the place of the kernel's.
  VectorWriter(mlir::OpBuilder &builder, PlanTables &tables,
               mlir::Value argument)
      : builder(builder), tables(tables), terms(builder, tables),
        argument(argument) {}

  mlir::Value write(mlir::Value vector);

private:
  mlir::Value writeNew(mlir::Operation *op);
  mlir::Value writeRotation(RotateOp rotation, mlir::Value input);

  mlir::OpBuilder &builder;
  PlanTables &tables;
  TermCloner terms;
  mlir::Value argument;
  llvm::DenseMap<mlir::Value, mlir::Value> written;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANVECTORS_H
