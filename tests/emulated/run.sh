#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tests/emulated/run.sh BUILD_DIRECTORY
# What is compiled for AArch64, run by qemu-aarch64: the numerics on several
# CPUs, and C programs that are built for it here. The last line is
# `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh
source tests/support/check.sh

[[ $# -eq 1 && -d $1 ]] || die "usage: tests/emulated/run.sh BUILD_DIRECTORY"
build=$(realpath "$1")
for program in qemu-aarch64 aarch64-linux-gnu-gcc; do
  if ! command -v "$program" >/dev/null; then
    # The one test is that this is said.
    printf 'SKIPPED: kernels for AArch64: there is no %s\n1 passed, 0 failed\n' "$program"
    exit 0
  fi
done
compiler=$build/tools/posenc-compile/posenc-compile
emulate=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

# count NAME COMMAND...: a program that counts its own tests.
count() {
  local name=$1 code=0 totals
  shift
  "$@" >"$work/log" 2>&1 || code=$?
  totals=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$work/log" | tail -n 1)
  if [[ -z $totals || ($code -ne 0 && $totals == *' 0') ]]; then
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %d\n' "$name" "$code"
    tail -n 40 "$work/log"
    return
  fi
  passed=$((passed + ${totals% *}))
  failed=$((failed + ${totals#* }))
  grep '^FAILED' "$work/log" || true
}

# build_runtime NAME OPTION...: as docs/architecture.md says.
build_runtime() {
  local name=$1
  shift
  cmake -S runtime -B "$work/$name" -G Ninja --toolchain "$PWD/cmake/aarch64-linux-gnu.cmake" \
    -DCMAKE_INSTALL_PREFIX="$work/$name-prefix" "$@" &&
    cmake --build "$work/$name" && cmake --install "$work/$name"
}

# build_programs FOLDER NAME: a project against the runtime that gcc built. At
# -O2 Debian's gcc 12 for AArch64 vectorises an example to an internal error.
build_programs() {
  cmake -S "$1" -B "$work/$2" -G Ninja --toolchain "$PWD/cmake/aarch64-linux-gnu.cmake" \
    -DCMAKE_PREFIX_PATH="$work/gcc-prefix" -DPOSENC_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=MinSizeRel &&
    cmake --build "$work/$2"
}

build_misuse() {
  "$compiler" tests/c/misuse.mlir --target=aarch64-linux -o "$work" &&
    aarch64-linux-gnu-gcc -std=c11 -Wall -Wextra -Werror tests/c/misuse.c -I"$work" -I"$work/gcc-prefix/include" \
      "$work"/libmisuse_*.a "$work/gcc-prefix/lib/libposenc_runtime.a" -pthread -lm -o "$work/misuse"
}

# run_tool CPU: posenc-run with the emulator judges by the reference.
run_tool() {
  "$POSENC_VENV/bin/python3" -c '
import sys, numpy
for name, heads in (("q", 4), ("k", 2), ("v", 2)):
    numpy.save(f"{sys.argv[1]}/{name}.npy", numpy.random.default_rng(heads).standard_normal((heads, 40, 64)))' "$work" &&
    "$build/tools/posenc-run/posenc-run" tests/install/consumer.mlir --emulator "qemu-aarch64 -cpu $1" --compare \
      --q "$work/q.npy" --k "$work/k.npy" --v "$work/v.npy" -o "$work/o.npy" && test -s "$work/o.npy"
}

# numerics CPU FILTER: kernels against the reference.
numerics() {
  count "numerics of $2 on $1" "$build/tests/bin/numerics/posenc-numerics" --emulator "qemu-aarch64 -cpu $1" \
    --filter "$2" --random 4
}

check "build the runtime with gcc" build_runtime gcc
check "build the runtime with clang" build_runtime clang -DCMAKE_C_COMPILER=clang-22
check "build the consumer" build_programs tests/install consumer
check "run the consumer without a kernel" "${emulate[@]}" "$work/consumer/version"
check "run its kernel and its embedding" "${emulate[@]}" "$work/consumer/consumer"
check "build the examples" build_programs examples/c examples
for example in attention sequence_parallel generation encoder ring; do
  check "run the example $example" "${emulate[@]}" "$work/examples/${example}_example"
done
check "build the program of wrong calls" build_misuse
count "wrong calls" "${emulate[@]}" "$work/misuse"
for cpu in max cortex-a72 max,sve=off max,sve128=on,sve256=off,sve512=off max,sve256=on,sve512=off max,sve512=on; do
  check "posenc-run on $cpu" run_tool "$cpu"
done
numerics max golden/native
numerics max native/terms
numerics cortex-a72 random
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
