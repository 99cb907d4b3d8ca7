// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a kernel's argument struct, in order.
#include "posenc/Analysis/KernelTensors.h"

#include "posenc/Analysis/EmbedBody.h"
#include "posenc/Analysis/KeyReach.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace posenc;

std::string Extent::str() const {
  switch (kind) {
  case ExtentKind::Const:
    return std::to_string(value);
  case ExtentKind::Batch:
    return "B";
  case ExtentKind::Heads:
    return "H";
  case ExtentKind::KvHeads:
    return "Hkv";
  case ExtentKind::QueryLen:
    return "Lq";
  case ExtentKind::KeyLen:
    return "Lk";
  case ExtentKind::HeadsOr1:
    return "H or 1";
  case ExtentKind::Len:
    return "L";
  case ExtentKind::AllQueries:
    return "Tq";
  case ExtentKind::AllKeys:
    return "Tk";
  case ExtentKind::Bounds:
    return "B + 1";
  case ExtentKind::Pages:
    return "pages";
  case ExtentKind::PageSize:
    return "page_size";
  case ExtentKind::MaxPages:
    return "max_pages";
  case ExtentKind::Ring:
    return "capacity";
  case ExtentKind::BatchOr1:
    return "B or 1";
  case ExtentKind::BlockBounds:
    return "n + 1";
  case ExtentKind::Blocks:
    return "N";
  }
  llvm_unreachable("all kinds are handled");
}

std::string KernelTensor::getField() const {
  std::string field = name;
  for (char &c : field)
    if (!llvm::isAlnum(c))
      c = '_';
  return field;
}

uint8_t KernelTensor::getTypeCode() const {
  // kDLInt, kDLFloat, kDLBfloat, POSENC_DTYPE_FLOAT8_E4M3FN; LIBS of this
  // library know no DLPack.
  if (isInteger || (storage && storage.isInteger()))
    return 0;
  if (hasCodes())
    return 10;
  return storage && storage.isBF16() ? 4 : 2;
}

float KernelTensor::getLargestCode() const {
  return storage.isInteger() ? 127.0f : 448.0f;
}

uint16_t KernelTensor::toBits(float value) const {
  if (storage.isInteger()) {
    value = std::isnan(value) ? 0 : std::clamp(value, -128.0f, 127.0f);
    return static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(value)));
  }
  if (hasCodes())
    value = std::clamp(value, -getLargestCode(), getLargestCode());
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(cast<FloatType>(storage).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

float KernelTensor::fromBits(uint16_t bits) const {
  if (storage.isInteger())
    return static_cast<int8_t>(bits);
  llvm::APFloat number(cast<FloatType>(storage).getFloatSemantics(),
                       llvm::APInt(getTypeBits(), bits));
  bool losesInfo = false;
  number.convert(llvm::APFloat::IEEEsingle(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToFloat();
}

double KernelTensor::getRoundoff() const {
  if (!storage || hasCodes())
    return 0;
  int digits = cast<FloatType>(storage).getFPMantissaWidth();
  return std::ldexp(1.0, -digits);
}

std::string KernelTensor::getTypeName() const {
  if (isInteger)
    return "i32";
  std::string name = "f32";
  if (storage) {
    name.clear();
    llvm::raw_string_ostream(name) << storage;
  }
  return name;
}

std::string KernelTensor::getTypeString() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << getTypeName() << " [";
  llvm::interleaveComma(extents, stream,
                        [&](const Extent &extent) { stream << extent.str(); });
  stream << "]";
  return text;
}

/// What a table is used for, and in which unit its numbers are.
static StringRef describeUse(Operation *use) {
  auto yields = [&](auto type) {
    return use->getNumResults() == 1 &&
           isa<decltype(type)>(use->getResult(0).getType());
  };
  bool isOfKeys = yields(KeyType()), isOfTokens = yields(TokensType());
  return llvm::TypeSwitch<Operation *, StringRef>(use)
      .Case([](FreqsMapOp) { return "frequencies, in radians per position"; })
      .Case([](RotateOp) { return "mixes the cosines and sines of rotations"; })
      .Case([&](VaddOp) {
        return isOfKeys     ? "added to the keys"
               : isOfTokens ? "added to the embedding"
                            : "added to the queries";
      })
      .Case<ChannelScaleOp, RowScaleOp>([&](Operation *) {
        return isOfKeys     ? "scales the keys"
               : isOfTokens ? "scales the embedding"
                            : "scales the queries";
      })
      .Case([](TableDotOp op) {
        return isa<KeyType>(op.getVector().getType())
                   ? "rows for products with the keys"
                   : "rows for products with the queries";
      })
      .Case([](ValueTableOp) { return "rows added to the values"; })
      .Case([](ProjectOp) { return "projects the rows of a table"; })
      .Case([](PrefixSumOp) { return "summed along the keys"; })
      .Case([](RecurrenceOp) { return "makes the decay from token to token"; })
      .Case([](NormalizeOp) { return "the score of the sink (natural)"; })
      .Case([](SelectOp) { return "decides which pairs are allowed"; })
      .Case([](RelationMapOp) { return "part of a relation"; })
      .Case([](HeadMlpOp) { return "weights of the network over heads"; })
      .Case<CoordMapOp, ChannelMapOp>(
          [](Operation *) { return "part of the embedding"; })
      .Default([](Operation *) { return "score units (natural)"; });
}

/// The use of an operand in a kernel or embedding.
static StringRef describeOperand(Operation *kernel, StringRef name) {
  Operation *use = nullptr;
  kernel->walk([&](TableOp table) {
    auto law = dyn_cast<OperandAttr>(table.getLaw());
    if (use || !law || law.getName() != name || table->use_empty())
      return;
    use = *table->user_begin();
    // The same numbers at other places.
    while (isa<AtQueryOp>(use) && !use->use_empty())
      use = *use->user_begin();
  });
  return use ? describeUse(use) : "not used";
}

static bool isPacked(ExtentKind length) {
  return length == ExtentKind::AllKeys || length == ExtentKind::AllQueries;
}

/// `keys` is the length of the keys, of the new ones where they are appended to
/// a cache, or of an embedding's tokens.
static KernelTensor makeOperand(Operation *kernel, const OperandTensor &operand,
                                ExtentKind queries, ExtentKind keys) {
  KernelTensor tensor;
  tensor.name = operand.name;
  if (operand.isPositions) {
    ExtentKind length = operand.isOfQueries ? queries : keys;
    int64_t place = 0;
    if (operand.positionAxes > 1)
      tensor.extents.push_back(
          {ExtentKind::Const, operand.positionAxes, place++});
    if (!isPacked(length))
      tensor.extents.push_back({ExtentKind::Batch, 0, place});
    tensor.extents.push_back({length, 0, place + 1});
    tensor.isInteger = true;
    tensor.unitStride = true;
    if (isa<EmbedOp>(kernel)) {
      tensor.comment = "a number for each token; may be i64";
      return tensor;
    }
    tensor.comment = operand.isOfQueries ? "the position of each query"
                     : cast<KernelOp>(kernel).hasNewTokens()
                         ? "the position of each new token"
                         : "the position of each key";
    if (operand.positionAxes > 1)
      tensor.comment += " on each axis";
    tensor.comment += ", from -2^30 to 2^30 - 1; may be i64";
    return tensor;
  }
  // Numbers for the tokens of each sequence are packed as the tokens are.
  bool hasQueries = llvm::is_contained(operand.axes, TableAxis::query);
  bool hasKeys = llvm::is_contained(operand.axes, TableAxis::key);
  bool arePacked =
      (hasQueries && isPacked(queries)) || (hasKeys && isPacked(keys));
  for (auto [index, axis] : llvm::enumerate(operand.axes)) {
    auto place = static_cast<int64_t>(index);
    switch (axis) {
    case TableAxis::row:
      tensor.extents.push_back({ExtentKind::Const, operand.rows, place});
      break;
    case TableAxis::head:
      tensor.extents.push_back({ExtentKind::HeadsOr1, 0, place});
      break;
    case TableAxis::query:
      tensor.extents.push_back({queries, 0, place});
      break;
    case TableAxis::key:
      tensor.extents.push_back({keys, 0, place});
      break;
    case TableAxis::batch:
      if (!arePacked)
        tensor.extents.push_back({ExtentKind::Batch, 0, place});
      break;
    case TableAxis::channel:
      tensor.extents.push_back({ExtentKind::Const, operand.channels, place});
      break;
    }
  }
  tensor.storage = operand.storage;
  tensor.comment = describeOperand(kernel, operand.name).str();
  if (hasQueries && hasKeys)
    tensor.comment += "; -1e30 or less masks the pair";
  return tensor;
}

/// Vectors of tokens, which the kernel sees as [B, heads, L, dim].
static SmallVector<Extent, 4> makeTokens(ExtentKind heads, Extent length) {
  switch (length.kind) {
  case ExtentKind::AllQueries:
  case ExtentKind::AllKeys:
    return {{length.kind, 0, 2}, {heads, 0, 1}};
  case ExtentKind::Pages:
    return {{length.kind, 0, 0}, {ExtentKind::PageSize, 0, 2}, {heads, 0, 1}};
  default:
    return {{ExtentKind::Batch}, {heads}, length};
  }
}

/// What says where the sequences of a call lie.
static void addSequences(KernelOp kernel, std::vector<KernelTensor> &tensors) {
  auto add = [&](StringRef name, SequenceRole role,
                 SmallVector<Extent, 4> extents, StringRef comment) {
    KernelTensor tensor;
    tensor.name = name.str();
    tensor.extents = std::move(extents);
    tensor.isInteger = true;
    tensor.role = role;
    tensor.comment = comment.str();
    tensors.push_back(std::move(tensor));
  };
  bool isAppend = kernel.isAppend();
  if (kernel.getQueryStorage() == QueryStorage::packed)
    add("cu_seqlens_q", SequenceRole::QueryBounds, {{ExtentKind::Bounds}},
        isAppend
            ? "the first new token of each sequence, rising from 0, then their "
              "end"
            : "the first query of each sequence, rising from 0, then their "
              "end");
  KeyStorage keys = kernel.getKeyStorage();
  if (keys == KeyStorage::packed)
    add("cu_seqlens_k", SequenceRole::KeyBounds, {{ExtentKind::Bounds}},
        "the first key of each sequence, rising from 0, then their end");
  if (kernel.hasState())
    add("key_lengths", SequenceRole::KeyLengths, {{ExtentKind::Batch}},
        "the number of tokens that each sequence has had, those of the call "
        "included");
  if (kernel.hasCache()) {
    std::string comment = "the number of keys of each sequence";
    if (kernel.isRing())
      comment += ", those included that are no longer there";
    if (isAppend)
      comment +=
          kernel.isRing() ? ", and its new tokens" : " with its new tokens";
    add("key_lengths", SequenceRole::KeyLengths, {{ExtentKind::Batch}},
        comment);
  }
  if (keys == KeyStorage::paged) {
    add("page_table", SequenceRole::PageTable,
        {{ExtentKind::Batch}, {ExtentKind::MaxPages}},
        "the pages of each sequence in their order; those behind its keys are "
        "not read");
    tensors.back().unitStride = true;
  }
  if (std::optional<BlockListAttr> blocks = kernel.getBlocks()) {
    add(blocks->getOffsetsName(), SequenceRole::BlockOffsets,
        {{ExtentKind::BatchOr1},
         {ExtentKind::HeadsOr1},
         {ExtentKind::BlockBounds, blocks->getQueries()}},
        "where the keys' blocks of each block of queries begin among the "
        "indices, rising, then their end");
    add(blocks->getIndicesName(), SequenceRole::BlockIndices,
        {{ExtentKind::Blocks, blocks->getKeys()}},
        "the blocks of keys, rising for each block of queries");
  }
}

namespace {
/// Vectors of tokens, as the kernel's clauses store them.
struct VectorTensors {
  KernelOp kernel;
  std::vector<KernelTensor> tensors = {};

  KernelTensor &add(StringRef name, ExtentKind heads, Extent length,
                    int64_t dim, Type type, StringRef comment) {
    KernelTensor tensor;
    tensor.name = name.str();
    tensor.extents = makeTokens(heads, length);
    if (dim)
      tensor.extents.push_back({ExtentKind::Const, dim, 3});
    tensor.unitStride = dim != 0;
    tensor.storage = type.isF32() ? Type() : type;
    tensor.comment = comment.str();
    tensors.push_back(std::move(tensor));
    return tensors.back();
  }
  /// Those of codes, if keys and values are such.
  void addScales(Extent length, bool isAppend) {
    std::optional<KvScales> clause = kernel.getKvScales();
    if (!clause)
      return;
    bool areOfTokens = *clause == KvScales::token;
    for (auto [name, what] :
         {std::pair("k_scales", "key"), {"v_scales", "value"}}) {
      KernelTensor &scales = add(
          name, ExtentKind::KvHeads, length, /*dim=*/0,
          Float32Type::get(kernel.getContext()),
          (Twine("the factor of each ") + what + (areOfTokens ? "" : " head") +
           (areOfTokens && isAppend ? ", written for new tokens" : ""))
              .str());
      if (!areOfTokens)
        scales.extents = {{ExtentKind::KvHeads, 0, 1}};
      scales.isOutput = scales.isCache = areOfTokens && isAppend;
    }
  }
  /// Of queries or new tokens.
  ExtentKind getQueryLength() {
    return kernel.getQueryStorage() == QueryStorage::packed
               ? ExtentKind::AllQueries
               : ExtentKind::QueryLen;
  }
  Extent getKeyLength() {
    switch (kernel.getKeyStorage()) {
    case KeyStorage::state:
      return {getQueryLength()};
    case KeyStorage::packed:
      return {ExtentKind::AllKeys};
    case KeyStorage::paged:
      return {ExtentKind::Pages};
    case KeyStorage::ring:
      // Appending needs no room for a window.
      return {ExtentKind::Ring,
              kernel.isAppend() ? 0 : getKeyReach(kernel).value_or(0)};
    default:
      return {ExtentKind::KeyLen};
    }
  }
};
} // namespace

static std::vector<KernelTensor> getAppendTensors(KernelOp kernel) {
  VectorTensors vectors{kernel};
  ExtentKind tokens = vectors.getQueryLength();
  Extent keys = vectors.getKeyLength();
  auto add = [&](StringRef name, Extent length, int64_t dim, Type type,
                 StringRef comment) -> KernelTensor & {
    return vectors.add(name, ExtentKind::KvHeads, length, dim, type, comment);
  };
  int64_t headDim = kernel.getHeadDim(), valueDim = kernel.getValueSize();
  Type type = kernel.getElementType(), cached = kernel.getKeyElementType();
  add("k", {tokens}, headDim, type, "the keys of the new tokens");
  add("v", {tokens}, valueDim, type, "the values of the new tokens");
  for (auto [name, dim, comment] :
       {std::tuple("k_cache", headDim, "keys in memory"),
        {"v_cache", valueDim, "values in memory"}}) {
    KernelTensor &cache = add(name, keys, dim, cached, comment);
    cache.comment += ", of which the rows of new tokens are written";
    cache.isOutput = cache.isCache = true;
  }
  vectors.addScales(keys, /*isAppend=*/true);
  addSequences(kernel, vectors.tensors);
  for (const OperandTensor &operand : kernel.getOperandTensors())
    vectors.tensors.push_back(makeOperand(kernel, operand, tokens, tokens));
  return std::move(vectors.tensors);
}

/// What a recurrence takes and leaves: of each query head the state, and the
/// sums that divide the output.
static void addStates(KernelOp kernel, std::vector<KernelTensor> &tensors) {
  RecurrenceOp recurrence = kernel.getRecurrence();
  if (!kernel.hasState() || !recurrence)
    return;
  auto add = [&](StringRef name, bool isOutput, size_t keys, int64_t columns,
                 StringRef what) {
    auto rows = static_cast<int64_t>(keys * kernel.getHeadDim());
    KernelTensor tensor;
    tensor.name = name.str();
    tensor.extents = {
        {ExtentKind::Batch}, {ExtentKind::Heads}, {ExtentKind::Const, rows}};
    if (columns)
      tensor.extents.push_back({ExtentKind::Const, columns});
    tensor.isOutput = isOutput;
    tensor.isOptional = true;
    tensor.comment =
        ("the sum over the tokens " +
         Twine(isOutput ? "up to the call's last" : "before the call's") +
         " of " + what + (isOutput ? "; NULL: not wanted" : "; NULL: 0"))
            .str();
    tensors.push_back(std::move(tensor));
  };
  size_t keys = recurrence.getKeys().size(),
         byKeys = recurrence.getByKeys().size();
  std::string decayed = recurrence.decays() ? ", decayed since" : "";
  std::string decayedBy = recurrence.getDecayedBy() ? decayed : "";
  for (bool isOutput : {false, true})
    add(isOutput ? "state_out" : "state_in", isOutput, keys,
        kernel.getValueSize(),
        "the key's channels times the value's" + decayed);
  if (recurrence.divides())
    for (bool isOutput : {false, true})
      add(isOutput ? "sums_out" : "sums_in", isOutput, byKeys, 0,
          "the key's channels that divide" + decayedBy);
}

std::vector<KernelTensor> posenc::getKernelTensors(KernelOp kernel) {
  if (kernel.isAppend())
    return getAppendTensors(kernel);
  VectorTensors vectors{kernel};
  int64_t headDim = kernel.getHeadDim(), valueDim = kernel.getValueSize();
  ExtentKind queries = vectors.getQueryLength();
  Extent inMemory = vectors.getKeyLength();
  Type ofQueries = kernel.getElementType(), ofKeys = kernel.getKeyElementType();
  bool areEncoded = kernel.getKeyCache() == KeyCache::encoded;
  vectors.add("q", ExtentKind::Heads, {queries}, headDim, ofQueries, "queries");
  vectors.add("k", ExtentKind::KvHeads, inMemory, headDim, ofKeys,
              areEncoded ? "keys as the append function wrote them" : "keys");
  vectors.add("v", ExtentKind::KvHeads, inMemory, valueDim, ofKeys, "values");
  vectors
      .add("o", ExtentKind::Heads, {queries}, valueDim, ofQueries, "the output")
      .isOutput = true;
  if (kernel.exportsLse()) {
    KernelTensor &lse = vectors.add(
        "lse", ExtentKind::Heads, {queries}, 0,
        Float32Type::get(kernel.getContext()),
        "natural log-sum-exp of each row of scores; NULL: not wanted");
    lse.isOutput = lse.isOptional = true;
  }
  addStates(kernel, vectors.tensors);
  vectors.addScales(inMemory, /*isAppend=*/false);
  addSequences(kernel, vectors.tensors);
  ExtentKind keys = inMemory.kind == ExtentKind::AllKeys ? ExtentKind::AllKeys
                    : kernel.hasState()                  ? queries
                                                         : ExtentKind::KeyLen;
  for (const OperandTensor &operand : kernel.getOperandTensors())
    vectors.tensors.push_back(makeOperand(kernel, operand, queries, keys));
  return std::move(vectors.tensors);
}

bool posenc::hasIndirectKeys(KernelOp kernel) {
  return kernel.getKeyStorage() == KeyStorage::paged || kernel.isRing();
}

double posenc::getDropout(KernelOp kernel) {
  double dropout = 0;
  for (auto op : kernel.getBody().front().getOps<DropWeightsOp>())
    dropout = std::max(dropout, op.getProbability().convertToDouble());
  return dropout;
}

std::vector<KernelTensor> posenc::getKernelTensors(EmbedOp embed) {
  std::vector<KernelTensor> tensors;
  auto add = [&](StringRef name, StringRef comment) {
    KernelTensor tensor;
    tensor.name = name.str();
    tensor.extents = {{ExtentKind::Batch},
                      {ExtentKind::Len},
                      {ExtentKind::Const, int64_t(embed.getDim())}};
    tensor.unitStride = true;
    if (Type type = embed.getElementType(); !type.isF32())
      tensor.storage = type;
    tensor.comment = comment.str();
    tensors.push_back(std::move(tensor));
  };
  if (readsInput(embed))
    add("x", "the embedding");
  add("y", "the embedding with its encodings");
  tensors.back().isOutput = true;
  for (const OperandTensor &operand : embed.getOperandTensors())
    tensors.push_back(
        makeOperand(embed, operand, ExtentKind::Len, ExtentKind::Len));
  return tensors;
}
