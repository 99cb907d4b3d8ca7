// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of LLVM modules for x86-64.
#include "posenc/Machine/MachineCode.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>>
posenc::createTargetMachine(CodeGenOptLevel level) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("cannot generate code for x86-64: " + error);
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, "x86-64", "", TargetOptions(), Reloc::PIC_, std::nullopt, level));
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
    return createStringError("this LLVM cannot write x86-64 object files");
  codegen.run(module);
  return std::string(bytes);
}
