// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counter-based random numbers (Salmon, Moraes, Dror and Shaw, SC 2011).
#ifndef POSENC_REFERENCE_PHILOX_H
#define POSENC_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace posenc {

/// Philox4x32-10 of a counter and a key, first word first.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

/// Random number `number` of a stream of an embedding, in [0, 1).
double drawUniform(uint64_t seed, uint64_t offset, uint32_t stream,
                   uint64_t number);

/// The random numbers of the pairs of one head, as posenc.drop_weights says.
class PairDraws {
public:
  /// The head is counted in the specification.
  PairDraws(uint64_t seed, uint64_t offset, int64_t batch, int64_t head);

  /// In [0, 1); `place` is that of the query among the keys.
  double draw(int64_t place, int64_t key) const;

private:
  std::array<uint32_t, 2> seed, ofHead;
};

} // namespace posenc

#endif // POSENC_REFERENCE_PHILOX_H
