#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, builds, and runs every test. The last line is
# `N passed, N failed`, the sum over all runners. For options and the names of
# the runners: scripts/test.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

case " $* " in
*' --help '* | *' -h '*) exec python3 scripts/run_tests.py "$@" ;;
esac
scripts/install-deps.sh
exec "$POSENC_VENV/bin/python3" scripts/run_tests.py "$@"
