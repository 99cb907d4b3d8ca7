// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar regions evaluated for many elements at once.
#ifndef POSENC_REFERENCE_REGIONLANES_H
#define POSENC_REFERENCE_REGIONLANES_H

#include "posenc/IR/ScalarRegion.h"

#include <array>
#include <vector>

namespace posenc {

/// An algebra of evaluateScalarRegion() whose values are numbers of registers,
/// each with one real number (or 0 and 1 for a truth value) per element.
class RegionLanes {
public:
  static constexpr int64_t width = 128;
  using Register = std::array<double, width>;

  /// Starts an evaluation with `count` arguments, registers 0 .. count-1.
  void reset(unsigned count) { registers.resize(count); }
  Register &operator[](unsigned index) { return registers[index]; }
  /// The register of the region's result.
  unsigned run(mlir::Region &region);

  unsigned constant(double value);
  unsigned truth(bool value) { return constant(value); }
  unsigned apply(ScalarFunction function, llvm::ArrayRef<unsigned> arguments);
  unsigned compare(mlir::arith::CmpFPredicate predicate, unsigned lhs,
                   unsigned rhs);
  unsigned select(unsigned condition, unsigned ifTrue, unsigned ifFalse);

private:
  template <typename Function>
  unsigned unary(llvm::ArrayRef<unsigned> arguments, Function function);
  template <typename Function>
  unsigned binary(llvm::ArrayRef<unsigned> arguments, Function function);

  std::vector<Register> registers;
};

} // namespace posenc

#endif // POSENC_REFERENCE_REGIONLANES_H
