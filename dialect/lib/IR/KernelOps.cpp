// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 1, and the containers of level 2: verification.
#include "posenc/IR/CNames.h"
#include "posenc/IR/Posenc.h"

#include "KernelShape.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What kernels and embeddings share
//===----------------------------------------------------------------------===//

namespace {
/// kernel_c4: the names of operands seen so far.
class OperandNames {
public:
  explicit OperandNames(Operation *kernel)
      : kernel(kernel), isEmbed(isa<EmbedOp>(kernel)) {}

  /// The tensors that clauses add.
  SmallVector<StringRef> getSequenceNames() {
    SmallVector<StringRef> names;
    auto op = dyn_cast<KernelOp>(kernel);
    if (!op)
      return names;
    if (op.getQueryStorage() == QueryStorage::packed)
      names.push_back("cu_seqlens_q");
    if (op.getKeyStorage() == KeyStorage::packed)
      names.push_back("cu_seqlens_k");
    if (op.getKvScales())
      names.append({"k_scales", "v_scales"});
    if (op.hasCache())
      // Of the kernel that fills the cache, too.
      names.append({"key_lengths", "k_cache", "v_cache"});
    if (op.getKeyStorage() == KeyStorage::paged)
      names.push_back("page_table");
    if (op.hasState())
      names.push_back("key_lengths");
    if (op.hasState() || op.getRecurrence())
      names.append({"state_in", "state_out", "sums_in", "sums_out"});
    return names;
  }

  LogicalResult add(StringRef name) {
    if (failed(verifyOperandName(name, [&] { return kernel->emitOpError(); })))
      return failure();
    // In C they are fields of one struct, where a dot is an underscore.
    std::string field = name.str();
    llvm::replace(field, '.', '_');
    static constexpr StringRef ofKernel[] = {"size", "q", "k", "v", "o", "lse"};
    static constexpr StringRef ofEmbed[] = {"size", "x", "y"};
    if (llvm::is_contained(isEmbed ? ArrayRef<StringRef>(ofEmbed)
                                   : ArrayRef<StringRef>(ofKernel),
                           field) ||
        llvm::is_contained(getSequenceNames(), field))
      return kernel->emitOpError("expects no operand to be named '")
             << name << "', which the kernel itself uses";
    auto [it, inserted] = fields.insert({field, name.str()});
    if (inserted)
      return success();
    if (it->second == name)
      return kernel->emitOpError(
                 "expects the names of operands to differ, but '")
             << name << "' names two tensors";
    return kernel->emitOpError(
               "expects the names of operands to differ in more "
               "than dots and underscores, but '")
           << it->second << "' and '" << name << "' do not";
  }

private:
  Operation *kernel;
  bool isEmbed;
  llvm::StringMap<std::string> fields;
};
} // namespace

/// kernel_c12, kernel_c4
static LogicalResult verifyPositionsClause(Operation *op,
                                           PositionLawAttrInterface law,
                                           OperandNames &operands) {
  if (isa<AppendedAttr>(law))
    return op->emitOpError("expects 'positions' to be counted or those of an "
                           "operand, but got ")
           << law << ", the law of keys that are appended to a cache";
  auto tensor = dyn_cast<PositionTensorAttr>(law);
  if (!tensor)
    return success();
  if (failed(operands.add(tensor.getName())))
    return failure();
  return tensor.hasOwnQueries() ? operands.add(tensor.getQueries()) : success();
}

/// kernel_c4: names of encodings, then what each says about itself.
static LogicalResult
verifyEncodings(Operation *op, ArrayAttr encode, OperandNames &operands,
                function_ref<LogicalResult(EncodingAttrInterface)> verify) {
  llvm::StringSet<> names;
  for (Attribute entry : encode ? encode.getValue() : ArrayRef<Attribute>()) {
    auto encoding = cast<EncodingAttrInterface>(entry);
    StringRef name = encoding.getEncodingName();
    if (name.empty())
      return op->emitOpError("expects every encoding to have a name, but that "
                             "of ")
             << entry << " is empty";
    if (!names.insert(name).second)
      return op->emitOpError("expects the names of encodings to differ, but '")
             << name << "' occurs twice: give one of them another 'name'";
    for (StringRef operand : encoding.getOperandNames())
      if (failed(operands.add(operand)))
        return failure();
    if (failed(verify(encoding)))
      return failure();
  }
  return success();
}

/// Whether vectors and tables can be of that type.
static bool isReal(Type type) {
  return type.isF32() || type.isBF16() || type.isF16() || type.isF64();
}

/// Formulas of f64 are checked with numbers of f64.
static Type getDefaultTableType(Type dtype) {
  return dtype.isF64() ? dtype : Float32Type::get(dtype.getContext());
}

static LogicalResult verifyDropout(Operation *op,
                                   std::optional<APFloat> dropout) {
  if (!dropout)
    return success();
  double rate = dropout->convertToDouble();
  if (rate >= 0 && rate < 1)
    return success();
  return op->emitOpError("expects 'dropout' to be at least 0 and below 1, but "
                         "got ")
         << rate;
}

static LogicalResult verifyNoClauses(Operation *op,
                                     ArrayRef<StringAttr> clauses) {
  for (StringAttr clause : clauses)
    if (op->getAttr(clause))
      return op->emitOpError("expects no '")
             << clause.getValue()
             << "' clause beside a body: the body says what is computed";
  return success();
}

static LogicalResult verifyPrimitives(Operation *op, Block &block) {
  for (Operation &nested : block)
    if (!isa_and_present<PosencDialect>(nested.getDialect()) ||
        isa<KernelOp, EmbedOp, PlanOp>(nested))
      return nested.emitOpError("cannot stand in the body of a ")
             << op->getName().getStringRef()
             << "; expected primitives of level 2";
  return success();
}

/// kernel_c8
static LogicalResult verifyScaleOwner(KernelOp kernel) {
  std::optional<double> scale;
  std::string owner;
  auto state = [&](double value, const Twine &who) -> LogicalResult {
    if (scale && *scale != value)
      return kernel.emitOpError("expects one owner of the scale, but ")
             << owner << " fixes it to " << *scale << " and " << who.str()
             << " to " << value;
    scale = value;
    owner = who.str();
    return success();
  };
  if (std::optional<APFloat> own = kernel.getScale())
    if (failed(state(own->convertToDouble(), "the 'scale' clause")))
      return failure();
  for (Attribute entry : kernel.getEncode() ? kernel.getEncodeAttr().getValue()
                                            : ArrayRef<Attribute>()) {
    auto encoding = cast<EncodingAttrInterface>(entry);
    if (std::optional<double> fixed = encoding.getFixedScale(kernel))
      if (failed(
              state(*fixed, "encoding '" + encoding.getEncodingName() + "'")))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

Type KernelOp::getElementType() {
  return getDtype().value_or(Float32Type::get(getContext()));
}

Type KernelOp::getKeyElementType() {
  return getKvDtype().value_or(getElementType());
}

Type KernelOp::getTableElementType() {
  return getTableDtype().value_or(getDefaultTableType(getElementType()));
}

bool KernelOp::isAppend() {
  if (!isExpanded() || getBody().front().empty())
    return false;
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  return yield && yield.getNumOperands() == 1 &&
         isa<KeyType>(yield.getOperand(0).getType());
}

RecurrenceOp KernelOp::getRecurrence() {
  if (!isExpanded() || getBody().front().empty())
    return RecurrenceOp();
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  return yield && yield.getNumOperands() == 1
             ? yield.getOperand(0).getDefiningOp<RecurrenceOp>()
             : RecurrenceOp();
}

bool KernelOp::hasSequences() {
  return getQueryStorage() != QueryStorage::dense ||
         getKeyStorage() != KeyStorage::dense;
}

static ArrayRef<Attribute> getList(ArrayAttr list) {
  return list ? list.getValue() : ArrayRef<Attribute>();
}

double KernelOp::getDotScale() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToDouble();
  for (Attribute entry : getList(getEncodeAttr()))
    if (std::optional<double> fixed =
            cast<EncodingAttrInterface>(entry).getFixedScale(*this))
      return *fixed;
  return 1.0 / std::sqrt(static_cast<double>(getHeadDim()));
}

bool KernelOp::exportsLse() {
  if (getNoLse())
    return false;
  if (!isExpanded())
    return llvm::all_of(getList(getEncodeAttr()), [](Attribute entry) {
      return cast<EncodingAttrInterface>(entry).keepsLse();
    });
  bool exports = true;
  getBody().walk([&](Operation *op) {
    if (auto normalize = dyn_cast<NormalizeOp>(op))
      exports &= exponentiates(normalize.getKind());
    exports &= !isa<RecurrenceOp>(op);
  });
  return exports;
}

MaskClauseAttrInterface KernelOp::getMaskOrDefault() {
  if (getMaskAttr())
    return getMaskAttr();
  return FullMaskAttr::get(getContext());
}

PositionLawAttrInterface KernelOp::getPositionsOrDefault() {
  if (getPositionsAttr())
    return getPositionsAttr();
  // Without a clause of their own positions follow the mask.
  Alignment alignment =
      getMaskOrDefault().getClauseAlignment().value_or(Alignment::bottom_right);
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
        tensor.name = law.getTensor(position.getSide()).str();
        tensor.isPositions = true;
        tensor.isOfQueries =
            law.hasOwnQueries() && position.getSide() == Side::query;
        tensor.positionAxes = law.getAxes();
        add(std::move(tensor));
      }
    } else if (auto table = dyn_cast<TableOp>(nested)) {
      if (auto law = dyn_cast<OperandAttr>(table.getLaw())) {
        OperandTensor tensor;
        tensor.name = law.getName().str();
        tensor.axes.assign(table.getType().getAxes().begin(),
                           table.getType().getAxes().end());
        tensor.rows = law.getRows();
        tensor.channels = law.getChannels();
        tensor.storage = law.getDtype();
        add(std::move(tensor));
      }
    }
  });
  return tensors;
}

SmallVector<OperandTensor> KernelOp::getOperandTensors() {
  return collectOperands(*this);
}

bool KernelOp::looksUpQueriesAmongKeys() {
  return llvm::any_of(getBody().front(), [](Operation &op) {
    if (isa<AtQueryOp, RemainderOp>(op))
      return true;
    auto position = dyn_cast<PositionOp>(op);
    auto law = position ? dyn_cast<PositionTensorAttr>(position.getLaw())
                        : PositionTensorAttr();
    return law && position.getSide() == Side::query && !law.hasOwnQueries();
  });
}

SmallVector<OperandTensor> PlanOp::getOperandTensors() {
  return collectOperands(*this);
}

/// kernel_c4, of the tensors of the 'blocks' clause.
static LogicalResult addBlockNames(KernelOp kernel, OperandNames &operands) {
  std::optional<BlockListAttr> blocks = kernel.getBlocks();
  return success(!blocks ||
                 (succeeded(operands.add(blocks->getOffsetsName())) &&
                  succeeded(operands.add(blocks->getIndicesName()))));
}

LogicalResult KernelOp::verify() {
  // kernel_c1, kernel_c2
  if (failed(verifyKernelShape(*this, getHeads(), getNumKvHeads(), getHeadDim(),
                               getValueSize())))
    return failure();
  // kernel_c3
  Type keys = getKeyElementType();
  bool hasCodes = keys.isInteger(8) || isa<Float8E4M3FNType>(keys);
  for (auto [clause, type] : {std::pair("dtype", getElementType()),
                              {"table_dtype", getTableElementType()}})
    if (!isReal(type))
      return emitOpError("expects '")
             << clause << "' to be f32, bf16, f16 or f64, but got " << type;
  if (!isReal(keys) && !hasCodes)
    return emitOpError("expects 'kv_dtype' to be f32, bf16, f16, f64, i8 or "
                       "f8E4M3FN, but got ")
           << keys;
  // kernel_c13
  if (hasCodes && !getKvScales())
    return emitOpError("expects kv_scales(head) or kv_scales(token) beside "
                       "kv_dtype(")
           << keys << "), whose numbers are codes";
  if (!hasCodes && getKvScales())
    return emitOpError("expects kv_dtype(i8) or kv_dtype(f8E4M3FN) beside "
                       "'kv_scales', but keys and values are ")
           << keys;
  // kernel_c5
  if (std::optional<APFloat> scale = getScale();
      scale && (!scale->isFinite() || scale->isZero()))
    return emitOpError("expects 'scale' to be finite and not 0, but got ")
           << scale->convertToDouble();
  // kernel_c16
  if (failed(verifyDropout(*this, getDropout())))
    return failure();
  // kernel_c11
  if (getKeyCache() && !hasCache())
    return emitOpError("expects keys(lengths), keys(paged) or keys(ring) "
                       "beside 'key_cache', but got keys(")
           << stringifyEnum(getKeyStorage()) << ")";
  if (isExpanded()) {
    return verifyNoClauses(*this,
                           {getMaskAttrName(), getScaleAttrName(),
                            getPositionsAttrName(), getTableDtypeAttrName(),
                            getDropoutAttrName(), getEncodeAttrName()});
  }
  // kernel_c6
  std::optional<Alignment> alignment = getMaskOrDefault().getClauseAlignment();
  if (alignment && getPositionsOrDefault().getAlignment() != *alignment)
    return emitOpError("expects 'positions' and 'mask' to have the same "
                       "alignment, but they have ")
           << stringifyAlignment(getPositionsOrDefault().getAlignment())
           << " and " << stringifyAlignment(*alignment);
  // kernel_c9
  if (std::optional<uint64_t> length = getContextLength();
      length && static_cast<int64_t>(*length) <= 0)
    return emitOpError("expects 'context_length' to be positive, but got ")
           << static_cast<int64_t>(*length);
  // kernel_c4
  OperandNames operands(*this);
  if (failed(verifyPositionsClause(*this, getPositionsOrDefault(), operands)))
    return failure();
  for (StringRef operand : getMaskOrDefault().getOperandNames())
    if (failed(operands.add(operand)))
      return failure();
  if (failed(addBlockNames(*this, operands)))
    return failure();
  auto emit = [&] { return emitOpError(); };
  if (failed(getMaskOrDefault().verifyMask(*this, emit)) ||
      failed(verifyEncodings(*this, getEncodeAttr(), operands,
                             [&](EncodingAttrInterface encoding) {
                               return encoding.verifyInKernel(*this, emit);
                             })))
    return failure();
  return verifyScaleOwner(*this);
}

/// kernel_c10
static LogicalResult verifyStorage(KernelOp kernel,
                                   const OperandTensor &tensor) {
  auto has = [&](TableAxis axis) {
    return llvm::is_contained(tensor.axes, axis);
  };
  auto needsBatch = [&](TableAxis axis, bool isPacked, StringRef tokens) {
    if (!isPacked || !has(axis) || has(TableAxis::batch))
      return false;
    kernel.emitOpError("expects operands with a ")
        << stringifyTableAxis(axis) << " axis to have a batch axis too, since "
        << tokens << " are packed, but '" << tensor.name << "' has none";
    return true;
  };
  return failure(
      needsBatch(TableAxis::query,
                 kernel.getQueryStorage() == QueryStorage::packed, "queries") ||
      needsBatch(TableAxis::key,
                 kernel.getKeyStorage() == KeyStorage::packed ||
                     (kernel.hasState() &&
                      kernel.getQueryStorage() == QueryStorage::packed),
                 "keys"));
}

/// kernel_c11, kernel_c12: what a kernel that appends to a cache must be, and
/// what others must not have.
static LogicalResult verifyAppend(KernelOp kernel) {
  bool isAppend = kernel.isAppend();
  if (isAppend && !kernel.hasCache())
    return kernel.emitOpError("expects keys(lengths), keys(paged) or "
                              "keys(ring), since its body yields a key of a "
                              "cache, but got keys(")
           << stringifyEnum(kernel.getKeyStorage()) << ")";
  if (isAppend && kernel.getKeyCache())
    return kernel.emitOpError("expects no 'key_cache' clause, since its body "
                              "says what is written to the cache");
  if (isAppend && kernel.getBlocks())
    return kernel.emitOpError("expects no 'blocks' clause, since its body "
                              "yields a key of a cache and has no scores");
  bool isRecurrent = kernel.hasState() && kernel.getRecurrence();
  for (Operation &op : kernel.getBody().front()) {
    if (auto position = dyn_cast<PositionOp>(op)) {
      bool isNew = isa<AppendedAttr>(position.getLaw());
      bool canBeNew =
          isRecurrent || (isAppend && position.getSide() == Side::key);
      if (isNew && !canBeNew)
        return position.emitOpError(
            "expects #posenc.appended to be a law of keys in a body that "
            "yields a key, or of both sides in one with keys(state) and a "
            "posenc.recurrence");
      if ((isAppend || isRecurrent) && isa<IotaAttr>(position.getLaw()))
        return position.emitOpError("expects #posenc.appended where keys are ")
               << (isAppend ? "appended to a cache" : "those of new tokens")
               << ", but got " << position.getLaw();
    } else if (auto table = dyn_cast<TableOp>(op); table && isAppend) {
      if (table.getType().hasAxis(TableAxis::query) ||
          table.getType().hasAxis(TableAxis::key))
        return table.emitOpError("expects no query or key axis where keys are "
                                 "appended to a cache, but got ")
               << table.getType();
    }
  }
  return success();
}

/// kernel_c17, the first half; posenc-form-recurrences and the driver check the
/// second.
static LogicalResult verifyState(KernelOp kernel) {
  if (kernel.hasState() && kernel.getBlocks())
    return kernel.emitOpError("expects no 'blocks' clause beside keys(state): "
                              "earlier keys are there by their sum alone");
  return success();
}

/// kernel_c15
static LogicalResult verifyBlocks(KernelOp kernel) {
  if (!kernel.getBlocks())
    return success();
  for (Operation &op : kernel.getBody().front())
    if (isa<RowscanOp, HeadMlpOp>(op))
      return op.emitOpError("cannot stand beside 'blocks', since it reads "
                            "scores of keys that are not listed");
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(verifyState(*this)))
    return failure();
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
  if (failed(verifyPrimitives(*this, block)))
    return failure();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != 1 ||
      !isa<OutputType, KeyType>(yield.getOperand(0).getType()))
    return block.back().emitOpError(
        "expects one operand of type !posenc.output, or !posenc.key to append "
        "to a cache");
  if (failed(verifyAppend(*this)))
    return failure();
  if (failed(verifyBlocks(*this)))
    return failure();
  // kernel_c4
  OperandNames operands(*this);
  if (failed(addBlockNames(*this, operands)))
    return failure();
  for (const OperandTensor &tensor : getOperandTensors())
    if (failed(operands.add(tensor.name)) ||
        failed(verifyStorage(*this, tensor)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// EmbedOp
//===----------------------------------------------------------------------===//

Type EmbedOp::getElementType() {
  return getDtype().value_or(Float32Type::get((*this)->getContext()));
}

Type EmbedOp::getTableElementType() {
  return getTableDtype().value_or(getDefaultTableType(getElementType()));
}

PositionLawAttrInterface EmbedOp::getPositionsOrDefault() {
  if (getPositionsAttr())
    return getPositionsAttr();
  return IotaAttr::get((*this)->getContext(), int64_t{0},
                       Alignment::bottom_right);
}

SmallVector<OperandTensor> EmbedOp::getOperandTensors() {
  return collectOperands(*this);
}

LogicalResult EmbedOp::verify() {
  // embed_c1
  int64_t dim = getDim();
  if (dim < 1 || dim > 65536)
    return emitOpError("expects 'dim' to be from 1 to 65536, but got ") << dim;
  // embed_c2
  if (!getElementType().isF32() && !getElementType().isF64())
    return emitOpError("expects 'dtype' to be f32 or f64, but got ")
           << getElementType();
  if (!isReal(getTableElementType()))
    return emitOpError("expects 'table_dtype' to be f32, bf16, f16 or f64, but "
                       "got ")
           << getTableElementType();
  // embed_c3
  if (std::optional<APFloat> scale = getScale(); scale && !scale->isFinite())
    return emitOpError("expects 'scale' to be finite, but got ")
           << scale->convertToDouble();
  if (failed(verifyDropout(*this, getDropout())))
    return failure();
  if (isExpanded())
    return verifyNoClauses(*this, {getTableDtypeAttrName(), getScaleAttrName(),
                                   getPositionsAttrName(), getDropoutAttrName(),
                                   getEncodeAttrName()});
  // embed_c6
  if (auto law = dyn_cast<PositionTensorAttr>(getPositionsOrDefault());
      law && law.hasOwnQueries())
    return emitOpError("expects positions of its tokens without 'queries'");
  // embed_c4
  OperandNames operands(*this);
  if (failed(verifyPositionsClause(*this, getPositionsOrDefault(), operands)))
    return failure();
  return verifyEncodings(
      *this, getEncodeAttr(), operands, [&](EncodingAttrInterface encoding) {
        return encoding.verifyInEmbed(*this, [&] { return emitOpError(); });
      });
}

LogicalResult EmbedOp::verifyRegions() {
  if (!isExpanded())
    return success();
  // embed_c5
  Block &block = getBody().front();
  Type tokens = TokensType::get((*this)->getContext());
  if (block.getArgumentTypes() != TypeRange(tokens))
    return emitOpError("expects its body to have the argument "
                       "(!posenc.tokens), but got ")
           << "(" << llvm::to_vector(block.getArgumentTypes()) << ")";
  if (failed(verifyPrimitives(*this, block)))
    return failure();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != 1 ||
      yield.getOperand(0).getType() != tokens)
    return block.back().emitOpError(
        "expects one operand of type !posenc.tokens");
  // embed_c6
  for (auto position : block.getOps<PositionOp>())
    if (auto law = dyn_cast<PositionTensorAttr>(position.getLaw());
        law && law.hasOwnQueries())
      return position.emitOpError(
          "expects positions of its tokens without 'queries'");
  // embed_c4
  OperandNames operands(*this);
  for (const OperandTensor &tensor : getOperandTensors())
    if (failed(operands.add(tensor.name)))
      return failure();
  return success();
}
