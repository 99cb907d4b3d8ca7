#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tests/install/run.sh BUILD_DIRECTORY
# Installs a build into a fresh prefix, moves that elsewhere, and builds and
# runs programs against it. The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/common.sh
source tests/support/check.sh

[[ $# -eq 1 ]] || die "usage: tests/install/run.sh BUILD_DIRECTORY"
build=$(realpath "$1")
prefix=$work/moved/prefix

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

# The library gives the very bytes that the tool writes.
compile_with_library() {
  mkdir "$work/library" "$work/tool" &&
    "$work/compiler/compiler" tests/install/consumer.mlir "$work/library" &&
    "$prefix/bin/posenc-compile" tests/install/consumer.mlir --no-cache --target=x86-64,x86-64-avx2 -o "$work/tool" &&
    diff -r "$work/library" "$work/tool"
}

run_what_the_library_compiled() {
  cc tests/install/consumer.c -I"$work/library" -I"$prefix/include" -L"$work/library" -L"$prefix/lib" \
    -lconsumer_causal -lconsumer_embedding -lposenc_runtime -pthread -lm -o "$work/from-library" &&
    "$work/from-library"
}

# hidden COMMAND...: runs it where the build and the Python environment do not
# exist. The command sees the rest of the machine.
hidden() {
  # shellcheck disable=SC2016 # the inner shell's variables
  unshare --map-root-user --mount sh -c '
    mount -t tmpfs none "$1" && mount -t tmpfs none "$2" && shift 2 && exec "$@"' \
    sh "$build" "$POSENC_VENV" env -u LD_LIBRARY_PATH "$@"
}

save_arrays() {
  "$POSENC_VENV/bin/python3" -c '
import sys, numpy
for name, heads in (("q", 4), ("k", 2), ("v", 2)):
    numpy.save(f"{sys.argv[1]}/{name}.npy", numpy.random.default_rng(heads).standard_normal((heads, 9, 64)))' "$work"
}

# compile_alone, run_alone: the tools with nothing but their prefix.
compile_alone() {
  hidden "$prefix/bin/posenc-compile" "$PWD/tests/install/consumer.mlir" --no-cache \
    --target=x86-64,x86-64-avx2 -o "$work/alone" && diff -r "$work/alone" "$work/tool"
}

run_alone() {
  save_arrays &&
    POSENC_CACHE_DIR="$work/cache" hidden "$prefix/bin/posenc-run" "$PWD/tests/install/consumer.mlir" \
      --q "$work/q.npy" --k "$work/k.npy" --v "$work/v.npy" -o "$work/o.npy" && test -s "$work/o.npy"
}

check "install and move the prefix" install_and_move
check "no path of the build is installed" no_build_paths
check "posenc-compile is installed" test -x "$prefix/bin/posenc-compile"
check "the tools find their libraries" libraries_are_found
check "compile against the runtime by hand" compile_by_hand
check "build the consumer" build_consumer
check "run it without a kernel" "$work/consumer/version"
check "run its kernel and its embedding" "$work/consumer/consumer"
check "a second build does nothing" nothing_is_compiled_twice
check "build with the compiler's libraries" build_compiler_consumer
check "compile with the compiler's libraries" compile_with_library
check "run what they compiled" run_what_the_library_compiled
if unshare --map-root-user --mount true 2>/dev/null; then
  check "posenc-compile without the build and its environment" compile_alone
  check "posenc-run without the build and its environment" run_alone
else
  printf 'SKIPPED: tools without the build and its environment: this machine gives no user namespaces\n'
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
