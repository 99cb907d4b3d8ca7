// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks of keys that a caller lists for each block of queries.
#include "Blocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace posenc;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

BlockLists::BlockLists(BlockListAttr law, const ReferenceInputs &inputs)
    : law(law), offsets(&inputs.positions.find(law.getOffsetsName())->second),
      indices(&inputs.positions.find(law.getIndicesName())->second) {}

llvm::ArrayRef<int64_t> BlockLists::getList(int64_t batch, int64_t head,
                                            int64_t block) const {
  int64_t b = offsets->shape[0] == 1 ? 0 : batch;
  int64_t h = offsets->shape[1] == 1 ? 0 : head;
  int64_t row = (b * offsets->shape[1] + h) * offsets->shape[2] + block;
  int64_t begin = offsets->data[row], end = offsets->data[row + 1];
  return llvm::ArrayRef<int64_t>(indices->data).slice(begin, end - begin);
}

bool BlockLists::shows(int64_t batch, int64_t head, int64_t query,
                       int64_t key) const {
  return llvm::is_contained(getList(batch, head, query / law.getQueries()),
                            key / law.getKeys());
}

llvm::Error BlockLists::check(int64_t queryLen, int64_t keyLen) const {
  std::string offsetsName = law.getOffsetsName();
  int64_t wanted = llvm::divideCeil(queryLen, law.getQueries()) + 1;
  if (offsets->shape[2] < wanted)
    return fail("expected '" + offsetsName + "' to have at least " +
                llvm::Twine(wanted) + " numbers for " + llvm::Twine(queryLen) +
                " queries, but got " + llvm::Twine(offsets->shape[2]));
  int64_t all = indices->data.size();
  for (size_t row = 0; row < offsets->data.size(); ++row) {
    bool isFirst = row % offsets->shape[2] == 0;
    int64_t least = isFirst ? 0 : offsets->data[row - 1];
    if (offsets->data[row] < least || offsets->data[row] > all)
      return fail("expected '" + offsetsName + "' to rise to at most " +
                  llvm::Twine(all) + ", but got " +
                  llvm::Twine(offsets->data[row]));
  }
  int64_t blocks = llvm::divideCeil(keyLen, law.getKeys());
  for (int64_t b = 0; b < offsets->shape[0]; ++b)
    for (int64_t h = 0; h < offsets->shape[1]; ++h)
      for (int64_t block = 0; block + 1 < offsets->shape[2]; ++block) {
        int64_t previous = -1;
        for (int64_t index : getList(b, h, block)) {
          if (blocks == 0)
            return fail(
                "expected '" + law.getIndicesName() +
                "' to list no block, since there are no keys, but got " +
                llvm::Twine(index));
          if (index <= previous || index >= blocks)
            return fail("expected '" + law.getIndicesName() +
                        "' to rise from 0 to at most " +
                        llvm::Twine(blocks - 1) +
                        " for each block of queries, but got " +
                        llvm::Twine(index) + " after " + llvm::Twine(previous));
          previous = index;
        }
      }
  return llvm::Error::success();
}

void BlockLists::cut(int64_t batch, int64_t keyLen,
                     ReferenceInputs &result) const {
  int64_t blocks = llvm::divideCeil(keyLen, law.getKeys());
  IntTensor begins, listed;
  begins.shape = {1, offsets->shape[1], offsets->shape[2]};
  for (int64_t h = 0; h < offsets->shape[1]; ++h) {
    begins.data.push_back(listed.data.size());
    for (int64_t block = 0; block + 1 < offsets->shape[2]; ++block) {
      for (int64_t index : getList(batch, h, block))
        if (index < blocks)
          listed.data.push_back(index);
      begins.data.push_back(listed.data.size());
    }
  }
  listed.shape = {static_cast<int64_t>(listed.data.size())};
  result.positions[law.getOffsetsName()] = std::move(begins);
  result.positions[law.getIndicesName()] = std::move(listed);
}
