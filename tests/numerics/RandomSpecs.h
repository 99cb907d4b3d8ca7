// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels. The same seed makes the same kernels on every machine.
#ifndef POSENC_NUMERICS_RANDOMSPECS_H
#define POSENC_NUMERICS_RANDOMSPECS_H

#include "Fixture.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace posenc::numerics {

/// The value of a clause or parameter, `mask` of `mask(#posenc.causal)`; empty
/// if it is not stated.
std::string getClause(llvm::StringRef clauses, llvm::StringRef name);
/// The encodings of `encode [...]`.
std::vector<std::string> getEncodings(llvm::StringRef clauses);
/// Whether the verifier and the expansion take the specification: some clauses
/// contradict each other.
bool isValid(llvm::StringRef text);

/// Draws what kernels are made of from the list of encodings. The library's own
/// distributions differ from one standard library to the next, so numbers come
/// from the engine alone.
class SpecGenerator {
public:
  explicit SpecGenerator(unsigned seed) : random(seed) {}

  int64_t number(int64_t below) { return random() % below; }
  template <typename T>
  const T &choose(llvm::ArrayRef<T> list) {
    return list[number(list.size())];
  }

  /// A valid specification.
  std::string makeText();
  /// Of a call of the kernel that makeText() has made last.
  Extents makeExtents(KernelOp kernel);

private:
  std::string tryText();
  std::string choosePositions();
  std::string chooseStorage();

  Extents extents;
  std::mt19937 random;
};

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_RANDOMSPECS_H
