// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's host program, compiled and loaded, with interpreted tiles.
#ifndef POSENC_TESTS_UNIT_DRIVER_HOSTPROGRAM_H
#define POSENC_TESTS_UNIT_DRIVER_HOSTPROGRAM_H

#include "FakeTile.h"

#include "posenc/posenc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <string>
#include <vector>

namespace posenc::test {

class HostProgram {
public:
  /// `spec` holds one kernel of level 1 or 2. Plans are made for `isas`; their
  /// steps walk blocks of `keys` keys, and that for x86-64 has tiles of 48 and
  /// 32 rows.
  HostProgram(const std::string &spec, std::vector<std::string> isas,
              int64_t keys = 16);

  KernelOp getKernel() { return *level3->getOps<KernelOp>().begin(); }

  posenc_status (*run)(const void *args, const posenc_call *call) = nullptr;
  posenc_status (*prepare)(const void *args, void *buffer,
                           size_t size) = nullptr;
  size_t (*preparedBytes)(const void *args) = nullptr;
  size_t (*scratchBytes)(const void *args, const posenc_call *call) = nullptr;
  /// What fills the kernel's cache; null without one.
  posenc_status (*append)(const void *args, const posenc_call *call) = nullptr;
  size_t (*appendScratchBytes)(const void *args,
                               const posenc_call *call) = nullptr;

private:
  void lower(mlir::ModuleOp host);
  void load(mlir::ModuleOp host, const std::string &name);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> level3;
  std::vector<std::unique_ptr<FakeTile>> tiles;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace posenc::test

#endif // POSENC_TESTS_UNIT_DRIVER_HOSTPROGRAM_H
