#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of encodings and targets in the README, made from results.

Runs a kernel for each example of each named encoding, scaling law and mask of
the dialect, and those of "Published variants" in docs/spec.md, on each
instruction set, compares it with the reference, and writes the tables between
the markers of the README (--check: compares instead). A cell is `yes` when the
kernel compiled and agreed; a kernel that the compiler refuses and numbers that
differ are errors. On a CPU without the instruction set the cell that is there
stays.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import schemes
import tablegen

BEGIN, END = "<!-- schemes: made by scripts/scheme_table.py -->", "<!-- schemes end -->"
ISAS = ["x86-64", "x86-64-avx2", "x86-64-avx512"]
EXTENTS = {"B": 1, "Lq": 37, "Lk": 51, "L": 29}
INTRODUCTION = f"""\
Every line is a kernel that agrees with the reference on {', '.join(f'`{isa}`' for isa in ISAS)} (`posenc-run --compare`). Lines
without words are further examples of the line above. Sizes in masks are divided by 256 there, so that 51 keys reach them. The kernels of
published variants are in [docs/spec.md](docs/spec.md#published-variants).
"""


@dataclasses.dataclass
class Row:
    section: str
    label: str
    summary: str
    spec: str


def shrink(example):
    """A mask whose sizes the few keys of a run reach."""
    return re.sub(r"\b\d{2,}\b", lambda number: str(int(number.group()) // 256 or 5), example)


def list_rows(options):
    """All of them; an example that another row shows already is left out."""
    known = schemes.read_schemes(options)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda scheme: schemes.find_kernels(options.posenc_opt, scheme), known))
    rows = {}
    for scheme, kernels in zip(known, found):
        for number, (example, text, printed) in enumerate(kernels):
            label = f"mask({example})" if scheme.kind == "mask" else example
            if scheme.kind == "mask":
                text = text.replace(example, shrink(example))
            row = Row(scheme.section, label, scheme.summary if number == 0 else "", text)
            # A scaling's own row says more than an example of the rotation.
            if scheme.kind == "scaling" or printed not in rows:
                rows[printed] = row
    order = [scheme.section for scheme in known]
    for variant in schemes.read_variants():
        names = ", ".join(f"`@{name}`" for name in re.findall(r"@(\w+)", variant.text))
        rows[variant.text] = Row("Published variants", names, variant.title, variant.text)
    order = list(dict.fromkeys(order)) + ["Published variants"]
    return sorted(rows.values(), key=lambda row: order.index(row.section))


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def make_inputs(tensors, heads, kv_heads, folder):
    """Random arrays for the tensors, as arguments of posenc-run."""
    rng = np.random.default_rng(1)
    extents = {**EXTENTS, "H": heads, "H or 1": heads, "Hkv": kv_heads}
    arguments = []
    for tensor in tensors:
        if tensor["output"]:
            continue
        name = tensor["name"]
        shape = tuple(extents.get(extent) or int(extent) for extent in tensor["shape"])
        path = os.path.join(folder, f"{name}.npy")
        if tensor["dtype"] == "i32":
            np.save(path, np.sort(rng.integers(0, 40, shape), axis=-1).astype(np.int32))
        else:
            values = rng.standard_normal(shape)
            if "Lq" in tensor["shape"] and "Lk" in tensor["shape"]:
                # Zeros of a mask.
                values[rng.random(shape) < 0.3] = 0
            np.save(path, values.astype(np.float32))
        arguments += [f"--{name}", path] if name in ("q", "k", "v", "x") else ["--input", f"{name}={path}"]
    return arguments


def measure_kernel(options, spec, kind, name, folder):
    """The names and shapes of operands, and isa -> whether a kernel agrees with the reference."""
    result = run([options.posenc_compile, spec, "--kernel", name, "--target", "x86-64", "-o", folder])
    if result.returncode:
        print(result.stderr, end="", file=sys.stderr)
        return [], dict.fromkeys(ISAS, "refused")
    with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    tensors = manifest["tensors"]
    command = [options.posenc_run, spec, "--kernel", name]
    command += make_inputs(tensors, manifest.get("heads", 0), manifest.get("kv_heads", 0), folder)
    command += ["--entry", "embed"] if kind == "embed" else []
    cells = {}
    for isa in ISAS:
        result = run(command + ["--compare", "--isa", isa, "-o", os.path.join(folder, "o.npy")])
        if "this CPU does not have" in result.stderr:
            continue
        cells[isa] = "yes" if result.returncode == 0 else "wrong"
        if result.returncode:
            print(f"{name} of {spec} on {isa}: {result.stderr}", end="", file=sys.stderr)
    operands = [f"`{tensor['name']}` [{', '.join(tensor['shape'])}]" for tensor in tensors
                if not tensor["output"] and tensor["name"] not in ("q", "k", "v", "x")]
    return operands, cells


def measure(options, row):
    """As measure_kernel, of all kernels of a row."""
    operands, cells = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec.mlir")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(row.spec)
        for kind, name in re.findall(r"posenc\.(kernel|embed) @(\w+)", row.spec):
            of_kernel, cells_of_kernel = measure_kernel(options, spec, kind, name, folder)
            operands.update(dict.fromkeys(of_kernel))
            for isa, cell in cells_of_kernel.items():
                if cells.get(isa, "yes") == "yes":
                    cells[isa] = cell
    return ", ".join(operands), cells


def make_tables(options, old):
    rows = list_rows(options)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda row: measure(options, row), rows))
    lines, problems, section = [BEGIN, *INTRODUCTION.split("\n")], [], None
    for row, (operands, cells) in zip(rows, results):
        if row.section != section:
            section = row.section
            lines += ["" if lines[-1] else None, f"### {section}", "",
                      "| encoding | what it is | operands of the kernel that is run | " + " | ".join(ISAS) + " |",
                      "|---" * (3 + len(ISAS)) + "|"]
        start = f"| {row.label if row.section == 'Published variants' else f'`{row.label}`'} "
        before = next((line for line in old if line.startswith(start)), "")
        before = [cell.strip() for cell in before.split("|")[4:-1]] or [""] * len(ISAS)
        texts = [cells.get(isa, before[i]) for i, isa in enumerate(ISAS)]
        problems += [f"{row.label} is {problem}" for problem in ("refused", "wrong") if problem in texts]
        lines.append(start + f"| {row.summary} | {operands} | " + " | ".join(texts) + " |")
    if problems:
        sys.exit("scheme_table.py: error: " + ", ".join(problems))
    return [line for line in lines if line is not None] + [END]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posenc-run", default="posenc-run", help="the tool")
    parser.add_argument("--posenc-compile", default="posenc-compile", help="the tool")
    parser.add_argument("--posenc-opt", default="posenc-opt", help="the tool")
    parser.add_argument("--check", action="store_true", help="fail if the README differs, change nothing")
    tablegen.add_arguments(parser)
    options = parser.parse_args()
    readme = os.path.join(tablegen.ROOT, "README.md")
    with open(readme, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin, end = lines.index(BEGIN), lines.index(END)
    tables = make_tables(options, lines[begin:end])
    if tables == lines[begin:end + 1]:
        return
    if options.check:
        sys.exit("scheme_table.py: error: the README's tables differ from the results:\n" + "\n".join(tables))
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:begin] + tables + lines[end + 1:]))


if __name__ == "__main__":
    main()
