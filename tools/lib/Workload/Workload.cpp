// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with data to run on.
#include "posenc/Tools/Workload.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <random>
#include <unistd.h>

using namespace llvm;
using namespace mlir;
using namespace posenc;

/// Keys of a page.
static constexpr int64_t kPageSize = 64;

/// Bytes of this machine.
static int64_t getMemory() {
  return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static int64_t getPages(WorkloadSize size) {
  return divideCeil(size.keyLen, kPageSize);
}

namespace {
/// The blocks of keys that each block of queries lists, the same for all heads:
/// the row's number and every `stride`th from there.
struct BlockLists {
  int64_t queries, keys, queryBlocks, keyBlocks, stride;

  BlockLists(BlockListAttr law, WorkloadSize size)
      : queries(law.getQueries()), keys(law.getKeys()),
        queryBlocks(divideCeil(size.queryLen, queries)),
        keyBlocks(divideCeil(size.keyLen, keys)), stride(size.listedStride) {}

  int64_t getCount(int64_t row) const {
    int64_t first = row % stride;
    return first < keyBlocks ? divideCeil(keyBlocks - first, stride) : 0;
  }
  /// Of the lists before a row.
  int64_t getOffset(int64_t row) const {
    int64_t offset = 0;
    for (int64_t before = 0; before < row; ++before)
      offset += getCount(before);
    return offset;
  }
  int64_t getIndex(int64_t place) const {
    int64_t row = 0;
    for (; place >= getCount(row); ++row)
      place -= getCount(row);
    return row % stride + place * stride;
  }
  bool isListed(int64_t query, int64_t key) const {
    return key / keys % stride == query / queries % stride;
  }
};
} // namespace

/// Sequences of equal length one after another; positions count, those of the
/// queries' own up to the last key.
static int64_t getInteger(const KernelTensor &tensor, KernelOp source,
                          WorkloadSize size, int64_t index) {
  bool isOfQueries = llvm::any_of(tensor.extents, [](const Extent &extent) {
    return extent.kind == ExtentKind::QueryLen ||
           extent.kind == ExtentKind::AllQueries;
  });
  switch (tensor.role) {
  case SequenceRole::QueryBounds:
    return index * size.queryLen;
  case SequenceRole::KeyBounds:
    return index * size.keyLen;
  case SequenceRole::KeyLengths:
    return size.keyLen;
  case SequenceRole::PageTable:
    return index;
  case SequenceRole::BlockOffsets: {
    BlockLists lists(*source.getBlocks(), size);
    return lists.getOffset(index % (lists.queryBlocks + 1));
  }
  case SequenceRole::BlockIndices:
    return BlockLists(*source.getBlocks(), size).getIndex(index);
  case SequenceRole::None:
    return isOfQueries ? size.keyLen - size.queryLen + index % size.queryLen
                       : index % size.keyLen;
  }
  llvm_unreachable("all roles are handled");
}

static int64_t getExtent(const Extent &extent, KernelOp source,
                         WorkloadSize size) {
  switch (extent.kind) {
  case ExtentKind::Const:
    return extent.value;
  case ExtentKind::Batch:
    return size.batch;
  case ExtentKind::Heads:
  case ExtentKind::HeadsOr1:
    return source.getHeads();
  case ExtentKind::KvHeads:
    return source.getNumKvHeads();
  case ExtentKind::QueryLen:
    return size.queryLen;
  case ExtentKind::KeyLen:
  case ExtentKind::Len:
    return size.keyLen;
  case ExtentKind::AllQueries:
    return size.batch * size.queryLen;
  case ExtentKind::AllKeys:
    return size.batch * size.keyLen;
  case ExtentKind::Bounds:
    return size.batch + 1;
  case ExtentKind::Pages:
    return size.batch * getPages(size);
  case ExtentKind::PageSize:
    return kPageSize;
  case ExtentKind::MaxPages:
    return getPages(size);
  case ExtentKind::Ring:
    return extent.value + size.queryLen;
  case ExtentKind::BatchOr1:
    return 1;
  case ExtentKind::BlockBounds:
    return divideCeil(size.queryLen, extent.value) + 1;
  case ExtentKind::Blocks: {
    BlockLists lists(*source.getBlocks(), size);
    return lists.getOffset(lists.queryBlocks);
  }
  }
  llvm_unreachable("all kinds are handled");
}

Error Workload::addTensor(const KernelTensor &description, KernelOp source,
                          WorkloadSize size) {
  auto tensor = std::make_unique<Tensor>();
  int64_t count = 1;
  for (const Extent &extent : description.extents) {
    tensor->shape.push_back(getExtent(extent, source, size));
    if (MulOverflow<int64_t>(count, tensor->shape.back(), count) ||
        count > getMemory() / 8)
      return createStringError("'" + description.name +
                               "' does not fit in memory: expected smaller "
                               "sizes");
  }
  tensor->data.resize(std::max<int64_t>(count, 1));
  std::mt19937 generator(tensors.size() + 1);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < count; ++i) {
    if (description.isInteger) {
      int32_t number = getInteger(description, source, size, i);
      std::memcpy(&tensor->data[i], &number, sizeof(number));
    } else if (description.storage) {
      // The low byte comes first.
      size_t size = description.getTypeBits() / 8;
      float scale = description.hasCodes() ? 32.0f : 1.0f;
      uint16_t bits = description.toBits(scale * normal(generator));
      std::memcpy(reinterpret_cast<char *>(tensor->data.data()) + i * size,
                  &bits, size);
    } else if (is_contained({"k_scales", "v_scales"}, description.name)) {
      tensor->data[i] = 1.0f / 32;
    } else {
      tensor->data[i] = normal(generator);
    }
  }
  tensor->view = {};
  tensor->view.data = tensor->data.data();
  tensor->view.device = {kDLCPU, 0};
  tensor->view.ndim = tensor->shape.size();
  tensor->view.dtype = {description.getTypeCode(), description.getTypeBits(),
                        1};
  tensor->view.shape = tensor->shape.data();
  tensors.push_back(std::move(tensor));
  return Error::success();
}

Expected<std::unique_ptr<Workload>>
Workload::create(const CompiledKernel &compiled, KernelOp source,
                 WorkloadSize size, posenc_pool *pool) {
  std::unique_ptr<Workload> workload(new Workload());
  auto kernel = NativeKernel::load(compiled);
  if (!kernel)
    return kernel.takeError();
  workload->kernel = std::move(*kernel);
  workload->arguments =
      std::make_unique<NativeKernel::Arguments>(compiled.tensors.size());
  for (auto [index, tensor] : llvm::enumerate(compiled.tensors)) {
    if (Error error = workload->addTensor(tensor, source, size))
      return error;
    // A state is read and written in every call.
    if (tensor.name != "lse")
      workload->arguments->set(index, &workload->tensors.back()->view);
  }
  auto aligned = [](decltype(workload->scratch) &storage, size_t bytes) {
    storage.resize(bytes + 64);
    return reinterpret_cast<char *>(llvm::alignAddr(storage.data(), Align(64)));
  };
  const NativeKernel &native = *workload->kernel;
  const NativeKernel::Arguments &arguments = *workload->arguments;
  size_t preparedBytes = native.preparedBytes(arguments);
  char *prepared = aligned(workload->prepared, preparedBytes);
  if (native.prepare(arguments, prepared, preparedBytes) != POSENC_OK)
    return createStringError(posenc_last_error());
  posenc_call &call = workload->call;
  call.size = sizeof(call);
  call.pool = pool;
  call.prepared = prepared;
  call.scratch_bytes = native.scratchBytes(arguments, &call);
  call.scratch = aligned(workload->scratch, call.scratch_bytes);
  return workload;
}

Error Workload::run() const {
  if (kernel->run(*arguments, &call) != POSENC_OK)
    return createStringError(posenc_last_error());
  return Error::success();
}

static SmallVector<MaskAttrInterface> getMasks(KernelOp kernel) {
  SmallVector<MaskAttrInterface> masks;
  auto add = [&](Attribute mask) {
    if (auto overIndices = dyn_cast_or_null<MaskAttrInterface>(mask))
      masks.push_back(overIndices);
  };
  if (!kernel.isExpanded())
    add(kernel.getMaskOrDefault());
  kernel.walk([&](SelectOp op) { add(op.getMaskAttr()); });
  return masks;
}

int64_t posenc::countPairs(KernelOp kernel, WorkloadSize size) {
  SmallVector<MaskAttrInterface> masks = getMasks(kernel);
  std::optional<BlockLists> lists;
  if (std::optional<BlockListAttr> law = kernel.getBlocks())
    lists.emplace(*law, size);
  int64_t count = 0;
  for (int64_t i = 0; i < size.queryLen; ++i)
    for (int64_t j = 0; j < size.keyLen; ++j)
      count += (!lists || lists->isListed(i, j)) &&
               llvm::all_of(masks, [&](MaskAttrInterface mask) {
                 return mask.allows(i, j, size.queryLen, size.keyLen);
               });
  return count;
}

OwningOpRef<ModuleOp> posenc::withoutEncoding(KernelOp kernel) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  auto plain = cast<KernelOp>(kernel->clone());
  module->push_back(plain);
  SmallVector<MaskAttrInterface> masks = getMasks(kernel);
  Region none;
  plain.getBody().takeBody(none);
  plain.removeEncodeAttr();
  // No state stands for the keys of a softmax.
  if (plain.hasState())
    plain.removeKeysAttr();
  plain.removePositionsAttr();
  if (!masks.empty())
    plain.setMaskAttr(cast<MaskClauseAttrInterface>(Attribute(masks.front())));
  return module;
}
