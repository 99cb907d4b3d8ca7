// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a generated object file fit for a library.
#include "StripObject.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

Expected<std::string> posenc::stripObject(StringRef bytes,
                                          StringRef hiddenPrefix) {
  auto binary = object::createBinary(MemoryBufferRef(bytes, "kernel"));
  if (!binary)
    return binary.takeError();
  objcopy::ConfigManager config;
  // In Apple's format all that is left is unneeded, and symbols are hidden when
  // code is generated.
  bool isELF = (*binary)->isELF();
  if (isELF)
    config.Common.StripUnneeded = true;
  else
    config.Common.DiscardMode = objcopy::DiscardType::All;
  auto noError = [](Error error) { return error; };
  // The matcher keeps a reference to it.
  std::string glob = (hiddenPrefix + "*").str();
  if (isELF && !hiddenPrefix.empty()) {
    objcopy::NameMatcher matcher;
    auto pattern = objcopy::NameOrPattern::create(
        glob, objcopy::MatchStyle::Wildcard, noError);
    if (Error error = matcher.addMatcher(std::move(pattern)))
      return error;
    config.ELF.SymbolsToSetVisibility.emplace_back(std::move(matcher),
                                                   ELF::STV_HIDDEN);
  }
  SmallString<0> result;
  raw_svector_ostream stream(result);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **binary, stream))
    return error;
  return std::string(result);
}
