// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The posenc dialect: types, attributes, interfaces and operations.
#ifndef POSENC_IR_POSENC_H
#define POSENC_IR_POSENC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "posenc/IR/PosencDialect.h.inc"
#include "posenc/IR/PosencEnums.h.inc"

namespace posenc {

class KernelOp;
class PrepareOp;
class KeysOp;
class PrologueOp;
class StepOp;
class EpilogueOp;
struct Expansion;

/// A tensor that a kernel reads besides q, k and v.
struct OperandTensor {
  std::string name;
  /// What each axis counts. Positions are [B, Lk] and have no table axes.
  llvm::SmallVector<TableAxis> axes;
  /// The extent of the row axis, if there is one.
  int64_t rows = 0;
  /// int32 positions [B, Lk] rather than a table of f32.
  bool isPositions = false;

  bool operator==(const OperandTensor &other) const {
    return name == other.name && axes == other.axes && rows == other.rows &&
           isPositions == other.isPositions;
  }
};

/// Parses a float, an integer or a hexadecimal bit pattern.
mlir::FailureOr<llvm::APFloat> parseF64(mlir::AsmParser &parser);
/// [x, ...] with every digit that matters.
mlir::FailureOr<mlir::DenseF64ArrayAttr> parseF64Array(mlir::AsmParser &parser);
void printF64Array(mlir::AsmPrinter &printer, mlir::DenseF64ArrayAttr values);

} // namespace posenc

#include "posenc/IR/PosencAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "posenc/IR/PosencTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "posenc/IR/PosencAttrs.h.inc"

#define GET_OP_CLASSES
#include "posenc/IR/PosencOps.h.inc"

namespace posenc {

/// What an encoding sees and changes while its kernel is expanded.
struct Expansion {
  Expansion(mlir::OpBuilder &builder, KernelOp kernel, mlir::Value query,
            mlir::Value key)
      : builder(builder), loc(kernel.getLoc()), kernel(kernel), query(query),
        key(key) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  KernelOp kernel;
  /// The vectors as the encodings before have left them.
  mlir::Value query, key;
  /// Score terms to be added to the scaled dot product.
  llvm::SmallVector<mlir::Value> terms;

  /// The positions of one side, made on first use.
  mlir::Value position(Side side);
  /// law(p_i - p_j).
  mlir::Value relation(mlir::Attribute law);
  /// Appends a bias term; `body` gets the region's arguments.
  void
  addBias(mlir::ValueRange inputs,
          llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
              body);

private:
  mlir::Value positions[2];
};

} // namespace posenc

#endif // POSENC_IR_POSENC_H
