// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of keys that a caller lists for each block of queries.
#ifndef POSENC_REFERENCE_BLOCKS_H
#define POSENC_REFERENCE_BLOCKS_H

#include "posenc/Reference/Reference.h"

namespace posenc {

/// The lists of a call, whose tensors have their shapes.
class BlockLists {
public:
  BlockLists(BlockListAttr law, const ReferenceInputs &inputs);

  /// Whether they rise and fit so many queries and keys.
  llvm::Error check(int64_t queryLen, int64_t keyLen) const;
  /// Adds the lists of one batch entry, which has that many keys.
  void cut(int64_t batch, int64_t keyLen, ReferenceInputs &result) const;
  /// Whether a query sees a key of its sequence.
  bool shows(int64_t batch, int64_t head, int64_t query, int64_t key) const;

private:
  llvm::ArrayRef<int64_t> getList(int64_t batch, int64_t head,
                                  int64_t block) const;

  BlockListAttr law;
  const IntTensor *offsets, *indices;
};

} // namespace posenc

#endif // POSENC_REFERENCE_BLOCKS_H
