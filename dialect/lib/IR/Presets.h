// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Published combinations of parameters under one name.
#ifndef POSENC_LIB_IR_PRESETS_H
#define POSENC_LIB_IR_PRESETS_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace posenc {

/// What a preset stands for, as a user would write it.
struct Preset {
  llvm::StringRef name, parameters;
};

/// The attribute that a preset stands for; `rest` are the parameters that may
/// stand beside one.
template <typename AttributeT>
AttributeT getPreset(mlir::MLIRContext *context, const Preset &preset,
                     llvm::StringRef rest) {
  std::string text = ("#posenc." + AttributeT::getMnemonic() + "<" +
                      preset.parameters + rest + ">")
                         .str();
  return llvm::cast<AttributeT>(mlir::parseAttribute(text, context));
}

/// A parameter that is a string, as a user would write it.
inline std::string writeString(llvm::StringRef parameter,
                               llvm::StringRef value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << ", " << parameter << " = \"";
  llvm::printEscapedString(value, stream);
  stream << "\"";
  return text;
}

inline const Preset *findPreset(llvm::ArrayRef<Preset> presets,
                                llvm::StringRef name) {
  const Preset *it = llvm::find_if(
      presets, [&](const Preset &preset) { return preset.name == name; });
  return it == presets.end() ? nullptr : it;
}

/// Checks that the preset is known, and that nothing but `rest` stands beside
/// it.
template <typename AttributeT>
llvm::LogicalResult
verifyPreset(AttributeT attribute, llvm::ArrayRef<Preset> presets,
             llvm::StringRef rest,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
  llvm::StringRef name = attribute.getPreset();
  if (!findPreset(presets, name)) {
    mlir::InFlightDiagnostic diag =
        emitError() << "expects 'preset' of #posenc."
                    << AttributeT::getMnemonic() << " to be one of ";
    llvm::interleaveComma(presets, diag, [&](const Preset &preset) {
      diag << "'" << preset.name << "'";
    });
    return diag << ", but got '" << name << "'";
  }
  std::string alone = writeString("preset", name).substr(2);
  if (attribute !=
      getPreset<AttributeT>(attribute.getContext(), {name, alone}, rest))
    return emitError() << "expects no parameters of #posenc."
                       << AttributeT::getMnemonic()
                       << " beside 'preset', which states them";
  return llvm::success();
}

} // namespace posenc

#endif // POSENC_LIB_IR_PRESETS_H
