// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host program of a kernel as machine code.
#include "HostObject.h"

#include "posenc/Machine/MachineCode.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

using namespace mlir;

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

FailureOr<std::string> posenc::emitHostObject(ModuleOp module,
                                              std::unique_ptr<Pass> lowering,
                                              const Platform &platform,
                                              bool emitAssembly) {
  PassManager manager(module.getContext());
  manager.addPass(std::move(lowering));
  buildDriverToLLVMPipeline(manager);
  if (failed(manager.run(module)))
    return failure();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "driver");
  if (!llvmModule)
    return module.emitError("cannot translate the driver to LLVM IR");
  // The driver runs before the instruction set is chosen, so it is baseline.
  auto machine = createTargetMachine(platform, llvm::CodeGenOptLevel::Default);
  if (!machine)
    return module.emitError() << llvm::toString(machine.takeError());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  optimize(*llvmModule, **machine);
  llvm::Expected<std::string> code =
      emitMachineCode(*llvmModule, **machine, emitAssembly);
  if (!code)
    return module.emitError() << llvm::toString(code.takeError());
  return std::move(*code);
}
