// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of LLVM modules.
#include "posenc/Machine/MachineCode.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>>
posenc::createTargetMachine(const Platform &platform, CodeGenOptLevel level) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  Triple triple(platform.triple);
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("cannot generate code for " + platform.name +
                             ": " + error);
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, platform.cpu, "", TargetOptions(),
                                  Reloc::PIC_, std::nullopt, level));
}

Expected<std::string> posenc::emitMachineCode(Module &module,
                                              TargetMachine &machine,
                                              bool emitAssembly) {
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr,
                                  emitAssembly ? CodeGenFileType::AssemblyFile
                                               : CodeGenFileType::ObjectFile))
    return createStringError("this LLVM cannot write object files of " +
                             machine.getTargetTriple().str());
  codegen.run(module);
  return std::string(bytes);
}
