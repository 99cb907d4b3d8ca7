// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of LLVM modules for x86-64.
#ifndef POSENC_MACHINE_MACHINECODE_H
#define POSENC_MACHINE_MACHINECODE_H

#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace posenc {

/// For any x86-64 CPU, position independent. Functions may have attributes that
/// say more.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::CodeGenOptLevel level);

/// An object file, or assembly text. The module is used up.
llvm::Expected<std::string> emitMachineCode(llvm::Module &module,
                                            llvm::TargetMachine &machine,
                                            bool emitAssembly);

} // namespace posenc

#endif // POSENC_MACHINE_MACHINECODE_H
