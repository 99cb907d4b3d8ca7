#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named encodings as their definitions describe them, for the scripts beside it."""

import dataclasses
import re
import subprocess

import tablegen

ENCODINGS = "dialect/include/posenc/IR/PosencEncodings.td"
# Sizes of the kernels that show an encoding; the first that the verifier takes.
HEAD_DIMS = [32, 64, 128]


@dataclasses.dataclass
class Encoding:
    mnemonic: str
    summary: str
    # The description in Markdown, without its constraints and examples.
    meaning: str
    # Attributes that show it, the one with defaults first.
    examples: list
    isEmbed: bool


def read_encodings(options):
    """All of them, in the order of their names."""
    encodings = []
    for record in tablegen.read_records(options, ENCODINGS).values():
        classes = record["!superclasses"]
        is_embed = "Posenc_EmbedEncodingAttr" in classes
        if not is_embed and "Posenc_EncodingAttr" not in classes:
            continue
        lines = record["description"].split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        text = "\n".join(line[indent:] for line in lines)
        meaning = re.split(r"^(?:Constraints:|Examples?:)", text, flags=re.MULTILINE)[0].strip()
        mnemonic = record["mnemonic"]
        shown = re.findall(r"`(#posenc\.%s(?:<(?:[^`]*)>)?)`" % mnemonic, text, re.DOTALL)
        examples = list(dict.fromkeys([f"#posenc.{mnemonic}"] + [" ".join(e.split()) for e in shown]))
        encodings.append(Encoding(mnemonic, record["summary"], meaning, examples, is_embed))
    return sorted(encodings, key=lambda encoding: encoding.mnemonic)


def find_kernel(posenc_opt, encoding, accepts=lambda text: True):
    """The first specification with the encoding that the verifier takes and `accepts`, or else that it takes."""
    first = None
    for example in encoding.examples:
        if encoding.isEmbed:
            candidates = [f"posenc.embed @k dim({dim}) encode [{example}]\n" for dim in (32, 64)]
        else:
            candidates = [f"posenc.kernel @k heads(4) kv_heads({kv}) head_dim({dim}){mask}\n  encode [{example}]\n"
                          for dim in HEAD_DIMS for mask in (" mask(#posenc.causal)", "") for kv in (2, 4)]
        for text in candidates:
            if subprocess.run([posenc_opt], input=text, capture_output=True, text=True).returncode:
                continue
            if accepts(text):
                return text
            first = first or text
    if first:
        return first
    raise SystemExit(f"error: no example of #posenc.{encoding.mnemonic} makes a kernel")
