#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the cost model with the machine: which of two sizes of tiles is faster.

For a fixed set of kernels and sizes of tiles it prints the time that posenc-compile predicts and the time that posenc-bench
measures, relative to the first of the set. Two sizes are in the wrong order if each of both differences is larger than the
noise. The last line is `N passed, N failed`, over all pairs.

    scripts/check_cost_model.py
    scripts/check_cost_model.py --isa x86-64-avx2 --length 1024 --noise 0.05
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = {
    "none": "posenc.kernel @none heads(2) head_dim(128)",
    "narrow": "posenc.kernel @narrow heads(2) head_dim(64)",
    "causal": "posenc.kernel @causal heads(2) head_dim(128) mask(#posenc.causal)",
}
SIZES = {
    "x86-64-avx512": ["48x256", "32x256", "16x256", "64x256", "48x64", "48x16"],
    "x86-64-avx2": ["24x256", "16x256", "8x256", "32x256", "24x64", "24x16"],
    "x86-64": ["8x256", "4x256", "16x256", "8x16"],
}
PREDICTED = re.compile(r"predicted to reach ([0-9.]+) % of the peak")


def run(command) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"check_cost_model.py: error: {' '.join(str(word) for word in command)}\n{result.stderr.strip()}")
    return result.stdout


def predict(tools: pathlib.Path, spec: pathlib.Path, kernel: str, tiles: str, isa: str, folder: str) -> float:
    text = run([tools / "posenc-compile/posenc-compile", spec, "--kernel", kernel, f"--target={isa}", f"--tiles={tiles}", "--emit=plan",
                "--explain", "-o", folder])
    return 1 / float(PREDICTED.search(text).group(1))


def measure(tools: pathlib.Path, spec: pathlib.Path, kernel: str, tiles: str, isa: str, folder: str, length: int) -> float:
    output = pathlib.Path(folder) / "bench.json"
    run([tools / "posenc-bench/posenc-bench", spec, "--kernel", kernel, f"--isa={isa}", f"--tiles={tiles}", "--lq", length, "--json", output])
    result = json.loads(output.read_text(encoding="utf-8"))["results"][0]
    # Of the peak in the same run: clocks and neighbours change.
    return 1 / result["peak_fraction"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--build", default="build/dev", help="the build directory (build/dev)")
    parser.add_argument("--isa", choices=SIZES, action="append", help="only this instruction set (may be repeated)")
    parser.add_argument("--length", type=int, default=2048, help="queries and keys (2048)")
    parser.add_argument("--noise", type=float, default=0.03, help="a difference of this share counts (0.03)")
    options = parser.parse_args()

    tools = ROOT / options.build / "tools"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder) / "kernels.mlir"
        spec.write_text("\n".join(KERNELS.values()) + "\n", encoding="utf-8")
        for isa in options.isa or SIZES:
            for kernel in KERNELS:
                print(f"{kernel} on {isa}, {options.length} queries and keys", flush=True)
                times = {}
                for sizes in SIZES[isa]:
                    tiles = f"{isa}={sizes}"
                    times[sizes] = (predict(tools, spec, kernel, tiles, isa, folder),
                                    min(measure(tools, spec, kernel, tiles, isa, folder, options.length) for _ in range(2)))
                    first = times[SIZES[isa][0]]
                    print(f"  {sizes:8} predicted {times[sizes][0] / first[0]:.3f}, measured {times[sizes][1] / first[1]:.3f}", flush=True)
                for a, b in itertools.combinations(times, 2):
                    predicted, measured = times[b][0] / times[a][0] - 1, times[b][1] / times[a][1] - 1
                    is_wrong = predicted * measured < 0 and min(abs(predicted), abs(measured)) > options.noise
                    passed, failed = passed + (not is_wrong), failed + is_wrong
                    if is_wrong:
                        print(f"  wrong order: {b} after {a}: predicted {predicted:+.3f}, measured {measured:+.3f}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
