#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/build.sh PRESET [TARGET...]
# Configures build/PRESET and builds the targets, by default all. The presets
# are those of CMakePresets.json: dev, release, asan, tsan, fuzz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

[[ $# -ge 1 && $1 != -* ]] || die "usage: scripts/build.sh PRESET [TARGET...]"
preset=$1
shift

[[ -x $POSENC_VENV/bin/cmake ]] || die "no CMake in $POSENC_VENV; run scripts/install-deps.sh first"
targets=()
if [[ $# -gt 0 ]]; then
  targets=(--target "$@")
fi
# Tools of a sanitizer build run during the build; see scripts/run_tests.py.
export ASAN_OPTIONS="${ASAN_OPTIONS:-allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0}"

say "configuring and building build/$preset"
cmake --preset "$preset" --log-level=WARNING
cmake --build --preset "$preset" --parallel "$(compile_jobs)" "${targets[@]}"
