// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Levels 1 and 2: verification.
#include "posenc/IR/Posenc.h"

#include "KernelShape.h"
#include "OperandName.h"
#include "posenc/IR/ScalarRegion.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

#define GET_OP_CLASSES
#include "posenc/IR/PosencOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The side of the token that a position belongs to, if it is known.
static std::optional<Side> getSide(Value position) {
  if (auto op = position.getDefiningOp<PositionOp>())
    return op.getSide();
  return std::nullopt;
}

/// bias_c1, bias_c2, bias_c3: the region of a bias or a map. `leading` is the
/// number of arguments before those of the inputs.
static LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                        OperandRange inputs, unsigned leading) {
  Block &block = region.front();
  if (block.getNumArguments() != inputs.size() + leading)
    return op->emitOpError("expects its region to have ")
           << inputs.size() + leading << " arguments, one for each "
           << (leading ? "score and input" : "input") << ", but it has "
           << block.getNumArguments();
  for (BlockArgument argument : block.getArguments())
    if (!argument.getType().isF64())
      return op->emitOpError("expects argument #")
             << argument.getArgNumber() << " of its region to be f64, but got "
             << argument.getType();
  for (Operation &nested : block.without_terminator())
    if (!isScalarOp(&nested))
      return nested.emitOpError("cannot stand in a region of real numbers; "
                                "expected one of ")
             << listScalarOps();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != 1 ||
      !yield.getOperand(0).getType().isF64())
    return block.getTerminator()->emitOpError(
        "expects a region of real numbers to end with a posenc.yield of one "
        "f64");
  return success();
}

/// bias_c3: a table with rows comes after a relation that stays within them.
static LogicalResult verifyLookups(Operation *op, OperandRange inputs) {
  RelationOp relation;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (isa<RelationType>(input.getType())) {
      relation = input.getDefiningOp<RelationOp>();
      continue;
    }
    auto type = dyn_cast<TableType>(input.getType());
    if (!type || !type.hasAxis(TableAxis::row))
      continue;
    if (!relation)
      return op->emitOpError("expects input #")
             << index << ", a table with a row axis, to come after a relation";
    std::optional<int64_t> cardinality = relation.getLaw().getCardinality();
    auto table = input.getDefiningOp<TableOp>();
    if (!cardinality)
      return op->emitOpError("expects the relation that looks up input #")
             << index << " to have finitely many values, but its law is "
             << relation.getLaw();
    if (!table)
      continue;
    std::optional<int64_t> rows = table.getNumRows();
    if (rows && *cardinality > *rows)
      return op->emitOpError("expects the table of input #")
             << index << " to have at least " << *cardinality
             << " rows, one for each value of its relation, but it has "
             << *rows;
  }
  return success();
}

namespace {
/// kernel_c4: the names of operands seen so far.
class OperandNames {
public:
  explicit OperandNames(KernelOp kernel) : kernel(kernel) {}

  LogicalResult add(StringRef name) {
    if (failed(verifyOperandName(name, [&] { return kernel.emitOpError(); })))
      return failure();
    // In C they are fields of one struct, where a dot is an underscore.
    std::string field = name.str();
    llvm::replace(field, '.', '_');
    if (llvm::is_contained({"size", "q", "k", "v", "o", "lse"}, field))
      return kernel.emitOpError("expects no operand to be named '")
             << name << "', which the kernel itself uses";
    auto [it, inserted] = fields.insert({field, name.str()});
    if (inserted)
      return success();
    if (it->second == name)
      return kernel.emitOpError(
                 "expects the names of operands to differ, but '")
             << name << "' names two tensors";
    return kernel.emitOpError("expects the names of operands to differ in more "
                              "than dots and underscores, but '")
           << it->second << "' and '" << name << "' do not";
  }

private:
  KernelOp kernel;
  llvm::StringMap<std::string> fields;
};
} // namespace

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

Type KernelOp::getElementType() {
  return getDtype().value_or(Float32Type::get(getContext()));
}

double KernelOp::getDotScale() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  return 1.0 / std::sqrt(static_cast<double>(getHeadDim()));
}

MaskAttrInterface KernelOp::getMaskOrDefault() {
  if (getMaskAttr())
    return getMaskAttr();
  return FullMaskAttr::get(getContext());
}

PositionLawAttrInterface KernelOp::getPositionsOrDefault() {
  if (getPositionsAttr())
    return getPositionsAttr();
  // Without a clause of their own positions follow the mask.
  Alignment alignment =
      getMaskOrDefault().getMaskAlignment().value_or(Alignment::bottom_right);
  return IotaAttr::get(getContext(), int64_t{0}, alignment);
}

/// Tensors read by the position and table operations under `op`.
static SmallVector<OperandTensor> collectOperands(Operation *op) {
  SmallVector<OperandTensor> tensors;
  auto add = [&](OperandTensor tensor) {
    if (!llvm::is_contained(tensors, tensor))
      tensors.push_back(std::move(tensor));
  };
  op->walk([&](Operation *nested) {
    if (auto position = dyn_cast<PositionOp>(nested)) {
      if (auto law = dyn_cast<PositionTensorAttr>(position.getLaw())) {
        OperandTensor tensor;
        tensor.name = law.getName().str();
        tensor.isPositions = true;
        add(std::move(tensor));
      }
    } else if (auto table = dyn_cast<TableOp>(nested)) {
      if (auto law = dyn_cast<OperandAttr>(table.getLaw())) {
        OperandTensor tensor;
        tensor.name = law.getName().str();
        tensor.axes.assign(table.getType().getAxes().begin(),
                           table.getType().getAxes().end());
        tensor.rows = law.getRows();
        add(std::move(tensor));
      }
    }
  });
  return tensors;
}

SmallVector<OperandTensor> KernelOp::getOperandTensors() {
  return collectOperands(*this);
}

SmallVector<OperandTensor> PlanOp::getOperandTensors() {
  return collectOperands(*this);
}

LogicalResult KernelOp::verify() {
  // kernel_c1, kernel_c2
  if (failed(verifyKernelShape(*this, getHeads(), getNumKvHeads(), getHeadDim(),
                               getValueSize())))
    return failure();
  // kernel_c3
  if (!getElementType().isF32())
    return emitOpError("expects 'dtype' to be f32, but got ")
           << getElementType();
  // kernel_c5
  if (std::optional<APFloat> scale = getScale();
      scale && (!scale->isFinite() || scale->isZero()))
    return emitOpError("expects 'scale' to be finite and not 0, but got ")
           << scale->convertToDouble();
  if (isExpanded()) {
    for (StringRef clause : {getMaskAttrName(), getScaleAttrName(),
                             getPositionsAttrName(), getEncodeAttrName()})
      if ((*this)->getAttr(clause))
        return emitOpError("expects no '")
               << clause
               << "' clause beside a body: the body says what is computed";
    return success();
  }
  // kernel_c6
  std::optional<Alignment> alignment = getMaskOrDefault().getMaskAlignment();
  if (alignment && getPositionsOrDefault().getAlignment() != *alignment)
    return emitOpError("expects 'positions' and 'mask' to have the same "
                       "alignment, but they have ")
           << stringifyAlignment(getPositionsOrDefault().getAlignment())
           << " and " << stringifyAlignment(*alignment);
  // kernel_c4
  llvm::StringSet<> names;
  OperandNames operands(*this);
  if (auto tensor = dyn_cast<PositionTensorAttr>(getPositionsOrDefault()))
    if (failed(operands.add(tensor.getName())))
      return failure();
  for (Attribute entry :
       getEncode() ? getEncodeAttr().getValue() : ArrayRef<Attribute>()) {
    auto encoding = cast<EncodingAttrInterface>(entry);
    StringRef name = encoding.getEncodingName();
    if (name.empty())
      return emitOpError("expects every encoding to have a name, but that of ")
             << entry << " is empty";
    if (!names.insert(name).second)
      return emitOpError("expects the names of encodings to differ, but '")
             << name << "' occurs twice: give one of them another 'name'";
    for (StringRef operand : encoding.getOperandNames())
      if (failed(operands.add(operand)))
        return failure();
    KernelOp self = *this;
    if (failed(encoding.verifyInKernel(self, [&] { return emitOpError(); })))
      return failure();
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (!isExpanded())
    return success();
  // kernel_c7
  Block &block = getBody().front();
  MLIRContext *context = getContext();
  Type expected[] = {QueryType::get(context), KeyType::get(context),
                     ValueType::get(context)};
  if (block.getArgumentTypes() != TypeRange(expected))
    return emitOpError("expects its body to have the arguments "
                       "(!posenc.query, !posenc.key, !posenc.value), but got ")
           << "(" << llvm::to_vector(block.getArgumentTypes()) << ")";
  for (Operation &nested : block)
    if (!isa_and_present<PosencDialect>(nested.getDialect()) ||
        isa<KernelOp, PlanOp>(nested))
      return nested.emitOpError("cannot stand in the body of a posenc.kernel; "
                                "expected primitives of level 2");
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != 1 ||
      !isa<OutputType>(yield.getOperand(0).getType()))
    return block.back().emitOpError(
        "expects one operand of type !posenc.output");
  // kernel_c4
  OperandNames operands(*this);
  for (const OperandTensor &tensor : getOperandTensors())
    if (failed(operands.add(tensor.name)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Level 2
//===----------------------------------------------------------------------===//

LogicalResult RelationOp::verify() {
  // relation_c1
  if (getSide(getQuery()) == Side::key)
    return emitOpError("expects its first operand to be a position of the "
                       "query side");
  if (getSide(getKey()) == Side::query)
    return emitOpError(
        "expects its second operand to be a position of the key side");
  return success();
}

std::optional<int64_t> TableOp::getNumRows() {
  TableType type = getType();
  if (!type.hasAxis(TableAxis::row))
    return std::nullopt;
  if (auto operand = dyn_cast<OperandAttr>(getLaw()))
    return operand.getRows();
  // A use may be verified before the table is.
  auto constants = dyn_cast<ConstantsAttr>(getLaw());
  if (!constants)
    return std::nullopt;
  int64_t count = constants.getValues().size();
  if (!type.hasAxis(TableAxis::head))
    return count;
  // Plans carry the head count as well as kernels do.
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp())
    if (auto heads = op->getAttrOfType<IntegerAttr>("heads"))
      return count / heads.getInt();
  return std::nullopt;
}

LogicalResult TableOp::verify() {
  TableType type = getType();
  if (auto operand = dyn_cast<OperandAttr>(getLaw())) {
    // table_c3
    bool hasRows = type.hasAxis(TableAxis::row);
    if (hasRows && operand.getRows() == 0)
      return emitOpError("expects operand '")
             << operand.getName()
             << "' to state 'rows', since its type has a "
                "row axis";
    if (!hasRows && operand.getRows() != 0)
      return emitOpError("expects operand '")
             << operand.getName()
             << "' not to state 'rows', since its type has no row axis";
    return success();
  }
  // table_c1
  auto constants = dyn_cast<ConstantsAttr>(getLaw());
  if (!constants)
    return emitOpError("expects its law to be #posenc.constants or "
                       "#posenc.operand, but got ")
           << getLaw();
  // table_c2
  if (type.hasAxis(TableAxis::query) || type.hasAxis(TableAxis::key))
    return emitOpError("expects constants to have no query or key axis");
  int64_t count = constants.getValues().size();
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp()) {
    auto heads = op->getAttrOfType<IntegerAttr>("heads");
    if (!heads)
      continue;
    int64_t unit = type.hasAxis(TableAxis::head) ? heads.getInt() : 1;
    bool fits = type.hasAxis(TableAxis::row) ? count > 0 && count % unit == 0
                                             : count == unit;
    if (!fits)
      return emitOpError("expects the number of constants to be ")
             << (type.hasAxis(TableAxis::row) ? "a multiple of " : "") << unit
             << ", but got " << count;
    break;
  }
  return success();
}

LogicalResult RotateOp::verify() {
  // rotate_c2
  Side side = isa<QueryType>(getInput().getType()) ? Side::query : Side::key;
  std::optional<Side> actual = getSide(getPosition());
  if (actual && *actual != side)
    return emitOpError("expects a position of the ")
           << stringifySide(side) << " side, like its input";
  // rotate_c1
  auto freqs = getFreqs().getDefiningOp<FreqsOp>();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (freqs && kernel) {
    int64_t first = getFirstDim();
    int64_t dims = 2 * freqs.getLaw().getFrequencies().size();
    if (!isWithin(first, dims, kernel.getHeadDim()))
      return emitOpError("expects the rotated channels [")
             << first << ", " << first << " + " << dims
             << ") to lie within the kernel's 'head_dim' ("
             << kernel.getHeadDim() << ")";
  }
  return success();
}

LogicalResult DotOp::verify() {
  if (!getScale().isFinite())
    return emitOpError("expects 'scale' to be finite, but got ")
           << getScale().convertToDouble();
  return success();
}

LogicalResult BiasOp::verify() { return verifyLookups(*this, getInputs()); }
LogicalResult BiasOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), getInputs(), 0);
}

LogicalResult MapOp::verify() { return verifyLookups(*this, getInputs()); }
LogicalResult MapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), getInputs(), 1);
}
