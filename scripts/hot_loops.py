#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what the innermost loops of a kernel's tile functions are made of.

For each loop with products: how many of its instructions are products (multiply-adds, or dot products of pairs), and how
many load registers from the stack or store them there, gather, or are vectors narrower than the instruction set has.
With llvm-mca also the cycles that an iteration takes at least on a CPU, and the share of them in which the ports of the
products are busy. The matrix loops are those with the most products.

    scripts/hot_loops.py specs/llama-2-7b.mlir
    scripts/hot_loops.py specs/llama-2-7b.mlir --target x86-64-avx2 --cpu haswell --all

llvm-mca knows no CPU exactly: Zen 4 has one vdpbf16ps a cycle of 512 bits, where its model has a third.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PRODUCT = re.compile(r"^v?(fn?m(add|sub)|dpbf16|mulp)")
LABEL = re.compile(r"^(\.\w+):")
JUMP = re.compile(r"^\s+j\w+\s+(\.\w+)")
WIDEST = {"x86-64-avx512-bf16": "zmm", "x86-64-avx512": "zmm", "x86-64-avx2": "ymm", "x86-64": "xmm"}


def find_inner_loops(lines):
    """[first line, last line] of the loops that hold no other loop."""
    labels = {}
    loops = []
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            labels[label.group(1)] = number
        if (jump := JUMP.match(line)) and jump.group(1) in labels:
            loops.append((labels[jump.group(1)], number))
    return [loop for loop in loops
            if not any(loop != other and loop[0] <= other[0] and other[1] <= loop[1] for other in loops)]


def get_instructions(lines):
    stripped = (line.split("#")[0].strip() for line in lines)
    return [line for line in stripped if line and not line.startswith(".") and not line.endswith(":")]


def run_mca(instructions, cpu):
    """Cycles of an iteration, by llvm-mca; None without it."""
    tool = shutil.which("llvm-mca-22") or shutil.which("llvm-mca")
    if not tool:
        return None
    # A loop's jump means nothing to it.
    text = "\n".join(line for line in instructions if not line.startswith("j"))
    result = subprocess.run([tool, "-mtriple=x86_64", f"-mcpu={cpu}", "-iterations=100"], input=text,
                            capture_output=True, text=True, check=False)
    cycles = re.search(r"Total Cycles:\s+(\d+)", result.stdout)
    return int(cycles.group(1)) / 100 if cycles else None


def describe(instructions, widest):
    """How many products a loop has, and the sentence that is printed of it."""
    counts = collections.Counter()
    for line in instructions:
        name = line.split()[0]
        counts["products"] += bool(PRODUCT.match(name))
        on_stack = re.search(r"\(%r[sb]p", line) and re.search(r"%[xyz]mm", line)
        counts["stack"] += bool(on_stack and "mov" in name)
        counts["gathers"] += "gather" in name
        vectors = re.findall(r"%([xyz]mm)\d", line)
        counts["narrow"] += bool(vectors) and widest not in vectors
    products, total = counts["products"], len(instructions)
    text = (f"{products:4} of {total:4} are products ({100 * products // total:3} %), "
            f"{counts['stack']} on the stack, {counts['gathers']} gathers, {counts['narrow']} narrow")
    return products, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", help="a specification")
    parser.add_argument("--kernel", help="the kernel; by default all of the file")
    parser.add_argument("--target", default="x86-64-avx512", choices=WIDEST, help="instruction set (x86-64-avx512)")
    parser.add_argument("--cpu", default="znver4", help="the CPU that llvm-mca knows the ports of (znver4)")
    parser.add_argument("--all", action="store_true", help="all loops with products, not those with 12 and more")
    parser.add_argument("--posenc-compile", default="posenc-compile", help="the compiler (that of the PATH)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [options.posenc_compile, options.spec, "--emit=asm", f"--target={options.target}", "-o", folder]
        if options.kernel:
            command.append(f"--kernel={options.kernel}")
        if subprocess.run(command, check=False).returncode:
            return 1
        for path in sorted(pathlib.Path(folder).glob("*.s")):
            if path.name.endswith("_driver.s"):
                continue
            lines = path.read_text().splitlines()
            print(path.stem)
            for first, last in find_inner_loops(lines):
                instructions = get_instructions(lines[first:last + 1])
                products, text = describe(instructions, WIDEST[options.target])
                if products < (1 if options.all else 12):
                    continue
                if cycles := run_mca(instructions, options.cpu):
                    text += f", {cycles:.1f} cycles ({products / cycles:.2f} products a cycle)"
                print(f"  line {first + 1:6}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
