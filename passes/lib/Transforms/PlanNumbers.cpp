// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What numbers of a kernel compiled code can hold.
#include "PlanNumbers.h"

#include "posenc/Analysis/AffineRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

static bool isTooLarge(double value) {
  return std::isfinite(value) && std::fabs(value) > std::ldexp(1.0, 126);
}

/// Whether a number and its reciprocal are normal f32 numbers.
static bool isSingle(double value) {
  return value == 0 ||
         (!isTooLarge(value) && std::fabs(value) >= std::ldexp(1.0, -126));
}

static LogicalResult fail(Operation *op, const Twine &expected, double value) {
  return op->emitOpError("cannot be placed in a plan; expected ")
         << expected
         << " in magnitude, since compiled kernels compute with f32 numbers, "
            "but got "
         << value;
}

static LogicalResult check(Operation *op, double value, StringRef what) {
  return isSingle(value)
             ? success()
             : fail(op, what + " to be 0 or from 2^-126 to 2^126", value);
}

/// Constants of a region that is evaluated in f32.
static LogicalResult checkRegion(Operation *op) {
  for (auto constant : op->getRegion(0).getOps<arith::ConstantOp>())
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
      if (failed(check(op, value.getValueAsDouble(),
                       "the constants of its function")))
        return failure();
  return success();
}

/// What a region of constants is in f64 becomes f32.
static LogicalResult checkFactor(Operation *op, Region &region,
                                 StringRef what) {
  std::optional<double> factor =
      region.empty() ? std::nullopt : matchConstant(region);
  return factor ? check(op, *factor, what) : success();
}

static LogicalResult checkRecurrence(RecurrenceOp op) {
  for (double scale : op.getScales())
    if (failed(check(op, scale, "its 'scales'")))
      return failure();
  std::optional<APFloat> epsilon = op.getEpsilon();
  return epsilon ? check(op, epsilon->convertToDouble(), "its 'epsilon'")
                 : success();
}

static LogicalResult checkTable(TableOp table) {
  auto constants = dyn_cast<ConstantsAttr>(table.getLaw());
  if (!constants)
    return success();
  for (double value : constants.getValues().asArrayRef())
    if (isTooLarge(value)) // what is too small adds nothing
      return fail(table, "its constants to be at most 2^126", value);
  return success();
}

/// Arithmetic of tiles is f32: f64 would promise more than they give.
static LogicalResult checkTypes(KernelOp kernel) {
  auto check = [](Operation *op, Type type,
                  const Twine &what) -> LogicalResult {
    if (!type || !type.isF64())
      return success();
    return op->emitOpError("cannot be placed in a plan; expected ")
           << what
           << " of f32, bf16 or f16, since compiled kernels compute with f32 "
              "numbers, but got f64: run it by posenc-run --backend=reference";
  };
  if (failed(check(kernel, kernel.getElementType(), "queries and outputs")) ||
      failed(check(kernel, kernel.getKeyElementType(), "keys and values")))
    return failure();
  for (TableOp table : kernel.getBody().front().getOps<TableOp>())
    if (auto operand = dyn_cast<OperandAttr>(table.getLaw()))
      if (failed(check(table, operand.getDtype(),
                       "the numbers of '" + operand.getName() + "'")))
        return failure();
  return success();
}

LogicalResult posenc::checkNumbers(KernelOp kernel) {
  if (failed(checkTypes(kernel)))
    return failure();
  auto checkScale = [](auto product) {
    return check(product, product.getScale().convertToDouble(), "its 'scale'");
  };
  for (Operation &op : kernel.getBody().front()) {
    LogicalResult result =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<DotOp, TableDotOp>(checkScale)
            .Case<ChannelScaleOp>([](ChannelScaleOp scale) {
              return check(scale, scale.getOffset().convertToDouble(),
                           "its 'offset'");
            })
            .Case<VectorNormOp>([](VectorNormOp norm) {
              return check(norm, norm.getEpsilon().convertToDouble(),
                           "its 'epsilon'");
            })
            .Case<RowScaleOp>([](RowScaleOp scale) {
              return checkFactor(scale, scale.getBody(), "its factor");
            })
            .Case<RotateOp>([](RotateOp rotation) {
              return checkFactor(rotation, rotation.getModulus(),
                                 "its modulus");
            })
            .Case<RecurrenceOp>(checkRecurrence)
            .Case<TableOp>(checkTable)
            .Case<MapOp, RowscanOp, VectorMapOp>(checkRegion)
            .Default(success());
    if (failed(result))
      return failure();
  }
  return success();
}
