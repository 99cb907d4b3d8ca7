// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of every kernel: an interpreter of level 2 in double precision.
//
// It executes the body operation by operation over its SSA values and knows no
// named encoding. What generated kernels compute is compared with it, by the
// rule of posenc/Reference/Accuracy.h.
#ifndef POSENC_REFERENCE_REFERENCE_H
#define POSENC_REFERENCE_REFERENCE_H

#include "posenc/IR/Posenc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace posenc {

/// A dense array in C order.
struct RealTensor {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<double> data;
};
struct IntTensor {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<int64_t> data;
};

struct ReferenceInputs {
  RealTensor q; // [B, H, Lq, D]
  RealTensor k; // [B, Hkv, Lk, D]
  RealTensor v; // [B, Hkv, Lk, Dv]
  /// Of a kernel that appends to a cache, where k and v are those of the new
  /// tokens: what the cache holds before.
  RealTensor kCache, vCache;
  /// The kernel's other tensors by name; see KernelOp::getOperandTensors().
  /// The state of a kernel with keys(state) need not be there.
  llvm::StringMap<RealTensor> tables;
  llvm::StringMap<IntTensor> positions;
  /// The number in the kernel of the tensors' first head: H may be below the
  /// kernel's.
  int64_t firstHead = 0;
  /// Of random numbers, as in posenc_call, and the number in the call of the
  /// tensors' first batch entry.
  uint64_t seed = 0, offset = 0;
  int64_t firstBatch = 0;
};

struct ReferenceOptions {
  /// Whether to keep what enters the normaliser, B H Lq Lk numbers.
  bool scores = false;
  /// The same of which weights posenc.drop_weights keeps.
  bool kept = false;
};

struct ReferenceOutputs {
  RealTensor o; // [B, H, Lq, Dv]
  /// [B, H, Lq], natural, sinks included; -inf in a row that sees no key and
  /// has no sink. Empty when the kernel's normaliser has none. Of several
  /// normalisers this and `scores` are of the first.
  RealTensor lse;
  /// [B, H, Lq, Lk] if asked for: what enters the normaliser; masked pairs are
  /// -inf.
  RealTensor scores;
  /// [B, H, Lq, Lk] if asked for: 1 where a weight is kept, 0 where the body
  /// drops it.
  RealTensor kept;
  /// The state and the sums behind the last token of a kernel with keys(state);
  /// see posenc.recurrence. Empty for others. What their errors grow with.
  RealTensor state, sums, stateBound, sumsBound;
  /// Per row [B, H, Lq], 0 when it sees no keys: what the errors of an f32
  /// kernel grow with; see posenc/Reference/Accuracy.h.
  RealTensor maxScore, maxValue;
};

/// Evaluates a kernel that has a body. Everything is real arithmetic in double
/// precision, with these rules at its border:
///  - a score of -inf is a masked pair and stays one, whatever follows;
///  - a number of -1e30 or less in a table with query and key axes masks the
///    pair;
///  - a key of weight 0 contributes nothing, not even if its value is NaN.
///  - a row of a table is looked up at the nearest integer.
/// Fails, with a sentence that names the tensor or the operation, when the
/// inputs do not fit the kernel. Memory beyond inputs and outputs is O(Lk) per
/// thread and one head, or all heads if posenc.head_mlp reads them together;
/// the result does not depend on the number of threads.
llvm::Expected<ReferenceOutputs>
evaluateReference(KernelOp kernel, const ReferenceInputs &inputs,
                  const ReferenceOptions &options = {});

/// The caches after a call of a kernel that appends to them. Codes are with
/// their scales, if those are of tokens.
struct AppendOutputs {
  RealTensor kCache, vCache, kScales, vScales;
};

/// Evaluates a kernel whose body yields a key. What it writes is not rounded to
/// the type of the cache, unless that is one of codes. Fails as
/// evaluateReference() does.
llvm::Expected<AppendOutputs> evaluateAppend(KernelOp kernel,
                                             const ReferenceInputs &inputs);

/// A copy of the module in which every kernel has a body, and every one with a
/// cache is followed by the one that fills it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
cloneExpanded(mlir::ModuleOp module);

} // namespace posenc

#endif // POSENC_REFERENCE_REFERENCE_H
