#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs posenc-opt on every example of the documentation.

Examples are the ```mlir blocks and the `Example: ...` lines of the TableGen
descriptions, the ```mlir blocks of the Markdown files that are named, and whole
.mlir files. An example that is a part of a kernel or a plan is put into one; values that it
uses without defining them are defined by the names that the documentation uses
throughout (%i is the position of a query, %s is a score, ...).
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

import tablegen

# What a name stands for in an example that does not define it, with the names
# that this needs in turn.
KERNEL_VALUES = {
    "%i": "%i = posenc.position query law(#posenc.iota)",
    "%j": "%j = posenc.position key law(#posenc.iota)",
    "%r": "%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)",
    "%f": "%f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 128>)",
    "%m": "%m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>",
    "%s": "%s = posenc.dot %q, %k scale(0.125)",
    "%t": "%t = posenc.dot %q, %k scale(0.25)",
    "%u": "%u = posenc.select %s mask(#posenc.causal)",
    "%b": "%b = posenc.bias() {\n  %c = arith.constant 1.0 : f64\n  posenc.yield %c : f64\n}",
    "%p": "%p = posenc.normalize softmax %u",
    "%clipped": "%clipped = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 16>)",
    "%rows": ("%rows = posenc.table law(#posenc.operand<\"rows\", rows = 33, channels = 128>)"
              " : !posenc.table<row, channel>"),
    "%vectors": ("%vectors = posenc.table law(#posenc.operand<\"vectors\", channels = 128>)"
                 " : !posenc.table<head, channel>"),
    "%gain": "%gain = posenc.table law(#posenc.operand<\"gain\", channels = 128>) : !posenc.table<channel>",
    "%weights": ("%weights = posenc.table law(#posenc.operand<\"weights\", rows = 128, channels = 128>)"
                 " : !posenc.table<row, head, channel>"),
    "%gates": "%gates = posenc.table law(#posenc.operand<\"gates\">) : !posenc.table<batch, head, key>",
    "%w1": "%w1 = posenc.table law(#posenc.operand<\"w1\", rows = 4, channels = 3>) : !posenc.table<row, channel>",
    "%b1": "%b1 = posenc.table law(#posenc.operand<\"b1\", channels = 3>) : !posenc.table<channel>",
    "%w2": "%w2 = posenc.table law(#posenc.operand<\"w2\", rows = 3>) : !posenc.table<row, head>",
    "%b2": "%b2 = posenc.table law(#posenc.operand<\"b2\">) : !posenc.table<head>",
}
# The same inside of an input embedding.
EMBED_VALUES = {
    "%p": "%p = posenc.position token law(#posenc.iota)",
    "%mask": "%mask = posenc.position token law(#posenc.position_tensor<name = \"mask\">)",
    "%shift": "%shift = posenc.table law(#posenc.operand<\"shift\">) : !posenc.table<batch>",
    "%rows": KERNEL_VALUES["%rows"],
}
# Of a recurrence, which is what its kernel yields.
RECURRENCE_VALUES = {
    "%m": KERNEL_VALUES["%m"],
    "%a": "%a = posenc.vector_norm %q l2 over(head) epsilon(1.0) added : !posenc.query",
    "%b": "%b = posenc.vector_norm %k l2 over(head) epsilon(1.0) added : !posenc.key",
}
RECURRENCE = """posenc.kernel @example heads(2) head_dim(128) {{
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
{body}
  posenc.yield %o : !posenc.output
}}
"""
RECURRENT_PLAN = """posenc.plan @example kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(128) value_dim(128)
    rows([64]) keys(64) {{
  posenc.keys {{
  ^bb0(%k: !posenc.key):
    posenc.yield %k, %k : !posenc.key, !posenc.key
  }}
  posenc.prologue {{
  ^bb0(%q: !posenc.query):
    posenc.yield %q, %q : !posenc.query, !posenc.query
  }}
  posenc.chunk {{
  ^bb0(%q: !posenc.query, %a: !posenc.query, %k: !posenc.key, %b: !posenc.key):
    {body}
    posenc.yield %o : !posenc.output
  }}
}}
"""
EMBED_OPS = r"posenc\.(coord_|length\b|bounded\b|random\b|channel_map\b|dropout\b)"
EMBED = """posenc.embed @example dim(128) {{
^bb0(%x: !posenc.tokens):
{body}
  posenc.yield %x : !posenc.tokens
}}
"""
KERNEL = """posenc.kernel @example heads(2) head_dim(128) {{
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
{body}
  %example_score = posenc.dot %q, %k scale(1.0)
  %example_weights = posenc.normalize softmax %example_score
  %example_output = posenc.weighted_sum %example_weights, %v
  posenc.yield %example_output : !posenc.output
}}
"""
PARTS = {
    "posenc.prologue": ("posenc.prologue {{\n^bb0(%q: !posenc.query):\n{body}\n  posenc.yield %q : !posenc.query\n}}\n"),
    "posenc.keys": ("posenc.keys {{\n^bb0(%k: !posenc.key):\n{body}\n  posenc.yield %k : !posenc.key\n}}\n"),
    "posenc.step": ("posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {{\n"
                    "^bb0(%q: !posenc.query, %k: !posenc.key):\n{body}\n"
                    "  %example_score = posenc.dot %q, %k scale(1.0)\n  posenc.yield %example_score : !posenc.score\n}}\n"),
    "posenc.epilogue": ("posenc.epilogue {{\n^bb0(%state: !posenc.state):\n{body}\n"
                        "  %example_output = posenc.tile.normalize softmax %state\n"
                        "  posenc.yield %example_output : !posenc.output\n}}\n"),
}
ORDER = ["posenc.prepare", "posenc.keys", "posenc.prologue", "posenc.step", "posenc.epilogue"]


def in_plan(part, text):
    """A plan with the parts that it needs, one of which is replaced by or filled with the example."""
    parts = {name: PARTS[name].format(body="") for name in ORDER if name in PARTS and name != "posenc.keys"}
    whole = text.startswith("posenc.")
    parts[part] = text + "\n" if whole else PARTS[part].format(body=text)
    body = "".join(parts[name] for name in ORDER if name in parts)
    return ("posenc.plan @example kernel(@k) isa(\"x86-64\") heads(2) kv_heads(2) head_dim(128) value_dim(128) "
            "rows([8]) keys(256) {\n" + body + "}\n")


def define_free_names(text, values=None):
    """Definitions of the names that the example uses and does not define."""
    values = values or KERNEL_VALUES
    defined = set(re.findall(r"(%\w+)(?:, %\w+)* = ", text)) | set(re.findall(r"(%\w+): ", text))
    lines, seen = [], set(defined)

    def define(source):
        for name in re.findall(r"%\w+", source):
            if name in values and name not in seen:
                seen.add(name)
                define(values[name].split("=", 1)[1])
                lines.append("  " + values[name])

    define(text)
    return "\n".join(lines)


def wrap(text):
    """A module that holds the example."""
    text = text.strip()
    if re.match(r"[#!]posenc\.", text):
        return f"module attributes {{t.example = {text}}} {{}}\n"
    code = re.sub(r"^\s*//.*\n?", "", text, flags=re.MULTILINE).strip()
    if re.match(r"(builtin\.)?module|posenc\.(kernel|embed|plan)\b", code):
        return text + "\n"
    for part in ORDER:
        if code.startswith(part):
            return in_plan(part, code)
    if "posenc.tile.recurrence" in code:
        return RECURRENT_PLAN.format(body=code)
    if "posenc.recurrence" in code:
        return RECURRENCE.format(body=define_free_names(code, RECURRENCE_VALUES) + "\n" + code)
    if "posenc.tile." in code:
        part = ("posenc.epilogue" if "%state" in code else "posenc.prologue" if "%q" in code
                else "posenc.keys" if "%k " in code else "posenc.step")
        if part == "posenc.step":
            return in_plan(part, define_free_names(code) + "\n" + code)
        return in_plan(part, code)
    if re.search(EMBED_OPS, code):
        return EMBED.format(body=define_free_names(code, EMBED_VALUES) + "\n" + code)
    # A name that the example defines is its own.
    kernel = KERNEL.format(body=define_free_names(code) + "\n" + code)
    for name in ("q", "k", "v"):
        if re.search(rf"%{name} = ", code):
            kernel = kernel.replace(f"%{name}: !posenc", f"%example_{name}: !posenc", 1)
            kernel = re.sub(rf"(posenc\.(?:dot|weighted_sum) .*)%{name}\b", rf"\1%example_{name}", kernel)
    return kernel


def find_blocks(text):
    """The ```mlir blocks of a text, each without the indentation of its fence."""
    for match in re.finditer(r"^([ \t]*)```mlir[ \t]*\n(.*?)^\1```[ \t]*$", text, re.MULTILINE | re.DOTALL):
        indent = match.group(1)
        lines = (line[len(indent):] if line.startswith(indent) else line for line in match.group(2).splitlines())
        yield text.count("\n", 0, match.start()) + 1, "\n".join(lines)


def find_inline(text):
    """The examples of lines such as: Examples: `#posenc.causal`, `#posenc.causal<top_left>`"""
    for match in re.finditer(r"Examples?:\s+((?:`[^`]+`(?:,\s*)?)+)", text):
        yield from (re.sub(r"\s+", " ", example) for example in re.findall(r"`([^`]+)`", match.group(1)))


def collect(options):
    """Pairs of where an example stands and its text."""
    for file in (tablegen.DIALECT, tablegen.PASSES):
        for name, record in sorted(tablegen.read_records(options, file).items()):
            # Definitions of MLIR itself are in the dump too.
            if not re.match(r"Posenc", name) or not isinstance(record.get("description"), str):
                continue
            examples = [block for _, block in find_blocks(record["description"])] + list(find_inline(record["description"]))
            for number, example in enumerate(examples, 1):
                yield f"{name}, example {number}", example
    for path in options.files:
        name = os.path.relpath(path, tablegen.ROOT)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".mlir"):
            yield name, text
            continue
        for line, block in find_blocks(text):
            yield f"{name}:{line}", block


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tablegen.add_arguments(parser)
    parser.add_argument("--posenc-opt", required=True)
    parser.add_argument("--least", type=int, default=1, help="fail if there are fewer examples")
    parser.add_argument("files", nargs="*", help="Markdown and .mlir files")
    options = parser.parse_args()
    examples = list(collect(options))

    def run(example):
        where, text = example
        module = wrap(text)
        process = subprocess.run([options.posenc_opt, "--verify-roundtrip", "-o", os.devnull, "-"],
                                 input=module.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if process.returncode == 0:
            return None
        return f"{where}: error: posenc-opt refuses it\n{process.stdout.decode(errors='replace')}\nThe input was:\n{module}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [failure for failure in pool.map(run, examples) if failure]
    print("\n".join(failures))
    if len(examples) < options.least:
        failures.append("")
        print(f"found {len(examples)} examples, expected {options.least} at least")
    print(f"{len(examples) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
