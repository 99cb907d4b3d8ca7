// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state that a posenc.recurrence takes and leaves.
#ifndef POSENC_REFERENCE_RECURRENCE_H
#define POSENC_REFERENCE_RECURRENCE_H

#include "Vectors.h"

namespace posenc {

/// What the region makes of the tables of a head; 1 without one.
double getDecay(RecurrenceOp op, const Tables &tables);

/// The state of a head and batch entry before the call: [rows, columns] of the
/// input with that name; null if there is none.
const double *findState(const Call &call, llvm::StringRef name, int64_t b,
                        int64_t head, int64_t size);

/// States of 0, if the kernel leaves one.
void allocateState(KernelOp kernel, int64_t batch, int64_t heads,
                   ReferenceOutputs &outputs);

/// Writes the state behind the last key, and what bounds its errors.
void advanceState(const Call &call, RecurrenceOp op, const Head &head,
                  ReferenceOutputs &outputs);

} // namespace posenc

#endif // POSENC_REFERENCE_RECURRENCE_H
