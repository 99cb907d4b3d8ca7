#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every file says what its licence is and, in one line, what the file is.

Files that cannot hold a comment, documents and settings are exempt.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IDENTIFIER = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
EXEMPT_NAMES = {"LICENSE", ".clang-format", ".clang-tidy", ".editorconfig", ".gitattributes", ".gitignore"}
EXEMPT_SUFFIXES = (".json", ".md", ".npy", ".mlirbc", ".svg")
EXEMPT_FOLDERS = ("tests/fuzz/corpus/",)


def check(path):
    """What is wrong with a file, or None."""
    with open(os.path.join(ROOT, path), "rb") as file:
        head = file.read(4096)
    if b"\0" in head:
        return "is binary and not listed as exempt"
    lines = head.decode(errors="replace").splitlines()[:8]
    for number, line in enumerate(lines[:4]):
        if IDENTIFIER in line:
            words = re.findall(r"[A-Za-z]{2,}", " ".join(lines[:number] + lines[number + 1:]).replace("usr bin env", ""))
            return None if len(words) >= 3 else "does not say what it is"
    return f"has no `{IDENTIFIER}` in its first four lines"


def main():
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()
    passed = failed = 0
    for path in sorted(set(output.split("\0")) - {""}):
        full = os.path.join(ROOT, path)
        if (os.path.basename(path) in EXEMPT_NAMES or path.endswith(EXEMPT_SUFFIXES)
                or path.startswith(EXEMPT_FOLDERS) or os.path.islink(full) or not os.path.isfile(full)):
            continue
        problem = check(path)
        if problem:
            failed += 1
            print(f"{path}: error: {problem}")
        else:
            passed += 1
    # One test, whatever the number of files.
    print(f"{passed} files have their licence line, {failed} do not")
    print(f"{int(failed == 0 and passed > 0)} passed, {int(failed > 0)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
