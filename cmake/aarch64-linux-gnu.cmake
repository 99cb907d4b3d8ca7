# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds C programs for 64-bit ARM on another machine with Debian's
# gcc-aarch64-linux-gnu, and runs them with qemu-aarch64:
#
#   cmake -S runtime -B build/runtime-aarch64 --toolchain cmake/aarch64-linux-gnu.cmake
#
# With -DCMAKE_C_COMPILER=clang-22 clang does so. The tools of posenc run on the
# machine that builds.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(POSENC_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(POSENC_QEMU_AARCH64)
if(POSENC_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${POSENC_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
endif()
