// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences of different lengths for tests of calls: what their tensors have.
#ifndef POSENC_TESTS_SUPPORT_SEQUENCESHAPE_H
#define POSENC_TESTS_SUPPORT_SEQUENCESHAPE_H

#include "posenc/Analysis/KernelTensors.h"

#include <algorithm>
#include <vector>

namespace posenc {

/// Batch entries of at most `queryLen` queries and `keyLen` keys.
struct SequenceShape {
  mutable KernelOp kernel; // operations know no const
  int64_t batch, queryLen, keyLen;
  int64_t pageSize = 16;

  SequenceShape(KernelOp kernel, int64_t batch, int64_t queryLen,
                int64_t keyLen)
      : kernel(kernel), batch(batch), queryLen(queryLen), keyLen(keyLen),
        areAmongKeys(kernel.isExpanded() && (kernel.looksUpQueriesAmongKeys() ||
                                             kernel.hasNewTokens())) {
    if (std::optional<BlockListAttr> law = kernel.getBlocks()) {
      for (int64_t key = 0; key < getLongest(); key += law->getKeys())
        ++keyBlocks;
      for (int64_t query = 0; query < queryLen; query += law->getQueries())
        ++queryBlocks;
    }
  }

  int64_t getQueries(int64_t b) const {
    if (kernel.getQueryStorage() == QueryStorage::dense)
      return queryLen;
    const int64_t lengths[] = {queryLen, (queryLen + 1) / 2, 0,
                               std::min<int64_t>(queryLen, 1)};
    return lengths[b % 4];
  }
  int64_t getKeys(int64_t b) const {
    if (kernel.getKeyStorage() == KeyStorage::dense)
      return keyLen;
    const int64_t lengths[] = {keyLen / 2, keyLen, std::min<int64_t>(keyLen, 1),
                               0, keyLen - keyLen / 3};
    int64_t length = lengths[b % 5];
    return areAmongKeys ? std::max(length, getQueries(b)) : length;
  }
  int64_t getLongest() const {
    int64_t longest = 0;
    for (int64_t b = 0; b < batch; ++b)
      longest = std::max(longest, getKeys(b));
    return longest;
  }
  /// The blocks of keys that a row of lists has: a third of them, by turns.
  /// Rows repeat with every third head; the first one of head 1 has none.
  std::vector<int64_t> getListed(int64_t row) const {
    std::vector<int64_t> listed;
    for (int64_t block = 0; block < keyBlocks; ++block)
      if (row != queryBlocks + 1 && (block * 7 + row * 5) % 11 < 4)
        listed.push_back(block);
    return listed;
  }
  /// Heads with lists of their own.
  static constexpr int64_t listHeads = 4;
  int64_t queryBlocks = 0, keyBlocks = 0;

  /// Pages of a sequence.
  int64_t getMaxPages() const { return (keyLen + pageSize - 1) / pageSize; }

  /// Whether no sequence may have more queries than keys.
  bool areAmongKeys;

  /// The extents that depend on sequences.
  int64_t getExtent(const Extent &extent) const {
    int64_t queries = 0, keys = 0;
    for (int64_t b = 0; b < batch; ++b) {
      queries += getQueries(b);
      keys += getKeys(b);
    }
    switch (extent.kind) {
    case ExtentKind::AllQueries:
      return queries + 2; // rows that are no sequence's
    case ExtentKind::AllKeys:
      return keys + 3;
    case ExtentKind::Bounds:
      return batch + 1;
    case ExtentKind::Pages:
      return batch * getMaxPages() + 1;
    case ExtentKind::PageSize:
      return pageSize;
    case ExtentKind::MaxPages:
      return getMaxPages();
    case ExtentKind::Ring:
      return extent.value + queryLen + 3;
    case ExtentKind::BatchOr1:
      return 1;
    case ExtentKind::BlockBounds:
      return queryBlocks + 1;
    case ExtentKind::Blocks:
      return getNumListed(listHeads * (queryBlocks + 1));
    default:
      llvm_unreachable("other extents are the call's");
    }
  }

  /// The blocks of all rows before one; rows of different heads are apart.
  int64_t getNumListed(int64_t end) const {
    int64_t count = 0;
    for (int64_t row = 0; row < end; ++row)
      if ((row + 1) % (queryBlocks + 1) != 0)
        count += getListed(row).size();
    return count;
  }

  /// Element `index` of a tensor with a role.
  int32_t getNumber(const KernelTensor &tensor, int64_t index) const {
    int64_t number = 0;
    switch (tensor.role) {
    case SequenceRole::QueryBounds:
      for (int64_t b = 0; b < index; ++b)
        number += getQueries(b);
      break;
    case SequenceRole::KeyBounds:
      for (int64_t b = 0; b < index; ++b)
        number += getKeys(b);
      break;
    case SequenceRole::KeyLengths:
      number = getKeys(index);
      break;
    case SequenceRole::PageTable:
      number = batch * getMaxPages() - index; // from the last page on
      break;
    case SequenceRole::BlockOffsets:
      number = getNumListed(index);
      break;
    case SequenceRole::BlockIndices:
      for (int64_t row = 0, rest = index;; ++row) {
        if ((row + 1) % (queryBlocks + 1) == 0)
          continue;
        std::vector<int64_t> listed = getListed(row);
        if (rest < static_cast<int64_t>(listed.size())) {
          number = listed[rest];
          break;
        }
        rest -= listed.size();
      }
      break;
    case SequenceRole::None:
      llvm_unreachable("a tensor with a role");
    }
    return static_cast<int32_t>(number);
  }
};

} // namespace posenc

#endif // POSENC_TESTS_SUPPORT_SEQUENCESHAPE_H
