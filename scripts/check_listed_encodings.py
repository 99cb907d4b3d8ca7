#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that lists of kernels and embeddings for tests leave nothing out.

Every named encoding, scaling law and mask must be stated, with its default and
every other keyword of each parameter. What there is comes from the dialect's
definitions.
"""

import argparse
import os
import re
import sys

import tablegen

CLASSES = {"Posenc_EncodingAttr", "Posenc_EmbedEncodingAttr", "Posenc_RopeScalingAttr",
           "Posenc_MaskAttr", "Posenc_MaskClauseAttr"}
FILES = ("tests/support/encodings.txt", "tests/numerics/EmbedFormulas.cpp")
# Keywords of an enumeration that an encoding refuses.
REFUSED = {("complex_order", "frequency", "none"), ("complex_order", "merge", "mul")}
SWITCHES = {"true": ["true", "false"], "false": ["false", "true"]}


def find_choices(records):
    """mnemonic -> {parameter: (its default or '', its keywords)}."""
    keywords = {f"::posenc::{r['className']}": {records[c["def"]]["symbol"]: records[c["def"]]["str"]
                                                for c in r["enumerants"]}
                for r in records.values() if "EnumInfo" in r["!superclasses"] and r.get("enumerants")}
    choices = {}
    for record in records.values():
        if not CLASSES & set(record["!superclasses"]):
            continue
        found = choices[record["mnemonic"]] = {}
        for argument, name in (record["parameters"] or {"args": []})["args"]:
            parameter = records[argument["def"]] if isinstance(argument, dict) else {"cppType": argument}
            kind, default = parameter["cppType"], parameter.get("defaultValue") or ""
            if kind == "bool":
                found[name] = (default, SWITCHES[default])
            elif kind in keywords:
                found[name] = (keywords[kind].get(default.split("::")[-1], ""), list(keywords[kind].values()))
    return choices


def split(text):
    """`a = 1, b = <c = 2>` at its outer commas."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "<[") - (character in ">]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def find_stated(text):
    """(mnemonic, its parameters as {name: text}) of every attribute in the text."""
    for match in re.finditer(r"#posenc\.(\w+)", text):
        parameters, at = {}, match.end()
        if text[at:at + 1] == "<":
            depth, end = 1, at + 1
            while depth:
                depth += {"<": 1, ">": -1}.get(text[end], 0)
                end += 1
            for part in split(text[at + 1:end - 1]):
                name, _, value = part.partition(" = ")
                # A parameter without a name: `#posenc.causal<top_left>`.
                parameters[name if value else ""] = value or name
        yield match.group(1), parameters


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    tablegen.add_arguments(parser)
    parser.add_argument("files", nargs="*", help="the lists (default: those of the tests)")
    options = parser.parse_args()
    choices = find_choices(tablegen.read_records(options, tablegen.DIALECT))
    missing = {(name, "", "") for name in choices}
    missing |= {(name, parameter, keyword) for name, parameters in choices.items()
                for parameter, (_, keywords) in parameters.items() for keyword in keywords}
    missing -= REFUSED
    count = len(missing)
    for file in options.files or [os.path.join(tablegen.ROOT, file) for file in FILES]:
        with open(file, encoding="utf-8") as lines:
            # Adjacent strings of C++ are one.
            text = re.sub(r'(?<!=) ?"\s*\n\s*"', lambda m: m.group().split('"')[0], lines.read())
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
        for name, stated in find_stated(text):
            missing.discard((name, "", ""))
            for parameter, (default, _) in choices.get(name, {}).items():
                missing.discard((name, parameter, stated.get(parameter, stated.get("", default))))
    for name, parameter, keyword in sorted(missing):
        print(f"error: no kernel or embedding of a test states #posenc.{name}"
              + (f"<{parameter} = {keyword}>" if parameter else ""))
    print(f"{count} choices, {len(missing)} missing")
    print(f"{int(not missing)} passed, {int(bool(missing))} failed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
