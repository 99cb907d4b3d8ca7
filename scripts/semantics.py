#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/semantics.md: each primitive as a formula, each encoding as its composition.

Formulas are those of the definitions; compositions are what the expansion pass
makes of a kernel with the encoding. --check compares instead of writing.
"""

import argparse
import os
import re
import subprocess
import sys

import schemes
import tablegen

PAGE = os.path.join(tablegen.ROOT, "docs/semantics.md")
PARTS = [
    ("Positions, relations, frequencies, tables", "dialect/include/posenc/IR/PosencTermOps.td"),
    ("Vectors", "dialect/include/posenc/IR/PosencVectorOps.td"),
    ("Scores, weights, outputs", "dialect/include/posenc/IR/PosencScoreOps.td"),
    ("Input embeddings", "dialect/include/posenc/IR/PosencEmbedOps.td"),
]
HEAD = """<!-- Made by scripts/semantics.py; do not edit. -->
# Semantics

The meaning of a kernel is its level 2: a body of the primitives below, which the
reference interpreter executes in double precision. A named encoding means its
expansion and nothing else.

`i` is a query row of Lq, `j` a key column of Lk, `h` a query head of H, `c` a
channel, `p` a position in tokens. Scores are natural (base e); a score of -inf is
a masked pair and stays one. Angles are radians; frequencies are radians per
position. Queries are [Lq, head_dim], keys [Lk, head_dim], values [Lk, value_dim]
of one batch entry and head.

A level-1 kernel is put together in this order: vectors in the order of the
`encode` list; dot products and terms inside the scale; caps; terms outside; maps;
the mask; scans; the normaliser; the weighted sum of the values and value terms.
"""


def dedent(text):
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip()


def describe_primitives(options):
    shown = set()
    for title, file in PARTS:
        yield f"\n## {title}\n"
        records = tablegen.read_records(options, file)
        ops = [r for r in records.values() if "Posenc_PrimitiveOp" in r["!superclasses"] or r.get("opName") == "yield"]
        for record in ops:
            name = record["opName"]
            if name in shown or name.startswith("tile."):
                continue
            shown.add(name)
            text = re.split(r"^(?:Constraints:|Examples?:)", dedent(record["description"]), flags=re.MULTILINE)[0]
            yield f"### `posenc.{name}`\n\n{record['summary'].capitalize()}.\n\n{text.strip()}\n"


def describe_encoding(options, encoding):
    kernel = schemes.find_kernel(options.posenc_opt, encoding)
    expanded = subprocess.run([options.posenc_opt, "--posenc-expand-encodings"], input=kernel, check=True,
                              capture_output=True, text=True).stdout
    lines = expanded.strip().split("\n")
    if lines[0] == "module {":
        lines = [line[2:] for line in lines[1:-1]]
    body = "\n".join(line.rstrip() for line in lines).strip()
    # Long lists of numbers say nothing to a reader.
    body = re.sub(r"\[((?:[-+\w.]+, ){6})(?:[-+\w.]+, )+([-+\w.]+)\]", r"[\1..., \2]", body)
    return (f"### `#posenc.{encoding.mnemonic}`\n\n{encoding.summary.capitalize()}.\n\n{encoding.meaning}\n\n"
            f"```\n{kernel.strip()}\n```\nmeans\n```\n{body}\n```\n")


def make_page(options):
    parts = [HEAD] + list(describe_primitives(options)) + ["\n## Encodings\n"]
    parts += [describe_encoding(options, encoding) for encoding in schemes.read_encodings(options)]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posenc-opt", default="posenc-opt", help="the tool")
    parser.add_argument("--check", action="store_true", help="fail if the page differs, change nothing")
    tablegen.add_arguments(parser)
    options = parser.parse_args()
    page = make_page(options)
    if not options.check:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
        return
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != page:
            sys.exit("semantics.py: error: docs/semantics.md is not what the definitions say: run scripts/semantics.py")


if __name__ == "__main__":
    main()
