# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warnings for our own code. Headers of LLVM and Halide are SYSTEM.
add_library(posenc_warnings INTERFACE)
target_compile_options(
  posenc_warnings
  INTERFACE -Wall
            -Wextra
            -Wno-unused-parameter
            $<$<BOOL:${POSENC_ENABLE_WERROR}>:-Werror>)
