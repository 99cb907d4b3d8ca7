# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What shell tests share; sourced, not run.
# shellcheck shell=bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
