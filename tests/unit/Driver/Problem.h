// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors for a host program, its run, and the comparison with the reference.
#ifndef POSENC_TESTS_UNIT_DRIVER_PROBLEM_H
#define POSENC_TESTS_UNIT_DRIVER_PROBLEM_H

#include "HostProgram.h"

#include "posenc/Analysis/KernelTensors.h"

namespace posenc::test {

struct Shape {
  int64_t batch = 1;
  int64_t heads = 0; // of the call; 0: the kernel's
  int64_t queryLen = 1, keyLen = 1;
};

struct CallOptions {
  int32_t threads = 1;
  int32_t firstHead = 0;
  bool wantsLse = true;
  /// [B, L, H, D] in memory, rows padded.
  bool isStrided = false;
  /// Axes "H or 1" have extent 1.
  bool sharesHeads = false;
  bool usesPrepared = false;
  bool bringsScratch = false;
  /// Elements from one row to the next of the named tensors, in memory that is
  /// reserved but mostly not there; 0: compact.
  int64_t keyStride = 0, queryStride = 0;
  /// The same from one head to the next of queries and outputs.
  int64_t headStride = 0;
};

/// Runs the program and compares with the reference: "" or what is wrong.
std::string check(HostProgram &program, const Shape &shape,
                  const CallOptions &options = {});

/// What NAME_scratch_bytes says of such a call.
size_t getScratchBytes(HostProgram &program, const Shape &shape,
                       const CallOptions &options = {});

} // namespace posenc::test

#endif // POSENC_TESTS_UNIT_DRIVER_PROBLEM_H
