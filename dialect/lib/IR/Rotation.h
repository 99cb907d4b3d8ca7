// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings that rotate share: which channels turn, by which frequencies
// and by how much they are stretched.
#ifndef POSENC_LIB_IR_ROTATION_H
#define POSENC_LIB_IR_ROTATION_H

#include "posenc/IR/Encodings.h"

namespace posenc {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The rotated channels of a head, where 0 dims mean all of them.
struct RotatedChannels {
  RotatedChannels(int64_t dims, Placement placement, int64_t headDim)
      : count(dims == 0 ? headDim : dims),
        first(placement == Placement::first ? 0 : headDim - count) {}
  int64_t count, first;
  int64_t getNumPairs() const { return count / 2; }
};

/// What is checked of rotated channels with the kernel at hand.
llvm::LogicalResult verifyRotatedChannels(llvm::StringRef mnemonic,
                                          int64_t dims, KernelOp kernel,
                                          EmitError emitError);
/// Whether a parameter is positive and finite.
llvm::LogicalResult verifyPositive(llvm::StringRef mnemonic,
                                   llvm::StringRef parameter,
                                   const llvm::APFloat &value,
                                   EmitError emitError);

/// What is checked of `dims` alone.
llvm::LogicalResult verifyDims(llvm::StringRef mnemonic, int64_t dims,
                               int64_t step, EmitError emitError);

/// The inner rotation of an encoding, or a plain one.
RopeAttr getInnerRope(RopeAttr rope, mlir::MLIRContext *context,
                      Pairing pairing = Pairing::half);
RotatedChannels getRotatedChannels(RopeAttr rope, KernelOp kernel);
RotaryLaw getRotaryLaw(RopeAttr rope, int64_t headDim);
AttentionFactors getAttentionFactors(RopeAttr rope);
/// The number of axes of a kernel's positions.
int64_t countPositionAxes(KernelOp kernel);
/// One axis of the kernel's positions on one side.
mlir::Value getPositionAxis(Expansion &expansion, Side side, int64_t axis);

/// Frequencies that the caller passes in.
mlir::Value readFrequencies(Expansion &expansion, llvm::StringRef operand,
                            llvm::ArrayRef<TableAxis> axes, int64_t pairs);
/// Rotates queries and keys of every branch.
void rotateBoth(
    Expansion &expansion,
    llvm::function_ref<mlir::Value(mlir::Value vector, Side side)> rotate);

/// Rotates as a #posenc.rope says.
class Rotation {
public:
  /// A factor of a pair at a position.
  using Modulus = std::function<Real(const Real &pair, const Real &position)>;
  /// The axis of the positions that turns a pair, if one does.
  using AxisOfPair = llvm::function_ref<std::optional<int64_t>(int64_t pair)>;

  Rotation(Expansion &expansion, RopeAttr rope);
  /// With positions of several axes.
  Rotation(Expansion &expansion, RopeAttr rope, int64_t axes,
           AxisOfPair axisOfPair);

  mlir::Value apply(mlir::Value vector, mlir::ValueRange positions,
                    const Modulus &modulus = {});

private:
  Expansion &expansion;
  RopeAttr rope;
  RotatedChannels channels;
  /// A list for each axis.
  llvm::SmallVector<mlir::Value> freqs;
  /// First positions that turn with the first of two lists.
  int64_t prefix = 0;
  double factor;
};

} // namespace posenc

#endif // POSENC_LIB_IR_ROTATION_H
