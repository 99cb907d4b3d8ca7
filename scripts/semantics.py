#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/semantics.md: each primitive and law as a formula, each encoding as its composition.

Formulas are those of the definitions; compositions are what the expansion pass
makes of a kernel with the encoding, for each example of its definition.
--check compares instead of writing.
"""

import argparse
import concurrent.futures
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
    ("Embedding vectors", "dialect/include/posenc/IR/PosencEmbedOps.td"),
]
# Laws of primitives by the interface of their attributes, those of tables without one; other attributes by their name.
LAWS = {
    "PositionLawAttrInterface": "Laws of positions",
    "RelationLawAttrInterface": "Laws of relations",
    "FreqsLawAttrInterface": "Laws of frequencies",
    None: "Laws of tables",
    "block_list": "Lists of blocks, of a kernel's clause `blocks`",
}
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


def describe(name, record):
    return f"### `{name}`\n\n{start_sentence(record['summary'])}.\n\n{schemes.read_meaning(record)}\n"


def start_sentence(text):
    return text[0].upper() + text[1:]


def describe_types(options):
    yield "\n## Values\n\nPrimitives connect values of these types; all numbers are real.\n"
    for record in tablegen.read_records(options, PARTS[0][1]).values():
        if "Posenc_Type" in record["!superclasses"]:
            more = schemes.read_meaning(record) if record["description"] else ""
            yield f"- `!posenc.{record['mnemonic']}`: {record['summary']}" + (f".\n\n{more}\n" if more else "")


def describe_type(records, reference):
    """The shape and the unit of an operand or a result, as its type says them; None for an attribute."""
    record = records[reference["def"]]
    classes = record["!superclasses"]
    if "OpVariable" in classes:
        return describe_type(records, record["constraint"])
    if {"Variadic", "Optional"} & set(classes):
        inner = describe_type(records, record["baseType"])
        return inner and f"{'any number of: ' if 'Variadic' in classes else 'may be left out: '}{inner}"
    if "TypeConstraint" not in classes:
        return None
    return record["summary"]


def describe_values(records, record):
    """A list of operands and results with their shapes and units."""
    lines = []
    for field in ("arguments", "results"):
        for reference, name in record[field]["args"]:
            text = describe_type(records, reference)
            if text:
                lines.append(f"- {'result ' if field == 'results' and name != 'result' else ''}`{name}`: {text}")
    return "\n".join(lines) + "\n" if lines else ""


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
            yield describe(f"posenc.{name}", record)
            yield describe_values(records, record)


def describe_laws(options):
    """What stands in `law(...)` and in clauses."""
    records = tablegen.read_records(options, "dialect/include/posenc/IR/PosencAttrs.td")
    groups = {interface: [] for interface in LAWS}
    for record in records.values():
        if "Posenc_Attr" not in record["!superclasses"] or "Posenc_MaskAttr" in record["!superclasses"]:
            continue
        interfaces = {records[trait["def"]].get("cppInterfaceName") for trait in record["traits"]}
        groups[next((name for name in LAWS if name in interfaces | {record["mnemonic"]}), None)].append(record)
    for interface, title in LAWS.items():
        yield f"\n## {title}\n"
        yield from (describe(f"#posenc.{record['mnemonic']}", record) for record in groups[interface])


def expand(posenc_opt, kernel):
    expanded = subprocess.run([posenc_opt, "--posenc-expand-encodings"], input=kernel, check=True,
                              capture_output=True, text=True).stdout
    lines = expanded.strip().split("\n")
    if lines[0] == "module {":
        lines = [line[2:] for line in lines[1:-1]]
    body = "\n".join(line.rstrip() for line in lines).strip()
    # Long lists of numbers say nothing to a reader.
    return re.sub(r"\[((?:[-+\w.]+, ){6})(?:[-+\w.]+, )+([-+\w.]+)\]", r"[\1..., \2]", body)


def describe_scheme(options, scheme):
    parts, shown = [], set()
    for _, kernel, _ in schemes.find_kernels(options.posenc_opt, scheme):
        body = expand(options.posenc_opt, kernel)
        if body not in shown:
            parts.append(f"```\n{kernel.strip()}\n```\nmeans\n```\n{body}\n```\n")
            shown.add(body)
    return (f"### `#posenc.{scheme.mnemonic}`\n\n{start_sentence(scheme.summary)}.\n\n{scheme.meaning}\n\n"
            + "\n".join(parts))


def make_page(options):
    parts = [HEAD, *describe_types(options), *describe_primitives(options),
             *describe_laws(options)]
    known = schemes.read_schemes(options)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda scheme: describe_scheme(options, scheme), known))
    section = None
    for scheme, text in zip(known, texts):
        if scheme.section != section:
            section = scheme.section
            parts.append(f"\n## {section}\n")
        parts.append(text)
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
