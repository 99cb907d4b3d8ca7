// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Object files as a static library.
#include "posenc/Compiler/Compile.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace posenc;

llvm::Expected<std::string>
posenc::makeArchive(llvm::ArrayRef<CompiledObject> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const CompiledObject &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(object.bytes, object.name));
  // Apple's linker has a format of its own.
  auto kind = members.empty() ? llvm::object::Archive::K_GNU
                              : members.front().detectKindFromObject();
  auto buffer = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, kind,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}
