// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dense linear algebra of the reference.
#ifndef POSENC_REFERENCE_LINEAR_H
#define POSENC_REFERENCE_LINEAR_H

#include <cstdint>

namespace posenc {

/// c[rows, columns] += a[rows, inner] * b[inner, columns], all in C order. Each
/// element is summed in the order of `inner`, whatever the other extents.
void multiplyAdd(const double *a, const double *b, double *c, int64_t rows,
                 int64_t inner, int64_t columns);

/// The same, but an element of `a` that is 0 hides what is in `b`.
void multiplyAddNonzeros(const double *a, const double *b, double *c,
                         int64_t rows, int64_t inner, int64_t columns);

/// to[columns, rows] = from[rows, columns].
void transpose(const double *from, double *to, int64_t rows, int64_t columns);

} // namespace posenc

#endif // POSENC_REFERENCE_LINEAR_H
