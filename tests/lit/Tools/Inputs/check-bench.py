# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-bench.py REPORT KERNEL MODE:LQ:LK...: the report has the keys of the contract and these results."""
import json
import math
import sys

TEXTS = ["mode", "dtype", "isa"]
COUNTS = ["threads", "batch", "lq", "lk"]
NUMBERS = ["seconds_min", "seconds_median", "gflops", "peak_gflops", "peak_fraction", "gbytes_per_s",
           "bandwidth_gbytes_per_s", "bandwidth_fraction", "ratio_to_no_encoding"]

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
assert list(report) == ["kernel", "cpu", "results"], list(report)
assert report["kernel"] == sys.argv[2] and report["cpu"]
for result, expected in zip(report["results"], sys.argv[3:], strict=True):
    assert list(result) == TEXTS + COUNTS + NUMBERS, list(result)
    assert f"{result['mode']}:{result['lq']}:{result['lk']}" == expected, result
    assert all(isinstance(result[key], int) and result[key] > 0 for key in COUNTS), result
    assert all(math.isfinite(result[key]) and result[key] > 0 for key in NUMBERS), result
