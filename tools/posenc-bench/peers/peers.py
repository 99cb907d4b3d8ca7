#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times posenc's kernels beside PyTorch (SDPA, FlexAttention) and ONNX Runtime on the same numbers.

All libraries run in this process on the same threads, in turn: only ratios of one row compare. Each output is first
compared with posenc's. Times are the minimum of several calls; tables are prepared beforehand; GFLOP/s count pairs that
the mask shows. A library that cannot do a case has no entry.

    cmake --install build/release --prefix /tmp/posenc
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install -r tools/posenc-bench/peers/requirements.txt
    /tmp/peers/bin/python tools/posenc-bench/peers/peers.py --prefix /tmp/posenc
    /tmp/peers/bin/python tools/posenc-bench/peers/peers.py --prefix /tmp/posenc --cases causal,decode_4 --threads 2
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time

import cases as workload


def parse_arguments():
    names = [case.name for case in workload.PREFILL + workload.DECODE]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="where posenc is installed")
    parser.add_argument("--cases", default=",".join(names), help="of: " + ", ".join(names))
    parser.add_argument("--lengths", default="512,2048", help="tokens of a prefill (512,2048)")
    parser.add_argument("--cache-lengths", default="4096,16384", help="keys of a decode (4096,16384)")
    parser.add_argument("--dims", default="64,128", help="head sizes (64,128)")
    parser.add_argument("--dtypes", default="f32,bf16", help="of f32, bf16, f16 (f32,bf16)")
    parser.add_argument("--threads", type=int, default=1, help="threads of every library (1)")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long the calls of a row take about (2)")
    parser.add_argument("--skip", default="", help="of sdpa, flex, ort")
    parser.add_argument("--json", help="also write the results there")
    options = parser.parse_args()
    unknown = set(options.cases.split(",")) - set(names)
    if unknown:
        parser.error(f"--cases: expected some of {', '.join(names)}, but found {', '.join(sorted(unknown))}")
    return options


OPTIONS = parse_arguments()
# Before the libraries start their threads.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(OPTIONS.threads)

import numpy as np  # noqa: E402

import kernels  # noqa: E402


def find_bar(case, length, dtype, peer):
    """By how much posenc must be ahead of a peer."""
    if case.decode:
        return 2.2
    if dtype != "f32":
        return 1.3
    if case.causal:
        return 1.6 if length <= 512 else 1.25
    if case.name in ("none", "dense_bias"):
        return 1.05
    return 1.7 if peer == "FlexAttention" else 1.0


def make_peers(case, inputs, length, dim, dtype):
    """(name, function, conversion of its result)"""
    skipped = OPTIONS.skip.split(",")
    sources = []
    if "sdpa" not in skipped or "flex" not in skipped:
        import torch
        import torch_peers
        torch.set_num_threads(OPTIONS.threads)
        for name in ("sdpa", "flex"):
            if name not in skipped:
                sources.append((getattr(torch_peers, name)(case, inputs, length, dim, dtype), torch_peers.to_numpy))
    if "ort" not in skipped:
        import onnxruntime_peers
        sources.append((onnxruntime_peers.attention(case, inputs, length, dim, dtype, OPTIONS.threads),
                        lambda output: onnxruntime_peers.to_numpy(output, case.heads)))
    for source, convert in sources:
        try:
            for name, function in source:
                yield name, function, convert
        except Exception as error:  # what a library cannot do is a result
            print(f"  {case.name}: {type(error).__name__}: {str(error).splitlines()[0][:150]}", file=sys.stderr)


def bind_posenc(library, pool, case, inputs, dim, dtype):
    convert = {"f32": lambda x: x, "f16": lambda x: x.astype(np.float16), "bf16": workload.to_bf16}[dtype]
    arrays = {name: convert(array) if name in "qkv" else array for name, array in inputs.items()}
    arrays["o"] = np.zeros_like(arrays["q"])
    run = library.bind(workload.kernel_name(case, dim, dtype), arrays, pool)

    def call():
        run()
        return arrays["o"]

    return call, lambda o: workload.from_bf16(o) if dtype == "bf16" else o.astype(np.float32)


def time_in_turn(functions):
    """The least seconds of a call of each."""
    best = {}
    for name, function in functions.items():
        function()  # pages and caches
        start = time.perf_counter()
        function()
        best[name] = time.perf_counter() - start
    rounds = min(60, max(5, int(OPTIONS.seconds / sum(best.values()))))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def measure(library, pool, case, length, dim, dtype):
    inputs = workload.make_inputs(case, length, dim)
    ours, convert_ours = bind_posenc(library, pool, case, inputs, dim, dtype)
    functions = {"posenc": ours}
    expected = convert_ours(ours()).copy()
    tolerance = {"f32": 2e-3, "f16": 1e-2, "bf16": 4e-2}[dtype]
    for name, function, convert in make_peers(case, inputs, length, dim, dtype):
        try:
            difference = float(np.abs(convert(function()) - expected).max())
        except Exception as error:
            print(f"  {name}, {case.name}: {type(error).__name__}: {str(error).splitlines()[0][:150]}", file=sys.stderr)
            continue
        if not difference <= tolerance:
            print(f"  {name}, {case.name}: differs from posenc by {difference:.1e}; left out", file=sys.stderr)
            continue
        functions[name] = function
    seconds = time_in_turn(functions)
    flops = workload.count_flops(case, length, dim)
    return {"case": case.name, "length": length, "dim": dim, "dtype": dtype, "threads": OPTIONS.threads,
            "heads": case.heads, "kv_heads": case.kv_heads, "seconds": seconds,
            "gflops": {name: flops / s * 1e-9 for name, s in seconds.items()},
            "gbytes_per_s": workload.count_bytes(case, length, dim, dtype) / seconds["posenc"] * 1e-9,
            "ratios": {name: {"ratio": s / seconds["posenc"], "bar": find_bar(case, length, dtype, name)}
                       for name, s in seconds.items() if name != "posenc"}}


def is_ahead(row):
    return bool(row["ratios"]) and all(peer["ratio"] >= peer["bar"] for peer in row["ratios"].values())


def describe(row):
    text = f"{row['case']:<12}{row['length']:>6} x {row['dim']:<4}{row['dtype']:<5}{row['gflops']['posenc']:>8.1f} GFLOP/s"
    if row["case"].startswith("decode"):
        text += f" {row['gbytes_per_s']:>5.1f} GB/s"
    for name, peer in sorted(row["ratios"].items(), key=lambda item: item[1]["ratio"]):
        text += f"  {name} {peer['ratio']:.2f}"
        if peer["ratio"] < peer["bar"]:
            text += f" (below {peer['bar']:.2f})"
    return text


def find_cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def list_versions():
    import importlib.metadata
    for name in ("torch", "onnxruntime", "numpy"):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            pass


def main():
    chosen = OPTIONS.cases.split(",")
    prefill = [case for case in workload.PREFILL if case.name in chosen]
    decode = [case for case in workload.DECODE if case.name in chosen]
    dims = [int(dim) for dim in OPTIONS.dims.split(",")]
    dtypes = OPTIONS.dtypes.split(",")
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(workload.spec(case, dim, dtype)
                       for case in prefill + decode for dim in dims for dtype in dtypes)
        library = kernels.Library(text, OPTIONS.prefix, folder)
        pool = library.make_pool(OPTIONS.threads) if OPTIONS.threads > 1 else None
        print(f"{find_cpu()}, threads={OPTIONS.threads}, {', '.join(list_versions())}; "
              "time of each library over posenc's")
        rows = []
        for group, lengths in ((prefill, OPTIONS.lengths), (decode, OPTIONS.cache_lengths)):
            for case in group:
                for dtype in dtypes:
                    for length in map(int, lengths.split(",")):
                        for dim in dims:
                            rows.append(measure(library, pool, case, length, dim, dtype))
                            print(describe(rows[-1]), flush=True)
    compared = [row for row in rows if row["ratios"]]
    print(f"{sum(map(is_ahead, compared))} of {len(compared)} rows with a peer are ahead of every one by what they must be")
    if OPTIONS.json:
        with open(OPTIONS.json, "w", encoding="utf-8") as file:
            json.dump({"cpu": find_cpu(), "versions": list(list_versions()), "results": rows}, file, indent=1)


if __name__ == "__main__":
    main()
