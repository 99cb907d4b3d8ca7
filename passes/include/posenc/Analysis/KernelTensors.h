// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a kernel's argument struct, in order. The driver's
// description, the generated header and the tools all ask here.
#ifndef POSENC_ANALYSIS_KERNELTENSORS_H
#define POSENC_ANALYSIS_KERNELTENSORS_H

#include "posenc/IR/Posenc.h"

#include <string>
#include <vector>

namespace posenc {

/// What an extent of a tensor must be; values are those of POSENC_AXIS_... in
/// posenc/kernel_abi.h.
enum class ExtentKind : int32_t {
  Const = 0,
  Batch = 1,
  Heads = 2,
  KvHeads = 3,
  QueryLen = 4,
  KeyLen = 5,
  HeadsOr1 = 6,
  Len = 7,
  AllQueries = 8,
  AllKeys = 9,
  Bounds = 10,
  Pages = 11,
  PageSize = 12,
  MaxPages = 13,
  Ring = 14,
  BatchOr1 = 15,
  BlockBounds = 16,
  Blocks = 17,
};

struct Extent {
  ExtentKind kind;
  /// Of Const; of Ring what the capacity must exceed Lq by at least; of
  /// BlockBounds and Blocks the tokens of a block.
  int64_t value = 0;
  /// The axis that the kernel sees it as; -1: the same.
  int64_t place = -1;

  /// "B", "H", "Hkv", "Lq", "Lk", "H or 1", "L", "Tq", ... or the number.
  std::string str() const;
};

/// What a tensor says about the sequences of a call.
enum class SequenceRole {
  None,
  QueryBounds,
  KeyBounds,
  KeyLengths,
  PageTable,
  BlockOffsets,
  BlockIndices
};

struct KernelTensor {
  /// As in the specification: "q", "bias.table".
  std::string name;
  llvm::SmallVector<Extent, 4> extents;
  /// int32 rather than f32; positions may be int64.
  bool isInteger = false;
  /// The type of the elements otherwise; null for f32.
  mlir::Type storage;
  bool isOutput = false;
  /// An output of which a call writes some rows only.
  bool isCache = false;
  bool isOptional = false;
  /// Whether the last axis must be contiguous.
  bool unitStride = false;
  SequenceRole role = SequenceRole::None;
  /// What it is, for people.
  std::string comment;

  /// The name as a C identifier: dots become underscores.
  std::string getField() const;
  /// The elements' type as DLPack's code and bits.
  uint8_t getTypeCode() const;
  uint8_t getTypeBits() const {
    return storage ? storage.getIntOrFloatBitWidth() : 32;
  }
  /// Whether its elements are f64.
  bool isWide() const { return storage && storage.isF64(); }
  /// Whether its elements, i8 or f8E4M3FN, are to be multiplied by scales.
  bool hasCodes() const { return getTypeBits() == 8; }
  /// The largest of such elements.
  float getLargestCode() const;
  /// Of numbers of 8 and 16 bits: the bits of the nearest one, ties to even,
  /// and back. Beyond the largest code there is none.
  uint16_t toBits(float value) const;
  float fromBits(uint16_t bits) const;
  /// What storing a number adds to its relative error: 0 for f32 and codes.
  double getRoundoff() const;
  /// "f32", "f64", "bf16", "f16", "i8", "f8E4M3FN" or "i32".
  std::string getTypeName() const;
  /// "f32 [B, H, Lq, 64]".
  std::string getTypeString() const;
};

/// q, k, v, o, lse (unless the kernel has no_lse), state_in, state_out, sums_in
/// and sums_out of a recurrence with keys(state), k_scales and v_scales of
/// codes, then what says where sequences lie (cu_seqlens_q, cu_seqlens_k,
/// key_lengths, page_table) and which blocks are listed, then the operands in
/// order of first use. Of a kernel that appends to a cache: k, v, k_cache,
/// v_cache, then the same from the scales on. The kernel must be expanded.
std::vector<KernelTensor> getKernelTensors(KernelOp kernel);

/// x (if anything reads it), y, then the operands in order of first use. The
/// embedding must be expanded.
std::vector<KernelTensor> getKernelTensors(EmbedOp embed);

/// Whether rows of keys and values are given one by one.
bool hasIndirectKeys(KernelOp kernel);

/// The probability with which a kernel drops weights; 0 if it drops none. The
/// kernel must be expanded.
double getDropout(KernelOp kernel);

} // namespace posenc

#endif // POSENC_ANALYSIS_KERNELTENSORS_H
