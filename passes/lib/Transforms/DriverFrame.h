// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the members of a posenc_frame (posenc/kernel_abi.h) in host code.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERFRAME_H
#define POSENC_LIB_TRANSFORMS_DRIVERFRAME_H

#include "DriverBuilder.h"

namespace posenc {

class DriverFrame {
public:
  using Value = mlir::Value;

  DriverFrame(DriverBuilder &b, Value address) : b(b), address(address) {}
  /// A frame on the stack of the current function.
  static DriverFrame create(DriverBuilder &b);
  /// Another frame of the same program.
  DriverFrame(const DriverFrame &) = default;
  DriverFrame &operator=(const DriverFrame &other) {
    address = other.address;
    return *this;
  }
  /// A frame for one batch entry of this frame's call, on the stack.
  DriverFrame enterSequence(Value batch) const;

  Value getAddress() const { return address; }

  Value batch() const;
  Value heads() const;
  Value kvHeads() const;
  /// Of all sequences the largest, or of the frame's sequence.
  Value queryLen() const;
  Value keyLen() const;
  /// The room that tables have for a sequence.
  Value longestQuery() const;
  Value longestKey() const;
  /// The keys that scratch has room for, and the first of a sequence.
  Value allKeys() const;
  Value keyBase() const;
  /// The first key that is in memory, not 0 in a ring; and the number of keys
  /// from it on.
  Value firstKey() const;
  Value keptKeys() const;
  Value firstHead() const;
  Value variant() const;
  Value workers() const;
  /// Of random numbers.
  Value seed() const;
  Value offset() const;

  Value prepared() const;
  void setPrepared(Value payload) const;
  Value shared() const;
  /// The scratch of one worker.
  Value workerScratch(Value worker) const;

  /// Members of the view of the tensor of that number.
  Value data(unsigned tensor) const;
  Value extent(unsigned tensor, unsigned axis) const;
  Value stride(unsigned tensor, unsigned axis) const;
  /// The address of an element, of 4 bytes unless its type is given: one index
  /// for each leading axis, null for 0.
  Value element(unsigned tensor, mlir::ArrayRef<Value> indices,
                mlir::Type type = {}) const;

private:
  Value number(int64_t offset) const;
  Value pointer(int64_t offset) const;

  DriverBuilder &b;
  Value address;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERFRAME_H
