#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tests/install/run.sh BUILD_DIRECTORY
# Installs a build into a fresh prefix, moves that elsewhere, and builds and
# runs programs against it. The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh

[[ $# -eq 1 ]] || die "usage: tests/install/run.sh BUILD_DIRECTORY"
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved/prefix
passed=0
failed=0

# check NAME COMMAND...: one test; what the command prints is shown if it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$name"
    tail -n 40 "$work/log"
  fi
}

install_and_move() {
  cmake --install "$build" --prefix "$work/first" &&
    mkdir -p "$work/moved" && mv "$work/first" "$prefix"
}

# Everything under the prefix that has a dynamic section must find its libraries
# without help, and find Halide in the prefix.
libraries_are_found() {
  local file libraries
  for file in "$prefix"/bin/*; do
    libraries=$(env -u LD_LIBRARY_PATH ldd "$file") || return 1
    if grep -F -e 'not found' -e "$build" -e "$POSENC_VENV" <<<"$libraries"; then
      printf 'in %s\n' "$file"
      return 1
    fi
    if [[ $libraries == *libHalide* && $libraries != *"$prefix"/* ]]; then
      printf '%s takes Halide from elsewhere\n%s\n' "$file" "$libraries"
      return 1
    fi
  done
}

no_build_paths() {
  ! grep -rIl -F -e "$PWD/" -e "$POSENC_VENV" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h' --include='*.inc'
}

build_consumer() {
  cmake -S tests/install -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/consumer"
}

nothing_is_compiled_twice() {
  local output
  output=$(cmake --build "$work/consumer") && [[ $output == *'no work to do'* ]]
}

compile_by_hand() {
  cc tests/install/version.c -I"$prefix/include" -L"$prefix/lib" -lposenc_runtime -pthread -lm -ldl -o "$work/by-hand" &&
    "$work/by-hand"
}

build_compiler_consumer() {
  cmake -S tests/install/compiler -B "$work/compiler" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/compiler"
}

check "install and move the prefix" install_and_move
check "no path of the build is installed" no_build_paths
check "posenc-compile is installed" test -x "$prefix/bin/posenc-compile"
check "the tools find their libraries" libraries_are_found
check "compile against the runtime by hand" compile_by_hand
check "build the consumer" build_consumer
check "run it without a kernel" "$work/consumer/version"
check "run its kernel" "$work/consumer/consumer"
check "a second build does nothing" nothing_is_compiled_twice
check "build with the compiler's libraries" build_compiler_consumer
check "parse with the compiler's libraries" "$work/compiler/compiler" tests/install/consumer.mlir
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
