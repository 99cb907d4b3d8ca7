// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine can do: measured next to every kernel, since clocks and
// neighbours change from minute to minute.
#ifndef POSENC_BENCH_MACHINE_H
#define POSENC_BENCH_MACHINE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace posenc {

/// Seconds of a steady clock.
double now();

/// The model name that the system gives, or LLVM's name of the architecture.
std::string getCpuName();

/// GFLOP/s of independent fused multiply-adds in registers on `threads`
/// threads at once, with the vectors of an instruction set (multiplications
/// and additions in turn where it has no FMA).
double measurePeak(llvm::StringRef isa, int threads);

/// GB/s of `threads` threads that read a buffer of more than four times the
/// last-level cache, on huge pages where the system gives them.
double measureReadBandwidth(int threads);

} // namespace posenc

#endif // POSENC_BENCH_MACHINE_H
