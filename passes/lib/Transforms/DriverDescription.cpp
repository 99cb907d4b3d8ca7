// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_kernel_desc as constant data.
#include "Driver.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/kernel_abi.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace posenc;

// The struct types below say the same as the header.
static_assert(sizeof(posenc_axis_desc) == 16 &&
                  offsetof(posenc_tensor_desc, axes) == 24 &&
                  sizeof(posenc_tensor_desc) == 24 + 16 * POSENC_MAX_RANK &&
                  sizeof(posenc_variant_desc) == 16 &&
                  offsetof(posenc_kernel_desc, tensors) == 40 &&
                  sizeof(posenc_kernel_desc) == 64,
              "kernel_abi.h has changed");
template <ExtentKind kind, int axis>
constexpr bool isAxis = static_cast<int>(kind) == axis;
static_assert(isAxis<ExtentKind::Const, POSENC_AXIS_CONST> &&
                  isAxis<ExtentKind::Batch, POSENC_AXIS_BATCH> &&
                  isAxis<ExtentKind::Heads, POSENC_AXIS_HEADS> &&
                  isAxis<ExtentKind::KvHeads, POSENC_AXIS_KV_HEADS> &&
                  isAxis<ExtentKind::QueryLen, POSENC_AXIS_QUERY_LEN> &&
                  isAxis<ExtentKind::KeyLen, POSENC_AXIS_KEY_LEN> &&
                  isAxis<ExtentKind::HeadsOr1, POSENC_AXIS_HEADS_OR_1> &&
                  isAxis<ExtentKind::Len, POSENC_AXIS_LEN> &&
                  isAxis<ExtentKind::AllQueries, POSENC_AXIS_ALL_QUERIES> &&
                  isAxis<ExtentKind::AllKeys, POSENC_AXIS_ALL_KEYS> &&
                  isAxis<ExtentKind::Bounds, POSENC_AXIS_BOUNDS> &&
                  isAxis<ExtentKind::Pages, POSENC_AXIS_PAGES> &&
                  isAxis<ExtentKind::PageSize, POSENC_AXIS_PAGE_SIZE> &&
                  isAxis<ExtentKind::MaxPages, POSENC_AXIS_MAX_PAGES> &&
                  isAxis<ExtentKind::Ring, POSENC_AXIS_RING> &&
                  isAxis<ExtentKind::BatchOr1, POSENC_AXIS_BATCH_OR_1> &&
                  isAxis<ExtentKind::BlockBounds, POSENC_AXIS_BLOCK_BOUNDS> &&
                  isAxis<ExtentKind::Blocks, POSENC_AXIS_BLOCKS> &&
                  isAxis<ExtentKind::Blocks, POSENC_AXIS_LAST>,
              "ExtentKind has the values of kernel_abi.h");
static_assert(kDLInt == 0 && kDLFloat == 2 && kDLBfloat == 4,
              "KernelTensor::getTypeCode() has the values of DLPack");

/// The same for the same kernel and plans, whatever built them.
static uint64_t computeFingerprint(DriverKernel &kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel.op << "\n";
  for (DriverPlan &plan : kernel.plans)
    stream << plan.op << "\n";
  return llvm::xxh3_64bits(text);
}

namespace {
/// Builds nested constants inside the initializer of a global.
class Constants {
public:
  Constants(DriverBuilder &b) : b(b) {}

  Type ptr() { return b.getPtrType(); }
  Type bits(unsigned width) { return b.getIntegerType(width); }
  Type structOf(ArrayRef<Type> members) {
    return LLVM::LLVMStructType::getLiteral(b.getContext(), members);
  }
  Type axisType() { return structOf({bits(32), bits(32), bits(64)}); }
  Type tensorType() {
    return structOf({ptr(), bits(32), bits(32), bits(8), bits(8), bits(16),
                     bits(32),
                     LLVM::LLVMArrayType::get(axisType(), POSENC_MAX_RANK)});
  }
  Type variantType() { return structOf({ptr(), bits(64)}); }
  Type kernelType() {
    return structOf({bits(32), bits(32), ptr(), bits(32), bits(32), bits(32),
                     bits(32), bits(32), bits(32), ptr(), ptr(), bits(64)});
  }

  Value number(unsigned width, int64_t value) {
    return LLVM::ConstantOp::create(b, bits(width),
                                    b.getIntegerAttr(bits(width), value));
  }
  Value zero(Type type) { return LLVM::ZeroOp::create(b, type); }
  Value insert(Value aggregate, ArrayRef<Value> members) {
    for (auto [index, member] : llvm::enumerate(members))
      aggregate = LLVM::InsertValueOp::create(b, aggregate, member, index);
    return aggregate;
  }

  LLVM::GlobalOp global(const Twine &name, Type type,
                        function_ref<Value()> emitValue) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(b.getModule().getBody());
    auto op = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                     LLVM::Linkage::Internal, name.str(),
                                     Attribute());
    b.createBlock(&op.getInitializerRegion());
    LLVM::ReturnOp::create(b, emitValue());
    return op;
  }

private:
  DriverBuilder &b;
};
} // namespace

/// The tensors that posenc.prepare reads.
static llvm::SmallDenseSet<unsigned> findPreparedTensors(DriverKernel &kernel) {
  llvm::SmallDenseSet<unsigned> tensors;
  auto add = [&](StringRef operand) {
    tensors.insert(*kernel.findOperand(operand));
  };
  for (DriverTable &table : kernel.tables)
    table.op.walk([&](Operation *op) {
      if (auto position = dyn_cast<PositionOp>(op)) {
        if (auto law = dyn_cast<PositionTensorAttr>(position.getLaw()))
          add(law.getTensor(position.getSide()));
      } else if (auto lookup = dyn_cast<TableOp>(op)) {
        if (auto law = dyn_cast<OperandAttr>(lookup.getLaw()))
          add(law.getName());
      }
    });
  return tensors;
}

static int32_t getRoleFlag(SequenceRole role) {
  switch (role) {
  case SequenceRole::None:
    return 0;
  case SequenceRole::QueryBounds:
    return POSENC_TENSOR_QUERY_BOUNDS;
  case SequenceRole::KeyBounds:
    return POSENC_TENSOR_KEY_BOUNDS;
  case SequenceRole::KeyLengths:
    return POSENC_TENSOR_KEY_LENGTHS;
  case SequenceRole::PageTable:
    return POSENC_TENSOR_PAGE_TABLE;
  case SequenceRole::BlockOffsets:
    return POSENC_TENSOR_BLOCK_OFFSETS;
  case SequenceRole::BlockIndices:
    return POSENC_TENSOR_BLOCK_INDICES;
  }
  llvm_unreachable("all roles are handled");
}

static Value emitTensor(DriverBuilder &b, Constants &constants,
                        const KernelTensor &tensor, int32_t moreFlags,
                        const Twine &name) {
  SmallVector<Value> axes;
  for (auto [index, extent] : llvm::enumerate(tensor.extents))
    axes.push_back(constants.insert(
        constants.zero(constants.axisType()),
        {constants.number(32, static_cast<int32_t>(extent.kind)),
         constants.number(32, extent.place < 0 ? static_cast<int64_t>(index)
                                               : extent.place),
         constants.number(64, extent.value)}));
  bool isPositions = tensor.isInteger && tensor.role == SequenceRole::None;
  int32_t flags = (tensor.isOutput ? POSENC_TENSOR_OUTPUT : 0) |
                  (tensor.isCache ? POSENC_TENSOR_CACHE : 0) |
                  (tensor.isOptional ? POSENC_TENSOR_OPTIONAL : 0) |
                  (tensor.unitStride ? POSENC_TENSOR_UNIT_STRIDE : 0) |
                  (isPositions ? POSENC_TENSOR_POSITIONS : 0) |
                  getRoleFlag(tensor.role) | moreFlags;
  Type axesType =
      LLVM::LLVMArrayType::get(constants.axisType(), POSENC_MAX_RANK);
  return constants.insert(
      constants.zero(constants.tensorType()),
      {b.constantString(name, tensor.name), constants.number(32, axes.size()),
       constants.number(32, flags), constants.number(8, tensor.getTypeCode()),
       constants.number(8, tensor.getTypeBits()), constants.number(16, 0),
       constants.number(32, 0),
       constants.insert(constants.zero(axesType), axes)});
}

static LLVM::GlobalOp emitTensors(DriverBuilder &b,
                                  const DescribedKernel &kernel) {
  Constants constants(b);
  auto type =
      LLVM::LLVMArrayType::get(constants.tensorType(), kernel.tensors.size());
  return constants.global(kernel.name + "_tensors", type, [&] {
    SmallVector<Value> tensors;
    for (auto [index, tensor] : llvm::enumerate(kernel.tensors))
      tensors.push_back(
          emitTensor(b, constants, tensor, kernel.tensorFlags.lookup(index),
                     kernel.name + "_tensor_name" + Twine(index)));
    return constants.insert(constants.zero(type), tensors);
  });
}

static LLVM::GlobalOp emitVariants(DriverBuilder &b,
                                   const DescribedKernel &kernel) {
  Constants constants(b);
  auto type =
      LLVM::LLVMArrayType::get(constants.variantType(), kernel.isas.size());
  return constants.global(kernel.name + "_variants", type, [&] {
    SmallVector<Value> variants;
    for (auto [index, name] : llvm::enumerate(kernel.isas)) {
      uint64_t features = findInstructionSet(name)->features;
      Value isa =
          b.constantString(kernel.name + "_isa_name" + Twine(index), name);
      variants.push_back(
          constants.insert(constants.zero(constants.variantType()),
                           {isa, constants.number(64, features)}));
    }
    return constants.insert(constants.zero(type), variants);
  });
}

LLVM::GlobalOp posenc::emitDescription(DriverBuilder &b,
                                       const DescribedKernel &kernel) {
  LLVM::GlobalOp variants = emitVariants(b, kernel);
  LLVM::GlobalOp tensors = emitTensors(b, kernel);
  Constants constants(b);
  auto number = [&](int64_t value) { return constants.number(32, value); };
  return constants.global(kernel.name + "_desc", constants.kernelType(), [&] {
    return constants.insert(
        constants.zero(constants.kernelType()),
        {number(POSENC_KERNEL_ABI), number(kernel.flags),
         b.constantString(kernel.name + "_name", kernel.name),
         number(kernel.heads), number(kernel.kvHeads), number(kernel.headDim),
         number(kernel.valueDim), number(kernel.tensors.size()),
         number(kernel.isas.size()), b.globalAddress(tensors),
         b.globalAddress(variants), constants.number(64, kernel.fingerprint)});
  });
}

LLVM::GlobalOp posenc::emitDescription(DriverBuilder &b, DriverKernel &kernel) {
  DescribedKernel described;
  described.name = kernel.name;
  described.tensors = kernel.tensors;
  for (unsigned index : findPreparedTensors(kernel))
    described.tensorFlags[index] |= POSENC_TENSOR_PREPARE;
  if (kernel.readsAllQueries)
    described.tensorFlags[DriverKernel::Query] |= POSENC_TENSOR_ALL_HEADS;
  if (kernel.readsAllKeys) {
    described.tensorFlags[kernel.getKeyTensor()] |= POSENC_TENSOR_ALL_HEADS;
    std::optional<unsigned> scales = kernel.findScales(/*areOfValues=*/false);
    if (scales && !kernel.isAppend())
      described.tensorFlags[*scales] |= POSENC_TENSOR_ALL_HEADS;
  }
  // The plans' tiles are of known instruction sets.
  for (DriverPlan &plan : kernel.plans)
    described.isas.push_back(plan.op.getIsa().str());
  described.heads = kernel.op.getHeads();
  described.kvHeads = kernel.op.getNumKvHeads();
  described.headDim = kernel.op.getHeadDim();
  described.valueDim = kernel.op.getValueSize();
  described.flags =
      (kernel.needsQueriesAmongKeys ? POSENC_KERNEL_QUERIES_AMONG_KEYS : 0) |
      (kernel.needsAllHeads ? POSENC_KERNEL_ALL_HEADS : 0) |
      (kernel.hasOneRun ? POSENC_KERNEL_ONE_RUN : 0) |
      (kernel.preparesByLength() ? POSENC_KERNEL_PREPARED_BY_LENGTH : 0) |
      (kernel.isAppend() ? POSENC_KERNEL_APPEND : 0) |
      (kernel.op.hasState() ? POSENC_KERNEL_STATE : 0);
  described.fingerprint = computeFingerprint(kernel);
  return emitDescription(b, described);
}
