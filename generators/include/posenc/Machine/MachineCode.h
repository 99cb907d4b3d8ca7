// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of LLVM modules.
#ifndef POSENC_MACHINE_MACHINECODE_H
#define POSENC_MACHINE_MACHINECODE_H

#include "posenc/Analysis/InstructionSets.h"

#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace posenc {

/// For any CPU of a platform, position independent. Functions may have
/// attributes that say more.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const Platform &platform, llvm::CodeGenOptLevel level);

/// An object file, or assembly text. The module is used up.
llvm::Expected<std::string> emitMachineCode(llvm::Module &module,
                                            llvm::TargetMachine &machine,
                                            bool emitAssembly);

} // namespace posenc

#endif // POSENC_MACHINE_MACHINECODE_H
