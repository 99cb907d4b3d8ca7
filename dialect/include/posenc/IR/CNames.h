// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that generated C headers can declare.
#ifndef POSENC_IR_CNAMES_H
#define POSENC_IR_CNAMES_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace posenc {

bool isCIdentifier(llvm::StringRef name);

/// Keywords of C23 and C++20 (headers are for both), what compilers predefine,
/// and macros of the headers that generated ones include.
bool isReservedInC(llvm::StringRef name);

/// Operands are fields of a C struct once dots are underscores.
llvm::LogicalResult
verifyOperandName(llvm::StringRef name,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace posenc

#endif // POSENC_IR_CNAMES_H
