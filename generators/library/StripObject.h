// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a generated object file fit for a library.
#ifndef POSENC_GENERATORS_LIBRARY_STRIPOBJECT_H
#define POSENC_GENERATORS_LIBRARY_STRIPOBJECT_H

#include "llvm/Support/Error.h"

#include <string>

namespace posenc {

/// Drops local and unneeded symbols, whose names depend on what was compiled
/// before, and hides those symbols that start with `hiddenPrefix`, so that a
/// shared library made from the archive does not export them.
llvm::Expected<std::string> stripObject(llvm::StringRef bytes,
                                        llvm::StringRef hiddenPrefix);

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_STRIPOBJECT_H
