#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every specification, runs it and compares it with the reference.

Uses nothing but posenc-compile, posenc-run and, unless --no-bench is given or
there is none, posenc-bench. Prints one line for each kernel, and last `N passed,
N failed`; the exit code is 0 if all were compiled and within the accuracy bounds.
"""

import argparse
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    np = None  # --help works without

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclasses.dataclass
class Kernel:
    spec: str
    name: str
    attributes: dict  # heads, kv_heads, head_dim, ... as written
    is_embed: bool = False

    def number(self, name, default=None):
        value = self.attributes.get(name)
        return int(value) if value and value.isdigit() else default


class Failure(Exception):
    pass


def run(command, **kwargs):
    """Runs a tool; its first error is the failure's text."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, errors="replace", **kwargs)
    if result.returncode != 0:
        lines = [line for line in (result.stderr + result.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if "error:" in line] or lines[-1:] or [f"exit code {result.returncode}"]
        raise Failure(f"{os.path.basename(command[0])}: {errors[0]}")
    return result.stdout + result.stderr


def list_kernels(spec):
    with open(spec, encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    starts = list(re.finditer(r'^\s*posenc\.(kernel|embed)\s+@"?([\w.$-]+)"?', text, re.MULTILINE))
    kernels = []
    for start, following in zip(starts, starts[1:] + [None]):
        rest = text[start.end():following.start() if following else len(text)]
        head = re.split(r"\bencode\b|\{", rest)[0]
        kernels.append(Kernel(spec, start.group(2), dict(re.findall(r"\b(\w+)\(([^()]*)\)", head)),
                              start.group(1) == "embed"))
    return kernels


def list_operands(explanation, sizes):
    """The further inputs: lines `operand NAME: TYPE [EXTENT, ...]` of posenc-compile --explain.

    An extent is a number or one of B, H, "H or 1", Hkv, Lq, Lk, L.
    """
    operands = []
    for name, dtype, extents in re.findall(r"\boperand '?([\w.]+)'?:? (\w+) ?\[([^\]]*)\]", explanation):
        extents = extents.replace("H or 1", "H")
        shape = [int(e) if e.isdigit() else sizes[e] for e in re.split(r"[,\s]+", extents.strip()) if e]
        operands.append((name, dtype, shape))
    return operands


def make_operand(rng, dtype, shape):
    if dtype.startswith("i"):
        # Positions.
        return np.broadcast_to(np.arange(shape[-1], dtype=np.int32), shape)
    return rng.standard_normal(shape).astype(np.float32)


def check_attention(tools, kernel, explanation, options, folder):
    """(largest error, fraction of the bound); posenc-run knows the rule"""
    heads = kernel.number("heads")
    if not heads or not kernel.number("head_dim"):
        raise Failure("heads(...) and head_dim(...) are not numbers in the specification")
    kv_heads = kernel.number("kv_heads", heads)
    group = heads // kv_heads
    kv_heads = max(1, min(kv_heads, options.max_heads // group))
    heads = kv_heads * group
    dim = kernel.number("head_dim")
    value_dim = kernel.number("value_dim", dim)
    length = options.length
    sizes = {"B": 1, "H": heads, "Hkv": kv_heads, "Lq": length, "Lk": length}

    rng = np.random.default_rng(1)
    shapes = {"q": (1, heads, length, dim), "k": (1, kv_heads, length, dim), "v": (1, kv_heads, length, value_dim)}
    command = [tools["posenc-run"], kernel.spec, "--kernel", kernel.name]
    for name, shape in shapes.items():
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, rng.standard_normal(shape).astype(np.float32))
        command += [f"--{name}", path]
    for name, dtype, shape in list_operands(explanation, sizes):
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, make_operand(rng, dtype, shape))
        command += ["--input", f"{name}={path}"]

    report = run(command + options.run_isa + ["--compare", "-o", os.path.join(folder, "o.npy")])
    error, fraction = re.search(r"^o: largest error (\S+), (\S+) of what is allowed$", report, re.MULTILINE).groups()
    return float(error), float(fraction)


def check_embed(tools, kernel, explanation, options, folder):
    """(largest error, fraction of the bound) of an input embedding"""
    operands = list_operands(explanation, {"B": 1, "L": options.length})
    # A learned table has a row for each position.
    length = min([options.length] + [shape[0] for _, dtype, shape in operands if dtype == "f32" and len(shape) == 2])
    rng = np.random.default_rng(1)
    path = os.path.join(folder, "x.npy")
    np.save(path, rng.standard_normal((1, length, kernel.number("dim"))).astype(np.float32))
    command = [tools["posenc-run"], kernel.spec, "--entry=embed", "--kernel", kernel.name, "--x", path]
    for name, dtype, shape in operands:
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, make_operand(rng, dtype, shape))
        command += ["--input", f"{name}={path}"]
    report = run(command + options.run_isa + ["--compare", "-o", os.path.join(folder, "y.npy")])
    error, fraction = re.search(r"^y: largest error (\S+), (\S+) of what is allowed$", report, re.MULTILINE).groups()
    return float(error), float(fraction)


def measure(tools, kernel, options, folder):
    """(GFLOP/s, fraction of the FMA peak measured in the same run) on one thread, or None."""
    if "posenc-bench" not in tools or kernel.is_embed:
        return None
    report = os.path.join(folder, "bench.json")
    run([tools["posenc-bench"], kernel.spec, "--kernel", kernel.name, "--mode=prefill", "--threads", "1",
         "--lq", str(options.length), "--lk", str(options.length), "--json", report])
    with open(report, encoding="utf-8") as file:
        result = json.load(file)["results"][0]
    return result["gflops"], result["peak_fraction"]


def stripped_size(path, folder):
    copy = os.path.join(folder, "stripped.a")
    shutil.copyfile(path, copy)
    run(["strip", "--strip-unneeded", copy])
    return os.path.getsize(copy)


def find_tools(prefix):
    """The tools of an installation or of a build directory."""
    tools = {}
    for name in ("posenc-compile", "posenc-run", "posenc-bench"):
        for path in (os.path.join(prefix, "bin", name), os.path.join(prefix, "tools", name, name)):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                tools[name] = path
    for name in ("posenc-compile", "posenc-run"):
        if name not in tools:
            sys.exit(f"quickstart.py: error: expected {name} in {prefix}/bin, found none")
    return tools


def check_kernel(tools, kernel, options, kernel_folder):
    """The cells of a kernel's line, and what went wrong."""
    cells = ["-"] * 6
    try:
        with tempfile.TemporaryDirectory(dir=options.output) as folder:
            start = time.monotonic()
            explanation = run([tools["posenc-compile"], kernel.spec, "--kernel", kernel.name, "--explain",
                               "-o", kernel_folder] + options.compile_isa)
            cells[0] = f"{time.monotonic() - start:.2f} s"
            cells[1] = f"{stripped_size(os.path.join(kernel_folder, f'lib{kernel.name}.a'), folder) / 1000:.1f} KB"
            check = check_embed if kernel.is_embed else check_attention
            error, fraction = check(tools, kernel, explanation, options, folder)
            cells[2], cells[3] = f"{error:.2e}", f"{fraction:.2f}"
            performance = measure(tools, kernel, options, folder)
            if performance:
                cells[4], cells[5] = f"{performance[0]:.1f}", f"{100 * performance[1]:.0f} %"
    except (Failure, OSError, ValueError, KeyError, IndexError, AttributeError) as error:
        return cells, f"{kernel.name}: {error}"
    return cells, None


def main():
    parser = argparse.ArgumentParser(prog="scripts/quickstart.sh", description="Compiles and checks the specifications.")
    parser.add_argument("--prefix", default=os.path.join(ROOT, "build/release/install"),
                        help="where posenc is installed, or a build directory")
    parser.add_argument("--output", default=os.path.join(ROOT, "build/quickstart"), help="for libraries, headers and arrays")
    parser.add_argument("--length", type=int, default=512, help="number of queries and keys (512)")
    parser.add_argument("--max-heads", type=int, default=1 << 20, metavar="N", help="run the first heads only")
    parser.add_argument("--isa", help="compile and run for one instruction set (default: compile all, run the best)")
    parser.add_argument("--no-bench", action="store_true", help="measure nothing, and use all cores")
    parser.add_argument("specs", nargs="*", help="specification files (all of specs/)")
    options = parser.parse_args()
    options.compile_isa = ["--target", options.isa] if options.isa else []
    options.run_isa = ["--isa", options.isa] if options.isa else []

    tools = find_tools(options.prefix)
    if options.no_bench:
        tools.pop("posenc-bench", None)
    specs = options.specs or sorted(glob.glob(os.path.join(ROOT, "specs", "*.mlir")))
    kernels = [kernel for spec in specs for kernel in list_kernels(spec)]
    if not kernels:
        sys.exit("quickstart.py: error: found no kernel in the specifications")

    kernel_folder = os.path.join(options.output, "kernels")
    os.makedirs(kernel_folder, exist_ok=True)
    (runtime,) = glob.glob(os.path.join(options.prefix, "lib*", "**", "libposenc_runtime.a"), recursive=True)[:1] or [None]
    if runtime:
        print(f"runtime library: {stripped_size(runtime, options.output) / 1000:.1f} KB stripped")
    print(f"length {options.length}, batch 1, one thread; 'of bound' is the largest error over the allowed one\n")
    width = max(len(kernel.name) for kernel in kernels)
    print(f"{'specification':24} {'kernel':{width}} {'compile':>8} {'size':>9} {'max error':>10} {'of bound':>8} "
          f"{'GFLOP/s':>8} {'of peak':>7}")

    failures = []
    # What is measured has the machine for itself.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if options.no_bench else 1) as pool:
        results = pool.map(lambda kernel: check_kernel(tools, kernel, options, kernel_folder), kernels)
        for kernel, (cells, failure) in zip(kernels, results):
            if failure:
                failures.append(failure)
            label = f"{os.path.basename(kernel.spec):24} {kernel.name:{width}}"
            print(f"{label} {cells[0]:>8} {cells[1]:>9} {cells[2]:>10} {cells[3]:>8} {cells[4]:>8} {cells[5]:>7}", flush=True)

    print()
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(kernels) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
