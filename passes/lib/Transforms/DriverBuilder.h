// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds host code: 64-bit arithmetic, memory, control flow, runtime calls.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERBUILDER_H
#define POSENC_LIB_TRANSFORMS_DRIVERBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace posenc {

/// Numbers are i64 unless a name says otherwise; addresses are !llvm.ptr.
class DriverBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;

  DriverBuilder(mlir::Location loc, mlir::ModuleOp module);

  mlir::ModuleOp getModule() { return module; }
  mlir::Type getPtrType();

  // Arithmetic.
  Value i64(int64_t value);
  Value i32(int64_t value);
  Value bit(bool value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value neg(Value a);
  /// Of numbers that are not negative.
  Value div(Value a, Value b);
  Value rem(Value a, Value b);
  Value ceilDiv(Value a, Value b);
  Value ceilDiv(Value a, int64_t b);
  Value roundUp(Value a, int64_t b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value toI32(Value value);
  Value select(Value condition, Value a, Value b);
  Value less(Value a, Value b);
  Value equal(Value a, Value b);
  Value isNull(Value address);

  // Memory.
  Value null();
  /// address + bytes
  Value byteOffset(Value address, int64_t bytes);
  /// address + index * sizeof(element)
  Value element(Value address, Value index, mlir::Type elementType);
  Value load(mlir::Type type, Value address);
  /// The element at a position of f32, or of `storage`: f32, f64, bf16 or f16,
  /// as f64.
  Value loadReal(mlir::Type storage, Value address);
  void store(Value value, Value address);
  /// Memory of the current function's stack frame, also when called in a loop.
  Value stack(int64_t bytes, unsigned alignment = 8);

  // Symbols.
  /// A new function, its body the insertion point.
  mlir::func::FuncOp define(const llvm::Twine &name, mlir::FunctionType type,
                            bool isPublic);
  /// A function (frame, item, worker) -> i32 status of this module, its body
  /// the insertion point: what posenc_kernel_parallel calls.
  mlir::func::FuncOp defineItem(const llvm::Twine &name);
  /// Null without a result.
  void ret(Value value);
  /// A function of this module as an address for the runtime.
  Value functionAddress(mlir::func::FuncOp function);
  /// Calls a C function, which is declared on first use; null without result.
  Value call(llvm::StringRef name, mlir::Type result, mlir::ValueRange args);
  /// Constant data with internal linkage; equal names must have equal data.
  Value constantArray(const llvm::Twine &name, mlir::DenseElementsAttr data);
  /// Constant data under a name of its own; equal data is there once.
  Value sharedArray(const llvm::Twine &name, mlir::DenseElementsAttr data);
  Value constantString(const llvm::Twine &name, llvm::StringRef text);
  Value globalAddress(mlir::LLVM::GlobalOp global);

  // Control flow. Results are i32 statuses.
  using Body = llvm::function_ref<Value()>;
  Value ifElse(Value condition, Body thenBody, Body elseBody);
  /// Runs `body` if the i32 `status` is 0; the status of both.
  Value ifOk(Value status, Body body);
  /// One of `count` cases by number.
  Value switchCase(Value index, unsigned count,
                   llvm::function_ref<Value(unsigned)> body);
  /// for at in begin .. end - 1
  void loop(Value begin, Value end, llvm::function_ref<void(Value at)> body);
  /// Covers [begin, end) by pieces of at most `step`, at least by one (empty)
  /// piece. Stops at the first piece whose i32 status is not 0 and gives it.
  Value forPieces(Value begin, Value end, Value step,
                  llvm::function_ref<Value(Value at, Value count)> body);

private:
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> arrays;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERBUILDER_H
