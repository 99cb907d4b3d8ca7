#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of encodings and targets in the README, made from results.

Runs one kernel for each named encoding of the dialect on each instruction set,
compares it with the reference, and writes the table between the markers of the
README (--check: compares instead). A cell is `yes` when the kernel compiled and
agreed; on a CPU without the instruction set the cell that is there stays.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- schemes: made by scripts/scheme_table.py -->", "<!-- schemes end -->"
ISAS = ["x86-64", "x86-64-avx2", "x86-64-avx512"]

# What the table says of each encoding, and the specification that is run.
ENCODINGS = {
    "nope": ("nothing (NoPE, arXiv 2305.19466)", "", ""),
    "rope": ("rotates queries and keys (arXiv 2104.09864); half or interleaved pairing, partial dims, any base",
             "", "mask(#posenc.causal)"),
    "alibi": ("linear distance bias (arXiv 2108.12409); causal or symmetric, any head count", "",
              "mask(#posenc.causal)"),
    "t5_bias": ("learned bias per logarithmic bucket (arXiv 1910.10683); causal or bidirectional",
                "`t5_bias.table` [buckets, H]", "scale(1.0)"),
    "toeplitz_bias": ("learned bias per clipped distance", "`toeplitz_bias.table` [2 max_distance + 1, H]", ""),
    "dense_bias": ("a bias for each pair", "`bias` [H or 1, Lq, Lk]", ""),
}
# The same for encodings of input embeddings: parameters, and the encodings that see the positions.
LEARNED = ", #posenc.learned_absolute<rows = 99>"
EMBED_ENCODINGS = {
    "raw_index": ("adds the position", "", "", ""),
    "one_hot": ("adds a unit vector for each position", "", "", ""),
    "sinusoidal": ("adds sines and cosines (arXiv 1706.03762); both layouts, exponent laws and orders, padding", "",
                   "<layout = interleaved, exponent = over_dim>", ""),
    "learned_absolute": ("a learned row for each position; added, multiplied or alone, any offset",
                         "`learned_absolute.table` [rows, dim]", "<rows = 99>", ""),
    "conv_s2s": ("learned positions of source or target (arXiv 1705.03122)", "`conv_s2s.source` [rows, dim]",
                 "<side = source, rows = 99>", ""),
    "hierarchical": ("n learned rows for n^2 positions (kexue.fm 7947)", "`hierarchical.table` [rows, dim]",
                     "<rows = 8>", ""),
    "complex_order": ("complex words that turn with their position (ICLR 2020); frequencies and phases shared as stated",
                      "`complex_order.ids` [B, L], `complex_order.amplitude` [words, dim / 2], "
                      "`complex_order.frequency`", "<words = 9, frequency = word_and_dimension>", ""),
    "cape": ("sinusoids of augmented real positions (arXiv 2106.03143)", "",
             "<mode = training, max_global_shift = 5.0, max_local_shift = 0.5, max_global_scaling = 1.03>", ""),
    "cape_2d": ("waves over a grid or plane, augmented (arXiv 2106.03143)", "",
                "<mode = inference, radii = steps, rows = 6, columns = 9>", ""),
    "padded_positions": ("positions that do not count padding: cumsum(mask) - 1, fairseq's make_positions",
                         "`padded_positions.mask` [B, L]", "<source = mask, first = 0, padding = 1>", LEARNED),
    "shifted_positions": ("positions shifted at random (SHAPE, EMNLP 2021); paper and code", "",
                          "<shift = training, law = paper, max_shift = 40>", LEARNED),
    "randomised_positions": ("sorted samples of a longer range (arXiv 2305.16843)",
                             "`randomised_positions.positions` [B, L]", "<range = 99>", LEARNED),
    "pose": ("positions with a random gap (PoSE, arXiv 2309.10400)", "", "<mode = training, target = 90>", LEARNED),
}
EMBED_DIM, TOKENS = 64, 49
EMBED_OPERANDS = {
    "learned_absolute.table": (99, EMBED_DIM), "conv_s2s.source": (99, EMBED_DIM),
    "hierarchical.table": (8, EMBED_DIM), "complex_order.amplitude": (9, EMBED_DIM // 2),
    "complex_order.frequency": (9, EMBED_DIM // 2),
}
EMBED_INTEGERS = {"complex_order.ids": 9, "padded_positions.mask": 2, "randomised_positions.positions": 99}

HEADS, KV_HEADS, DIM, QUERIES, KEYS = 4, 2, 32, 37, 51
OPERANDS = {"t5_bias.table": (32, HEADS), "toeplitz_bias.table": (255, HEADS), "bias": (HEADS, QUERIES, KEYS)}


def find_encodings():
    """Mnemonics of the attributes that are encodings."""
    encodings = []
    for path in sorted(glob.glob(os.path.join(ROOT, "dialect/include/posenc/IR/*Encodings.td"))):
        with open(path, encoding="utf-8") as file:
            encodings += re.findall(r'Posenc_(?:Embed)?EncodingAttr<\s*"\w+",\s*"(\w+)"', file.read())
    return encodings


def make_embed(encoding, folder):
    """The specification of an input embedding and the arguments that run it."""
    _, operands, parameters, following = EMBED_ENCODINGS[encoding]
    spec = os.path.join(folder, "spec.mlir")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"posenc.embed @e dim({EMBED_DIM}) dropout(0.1) encode [#posenc.{encoding}{parameters}{following}]\n")
    rng = np.random.default_rng(1)
    command = [spec, "--entry=embed"]
    names = re.findall(r"`([\w.]+)`", operands) + ["learned_absolute.table"] * bool(following)
    arrays = {name: rng.integers(0, EMBED_INTEGERS[name], (2, TOKENS)).astype(np.int32) if name in EMBED_INTEGERS
              else rng.standard_normal(EMBED_OPERANDS[name]).astype(np.float32) for name in names}
    for name, array in arrays.items():
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, array)
        command += ["--input", f"{name}={path}"]
    if encoding != "complex_order":  # which replaces x
        path = os.path.join(folder, "x.npy")
        np.save(path, rng.standard_normal((2, TOKENS, EMBED_DIM)).astype(np.float32))
        command += ["--x", path]
    return command


def measure(tool, encoding, clauses, folder):
    """isa -> whether the kernel agrees with the reference."""
    if encoding in EMBED_ENCODINGS:
        return measure_command([tool] + make_embed(encoding, folder), folder)
    spec = os.path.join(folder, "spec.mlir")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(f"posenc.kernel @k heads({HEADS}) kv_heads({KV_HEADS}) head_dim({DIM}) dtype(f32) {clauses}\n"
                   f"  encode [#posenc.{encoding}]\n")
    rng = np.random.default_rng(1)
    command = [tool, spec]
    arrays = {"--q": (1, HEADS, QUERIES, DIM), "--k": (1, KV_HEADS, KEYS, DIM), "--v": (1, KV_HEADS, KEYS, DIM)}
    for flag, shape in arrays.items():
        path = os.path.join(folder, f"{flag[2:]}.npy")
        np.save(path, rng.standard_normal(shape).astype(np.float32))
        command += [flag, path]
    for name in re.findall(r"`([\w.]+)`", ENCODINGS[encoding][1]):
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, rng.standard_normal(OPERANDS[name]).astype(np.float32))
        command += ["--input", f"{name}={path}"]
    return measure_command(command, folder)


def measure_command(command, folder):
    results = {}
    for isa in ISAS:
        result = subprocess.run(command + ["--compare", "--isa", isa, "-o", os.path.join(folder, "o.npy")],
                                capture_output=True, text=True)
        if "this CPU does not have" in result.stderr:
            continue
        results[isa] = result.returncode == 0
        if not results[isa]:
            print(result.stderr, end="", file=sys.stderr)
    return results


def make_table(tool, old):
    lines = [BEGIN, "| encoding | what it does | operands | " + " | ".join(ISAS) + " |", "|---" * (3 + len(ISAS)) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for encoding, (text, operands, clauses, *_) in (ENCODINGS | EMBED_ENCODINGS).items():
            results = measure(tool, encoding, clauses, folder)
            row = next((line for line in old if line.startswith(f"| `#posenc.{encoding}` ")), "")
            before = [cell.strip() for cell in row.split("|")[4:-1]] or ["no"] * len(ISAS)
            cells = [("yes" if results[isa] else "no") if isa in results else before[i] for i, isa in enumerate(ISAS)]
            lines.append(f"| `#posenc.{encoding}` | {text} | {operands} | " + " | ".join(cells) + " |")
    return lines + [END]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posenc-run", default="posenc-run", help="the tool")
    parser.add_argument("--check", action="store_true", help="fail if the README differs, change nothing")
    options = parser.parse_args()
    encodings = find_encodings()
    known = sorted(ENCODINGS | EMBED_ENCODINGS)
    if sorted(encodings) != known:
        sys.exit(f"scheme_table.py: error: expected the encodings {sorted(encodings)}, found {known}")
    readme = os.path.join(ROOT, "README.md")
    with open(readme, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin, end = lines.index(BEGIN), lines.index(END)
    table = make_table(options.posenc_run, lines[begin:end])
    if table == lines[begin:end + 1]:
        return
    if options.check:
        sys.exit("scheme_table.py: error: the README's table differs from the results:\n" + "\n".join(table))
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:begin] + table + lines[end + 1:]))


if __name__ == "__main__":
    main()
