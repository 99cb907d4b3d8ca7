// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of operands: fields of a C struct once dots are underscores.
#ifndef POSENC_LIB_IR_OPERANDNAME_H
#define POSENC_LIB_IR_OPERANDNAME_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace posenc {

/// Words that C or C++ keeps for itself.
inline bool isReservedWord(llvm::StringRef name) {
  static const llvm::StringRef words =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch "
      "char char16_t char32_t class compl const const_cast constexpr continue "
      "decltype default delete do double dynamic_cast else enum explicit "
      "export "
      "extern false float for friend goto if inline int long mutable namespace "
      "new noexcept not not_eq nullptr operator or or_eq private protected "
      "public register reinterpret_cast restrict return short signed sizeof "
      "static static_assert static_cast struct switch template this "
      "thread_local throw true try typedef typeid typename union unsigned "
      "using "
      "virtual void volatile wchar_t while xor xor_eq ";
  return words.contains((" " + name + " ").str());
}

inline llvm::LogicalResult
verifyOperandName(llvm::StringRef name,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  auto isIdentifier = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (!name.empty() && !llvm::isDigit(name.front()) && name.front() != '.' &&
      !isReservedWord(name) &&
      llvm::all_of(name, [&](char c) { return isIdentifier(c) || c == '.'; }))
    return llvm::success();
  return emitError() << "expected the name of an operand to be a C identifier "
                        "but for dots, and no word of the language, but got '"
                     << name << "'";
}

} // namespace posenc

#endif // POSENC_LIB_IR_OPERANDNAME_H
