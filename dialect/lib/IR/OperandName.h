// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of operands: fields of a C struct once dots are underscores.
#ifndef POSENC_LIB_IR_OPERANDNAME_H
#define POSENC_LIB_IR_OPERANDNAME_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace posenc {

inline llvm::LogicalResult
verifyOperandName(llvm::StringRef name,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  auto isIdentifier = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (!name.empty() && !llvm::isDigit(name.front()) && name.front() != '.' &&
      llvm::all_of(name, [&](char c) { return isIdentifier(c) || c == '.'; }))
    return llvm::success();
  return emitError() << "expected the name of an operand to be a C identifier "
                        "but for dots, but got '"
                     << name << "'";
}

} // namespace posenc

#endif // POSENC_LIB_IR_OPERANDNAME_H
