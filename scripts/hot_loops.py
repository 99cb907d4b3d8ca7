#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what the innermost loops of a kernel's tile functions are made of.

For each loop with products: how many of its instructions are products (multiply-adds, or dot products of pairs), and how
many load registers from the stack or store them there, gather, store vectors, or are vectors narrower than the instruction
set has. With llvm-mca also the cycles that an iteration takes at least on a CPU, and the share of them that the ports would
be busy with the products alone. The matrix loops are those with the most products.

    scripts/hot_loops.py specs/llama-2-7b.mlir
    scripts/hot_loops.py specs/llama-2-7b.mlir --target x86-64-avx2 --cpu haswell --all
    scripts/hot_loops.py specs/llama-2-7b.mlir --target aarch64 --cpu neoverse-n1,neoverse-v1,neoverse-v2

llvm-mca knows no CPU exactly: Zen 4 has one vdpbf16ps a cycle of 512 bits, where its model has a third.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LABEL = re.compile(r"^(\.\w+):")


@dataclasses.dataclass
class Architecture:
    triple: str
    cpu: str
    comment: str
    product: re.Pattern
    jump: re.Pattern  # the label is its group
    register: re.Pattern  # a vector's width is its group
    stack: re.Pattern
    store: re.Pattern
    gather: re.Pattern


X86 = Architecture(
    triple="x86_64", cpu="znver4", comment="#",
    product=re.compile(r"v?(fn?m(add|sub)|dpbf16|mulp)"),
    jump=re.compile(r"j\w+\s+(\.\w+)"),
    register=re.compile(r"%([xyz]mm)\d"),
    stack=re.compile(r"\w*mov\w*\s.*\(%r[sb]p.*%[xyz]mm|\w*mov\w*\s.*%[xyz]mm.*\(%r[sb]p"),
    store=re.compile(r"v?mov\w*\s+%[xyz]mm\d+, .*\("),
    gather=re.compile(r"v\w*gather"))
AARCH64 = Architecture(
    triple="aarch64", cpu="neoverse-v1", comment="//",
    product=re.compile(r"fml[as]|bfdot|bfmmla"),
    jump=re.compile(r"(?:b(?:\.\w+)?|cbn?z\s+\w+,|tbn?z\s+\w+,.*,)\s+(\.\w+)"),
    register=re.compile(r"\b([vqz])\d+"),
    stack=re.compile(r"(ld|st)\w+\s.*\b[qvsdz]\d+.*\[(sp|x29)\b"),
    store=re.compile(r"st\w+\s+{?\s*[qvsdz]\d+"),
    gather=re.compile(r"ld1\w*\s.*\[[^]]*z\d"))
# The architecture and the widest registers of each instruction set.
TARGETS = {
    "x86-64-avx512-bf16": (X86, {"zmm"}),
    "x86-64-avx512": (X86, {"zmm"}),
    "x86-64-avx2": (X86, {"ymm"}),
    "x86-64": (X86, {"xmm"}),
    "aarch64": (AARCH64, {"v", "q"}),
}


def find_inner_loops(lines, architecture):
    """[first line, last line] of the loops that hold no other loop."""
    labels = {}
    loops = []
    for number, line in enumerate(lines):
        if label := LABEL.match(line):
            labels[label.group(1)] = number
        if (jump := architecture.jump.match(line.strip())) and jump.group(1) in labels:
            loops.append((labels[jump.group(1)], number))
    return [loop for loop in loops
            if not any(loop != other and loop[0] <= other[0] and other[1] <= loop[1] for other in loops)]


def get_instructions(lines, architecture):
    stripped = (line.split(architecture.comment)[0].strip() for line in lines)
    return [line for line in stripped if line and not line.startswith(".") and not line.endswith(":")]


def run_mca(instructions, architecture, cpu):
    """Cycles of an iteration, and those that its ports are busy, by llvm-mca; None without it."""
    tool = shutil.which("llvm-mca-22") or shutil.which("llvm-mca")
    if not tool:
        return None
    # A loop's jump means nothing to it.
    text = "\n".join(line for line in instructions if not architecture.jump.match(line))
    result = subprocess.run([tool, f"-mtriple={architecture.triple}", f"-mcpu={cpu}", "-iterations=100"], input=text,
                            capture_output=True, text=True, check=False)
    cycles = re.search(r"Total Cycles:\s+(\d+)", result.stdout)
    busy = re.search(r"Block RThroughput:\s+([\d.]+)", result.stdout)
    return (int(cycles.group(1)) / 100, float(busy.group(1))) if cycles and busy else None


def describe(instructions, architecture, widest):
    """How many products a loop has, and the sentence that is printed of it."""
    counts = collections.Counter()
    for line in instructions:
        counts["products"] += bool(architecture.product.match(line))
        counts["stack"] += bool(architecture.stack.match(line))
        counts["gathers"] += bool(architecture.gather.match(line))
        counts["stores"] += bool(architecture.store.match(line))
        registers = set(architecture.register.findall(line))
        counts["narrow"] += bool(registers) and not registers & widest
    products, total = counts["products"], len(instructions)
    text = (f"{products:4} of {total:4} are products ({100 * products // total:3} %), {counts['stack']} on the stack, "
            f"{counts['gathers']} gathers, {counts['narrow']} narrow, {counts['stores']} stores")
    return products, text


def describe_cycles(instructions, architecture, cpu):
    """What llvm-mca says of a loop; nothing without it."""
    products = [line for line in instructions if architecture.product.match(line)]
    loop, alone = run_mca(instructions, architecture, cpu), run_mca(products, architecture, cpu)
    if not loop or not alone:
        return ""
    return f"; {cpu}: {loop[0]:.1f} cycles, {100 * alone[1] / loop[0]:.0f} % of them products"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", help="a specification")
    parser.add_argument("--kernel", help="the kernel; by default all of the file")
    parser.add_argument("--target", default="x86-64-avx512", choices=TARGETS, help="instruction set (x86-64-avx512)")
    parser.add_argument("--cpu", metavar="NAME,...",
                        help="CPUs that llvm-mca knows the ports of (znver4, or neoverse-v1)")
    parser.add_argument("--all", action="store_true", help="all loops with products, not those with 12 and more")
    parser.add_argument("--posenc-compile", default="posenc-compile", help="the compiler (that of the PATH)")
    options = parser.parse_args()
    architecture, widest = TARGETS[options.target]
    cpus = (options.cpu or architecture.cpu).split(",")
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
            for first, last in find_inner_loops(lines, architecture):
                instructions = get_instructions(lines[first:last + 1], architecture)
                products, text = describe(instructions, architecture, widest)
                if products < (1 if options.all else 12):
                    continue
                text += "".join(describe_cycles(instructions, architecture, cpu) for cpu in cpus)
                print(f"  line {first + 1:6}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
