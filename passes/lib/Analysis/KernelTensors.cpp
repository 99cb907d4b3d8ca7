// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a kernel's argument struct, in order.
#include "posenc/Analysis/KernelTensors.h"

#include "posenc/Analysis/EmbedBody.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

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

std::string KernelTensor::getTypeString() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << (isInteger ? "i32" : "f32") << " [";
  llvm::interleaveComma(extents, stream,
                        [&](const Extent &extent) { stream << extent.str(); });
  stream << "]";
  return text;
}

/// What a table is used for, and in which unit its numbers are.
static StringRef describeUse(Operation *use) {
  bool isOfKeys =
      use->getNumResults() == 1 && isa<KeyType>(use->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, StringRef>(use)
      .Case([](FreqsMapOp) { return "frequencies, in radians per position"; })
      .Case([](RotateOp) { return "mixes the cosines and sines of rotations"; })
      .Case([&](VaddOp) {
        return isOfKeys ? "added to the keys" : "added to the queries";
      })
      .Case<ChannelScaleOp, RowScaleOp>([&](Operation *) {
        return isOfKeys ? "scales the keys" : "scales the queries";
      })
      .Case([](TableDotOp op) {
        return isa<KeyType>(op.getVector().getType())
                   ? "rows for products with the keys"
                   : "rows for products with the queries";
      })
      .Case([](ValueTableOp) { return "rows added to the values"; })
      .Case([](ProjectOp) { return "projects the rows of a table"; })
      .Case([](PrefixSumOp) { return "summed along the keys"; })
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

/// `length` is that of the keys or of an embedding's tokens.
static KernelTensor makeOperand(Operation *kernel, const OperandTensor &operand,
                                ExtentKind length) {
  KernelTensor tensor;
  tensor.name = operand.name;
  if (operand.isPositions) {
    if (operand.positionAxes > 1)
      tensor.extents.push_back({ExtentKind::Const, operand.positionAxes});
    tensor.extents.push_back({ExtentKind::Batch});
    tensor.extents.push_back({length});
    tensor.isInteger = true;
    tensor.unitStride = true;
    if (isa<EmbedOp>(kernel)) {
      tensor.comment = "a number for each token";
      return tensor;
    }
    tensor.comment = "the position of each key";
    if (operand.positionAxes > 1)
      tensor.comment += " on each axis";
    tensor.comment += ", from -2^30 to 2^30 - 1";
    return tensor;
  }
  for (TableAxis axis : operand.axes) {
    switch (axis) {
    case TableAxis::row:
      tensor.extents.push_back({ExtentKind::Const, operand.rows});
      break;
    case TableAxis::head:
      tensor.extents.push_back({ExtentKind::HeadsOr1});
      break;
    case TableAxis::query:
      tensor.extents.push_back({ExtentKind::QueryLen});
      break;
    case TableAxis::key:
      tensor.extents.push_back({length});
      break;
    case TableAxis::batch:
      tensor.extents.push_back({ExtentKind::Batch});
      break;
    case TableAxis::channel:
      tensor.extents.push_back({ExtentKind::Const, operand.channels});
      break;
    }
  }
  bool isDense = llvm::is_contained(operand.axes, TableAxis::query) &&
                 llvm::is_contained(operand.axes, TableAxis::key);
  tensor.comment = describeOperand(kernel, operand.name).str();
  if (isDense)
    tensor.comment += "; -1e30 or less masks the pair";
  return tensor;
}

std::vector<KernelTensor> posenc::getKernelTensors(KernelOp kernel) {
  int64_t headDim = kernel.getHeadDim(), valueDim = kernel.getValueSize();
  std::vector<KernelTensor> tensors;
  auto add = [&](StringRef name, ExtentKind heads, ExtentKind length,
                 int64_t dim, StringRef comment) -> KernelTensor & {
    KernelTensor tensor;
    tensor.name = name.str();
    tensor.extents = {{ExtentKind::Batch}, {heads}, {length}};
    if (dim)
      tensor.extents.push_back({ExtentKind::Const, dim});
    tensor.unitStride = dim != 0;
    tensor.comment = comment.str();
    tensors.push_back(std::move(tensor));
    return tensors.back();
  };
  add("q", ExtentKind::Heads, ExtentKind::QueryLen, headDim, "queries");
  add("k", ExtentKind::KvHeads, ExtentKind::KeyLen, headDim, "keys");
  add("v", ExtentKind::KvHeads, ExtentKind::KeyLen, valueDim, "values");
  add("o", ExtentKind::Heads, ExtentKind::QueryLen, valueDim, "the output")
      .isOutput = true;
  if (kernel.exportsLse()) {
    KernelTensor &lse =
        add("lse", ExtentKind::Heads, ExtentKind::QueryLen, 0,
            "natural log-sum-exp of each row of scores; NULL: not wanted");
    lse.isOutput = lse.isOptional = true;
  }
  for (const OperandTensor &operand : kernel.getOperandTensors())
    tensors.push_back(makeOperand(kernel, operand, ExtentKind::KeyLen));
  return tensors;
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
    tensor.comment = comment.str();
    tensors.push_back(std::move(tensor));
  };
  if (readsInput(embed))
    add("x", "the embedding");
  add("y", "the embedding with its encodings");
  tensors.back().isOutput = true;
  for (const OperandTensor &operand : embed.getOperandTensors())
    tensors.push_back(makeOperand(embed, operand, ExtentKind::Len));
  return tensors;
}
