// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fuzz target defines: the entry of libFuzzer, and inputs to start from.

#ifndef POSENC_TESTS_FUZZ_FUZZTARGET_H
#define POSENC_TESTS_FUZZ_FUZZTARGET_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Returns 0; aborts where a property does not hold.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Valid inputs, of which FuzzMain.cpp makes invalid ones.
std::vector<std::string> posencFuzzSeeds();

#endif // POSENC_TESTS_FUZZ_FUZZTARGET_H
