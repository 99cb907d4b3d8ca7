// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sequences.h"
#include "Checks.h"
#include "Codes.h"
#include "Recurrence.h"

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Analysis/KeyReach.h"

#include <limits>

using namespace mlir;
using namespace posenc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

namespace {
/// The tokens of one sequence: rows [begin, end) of a packed tensor, or the
/// first ones of a batch entry.
struct Tokens {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// One axis of a tensor, from an index on; `extent` numbers are wanted.
struct Slice {
  int64_t begin, extent;
};

class SequenceCall {
public:
  SequenceCall(KernelOp kernel, const ReferenceInputs &inputs,
               const ReferenceOptions &options = {})
      : kernel(kernel), inputs(inputs), options(options),
        tensors(getKernelTensors(kernel)) {}

  llvm::Error readLengths();
  int64_t getBatch() const { return static_cast<int64_t>(keys.size()); }
  ReferenceInputs makeInputs(int64_t batch) const;
  EarlierTokens countEarlier(int64_t batch) const;
  void allocate(ReferenceOutputs &outputs);
  void store(int64_t batch, const ReferenceOutputs &part,
             ReferenceOutputs &outputs) const;

  // Of kernels that append to a cache.
  CallShape getShapeOfNew(int64_t batch) const;
  void append(int64_t batch, const RealTensor &rows, llvm::StringRef name,
              RealTensor &cache, RealTensor &scales) const;

private:
  void storeNew(int64_t batch, const RealTensor &rows, RealTensor &cache) const;
  bool hasPackedQueries() const {
    return kernel.getQueryStorage() == QueryStorage::packed;
  }
  /// Queries, or the new tokens that are appended to a cache.
  const RealTensor &getQueries() const {
    return kernel.isAppend() ? inputs.k : inputs.q;
  }
  const RealTensor &getKeysInMemory() const {
    return kernel.isAppend() ? inputs.kCache : inputs.k;
  }
  const IntTensor *find(StringRef name) const;
  llvm::Error readBounds(StringRef name, int64_t all,
                         SmallVectorImpl<Tokens> &tokens);
  llvm::Error readKeyLengths(int64_t capacity);
  int64_t getPagedCapacity(const CallShape &shape) const;
  llvm::Error checkPages() const;
  llvm::Error checkRing() const;
  llvm::Error checkBlocks() const;
  llvm::Error checkNew() const;
  template <typename TensorT>
  TensorT cut(const KernelTensor &tensor, const TensorT &given,
              int64_t batch) const;
  RealTensor gatherPages(const RealTensor &given, int64_t batch) const;
  RealTensor gatherRing(const RealTensor &given, int64_t batch) const;
  RealTensor getKeys(const KernelTensor &tensor, const RealTensor &given,
                     int64_t batch) const;
  bool hasNumbers(const KernelTensor &tensor, int64_t batch) const;
  void storeRows(int64_t batch, const RealTensor &part, RealTensor &whole,
                 int64_t width) const;

  mutable KernelOp kernel; // operations know no const
  const ReferenceInputs &inputs;
  ReferenceOptions options;
  std::vector<KernelTensor> tensors;
  SmallVector<Tokens> queries, keys; // by batch entry
};
} // namespace

const IntTensor *SequenceCall::find(StringRef name) const {
  auto found = inputs.positions.find(name);
  return found == inputs.positions.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

llvm::Error SequenceCall::readBounds(StringRef name, int64_t all,
                                     SmallVectorImpl<Tokens> &tokens) {
  llvm::ArrayRef<int64_t> bounds = find(name)->data;
  if (bounds.empty() || bounds.front() != 0)
    return fail("expected '" + name + "' to begin with 0");
  for (size_t b = 0; b + 1 < bounds.size(); ++b) {
    if (bounds[b + 1] < bounds[b] || bounds[b + 1] > all)
      return fail("expected '" + name + "' to rise to at most " +
                  llvm::Twine(all) + ", but got " + llvm::Twine(bounds[b + 1]) +
                  " after " + llvm::Twine(bounds[b]));
    tokens.push_back({bounds[b], bounds[b + 1]});
  }
  return llvm::Error::success();
}

llvm::Error SequenceCall::readKeyLengths(int64_t capacity) {
  for (int64_t length : find("key_lengths")->data) {
    if (length < 0 || length > capacity)
      return fail("expected 'key_lengths' to be from 0 to " +
                  llvm::Twine(capacity) +
                  ", the keys that there is room for, "
                  "but got " +
                  llvm::Twine(length));
    keys.push_back({0, length});
  }
  return llvm::Error::success();
}

/// Operands with a number for each key may have fewer of them.
int64_t SequenceCall::getPagedCapacity(const CallShape &shape) const {
  int64_t capacity = find("page_table")->shape[1] * getKeysInMemory().shape[1];
  bool hasKeys = llvm::any_of(tensors, [](const KernelTensor &tensor) {
    return llvm::any_of(tensor.extents, [](const Extent &extent) {
      return extent.kind == ExtentKind::KeyLen;
    });
  });
  return hasKeys ? std::min(capacity, shape.keyLen) : capacity;
}

llvm::Error SequenceCall::checkPages() const {
  const IntTensor &table = *find("page_table");
  int64_t pages = getKeysInMemory().shape[0],
          pageSize = getKeysInMemory().shape[1];
  for (int64_t b = 0; b < getBatch(); ++b)
    for (int64_t j = 0; j < keys[b].size(); j += pageSize) {
      int64_t page = table.data[b * table.shape[1] + j / pageSize];
      if (pages == 0)
        return fail("expected pages for the " + llvm::Twine(keys[b].size()) +
                    " keys of sequence " + llvm::Twine(b) +
                    ", but there are none");
      if (page < 0 || page >= pages)
        return fail("expected 'page_table' to hold pages from 0 to " +
                    llvm::Twine(pages - 1) + ", but got " + llvm::Twine(page));
    }
  return llvm::Error::success();
}

/// A ring holds what the first query of a call sees.
llvm::Error SequenceCall::checkRing() const {
  std::optional<int64_t> reach = getKeyReach(kernel);
  if (!reach)
    return fail("expected a mask over indices that bounds how far back a query "
                "sees, since keys are in a ring");
  int64_t longest = 0, capacity = inputs.k.shape[2];
  for (const Tokens &tokens : queries)
    longest = std::max(longest, tokens.size());
  if (longest > 0 && capacity < *reach + longest)
    return fail("expected 'k' to have a capacity of at least " +
                llvm::Twine(*reach + longest) + " for " + llvm::Twine(longest) +
                " queries that see " + llvm::Twine(*reach) +
                " keys before their own, but got " + llvm::Twine(capacity));
  return llvm::Error::success();
}

llvm::Error SequenceCall::checkBlocks() const {
  std::optional<BlockListAttr> law = kernel.getBlocks();
  if (!law)
    return llvm::Error::success();
  int64_t queryLen = 0, keyLen = 0;
  for (const Tokens &tokens : queries)
    queryLen = std::max(queryLen, tokens.size());
  for (const Tokens &tokens : keys)
    keyLen = std::max(keyLen, tokens.size());
  return BlockLists(*law, inputs).check(queryLen, keyLen);
}

llvm::Error SequenceCall::readLengths() {
  llvm::Expected<CallShape> shape = checkShapes(kernel, inputs);
  if (!shape)
    return shape.takeError();
  if (hasPackedQueries())
    if (llvm::Error error =
            readBounds("cu_seqlens_q", getQueries().shape[0], queries))
      return error;
  switch (kernel.getKeyStorage()) {
  case KeyStorage::dense:
    keys.assign(shape->batch, {0, shape->keyLen});
    break;
  case KeyStorage::packed:
    if (llvm::Error error = readBounds("cu_seqlens_k", inputs.k.shape[0], keys))
      return error;
    break;
  case KeyStorage::lengths:
    if (llvm::Error error = readKeyLengths(shape->keyLen))
      return error;
    break;
  case KeyStorage::paged:
    if (llvm::Error error = readKeyLengths(getPagedCapacity(*shape)))
      return error;
    if (llvm::Error error = checkPages())
      return error;
    break;
  case KeyStorage::ring:
  case KeyStorage::state:
    if (llvm::Error error = readKeyLengths(int64_t{1} << 30))
      return error;
    break;
  }
  if (!hasPackedQueries())
    queries.assign(keys.size(), {0, shape->queryLen});
  if (kernel.hasNewTokens())
    return checkNew();
  if (kernel.isRing())
    if (llvm::Error error = checkRing())
      return error;
  return checkBlocks();
}

/// Lengths count the new tokens.
llvm::Error SequenceCall::checkNew() const {
  for (int64_t b = 0; b < getBatch(); ++b)
    if (queries[b].size() > keys[b].size())
      return fail(
          "expected 'key_lengths' to count the new tokens of sequence " +
          llvm::Twine(b) + ", of which there are " +
          llvm::Twine(queries[b].size()) + ", but got " +
          llvm::Twine(keys[b].size()));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The numbers at these slices, in the same order of axes.
template <typename TensorT>
static TensorT slice(const TensorT &given, llvm::ArrayRef<Slice> slices) {
  TensorT result;
  size_t rank = slices.size();
  for (const Slice &axis : slices)
    result.shape.push_back(axis.extent);
  llvm::SmallVector<int64_t> index(rank, 0);
  if (llvm::is_contained(result.shape, 0))
    return result;
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      offset = offset * given.shape[axis] + slices[axis].begin + index[axis];
    result.data.push_back(given.data[offset]);
    size_t axis = rank;
    while (axis > 0 && ++index[axis - 1] == slices[axis - 1].extent)
      index[--axis] = 0;
    if (axis == 0)
      return result;
  }
}

/// Axes in another order: axis a of the result is axis order[a].
template <typename TensorT>
static TensorT transpose(const TensorT &given, llvm::ArrayRef<size_t> order) {
  TensorT result;
  llvm::SmallVector<int64_t> strides(given.shape.size(), 1), index;
  for (size_t axis = given.shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * given.shape[axis];
  for (size_t axis : order)
    result.shape.push_back(given.shape[axis]);
  index.assign(order.size(), 0);
  for (size_t count = given.data.size(); count-- > 0;) {
    int64_t offset = 0;
    for (auto [at, axis] : llvm::zip_equal(index, order))
      offset += at * strides[axis];
    result.data.push_back(given.data[offset]);
    for (size_t axis = order.size();
         axis-- > 0 && ++index[axis] == result.shape[axis];)
      index[axis] = 0;
  }
  return result;
}

/// The part of a tensor that a sequence has, as of a dense call of one batch
/// entry.
template <typename TensorT>
TensorT SequenceCall::cut(const KernelTensor &tensor, const TensorT &given,
                          int64_t batch) const {
  llvm::SmallVector<Slice> slices;
  llvm::SmallVector<std::pair<int64_t, size_t>> places; // of axes
  int64_t rank = 0;
  for (auto [axis, extent] : llvm::enumerate(tensor.extents)) {
    Slice part{0, given.shape[axis]};
    switch (extent.kind) {
    case ExtentKind::Batch:
      part = {batch, 1};
      break;
    case ExtentKind::KeyLen:
      part.extent = keys[batch].size();
      break;
    case ExtentKind::AllKeys:
      part = {keys[batch].begin, keys[batch].size()};
      break;
    case ExtentKind::AllQueries:
      part = {queries[batch].begin, queries[batch].size()};
      break;
    default:
      break;
    }
    slices.push_back(part);
    int64_t place =
        extent.place < 0 ? static_cast<int64_t>(axis) : extent.place;
    places.push_back({place, axis});
    rank = std::max(rank, place + 1);
  }
  TensorT result = slice(given, slices);
  llvm::sort(places);
  result = transpose(
      result, llvm::map_to_vector(places, [](auto &at) { return at.second; }));
  // An axis that packing leaves out is that of batch entries.
  for (int64_t place = 0; place < rank; ++place)
    if (place >= static_cast<int64_t>(places.size()) ||
        places[place].first != place) {
      result.shape.insert(result.shape.begin() + place, 1);
      places.insert(places.begin() + place, {place, 0});
    }
  return result;
}

/// [pages, page_size, Hkv, D] -> [1, Hkv, keys, D]
RealTensor SequenceCall::gatherPages(const RealTensor &given,
                                     int64_t batch) const {
  const IntTensor &table = *find("page_table");
  int64_t pageSize = given.shape[1], heads = given.shape[2],
          dim = given.shape[3], length = keys[batch].size();
  RealTensor result;
  result.shape = {1, heads, length, dim};
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t j = 0; j < length; ++j) {
      int64_t page = table.data[batch * table.shape[1] + j / pageSize];
      int64_t row = ((page * pageSize + j % pageSize) * heads + h) * dim;
      result.data.insert(result.data.end(), given.data.begin() + row,
                         given.data.begin() + row + dim);
    }
  return result;
}

EarlierTokens SequenceCall::countEarlier(int64_t batch) const {
  EarlierTokens earlier;
  int64_t length = keys[batch].size();
  if (kernel.hasState())
    earlier.inState = length - queries[batch].size();
  // Lengths say nothing about how much memory there is; but who asks for the
  // pairs gets those of forgotten keys, too.
  if (kernel.isRing() && !kernel.isAppend() && !options.scores && !options.kept)
    earlier.forgotten = std::max<int64_t>(length - inputs.k.shape[2], 0);
  return earlier;
}

/// [B, Hkv, capacity, D] -> [1, Hkv, keys, D], from the first key on that is
/// not forgotten. Others that are no longer there are 0: nothing sees them.
RealTensor SequenceCall::gatherRing(const RealTensor &given,
                                    int64_t batch) const {
  int64_t heads = given.shape[1], capacity = given.shape[2],
          dim = given.shape[3], length = keys[batch].size();
  int64_t forgotten = countEarlier(batch).forgotten, rows = length - forgotten;
  RealTensor result;
  result.shape = {1, heads, rows, dim};
  result.data.assign(heads * rows * dim, 0);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t j = std::max<int64_t>(length - capacity, 0); j < length; ++j) {
      int64_t from = (batch * heads + h) * capacity + j % capacity;
      int64_t to = h * rows + j - forgotten;
      std::copy_n(given.data.begin() + from * dim, dim,
                  result.data.begin() + to * dim);
    }
  return result;
}

/// Keys or values of a sequence; those of a kernel that appends are new ones.
RealTensor SequenceCall::getKeys(const KernelTensor &tensor,
                                 const RealTensor &given, int64_t batch) const {
  if (!kernel.isAppend() && kernel.getKeyStorage() == KeyStorage::paged)
    return gatherPages(given, batch);
  if (!kernel.isAppend() && kernel.isRing())
    return gatherRing(given, batch);
  return cut(tensor, given, batch);
}

/// The state of a sequence without earlier tokens is empty.
bool SequenceCall::hasNumbers(const KernelTensor &tensor, int64_t batch) const {
  return !tensor.isOptional || countEarlier(batch).inState > 0;
}

ReferenceInputs SequenceCall::makeInputs(int64_t batch) const {
  ReferenceInputs result;
  result.firstHead = inputs.firstHead;
  result.seed = inputs.seed;
  result.offset = inputs.offset;
  result.firstBatch = inputs.firstBatch + batch;
  if (std::optional<BlockListAttr> law = kernel.getBlocks())
    BlockLists(*law, inputs).cut(batch, keys[batch].size(), result);
  for (const KernelTensor &tensor : tensors) {
    if (tensor.isOutput || tensor.role != SequenceRole::None)
      continue;
    if (tensor.isInteger)
      result.positions[tensor.name] =
          cut(tensor, inputs.positions.find(tensor.name)->second, batch);
    else if (tensor.name == "q")
      result.q = cut(tensor, inputs.q, batch);
    else if (tensor.name == "k")
      result.k = getKeys(tensor, inputs.k, batch);
    else if (tensor.name == "v")
      result.v = getKeys(tensor, inputs.v, batch);
    else if (auto given = inputs.tables.find(tensor.name);
             given != inputs.tables.end() && hasNumbers(tensor, batch))
      result.tables[tensor.name] = cut(tensor, given->second, batch);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void SequenceCall::allocate(ReferenceOutputs &outputs) {
  int64_t heads = inputs.q.shape[1], batch = getBatch();
  llvm::SmallVector<int64_t> rows =
      hasPackedQueries()
          ? llvm::SmallVector<int64_t>{inputs.q.shape[0], heads}
          : llvm::SmallVector<int64_t>{batch, heads, inputs.q.shape[2]};
  auto make = [&](RealTensor &tensor, int64_t width, double value) {
    tensor.shape.assign(rows.begin(), rows.end());
    if (width >= 0)
      tensor.shape.push_back(width);
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    tensor.data.assign(count, value);
  };
  make(outputs.o, kernel.getValueSize(), 0);
  if (kernel.exportsLse())
    make(outputs.lse, -1, -infinity);
  make(outputs.maxScore, -1, 0);
  make(outputs.maxValue, -1, 0);
  allocateState(kernel, batch, heads, outputs);
  int64_t longest = 0;
  for (const Tokens &tokens : keys)
    longest = std::max(longest, tokens.size());
  if (options.scores)
    make(outputs.scores, longest, -infinity);
  if (options.kept)
    make(outputs.kept, longest, 0);
}

/// A part is [1, H, Lq, ...] with `width` numbers for each row, the rest of
/// which stay what they are.
void SequenceCall::storeRows(int64_t batch, const RealTensor &part,
                             RealTensor &whole, int64_t width) const {
  if (whole.data.empty() || part.data.empty())
    return;
  int64_t heads = inputs.q.shape[1], length = queries[batch].size();
  int64_t rows = heads * (hasPackedQueries() ? whole.shape[0]
                                             : whole.shape[0] * whole.shape[2]);
  auto wholeWidth = static_cast<int64_t>(whole.data.size()) / rows;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < length; ++i) {
      int64_t row = hasPackedQueries() ? (queries[batch].begin + i) * heads + h
                                       : (batch * heads + h) * length + i;
      auto from = part.data.begin() + (h * length + i) * width;
      std::copy(from, from + width, whole.data.begin() + row * wholeWidth);
    }
}

void SequenceCall::store(int64_t batch, const ReferenceOutputs &part,
                         ReferenceOutputs &outputs) const {
  storeRows(batch, part.o, outputs.o, kernel.getValueSize());
  storeRows(batch, part.lse, outputs.lse, 1);
  storeRows(batch, part.maxScore, outputs.maxScore, 1);
  storeRows(batch, part.maxValue, outputs.maxValue, 1);
  storeRows(batch, part.scores, outputs.scores, keys[batch].size());
  storeRows(batch, part.kept, outputs.kept, keys[batch].size());
  for (auto [from, to] : {std::pair(&part.state, &outputs.state),
                          {&part.sums, &outputs.sums},
                          {&part.stateBound, &outputs.stateBound},
                          {&part.sumsBound, &outputs.sumsBound}})
    llvm::copy(from->data, to->data.begin() + batch * from->data.size());
}

llvm::Expected<ReferenceOutputs>
posenc::evaluateSequences(KernelOp kernel, const ReferenceInputs &inputs,
                          const ReferenceOptions &options,
                          llvm::function_ref<llvm::Expected<ReferenceOutputs>(
                              KernelOp, const ReferenceInputs &, EarlierTokens)>
                              evaluateDense) {
  SequenceCall call(kernel, inputs, options);
  if (llvm::Error error = call.readLengths())
    return error;
  OwningOpRef<KernelOp> dense(kernel.clone());
  dense->removeQueriesAttr();
  dense->removeKeysAttr();
  ReferenceOutputs outputs;
  call.allocate(outputs);
  for (int64_t batch = 0; batch < call.getBatch(); ++batch) {
    llvm::Expected<ReferenceOutputs> part =
        evaluateDense(*dense, call.makeInputs(batch), call.countEarlier(batch));
    if (!part)
      return fail("sequence " + llvm::Twine(batch) + ": " +
                  llvm::toString(part.takeError()));
    call.store(batch, *part, outputs);
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Appending to a cache
//===----------------------------------------------------------------------===//

CallShape SequenceCall::getShapeOfNew(int64_t batch) const {
  CallShape shape;
  shape.batch = 1;
  shape.kvHeads = inputs.k.shape[1];
  shape.heads = shape.kvHeads * (static_cast<int64_t>(kernel.getHeads()) /
                                 kernel.getNumKvHeads());
  shape.keyLen = queries[batch].size();
  shape.headDim = kernel.getHeadDim();
  shape.valueDim = kernel.getValueSize();
  shape.firstHead = inputs.firstHead;
  shape.firstKey = keys[batch].size() - queries[batch].size();
  return shape;
}

/// [1, Hkv, tokens, dim] to the last keys of the sequence.
void SequenceCall::storeNew(int64_t batch, const RealTensor &rows,
                            RealTensor &cache) const {
  int64_t heads = rows.shape[1], tokens = rows.shape[2], dim = rows.shape[3];
  bool isPaged = kernel.getKeyStorage() == KeyStorage::paged;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < tokens; ++i) {
      int64_t key = keys[batch].size() - tokens + i, row = 0;
      if (isPaged) {
        const IntTensor &table = *find("page_table");
        int64_t pageSize = cache.shape[1];
        int64_t page = table.data[batch * table.shape[1] + key / pageSize];
        row = (page * pageSize + key % pageSize) * heads + h;
      } else {
        // Of a ring only the last keys stay.
        int64_t capacity = cache.shape[2];
        if (key < keys[batch].size() - capacity)
          continue;
        row = (batch * heads + h) * capacity + key % capacity;
      }
      std::copy_n(rows.data.begin() + (h * tokens + i) * dim, dim,
                  cache.data.begin() + row * dim);
    }
}

/// The same of the keys or values that `name` says, as codes if the cache has
/// such.
void SequenceCall::append(int64_t batch, const RealTensor &rows,
                          llvm::StringRef name, RealTensor &cache,
                          RealTensor &scales) const {
  if (!kernel.getKvScales()) {
    storeNew(batch, rows, cache);
    return;
  }
  const KernelTensor &described =
      *llvm::find_if(tensors, [&](const KernelTensor &tensor) {
        return tensor.name == (name + "_cache").str();
      });
  bool areOfTokens = kernel.getKvScales() == KvScales::token;
  auto ofHeads = inputs.tables.find((name + "_scales").str());
  CodedRows coded =
      encode(described, rows, areOfTokens ? nullptr : &ofHeads->second);
  storeNew(batch, coded.codes, cache);
  if (areOfTokens)
    storeNew(batch, coded.scales, scales);
}

llvm::Expected<AppendOutputs> posenc::evaluateAppendSequences(
    KernelOp kernel, const ReferenceInputs &inputs,
    llvm::function_ref<llvm::Expected<RealTensor>(const ReferenceInputs &,
                                                  const CallShape &)>
        encode) {
  SequenceCall call(kernel, inputs);
  if (llvm::Error error = call.readLengths())
    return error;
  AppendOutputs outputs = {inputs.kCache, inputs.vCache, {}, {}};
  for (auto [name, scales] : {std::pair("k_scales", &outputs.kScales),
                              {"v_scales", &outputs.vScales}})
    if (kernel.getKvScales() == KvScales::token)
      *scales = inputs.tables.find(name)->second;
  for (int64_t batch = 0; batch < call.getBatch(); ++batch) {
    ReferenceInputs sequence = call.makeInputs(batch);
    llvm::Expected<RealTensor> rows =
        encode(sequence, call.getShapeOfNew(batch));
    if (!rows)
      return fail("sequence " + llvm::Twine(batch) + ": " +
                  llvm::toString(rows.takeError()));
    call.append(batch, *rows, "k", outputs.kCache, outputs.kScales);
    call.append(batch, sequence.v, "v", outputs.vCache, outputs.vScales);
  }
  return outputs;
}
