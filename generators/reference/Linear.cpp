// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain loops that the compiler vectorises over columns.
#include "Linear.h"

#include <algorithm>

using namespace posenc;

/// Rows share each load of `b`.
template <int64_t Rows>
static void multiplyAddRows(const double *a, const double *b,
                            double *__restrict c, int64_t inner,
                            int64_t columns) {
  for (int64_t k = 0; k < inner; ++k, b += columns) {
    double factor[Rows];
    for (int64_t r = 0; r < Rows; ++r)
      factor[r] = a[r * inner + k];
    for (int64_t x = 0; x < columns; ++x)
      for (int64_t r = 0; r < Rows; ++r)
        c[r * columns + x] += factor[r] * b[x];
  }
}

void posenc::multiplyAdd(const double *a, const double *b, double *c,
                         int64_t rows, int64_t inner, int64_t columns) {
  for (; rows >= 4; rows -= 4, a += 4 * inner, c += 4 * columns)
    multiplyAddRows<4>(a, b, c, inner, columns);
  for (; rows > 0; --rows, a += inner, c += columns)
    multiplyAddRows<1>(a, b, c, inner, columns);
}

void posenc::multiplyAddNonzeros(const double *a, const double *b, double *c,
                                 int64_t rows, int64_t inner, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < inner; ++k)
      if (double factor = a[r * inner + k])
        for (int64_t x = 0; x < columns; ++x)
          c[r * columns + x] += factor * b[k * columns + x];
}

void posenc::transpose(const double *from, double *to, int64_t rows,
                       int64_t columns) {
  constexpr int64_t block = 32; // both sides of a block stay in the cache
  for (int64_t r0 = 0; r0 < rows; r0 += block)
    for (int64_t c0 = 0; c0 < columns; c0 += block)
      for (int64_t r = r0, re = std::min(rows, r0 + block); r < re; ++r)
        for (int64_t c = c0, ce = std::min(columns, c0 + block); c < ce; ++c)
          to[c * rows + r] = from[r * columns + c];
}
