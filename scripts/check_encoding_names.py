#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that no pass and no generator knows an encoding by name.

A named encoding means its expansion and nothing else: code after the expansion
that asks for one has gone wrong. The names come from the dialect's definitions.
"""

import argparse
import os
import re
import sys

import tablegen

FOLDERS = ("generators", "passes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    tablegen.add_arguments(parser)
    records = tablegen.read_records(parser.parse_args(), tablegen.DIALECT)
    encodings = [r for r in records.values()
                 if {"Posenc_EncodingAttr", "Posenc_EmbedEncodingAttr"} & set(r["!superclasses"])]
    if not encodings:
        print("the dialect defines no encoding\n0 passed, 1 failed")
        return 1
    names = sorted(r["mnemonic"] for r in encodings) + sorted(r["cppClassName"] for r in encodings)
    pattern = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(map(re.escape, names)) + r")(?![A-Za-z0-9])")
    print("names: " + ", ".join(names))

    found = files = 0
    for folder in FOLDERS:
        for directory, _, entries in os.walk(os.path.join(tablegen.ROOT, folder)):
            for entry in sorted(entries):
                if not entry.endswith((".cpp", ".h", ".inc")):
                    continue
                files += 1
                path = os.path.join(directory, entry)
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        match = pattern.search(line)
                        if match:
                            found += 1
                            print(f"{os.path.relpath(path, tablegen.ROOT)}:{number}: error: knows the encoding "
                                  f"'{match.group()}': {line.strip()}")
    print(f"{files} files, {found} lines know an encoding")
    print(f"{int(not found and files > 0)} passed, {int(found > 0 or files == 0)} failed")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
