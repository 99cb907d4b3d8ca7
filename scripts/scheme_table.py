#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of encodings and targets in the README, made from results.

Runs one kernel for each named encoding of the dialect on each instruction set,
compares it with the reference, and writes the table between the markers of the
README (--check: compares instead). A cell is `yes` when the kernel compiled and
agreed; a kernel that the compiler refuses and numbers that differ are errors. On
a CPU without the instruction set the cell that is there stays.
"""

import argparse
import concurrent.futures
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
EXTENTS = {"B": 1, "H": 4, "Lq": 37, "Lk": 51, "L": 29, "H or 1": 4}


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def read_tensors(options, spec, folder):
    """The kernel's tensors as its manifest lists them; nothing when it does not compile."""
    result = run([options.posenc_compile, spec, "--target", "x86-64", "-o", folder])
    if result.returncode:
        print(result.stderr, end="", file=sys.stderr)
        return None
    with open(os.path.join(folder, "k.json"), encoding="utf-8") as file:
        return json.load(file)["tensors"]


def make_inputs(tensors, kv_heads, folder):
    """Random arrays for the tensors, as arguments of posenc-run."""
    rng = np.random.default_rng(1)
    extents = {**EXTENTS, "Hkv": kv_heads}
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
            np.save(path, rng.standard_normal(shape).astype(np.float32))
        arguments += [f"--{name}", path] if name in ("q", "k", "v", "x") else ["--input", f"{name}={path}"]
    return arguments


def measure(options, encoding):
    """The names and shapes of operands, and isa -> whether the kernel agrees with the reference."""
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec.mlir")
        tensors = None

        def compiles(text):
            nonlocal tensors
            with open(spec, "w", encoding="utf-8") as file:
                file.write(text)
            tensors = read_tensors(options, spec, folder)
            return tensors is not None

        text = schemes.find_kernel(options.posenc_opt, encoding, compiles)
        if tensors is None:
            return "", dict.fromkeys(ISAS, "refused")
        kv_heads = int((re.search(r"kv_heads\((\d+)\)", text) or [0, 4])[1])
        command = [options.posenc_run, spec] + make_inputs(tensors, kv_heads, folder)
        command += ["--entry", "embed"] if encoding.isEmbed else []
        cells = {}
        for isa in ISAS:
            result = run(command + ["--compare", "--isa", isa, "-o", os.path.join(folder, "o.npy")])
            if "this CPU does not have" in result.stderr:
                continue
            cells[isa] = "yes" if result.returncode == 0 else "wrong"
            if result.returncode:
                print(f"{encoding.mnemonic} on {isa}: {result.stderr}", end="", file=sys.stderr)
    operands = [f"`{tensor['name']}` [{', '.join(tensor['shape'])}]" for tensor in tensors
                if not tensor["output"] and tensor["name"] not in ("q", "k", "v", "x")]
    return ", ".join(operands), cells


def make_table(options, old):
    lines = [BEGIN, "| encoding | what it is | operands of the kernel that is run | " + " | ".join(ISAS) + " |",
             "|---" * (3 + len(ISAS)) + "|"]
    encodings = schemes.read_encodings(options)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda encoding: measure(options, encoding), encodings))
    problems = []
    for encoding, (operands, cells) in zip(encodings, results):
        row = next((line for line in old if line.startswith(f"| `#posenc.{encoding.mnemonic}` ")), "")
        before = [cell.strip() for cell in row.split("|")[4:-1]] or [""] * len(ISAS)
        texts = [cells.get(isa, before[i]) for i, isa in enumerate(ISAS)]
        for problem in ("refused", "wrong"):
            if problem in texts:
                problems.append(f"#posenc.{encoding.mnemonic} is {problem}")
        lines.append(f"| `#posenc.{encoding.mnemonic}` | {encoding.summary} | {operands} | " + " | ".join(texts) + " |")
    if problems:
        sys.exit("scheme_table.py: error: " + ", ".join(problems))
    return lines + [END]


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
    table = make_table(options, lines[begin:end])
    if table == lines[begin:end + 1]:
        return
    if options.check:
        sys.exit("scheme_table.py: error: the README's table differs from the results:\n" + "\n".join(table))
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:begin] + table + lines[end + 1:]))


if __name__ == "__main__":
    main()
