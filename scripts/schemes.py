#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named encodings, scaling laws and masks as their definitions describe them, for the scripts beside it."""

import dataclasses
import os
import re
import subprocess

import tablegen

# Sizes of the kernels that show an encoding; the first that the verifier takes.
HEAD_DIMS = [32, 64, 128, 4]
# By the file of the definition, in the order of pages.
SECTIONS = {
    "RotaryEncodings.td": "Rotations",
    "RotaryScaling.td": "Scaling of rotations",
    "RemapEncodings.td": "Other distances, and temperatures",
    "BiasEncodings.td": "Biases",
    "ContentEncodings.td": "Products with positions",
    "NormEncodings.td": "Norms",
    "ScoreEncodings.td": "Functions of scores, and weights",
    "PosencAttrs.td": "Masks",
    "MaskClauses.td": "Masks",
    "EmbedEncodings.td": "Input embeddings",
}
KINDS = {"Posenc_EncodingAttr": "encoding", "Posenc_EmbedEncodingAttr": "embed", "Posenc_RopeScalingAttr": "scaling",
         "Posenc_MaskAttr": "mask", "Posenc_MaskClauseAttr": "mask"}
VARIANTS = os.path.join(tablegen.ROOT, "docs/spec.md")


@dataclasses.dataclass
class Scheme:
    mnemonic: str
    kind: str
    section: str
    summary: str
    # The description in Markdown, without its constraints and examples.
    meaning: str
    # What shows it, the one with defaults first: attributes for the encode list or for the mask.
    examples: list


@dataclasses.dataclass
class Variant:
    """A published composition that is no attribute of its own."""
    title: str
    text: str


def dedent(text):
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip()


def read_meaning(record):
    """A description without its constraints and examples."""
    return re.split(r"^(?:Constraints:|Examples?:)", dedent(record["description"]), flags=re.MULTILINE)[0].strip()


def find_examples(record, kind):
    """What a description shows, behind the attribute with its defaults."""
    name = f"#posenc.{record['mnemonic']}"
    stated = re.search(r"^Examples?:(.*)", dedent(record["description"]), re.MULTILINE | re.DOTALL)
    shown = [" ".join(example.split()) for example in re.findall(r"`(#posenc\.[^`]*)`", stated.group(1) if stated else "")]
    examples = [name] + [example for example in shown if example != name]
    if kind == "mask" and examples[1:]:
        # What they state may be the defaults, and says more.
        examples = examples[1:] + examples[:1]
    if kind == "scaling":
        examples = [e if e.startswith("#posenc.rope") else f"#posenc.rope<scaling = {e}>" for e in examples]
        # With their defaults most change nothing.
        examples = examples[1:]
    return list(dict.fromkeys(examples))


def read_schemes(options):
    """All of them, by section and name."""
    schemes = []
    for record in tablegen.read_records(options, tablegen.DIALECT).values():
        kind = next((KINDS[name] for name in record["!superclasses"] if name in KINDS), None)
        if not kind or not isinstance(record.get("mnemonic"), str):
            continue
        section = SECTIONS[os.path.basename(record["!locs"][0].split(":")[0])]
        schemes.append(Scheme(record["mnemonic"], kind, section, record["summary"], read_meaning(record),
                              find_examples(record, kind)))
    order = list(dict.fromkeys(SECTIONS.values()))
    return sorted(schemes, key=lambda scheme: (order.index(scheme.section), scheme.mnemonic))


def read_variants():
    """The examples of the section "Published variants", each behind a comment."""
    with open(VARIANTS, encoding="utf-8") as file:
        section = file.read().split("\n### Published variants\n")[1].split("\n## ")[0]
    variants = []
    for block in re.findall(r"^```mlir\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        for part in block.strip().split("\n\n"):
            lines = part.split("\n")
            comments = [line for line in lines if line.startswith("// ")]
            text = "\n".join(lines[len(comments):]) + "\n"
            variants.append(Variant(" ".join(line[3:] for line in comments), text))
    return variants


def list_kernels(scheme, example):
    """Specifications with an example, the plainest first."""
    if scheme.kind == "embed":
        for dim in (32, 64, 128):
            yield f"posenc.embed @k dim({dim}) encode [{example}]\n"
        return
    for heads in (4, 2):
        for dim in HEAD_DIMS:
            if scheme.kind == "mask":
                yield f"posenc.kernel @k heads({heads}) head_dim({dim}) mask({example})\n"
                continue
            for mask in (" mask(#posenc.causal)", ""):
                for kv_heads in (heads // 2, heads):
                    yield (f"posenc.kernel @k heads({heads}) kv_heads({kv_heads}) head_dim({dim}){mask}\n"
                           f"  encode [{example}]\n")


def find_kernels(posenc_opt, scheme):
    """Triples of an example, a specification, and this as posenc-opt prints it, which an example with other words shares."""
    found = {}
    for example in scheme.examples:
        for text in list_kernels(scheme, example):
            result = subprocess.run([posenc_opt], input=text, capture_output=True, text=True)
            if result.returncode == 0:
                found.setdefault(result.stdout, (example, text, result.stdout))
                break
        else:
            # Some have no defaults.
            if "<" in example:
                raise SystemExit(f"error: no kernel takes the example {example}")
    if not found:
        raise SystemExit(f"error: no example of #posenc.{scheme.mnemonic} makes a kernel")
    return list(found.values())
