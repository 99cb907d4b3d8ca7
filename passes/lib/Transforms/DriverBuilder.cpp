// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds host code: 64-bit arithmetic, memory, control flow, runtime calls.
#include "DriverBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace posenc;

DriverBuilder::DriverBuilder(Location loc, ModuleOp module)
    : ImplicitLocOpBuilder(loc, module.getContext()), module(module) {}

Type DriverBuilder::getPtrType() {
  return LLVM::LLVMPointerType::get(getContext());
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value DriverBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value DriverBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value DriverBuilder::bit(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value DriverBuilder::add(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}
Value DriverBuilder::sub(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}
Value DriverBuilder::mul(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}
Value DriverBuilder::neg(Value a) { return sub(i64(0), a); }
Value DriverBuilder::div(Value a, Value b) {
  return arith::DivUIOp::create(*this, a, b);
}
Value DriverBuilder::rem(Value a, Value b) {
  return arith::RemUIOp::create(*this, a, b);
}
Value DriverBuilder::ceilDiv(Value a, Value b) {
  return div(add(a, sub(b, i64(1))), b);
}
Value DriverBuilder::ceilDiv(Value a, int64_t b) {
  return div(add(a, i64(b - 1)), i64(b));
}
Value DriverBuilder::roundUp(Value a, int64_t b) {
  return mul(ceilDiv(a, b), i64(b));
}
Value DriverBuilder::min(Value a, Value b) {
  return arith::MinSIOp::create(*this, a, b);
}
Value DriverBuilder::max(Value a, Value b) {
  return arith::MaxSIOp::create(*this, a, b);
}
Value DriverBuilder::toI32(Value value) {
  return arith::TruncIOp::create(*this, getI32Type(), value);
}
Value DriverBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}
Value DriverBuilder::less(Value a, Value b) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, a, b);
}
Value DriverBuilder::equal(Value a, Value b) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, a, b);
}
Value DriverBuilder::isNull(Value address) {
  return LLVM::ICmpOp::create(*this, LLVM::ICmpPredicate::eq, address, null());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value DriverBuilder::null() {
  return LLVM::ZeroOp::create(*this, getPtrType());
}
Value DriverBuilder::byteOffset(Value address, int64_t bytes) {
  return element(address, i64(bytes), getI8Type());
}
Value DriverBuilder::element(Value address, Value index, Type elementType) {
  return LLVM::GEPOp::create(*this, getPtrType(), elementType, address,
                             ArrayRef<LLVM::GEPArg>{index});
}
Value DriverBuilder::load(Type type, Value address) {
  return LLVM::LoadOp::create(*this, type, address);
}
/// From 5 bits of exponent to 11. Never computes with subnormal numbers, and
/// calls no function, as LLVM does for halves on machines without them.
static Value widenHalf(DriverBuilder &b, Value half) {
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  auto toReal = [&](Value bits) -> Value {
    return arith::BitcastOp::create(b, f64, bits);
  };
  Value bits = arith::ExtUIOp::create(b, i64, half);
  Value magnitude = arith::AndIOp::create(b, bits, b.i64(0x7fff));
  Value shifted = arith::ShLIOp::create(b, magnitude, b.i64(42));
  Value smallest = b.i64(int64_t{1023 - 14} << 52); // 2^-14
  Value subnormal = arith::SubFOp::create(b, toReal(b.add(shifted, smallest)),
                                          toReal(smallest));
  Value normal = toReal(b.add(shifted, b.i64(int64_t{1023 - 15} << 52)));
  Value special =
      toReal(arith::OrIOp::create(b, shifted, b.i64(int64_t{0x7ff} << 52)));
  Value result =
      b.select(b.less(magnitude, b.i64(0x400)), subnormal,
               b.select(b.less(magnitude, b.i64(0x7c00)), normal, special));
  Value isNegative = b.less(b.i64(0x7fff), bits);
  return b.select(isNegative, arith::NegFOp::create(b, result), result);
}

Value DriverBuilder::loadReal(Type storage, Value address) {
  if (storage && storage.isF16())
    return widenHalf(*this, load(getI16Type(), address));
  if (storage && storage.isF64())
    return load(storage, address);
  Value number;
  if (storage && storage.isBF16()) {
    Value bits = arith::ExtUIOp::create(*this, getI32Type(),
                                        load(getI16Type(), address));
    bits = arith::ShLIOp::create(*this, bits, i32(16));
    number = arith::BitcastOp::create(*this, getF32Type(), bits);
  } else {
    number = load(getF32Type(), address);
  }
  return arith::ExtFOp::create(*this, getF64Type(), number);
}

void DriverBuilder::store(Value value, Value address) {
  LLVM::StoreOp::create(*this, value, address);
}
Value DriverBuilder::stack(int64_t bytes, unsigned alignment) {
  Operation *parent = getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<func::FuncOp>();
  InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(*this, getPtrType(),
                                LLVM::LLVMArrayType::get(getI8Type(), bytes),
                                i64(1), alignment);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

func::FuncOp DriverBuilder::define(const Twine &name, FunctionType type,
                                   bool isPublic) {
  setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(*this, name.str(), type);
  if (!isPublic) {
    function.setPrivate();
    function->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(getContext(), LLVM::Linkage::Internal));
  }
  setInsertionPointToStart(function.addEntryBlock());
  return function;
}

func::FuncOp DriverBuilder::defineItem(const Twine &name) {
  auto type =
      getFunctionType({getPtrType(), getI64Type(), getI64Type()}, getI32Type());
  return define(name, type, /*isPublic=*/false);
}

void DriverBuilder::ret(Value value) {
  func::ReturnOp::create(*this, value ? ValueRange(value) : ValueRange());
}

Value DriverBuilder::functionAddress(func::FuncOp function) {
  return func::ConstantOp::create(*this, function.getFunctionType(),
                                  SymbolRefAttr::get(function));
}

Value DriverBuilder::call(StringRef name, Type result, ValueRange args) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    auto type = getFunctionType(args.getTypes(),
                                result ? TypeRange(result) : TypeRange());
    function = func::FuncOp::create(*this, name, type);
    function.setPrivate();
  }
  auto call = func::CallOp::create(*this, function, args);
  return result ? call.getResult(0) : Value();
}

Value DriverBuilder::globalAddress(LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(*this, global);
}

Value DriverBuilder::constantArray(const Twine &name, DenseElementsAttr data) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name.str());
  if (!global) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(data.getElementType(), data.size());
    global = LLVM::GlobalOp::create(*this, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name.str(), data);
  }
  return globalAddress(global);
}

Value DriverBuilder::sharedArray(const Twine &name, DenseElementsAttr data) {
  if (LLVM::GlobalOp global = arrays.lookup(data))
    return globalAddress(global);
  std::string unique = (name + Twine(arrays.size())).str();
  Value address = constantArray(unique, data);
  arrays[data] = module.lookupSymbol<LLVM::GlobalOp>(unique);
  return address;
}

Value DriverBuilder::constantString(const Twine &name, StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  LLVM::GlobalOp global;
  {
    InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(*this, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name.str(),
                                    getStringAttr(bytes));
  }
  return globalAddress(global);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Value DriverBuilder::ifElse(Value condition, Body thenBody, Body elseBody) {
  InsertionGuard guard(*this);
  auto op = scf::IfOp::create(*this, TypeRange(getI32Type()), condition,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  setInsertionPointToEnd(&op.getThenRegion().front());
  scf::YieldOp::create(*this, thenBody());
  setInsertionPointToEnd(&op.getElseRegion().front());
  scf::YieldOp::create(*this, elseBody());
  return op.getResult(0);
}

Value DriverBuilder::ifOk(Value status, Body body) {
  return ifElse(equal(status, i32(0)), body, [&] { return status; });
}

Value DriverBuilder::switchCase(Value index, unsigned count,
                                function_ref<Value(unsigned)> body) {
  if (count == 1)
    return body(0);
  InsertionGuard guard(*this);
  Value position = arith::IndexCastOp::create(*this, getIndexType(), index);
  // The last case is the default.
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, count - 1));
  auto op = scf::IndexSwitchOp::create(*this, TypeRange(getI32Type()), position,
                                       cases, count - 1);
  for (unsigned i = 0; i < count; ++i) {
    Region &region =
        i + 1 < count ? op.getCaseRegions()[i] : op.getDefaultRegion();
    setInsertionPointToStart(&region.emplaceBlock());
    scf::YieldOp::create(*this, body(i));
  }
  return op.getResult(0);
}

void DriverBuilder::loop(Value begin, Value end,
                         function_ref<void(Value at)> body) {
  InsertionGuard guard(*this);
  auto op = scf::ForOp::create(*this, begin, end, i64(1));
  setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

Value DriverBuilder::forPieces(
    Value begin, Value end, Value step,
    function_ref<Value(Value at, Value count)> body) {
  InsertionGuard guard(*this);
  SmallVector<Type> types = {getI64Type(), getI32Type()};
  SmallVector<Location> locs(2, getLoc());
  auto op = scf::WhileOp::create(*this, types, ValueRange{begin, i32(0)});
  Block *block = createBlock(&op.getBefore(), {}, types, locs);
  Value at = block->getArgument(0);
  Value next = min(add(at, step), end);
  Value status = body(at, sub(next, at));
  Value goOn =
      arith::AndIOp::create(*this, less(next, end), equal(status, i32(0)));
  scf::ConditionOp::create(*this, goOn, ValueRange{next, status});
  block = createBlock(&op.getAfter(), {}, types, locs);
  scf::YieldOp::create(*this, block->getArguments());
  return op.getResult(1);
}
