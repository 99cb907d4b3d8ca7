// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The query, key and value vectors of one head, and what is done to them.
#ifndef POSENC_REFERENCE_VECTORS_H
#define POSENC_REFERENCE_VECTORS_H

#include "Tables.h"

namespace posenc {

/// The cosines and sines that a rotation uses, [tokens, pairs]; with the
/// modulus and the mix.
struct Angles {
  int64_t pairs = 0;
  Numbers cos, sin;
};

/// Those of one head's tables.
Angles computeAngles(RotateOp op, const Call &call, const Positions &positions,
                     const Tables &tables);

/// [tokens, channels]: an input's, or owned.
struct Vectors {
  const double *data = nullptr;
  std::shared_ptr<const Numbers> storage;
};

/// What the rows of one query head are computed from.
struct Head {
  int64_t batch = 0, head = 0, kvHead = 0;
  Tables tables;
  llvm::DenseMap<mlir::Value, Vectors> vectors;
  /// Keys that take part in a dot product, [channels, Lk].
  llvm::DenseMap<mlir::Value, std::shared_ptr<const Numbers>> transposedKeys;
  /// The greatest |element| of each value vector, of those that are finite, and
  /// whether all are.
  std::shared_ptr<const Numbers> valueMagnitudes;
  bool hasFiniteValues = true;
};

/// Makes the heads of one batch entry.
class HeadBuilder {
public:
  HeadBuilder(const Call &call, const Tables &sharedTables, int64_t b);

  const Positions &getPositions() const { return positions; }
  /// What `previous` already has of the same keys is shared with it.
  Head build(int64_t head, const Head *previous = nullptr);
  /// One vector of the body alone.
  Vectors buildVector(int64_t head, mlir::Value vector);

private:
  /// Statistics of each token over all heads.
  struct Norm {
    Numbers mean, factor;
  };

  Head start(int64_t head);
  bool dependsOnHead(mlir::Value value);
  Vectors getVectors(mlir::Value value, Head &head);
  Numbers compute(mlir::Operation *op, Head &head);
  void rotate(RotateOp op, Numbers &vectors, const Head &head);
  void scaleRows(RowScaleOp op, Numbers &vectors, const Head &head) const;
  void addRows(VaddOp op, Numbers &vectors, const Head &head) const;
  void scaleChannels(ChannelScaleOp op, Numbers &vectors,
                     const Head &head) const;
  void normalize(VectorNormOp op, Numbers &vectors);
  const Norm &getNormOverHeads(VectorNormOp op);
  Numbers sumOverHeads(VectorNormOp op,
                       llvm::function_ref<double(double, size_t)> term);
  void shareKeys(Head &head, const Head &previous);
  void prepareKeys(Head &head);

  const Call &call;
  const Tables &sharedTables;
  int64_t batch;
  Positions positions;
  llvm::DenseMap<mlir::Value, bool> headDependence;
  llvm::DenseMap<mlir::Operation *, Angles> sharedAngles;
  llvm::DenseMap<mlir::Operation *, Norm> norms;
};

} // namespace posenc

#endif // POSENC_REFERENCE_VECTORS_H
