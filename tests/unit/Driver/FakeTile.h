// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interprets a plan behind the calling convention of tile functions, and fails
// the test where a caller breaks it.
#ifndef POSENC_TESTS_UNIT_DRIVER_FAKETILE_H
#define POSENC_TESTS_UNIT_DRIVER_FAKETILE_H

#include "posenc/Halide/TileSignature.h"

#include <atomic>

namespace posenc::test {

struct FakeTile {
  PlanOp plan;
  TileFunction function;
  enum Kind {
    Tile,
    KeyTransform,
    NetworkScores, // what a network takes of one head
    Network
  } kind = Tile;
  /// The number of the network.
  unsigned network = 0;

  /// Pairs of rows and keys that tiles were called for.
  static inline std::atomic<int64_t> pairs = 0;

  /// One word for each argument: a number or an address.
  int32_t run(const int64_t *words) const;
};

} // namespace posenc::test

#endif // POSENC_TESTS_UNIT_DRIVER_FAKETILE_H
