#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that no pass and no generator knows an encoding by name.

A named encoding means its expansion and nothing else: code after the expansion
that asks for one has gone wrong. So with the laws that scale rotations and the
masks that are stated at level 1 only. The names come from the dialect's
definitions: mnemonics, C++ classes, and class names as parts of identifiers.
"""

import argparse
import os
import re
import sys

import tablegen

FOLDERS = ("generators", "passes")
SUFFIXES = (".cpp", ".h", ".inc", ".td")
ENCODINGS = {"Posenc_EncodingAttr", "Posenc_EmbedEncodingAttr", "Posenc_RopeScalingAttr"}
# Some of their mnemonics are English words ("all", "group").
MASKS = {"Posenc_MaskClauseAttr"}


def find_names(records):
    """The mnemonics, and pairs of a text and a regular expression of what may not be written with it."""
    names, patterns = [], []
    for record in records.values():
        is_mask = bool(MASKS & set(record["!superclasses"]))
        if not is_mask and not ENCODINGS & set(record["!superclasses"]):
            continue
        mnemonic, class_name = record["mnemonic"], record["cppClassName"]
        names.append(mnemonic)
        word = rf"(?<![A-Za-z0-9]){re.escape(mnemonic)}(?![A-Za-z0-9])"
        is_common = is_mask and "_" not in mnemonic
        patterns.append((mnemonic, rf"#posenc\.{word}" if is_common else word))
        patterns.append((class_name, rf"(?<![A-Za-z0-9]){re.escape(class_name)}(?![A-Za-z0-9])"))
        # The class's name as a part of an identifier (lowerRope, RopeTables, Kind::Rope); Shaw is also an author.
        part = re.escape(class_name.removesuffix("Attr"))
        patterns.append((class_name.removesuffix("Attr"),
                         rf"(?:(?<=[a-z0-9_])|(?<=::)){part}(?![a-z])|(?<![A-Z]){part}(?=[A-Z0-9_(]|::)"))
    return sorted(names), patterns


def find_lines(text, patterns):
    """Pairs of a line's number and what it knows."""
    # Few names are in a file at all, and looking for them is what takes time.
    pattern = "|".join(expression for literal, expression in patterns if literal in text)
    if not pattern:
        return
    pattern = re.compile(pattern)
    for number, line in enumerate(text.split("\n"), 1):
        match = pattern.search(line)
        if match:
            yield number, match.group(), line.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tablegen.add_arguments(parser)
    parser.add_argument("--root", default=tablegen.ROOT, help="the tree whose passes and generators are read")
    options = parser.parse_args()
    names, patterns = find_names(tablegen.read_records(options, tablegen.DIALECT))
    if not names:
        print("the dialect defines no encoding\n0 passed, 1 failed")
        return 1
    print("names: " + ", ".join(names))

    found = files = 0
    for folder in FOLDERS:
        for directory, _, entries in os.walk(os.path.join(options.root, folder)):
            for entry in sorted(entries):
                if not entry.endswith(SUFFIXES):
                    continue
                files += 1
                path = os.path.join(directory, entry)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for number, name, line in find_lines(text, patterns):
                    found += 1
                    print(f"{os.path.relpath(path, options.root)}:{number}: error: knows the encoding '{name}': {line}")
    print(f"{files} files, {found} lines know an encoding")
    print(f"{int(not found and files > 0)} passed, {int(found > 0 or files == 0)} failed")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
