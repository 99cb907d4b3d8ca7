# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the scripts share; sourced, not run.
# shellcheck shell=bash

# The virtual environment with cmake, lit, numpy and Halide. It is outside the
# tree, so that a clean clone finds it again.
POSENC_VENV=${POSENC_VENV:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/posenc/venv}
export POSENC_VENV
export PATH="$POSENC_VENV/bin:$PATH"

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# One compile job per core, and no more than there is memory for: a file that
# includes MLIR's headers takes up to 2 GiB.
compile_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo 2>/dev/null || true)
  if [[ -n $memory && $memory -lt $cores ]]; then
    cores=$((memory > 0 ? memory : 1))
  fi
  printf '%s\n' "$cores"
}
