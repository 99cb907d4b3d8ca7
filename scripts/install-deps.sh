#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what posenc is built and tested with on Debian 12: Debian packages
# (as root or with sudo), and a Python virtual environment in POSENC_VENV. What
# is there already is left alone; if all is, nothing is fetched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/common.sh

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22 liblld-22-dev
  clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev
  libgtest-dev libdlpack-dev
  ninja-build ccache g++ gcc python3-venv file git
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
)
python_packages=('cmake>=3.28,<4' lit numpy)
halide='halide==21.0.0'

install_debian_packages() {
  local missing=() package status
  if ! command -v dpkg-query >/dev/null; then
    die "this is not Debian; install the equivalent of: ${packages[*]}"
  fi
  for package in "${packages[@]}"; do
    # shellcheck disable=SC2016 # dpkg-query's own variable
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "the ${#packages[@]} Debian packages are installed"
    return
  fi

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || die "run as root, or install sudo; missing packages: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q || say "the package lists could not be updated; trying with those at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}"
}

venv_is_complete() {
  [[ -x $POSENC_VENV/bin/python3 ]] && "$POSENC_VENV/bin/python3" - <<'PYTHON'
import importlib.metadata as metadata
import os
import sys


def version(name):
    text = metadata.version(name)
    return tuple(int(part) if part.isdigit() else 0 for part in text.split("."))


try:
    complete = (
        (3, 28) <= version("cmake") < (4,)
        and version("halide")[:2] == (21, 0)
        and version("lit")
        and version("numpy")
        and os.access(os.path.join(os.path.dirname(sys.executable), "cmake"), os.X_OK)
    )
except metadata.PackageNotFoundError:
    complete = False
sys.exit(0 if complete else 1)
PYTHON
}

install_python_packages() {
  mkdir -p "$(dirname "$POSENC_VENV")"
  # Two runs at the same time must not both fill it.
  exec 9>"$POSENC_VENV.lock"
  flock 9
  if venv_is_complete; then
    say "the Python environment in $POSENC_VENV is complete"
  else
    say "filling the Python environment in $POSENC_VENV"
    # An incomplete one is made anew, but nothing that is not one is deleted.
    if [[ -d $POSENC_VENV && ! -f $POSENC_VENV/pyvenv.cfg && -n $(ls -A "$POSENC_VENV") ]]; then
      die "$POSENC_VENV is not a Python environment; set POSENC_VENV to another folder"
    fi
    python3 -m venv --clear "$POSENC_VENV"
    local pip=("$POSENC_VENV/bin/pip" --disable-pip-version-check install --quiet)
    "${pip[@]}" "${python_packages[@]}"
    # Halide's Python dependencies are for its Python API, which is not used.
    "${pip[@]}" --no-deps "$halide"
    venv_is_complete || die "pip left $POSENC_VENV incomplete"
  fi
  exec 9>&-
}

install_debian_packages
install_python_packages
