// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of a kernel: what every part of the interpreter reads.
#ifndef POSENC_REFERENCE_CALL_H
#define POSENC_REFERENCE_CALL_H

#include "Blocks.h"

#include "posenc/Reference/Reference.h"

#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <limits>

namespace posenc {

/// The score of a masked pair.
constexpr double maskedScore = -std::numeric_limits<double>::infinity();

/// The extents of one call, checked against its tensors.
struct CallShape {
  int64_t batch = 0, heads = 0, kvHeads = 0, queryLen = 0, keyLen = 0;
  int64_t headDim = 0, valueDim = 0;
  int64_t firstHead = 0;
  /// Where the first key stands that is appended to a cache.
  int64_t firstKey = 0;
  /// Keys of the sequence before those of the tensors, which a ring no longer
  /// holds and nothing sees.
  int64_t forgotten = 0;

  int64_t getLength(Side side) const {
    return side == Side::query ? queryLen : keyLen;
  }
  /// The keys of the sequence.
  int64_t getSequenceLen() const { return forgotten + keyLen; }
  /// The storage index of the key at which query row 0 stands.
  int64_t getFirstPlace(Alignment alignment) const {
    return alignment == Alignment::bottom_right ? getSequenceLen() - queryLen
                                                : 0;
  }
  /// Where the tensors have that key.
  int64_t getFirstIndex(Alignment alignment) const {
    return getFirstPlace(alignment) - forgotten;
  }
};

struct Call {
  Call(KernelOp kernel, const ReferenceInputs &inputs, const CallShape &shape)
      : body(kernel.getBody().front()), kernelHeads(kernel.getHeads()),
        inputs(inputs), shape(shape) {
    if (std::optional<BlockListAttr> law = kernel.getBlocks())
      blocks.emplace(*law, inputs);
  }

  mlir::Block &body;
  int64_t kernelHeads;
  const ReferenceInputs &inputs;
  CallShape shape;
  std::optional<BlockLists> blocks;
};

using Numbers = std::vector<double>;

/// Of a number that errors grow with: a NaN or an infinity in a vector bounds
/// nothing that is said of its other channels.
inline double getFiniteMagnitude(double x) {
  return std::isfinite(x) ? std::abs(x) : 0;
}

/// The positions of each token, by the value that stands for them.
using Positions = llvm::DenseMap<mlir::Value, Numbers>;

/// Those of batch entry `b`.
Positions computePositions(const Call &call, int64_t b);

/// The side of a vector's tokens.
inline Side getSideOfVector(mlir::Value vector) {
  return llvm::isa<QueryType>(vector.getType()) ? Side::query : Side::key;
}

} // namespace posenc

#endif // POSENC_REFERENCE_CALL_H
