// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of keys that masks over positions, segments and the like hide from a
// whole tile, and keys that lists of blocks leave out.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERSKIPS_H
#define POSENC_LIB_TRANSFORMS_DRIVERSKIPS_H

#include "DriverArguments.h"

namespace posenc {

class KeySkips {
public:
  /// Defines the function that `emitNext` calls, if the plan has such masks or
  /// lists.
  KeySkips(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan);

  /// Whether there are such masks or lists.
  explicit operator bool() const { return !name.empty(); }

  /// The begin of the first block of keys from `key` on (which begins one) of
  /// which the site's rows may see a pair, or with `isHidden` of which they see
  /// none; `end` if there is none before. What lists leave out is left out to
  /// the key.
  mlir::Value emitNext(DriverBuilder &b, DriverFrame frame,
                       const CallSite &site, mlir::Value key, mlir::Value end,
                       bool isHidden) const;

private:
  void define(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan,
              llvm::ArrayRef<SelectOp> masks);
  void defineListed(DriverBuilder &b, DriverPlan &plan);

  std::string name; // of the function
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERSKIPS_H
