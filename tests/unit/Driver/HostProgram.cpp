// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostProgram.h"

#include "posenc/Transforms/Passes.h"
#include "posenc/kernel_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace posenc;
using namespace posenc::test;

static int32_t runFakeTile(const FakeTile *tile, const int64_t *words) {
  return tile->run(words);
}

static void require(bool condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "%s failed\n", what);
  std::abort();
}

/// Gives a declared tile function a body that hands its arguments on.
static void defineTile(ModuleOp host, FakeTile &tile) {
  auto function = host.lookupSymbol<func::FuncOp>(tile.function.symbol);
  require(function != nullptr, "looking up a tile function");
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  b.setInsertionPointToStart(function.addEntryBlock());
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto address = [&](const void *pointer) -> Value {
    Value word = LLVM::ConstantOp::create(
        b, i64, b.getI64IntegerAttr(reinterpret_cast<int64_t>(pointer)));
    return LLVM::IntToPtrOp::create(b, ptr, word);
  };
  Value count = LLVM::ConstantOp::create(
      b, i64, b.getI64IntegerAttr(function.getNumArguments()));
  Value words = LLVM::AllocaOp::create(b, ptr, i64, count);
  for (BlockArgument argument : function.getArguments()) {
    Value word = isa<LLVM::LLVMPointerType>(argument.getType())
                     ? LLVM::PtrToIntOp::create(b, i64, argument).getResult()
                     : LLVM::SExtOp::create(b, i64, argument).getResult();
    int32_t index = argument.getArgNumber();
    Value slot =
        LLVM::GEPOp::create(b, ptr, i64, words, ArrayRef<LLVM::GEPArg>{index});
    LLVM::StoreOp::create(b, word, slot);
  }
  auto type = LLVM::LLVMFunctionType::get(i32, {ptr, ptr});
  Value operands[] = {address(reinterpret_cast<void *>(&runFakeTile)),
                      address(&tile), words};
  auto call = LLVM::CallOp::create(b, type, operands);
  func::ReturnOp::create(b, call.getResult());
}

HostProgram::HostProgram(const std::string &spec, std::vector<std::string> isas,
                         int64_t keys) {
  DialectRegistry registry;
  registry.insert<PosencDialect, arith::ArithDialect, math::MathDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  level3 = parseSourceString<ModuleOp>(spec, &context);
  require(static_cast<bool>(level3), "parsing");

  PassManager manager(&context);
  manager.addPass(createPosencExpandEncodings());
  manager.addPass(createPosencSplitCache());
  manager.addPass(createPosencFormRecurrences());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  PosencPlanOptions options;
  options.isa.assign(isas.begin(), isas.end());
  manager.addPass(createPosencPlan(options));
  require(succeeded(manager.run(*level3)), "planning");

  for (PlanOp plan : level3->getOps<PlanOp>()) {
    if (!plan.getPacked()) {
      plan.setKeys(keys);
      // Two heights on any machine.
      if (plan.getIsa() == "x86-64")
        plan.setRows({48, 32});
    }
    auto add = [&](const TileFunction &function, FakeTile::Kind kind,
                   unsigned network = 0) {
      tiles.push_back(
          std::make_unique<FakeTile>(FakeTile{plan, function, kind, network}));
    };
    if (!plan.getAppend()) {
      auto functions = getTileFunctions(plan);
      require(succeeded(functions), "getting tile functions");
      for (TileFunction &function : *functions) {
        add(function, FakeTile::Tile);
        for (auto [number, network] :
             llvm::enumerate(getNetworkFunctions(plan, function))) {
          add(network.scores, FakeTile::NetworkScores, number);
          add(network.network, FakeTile::Network, number);
        }
      }
    }
    if (auto function = getKeyFunction(plan))
      add(*function, FakeTile::KeyTransform);
  }
  OwningOpRef<ModuleOp> host = level3->clone();
  lower(*host);
  load(*host, getKernel().getSymName().str());
}

void HostProgram::lower(ModuleOp host) {
  PassManager driver(&context);
  driver.addPass(createPosencLowerDriver());
  require(succeeded(driver.run(host)), "lowering the driver");
  for (auto &tile : tiles)
    defineTile(host, *tile);
  PassManager manager(&context);
  buildDriverToLLVMPipeline(manager);
  require(succeeded(manager.run(host)), "lowering to LLVM");
}

void HostProgram::load(ModuleOp host, const std::string &name) {
  static bool initialized = !llvm::InitializeNativeTarget() &&
                            !llvm::InitializeNativeTargetAsmPrinter();
  require(initialized, "initializing the native target");
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto module = translateModuleToLLVMIR(host, *llvmContext);
  require(module != nullptr, "translating to LLVM IR");
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::JITDylib &library = jit->getMainJITDylib();
  llvm::orc::SymbolMap runtime;
  auto add = [&](const char *symbol, auto *function) {
    runtime[jit->mangleAndIntern(symbol)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add("posenc_kernel_enter", &posenc_kernel_enter);
  add("posenc_kernel_enter_prepare", &posenc_kernel_enter_prepare);
  add("posenc_kernel_scratch_bytes", &posenc_kernel_scratch_bytes);
  add("posenc_kernel_scratch", &posenc_kernel_scratch);
  add("posenc_kernel_parallel", &posenc_kernel_parallel);
  add("posenc_kernel_leave", &posenc_kernel_leave);
  add("posenc_kernel_dropout", &posenc_kernel_dropout);
  add("posenc_kernel_next_listed", &posenc_kernel_next_listed);
  add("posenc_kernel_tile_failed", &posenc_kernel_tile_failed);
  add("posenc_kernel_append", &posenc_kernel_append);
  add("posenc_kernel_load_state", &posenc_kernel_load_state);
  add("posenc_kernel_store_state", &posenc_kernel_store_state);
  add("posenc_kernel_sequence", &posenc_kernel_sequence);
  add("posenc_prepared_total_bytes", &posenc_prepared_total_bytes);
  add("posenc_prepared_begin", &posenc_prepared_begin);
  add("posenc_prepared_finish", &posenc_prepared_finish);
  llvm::cantFail(library.define(llvm::orc::absoluteSymbols(runtime)));
  library.addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(module), std::move(llvmContext))));
  auto find = [&](const char *suffix, auto &entry) {
    auto address = llvm::cantFail(jit->lookup(name + suffix));
    entry = address.toPtr<std::remove_reference_t<decltype(entry)>>();
  };
  find("", run);
  find("_prepare", prepare);
  find("_prepared_bytes", preparedBytes);
  find("_scratch_bytes", scratchBytes);
  if (getKernel().hasCache()) {
    find("_append_kv", append);
    find("_append_kv_scratch_bytes", appendScratchBytes);
  }
}
