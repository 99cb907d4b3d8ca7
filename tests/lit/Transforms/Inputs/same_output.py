# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every kernel of two files with the reference on the same random inputs.

same_output.py POSENC_RUN FIRST.mlir SECOND.mlir FOLDER QUERIES KEYS [OPERAND=EXTENTxEXTENT...]
Heads and sizes come from the text of the kernels; operands that a kernel does
not read are left out. The outputs must agree to rounding in single precision,
in which they are stored.
"""

import os
import re
import subprocess
import sys

import numpy


def main():
    program, first, second, folder, queries, keys = sys.argv[1:7]
    queries, keys = int(queries), int(keys)
    operands = dict(argument.split("=") for argument in sys.argv[7:])
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(0)

    def save(name, *shape):
        path = os.path.join(folder, name + ".npy")
        numpy.save(path, random.standard_normal(shape).astype(numpy.float32))
        return path

    def run(file, kernel, arguments):
        path = os.path.join(folder, "o.npy")
        subprocess.run([program, file, "--kernel", kernel, "--backend=reference", "-o", path] + arguments, check=True)
        return numpy.load(path)

    with open(first, encoding="utf-8") as file:
        kernels = re.split(r"^\s*(?=posenc\.kernel )", file.read(), flags=re.MULTILINE)[1:]
    worst = 0.0
    for text in kernels:
        name = re.search(r"@(\w+)", text).group(1)
        heads, size = (int(re.search(clause + r"\((\d+)\)", text).group(1)) for clause in (r"\bheads", "head_dim"))
        arguments = []
        for tensor, length in (("q", queries), ("k", keys), ("v", keys)):
            arguments += [f"--{tensor}", save(tensor, 1, heads, length, size)]
        for operand, shape in operands.items():
            if f'#posenc.operand<"{operand}"' in text:
                extents = [int(extent) for extent in shape.split("x")]
                arguments += ["--input", f"{operand}={save(operand, *extents)}"]
        before, after = (run(file, name, arguments) for file in (first, second))
        difference = float(numpy.abs(before - after).max())
        print(f"{name}: {difference:.2g}")
        worst = max(worst, difference)
        if not numpy.abs(before).max() > 0:
            sys.exit(f"{name}: the output is 0 everywhere")
    print(f"{len(kernels)} kernels")
    # Two roundings of numbers of the size of v, at most about 4.
    sys.exit(0 if kernels and worst <= 1e-6 else f"the outputs differ by {worst:.2g}")


if __name__ == "__main__":
    main()
