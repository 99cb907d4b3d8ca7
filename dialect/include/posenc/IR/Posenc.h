// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The posenc dialect: types, attributes, interfaces and operations. Named
// encodings are apart, in Encodings.h: nothing after the expansion needs them.
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
class EmbedOp;
class PrepareOp;
class KeysOp;
class PrologueOp;
class StepOp;
class EpilogueOp;
class ChunkOp;
class RecurrenceOp;
struct Expansion;
struct EmbedExpansion;

/// A tensor that a kernel reads besides q, k and v.
struct OperandTensor {
  std::string name;
  /// What each axis of a table counts; none for positions.
  llvm::SmallVector<TableAxis> axes;
  /// The extents of the row and channel axes, if there are any.
  int64_t rows = 0, channels = 0;
  /// Positions [B, Lk], or [positionAxes, B, Lk] if there are several, which
  /// are integers, rather than a table. Those that queries have for themselves
  /// are [B, Lq].
  bool isPositions = false, isOfQueries = false;
  int64_t positionAxes = 1;
  /// The type of a table's elements in memory; null for f32.
  mlir::Type storage = {};

  bool operator==(const OperandTensor &other) const {
    return name == other.name && axes == other.axes && rows == other.rows &&
           channels == other.channels && isPositions == other.isPositions &&
           isOfQueries == other.isOfQueries &&
           positionAxes == other.positionAxes && storage == other.storage;
  }
};

/// Parses a float, an integer or a hexadecimal bit pattern.
mlir::FailureOr<llvm::APFloat> parseF64(mlir::AsmParser &parser);
/// [x, ...] with every digit that matters.
mlir::FailureOr<mlir::DenseF64ArrayAttr> parseF64Array(mlir::AsmParser &parser);
void printF64Array(mlir::AsmPrinter &printer, mlir::DenseF64ArrayAttr values);
/// [mask, ...], which may be lists of masks themselves, at most 32 levels deep.
mlir::FailureOr<mlir::ArrayAttr> parseMaskList(mlir::AsmParser &parser);

} // namespace posenc

#include "posenc/IR/PosencAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "posenc/IR/PosencTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "posenc/IR/PosencAttrs.h.inc"

#define GET_OP_CLASSES
#include "posenc/IR/PosencOps.h.inc"

namespace posenc {

/// The side of the token that a position belongs to, if it is known: also
/// through posenc.remap.
std::optional<Side> getSide(mlir::Value position);

/// Whether weights are exponentials of scores: then rows have a log-sum-exp,
/// and plans have scores in base 2.
inline bool exponentiates(NormalizeKind kind) {
  return kind == NormalizeKind::softmax || kind == NormalizeKind::exp;
}

} // namespace posenc

#endif // POSENC_IR_POSENC_H
