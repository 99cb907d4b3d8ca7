#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a fresh Debian 12 to compiled kernels: installs what is missing, builds
# and installs posenc into build/release/install, compiles every specification
# of specs/, compares each kernel with the reference, and builds and runs the C
# example. Arguments go to scripts/quickstart.py (see its --help).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

prefix=$PWD/build/release/install
case " $* " in
*' --help '* | *' -h '*) exec python3 scripts/quickstart.py "$@" ;;
esac

say "1/4 what is needed"
scripts/install-deps.sh

say "2/4 build and install into ${prefix#"$PWD/"}"
scripts/build.sh release
cmake --install build/release | grep -v -e '-- Up-to-date' -e '-- Installing' || true

say "3/4 compile the specifications and compare with the reference"
"$POSENC_VENV/bin/python3" scripts/quickstart.py --prefix "$prefix" "$@"

say "4/4 the C example"
cmake -S examples/c -B build/quickstart/c -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" --log-level=WARNING
cmake --build build/quickstart/c
programs=0
for program in build/quickstart/c/*; do
  if [[ -f $program && -x $program ]]; then
    say "running $program"
    "$program"
    programs=$((programs + 1))
  fi
done
[[ $programs -gt 0 ]] || die "the C example built no program"
say "done: tools in build/release/install/bin, kernels in build/quickstart/kernels"
