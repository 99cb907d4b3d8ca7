// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types and laws: verification and meaning. The classes of all attributes are
// defined here, since one parser knows them all.
#include "posenc/IR/CNames.h"
#include "posenc/IR/Encodings.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

FailureOr<APFloat> posenc::parseF64(AsmParser &parser) {
  // Integers are welcome where a real number is meant; parseFloat takes
  // hexadecimal integers as bit patterns and refuses decimal ones. The text
  // ends with a NUL, as the lexer needs.
  const char *text = parser.getCurrentLocation().getPointer();
  if (*text == '-')
    ++text;
  const char *end = text;
  while (llvm::isDigit(*end))
    ++end;
  if (end != text && *end != '.' && *end != 'x') {
    int64_t integer;
    if (parser.parseInteger(integer))
      return failure();
    return APFloat(static_cast<double>(integer));
  }
  APFloat value(APFloat::IEEEdouble());
  if (parser.parseFloat(APFloat::IEEEdouble(), value))
    return failure();
  return value;
}

FailureOr<DenseF64ArrayAttr> posenc::parseF64Array(AsmParser &parser) {
  SmallVector<double> values;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<APFloat> value = parseF64(parser);
    if (failed(value))
      return failure();
    values.push_back(value->convertToDouble());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  return DenseF64ArrayAttr::get(parser.getContext(), values);
}

void posenc::printF64Array(AsmPrinter &printer, DenseF64ArrayAttr values) {
  printer << "[";
  llvm::interleaveComma(
      values.asArrayRef(), printer.getStream(),
      [&](double value) { printer.printFloat(APFloat(value)); });
  printer << "]";
}

#define GET_TYPEDEF_CLASSES
#include "posenc/IR/PosencTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "posenc/IR/PosencAttrs.cpp.inc"

void PosencDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "posenc/IR/PosencAttrs.cpp.inc"
      >();
}

void PosencDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "posenc/IR/PosencTypes.cpp.inc"
      >();
}

LogicalResult TableType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<TableAxis> axes) {
  if (axes.empty())
    return emitError() << "expected a table to have at least one axis";
  for (size_t i = 0; i < axes.size(); ++i)
    if (llvm::is_contained(axes.drop_front(i + 1), axes[i]))
      return emitError() << "expected the axes of a table to differ, but '"
                         << stringifyTableAxis(axes[i]) << "' occurs twice";
  return success();
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Positions are int32 in the kernels, and lengths go up to 2^30.
static LogicalResult verifyOffset(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t offset) {
  constexpr int64_t limit = int64_t{1} << 30;
  if (offset < -limit || offset > limit)
    return emitError() << "expected 'offset' to be between -2^30 and 2^30, but "
                          "got "
                       << offset;
  return success();
}

LogicalResult IotaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t offset, Alignment) {
  // iota_c1
  return verifyOffset(emitError, offset);
}
Alignment IotaAttr::getAlignment() const { return getAlign(); }
bool IotaAttr::isAffine() const { return true; }

LogicalResult
PositionTensorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           StringRef name, int64_t axes, int64_t axis,
                           Alignment, StringRef queries) {
  // position_tensor_c2
  if (axes < 1 || axes > 4)
    return emitError() << "expected 'axes' to be from 1 to 4, but got " << axes;
  if (axis < 0 || axis >= axes)
    return emitError() << "expected 'axis' to be from 0 to " << axes - 1
                       << ", but got " << axis;
  // position_tensor_c1
  if (failed(verifyOperandName(name, emitError)))
    return failure();
  // position_tensor_c3
  if (queries.empty())
    return success();
  if (queries == name)
    return emitError() << "expected 'queries' to be another operand than "
                          "'name', but both are '"
                       << name << "'";
  return verifyOperandName(queries, emitError);
}
LogicalResult AppendedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t offset) {
  // appended_c1
  return verifyOffset(emitError, offset);
}
Alignment AppendedAttr::getAlignment() const { return Alignment::bottom_right; }
// There are no queries to be at a distance from.
bool AppendedAttr::isAffine() const { return false; }

Alignment PositionTensorAttr::getAlignment() const { return getAlign(); }
bool PositionTensorAttr::isAffine() const { return false; }

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

int64_t DifferenceAttr::apply(int64_t queryMinusKey) const {
  return getOrientation() == Orientation::query_minus_key ? queryMinusKey
                                                          : -queryMinusKey;
}
std::optional<int64_t> DifferenceAttr::getCardinality() const {
  return std::nullopt;
}

LogicalResult
ClippedDistanceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            Orientation, int64_t max) {
  // clipped_distance_c1
  if (max < 0 || max > (int64_t{1} << 24))
    return emitError() << "expected 'max' to be between 0 and 2^24, but got "
                       << max;
  return success();
}
int64_t ClippedDistanceAttr::apply(int64_t queryMinusKey) const {
  int64_t distance = getOrientation() == Orientation::query_minus_key
                         ? queryMinusKey
                         : -queryMinusKey;
  return std::clamp(distance, -getMax(), getMax()) + getMax();
}
std::optional<int64_t> ClippedDistanceAttr::getCardinality() const {
  return 2 * getMax() + 1;
}

LogicalResult
ThresholdBucketAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            DenseI64ArrayAttr thresholds,
                            int64_t futureOffset) {
  // threshold_bucket_c1
  ArrayRef<int64_t> values = thresholds.asArrayRef();
  if (!values.empty() && values.front() < 1)
    return emitError() << "expected thresholds to be positive, but got "
                       << values.front();
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] < values[i - 1])
      return emitError() << "expected thresholds not to decrease, but "
                         << values[i] << " comes after " << values[i - 1];
  // threshold_bucket_c2
  if (futureOffset < -1 || futureOffset > (int64_t{1} << 26))
    return emitError() << "expected 'future_offset' to be between -1 and 2^26, "
                          "but got "
                       << futureOffset;
  return success();
}
int64_t ThresholdBucketAttr::apply(int64_t queryMinusKey) const {
  ArrayRef<int64_t> thresholds = getThresholds().asArrayRef();
  auto reached = [&](int64_t distance) {
    return llvm::upper_bound(thresholds, distance) - thresholds.begin();
  };
  if (queryMinusKey >= 0)
    return reached(queryMinusKey);
  return getFutureOffset() < 0 ? 0
                               : getFutureOffset() + reached(-queryMinusKey);
}
std::optional<int64_t> ThresholdBucketAttr::getCardinality() const {
  int64_t perSide = getThresholds().size() + 1;
  return std::max(perSide,
                  getFutureOffset() < 0 ? 0 : getFutureOffset() + perSide);
}

//===----------------------------------------------------------------------===//
// Frequencies and tables
//===----------------------------------------------------------------------===//

LogicalResult
GeometricAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      APFloat base, int64_t dims) {
  // geometric_c1
  if (!base.isFinite() || base.isNegative() || base.isZero())
    return emitError() << "expected 'base' to be positive and finite, but got "
                       << base.convertToDouble();
  // geometric_c2
  if (dims < 2 || dims > 65536 || dims % 2 != 0)
    return emitError() << "expected 'dims' to be even and between 2 and 65536, "
                          "but got "
                       << dims;
  return success();
}
SmallVector<double> GeometricAttr::getFrequencies() const {
  SmallVector<double> frequencies;
  double base = getBase().convertToDouble();
  for (int64_t k = 0; k < getDims() / 2; ++k)
    frequencies.push_back(std::pow(base, -2.0 * k / getDims()));
  return frequencies;
}

LogicalResult
FrequenciesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        DenseF64ArrayAttr values) {
  // frequencies_c1
  if (values.empty())
    return emitError() << "expected at least one frequency";
  for (double value : values.asArrayRef())
    if (!std::isfinite(value))
      return emitError() << "expected frequencies to be finite, but got "
                         << value;
  return success();
}
SmallVector<double> FrequenciesAttr::getFrequencies() const {
  return llvm::to_vector(getValues().asArrayRef());
}

LogicalResult OperandAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef name, int64_t rows,
                                  int64_t channels, Type dtype) {
  // operand_c1
  if (failed(verifyOperandName(name, emitError)))
    return failure();
  // operand_c2
  if (rows < 0 || rows > (int64_t{1} << 26))
    return emitError() << "expected 'rows' to be between 0 and 2^26, but got "
                       << rows;
  if (channels < 0 || channels > 65536)
    return emitError() << "expected 'channels' to be between 0 and 65536, but "
                          "got "
                       << channels;
  // operand_c3
  if (dtype && !dtype.isBF16() && !dtype.isF16() && !dtype.isF64())
    return emitError() << "expected 'dtype' to be bf16, f16 or f64, or absent "
                          "for f32, but got "
                       << dtype;
  return success();
}

LogicalResult
BlockListAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t queries, int64_t keys, StringRef name) {
  // block_list_c1
  for (auto [side, size] : {std::pair("queries", queries), {"keys", keys}})
    if (size < 1 || size > (int64_t{1} << 30))
      return emitError() << "expected '" << side
                         << "' of #posenc.block_list to be from 1 to 2^30, but "
                            "got "
                         << size;
  // block_list_c2
  return verifyOperandName(name, emitError);
}
