// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that generated C headers can declare.
#include "posenc/IR/CNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <string>

using namespace posenc;
using llvm::StringRef;

bool posenc::isCIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// INT32_MAX and the like.
static bool isLimit(StringRef name) {
  return llvm::none_of(name, llvm::isLower) &&
         (name.ends_with("_MAX") || name.ends_with("_MIN") ||
          name.ends_with("_WIDTH"));
}

bool posenc::isReservedInC(StringRef name) {
  static const llvm::StringSet<> words = {
      // C
      "alignas", "alignof", "auto", "bool", "break", "case", "char", "const",
      "constexpr", "continue", "default", "do", "double", "else", "enum",
      "extern", "false", "float", "for", "goto", "if", "inline", "int", "long",
      "nullptr", "register", "restrict", "return", "short", "signed", "sizeof",
      "static", "static_assert", "struct", "switch", "thread_local", "true",
      "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void",
      "volatile", "while",
      // C++
      "and", "and_eq", "asm", "bitand", "bitor", "catch", "char16_t",
      "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
      "compl", "concept", "const_cast", "consteval", "constinit", "decltype",
      "delete", "dynamic_cast", "explicit", "export", "friend", "mutable",
      "namespace", "new", "noexcept", "not", "not_eq", "operator", "or",
      "or_eq", "private", "protected", "public", "reinterpret_cast", "requires",
      "static_cast", "template", "this", "throw", "try", "typeid", "typename",
      "using", "virtual", "wchar_t", "xor", "xor_eq",
      // Predefined by compilers, or macros of stddef.h
      "linux", "unix", "i386", "NULL", "offsetof"};
  return words.contains(name) || isLimit(name) || name.starts_with("__") ||
         (name.starts_with("_") && name.size() > 1 && llvm::isUpper(name[1])) ||
         name.starts_with("POSENC_") || name.starts_with("DLPACK_");
}

llvm::LogicalResult posenc::verifyOperandName(
    StringRef name, llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  std::string field = name.str();
  std::replace(field.begin(), field.end(), '.', '_');
  if (isCIdentifier(field) && !name.starts_with(".") && !isReservedInC(field))
    return llvm::success();
  return emitError() << "expected the name of an operand to be a C identifier "
                        "but for dots, and no word of the language, but got '"
                     << name << "'";
}
