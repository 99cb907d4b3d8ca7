// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The items of work of a plan of a recurrence.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERRECURRENCE_H
#define POSENC_LIB_TRANSFORMS_DRIVERRECURRENCE_H

#include "DriverItems.h"

namespace posenc {

/// An item computes the tokens of one (batch entry, head), chunk after chunk.
DriverItems emitRecurrenceItems(DriverBuilder &b, DriverKernel &kernel,
                                DriverPlan &plan);

/// The scratch of a worker: the state, its sums, and the transformed keys of a
/// chunk.
int64_t getRecurrenceBytes(DriverKernel &kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERRECURRENCE_H
