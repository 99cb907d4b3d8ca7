# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed: the kernels, their inputs and the work that they do."""

import dataclasses

import numpy as np

HEADS = 8


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    clauses: str = ""
    causal: bool = False
    decode: bool = False
    heads: int = HEADS
    kv_heads: int = HEADS


PREFILL = [
    Case("none"),
    Case("causal", "mask(#posenc.causal)", causal=True),
    Case("rope_causal", "mask(#posenc.causal) encode [#posenc.rope]", causal=True),
    Case("dense_bias", "encode [#posenc.dense_bias]"),
    Case("alibi", "encode [#posenc.alibi<form = symmetric>]"),
    Case("t5", "encode [#posenc.t5_bias<direction = bidirectional>]"),
    Case("softcap", "encode [#posenc.softcap<cap = 50.0>]"),
]

DECODE = [
    Case("decode_1", "mask(#posenc.causal)", decode=True, heads=8, kv_heads=8),
    Case("decode_4", "mask(#posenc.causal)", decode=True, heads=32, kv_heads=8),
    Case("decode_8", "mask(#posenc.causal)", decode=True, heads=64, kv_heads=8),
]


def kernel_name(case, dim, dtype):
    return f"{case.name}_{dim}_{dtype}"


def spec(case, dim, dtype):
    return (f"posenc.kernel @{kernel_name(case, dim, dtype)} heads({case.heads}) kv_heads({case.kv_heads}) "
            f"head_dim({dim}) dtype({dtype}) no_lse {case.clauses}\n")


def make_inputs(case, length, dim):
    """f32 tensors of one sequence, [1, heads, length, dim], and the operands."""
    random = np.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    queries = 1 if case.decode else length
    inputs = {"q": normal(1, case.heads, queries, dim), "k": normal(1, case.kv_heads, length, dim),
              "v": normal(1, case.kv_heads, length, dim)}
    if case.name == "dense_bias":
        inputs["bias"] = normal(case.heads, queries, length)
    if case.name == "t5":
        inputs["t5_bias.table"] = normal(32, case.heads)
    return inputs


def t5_buckets(distance, buckets=32, max_distance=128):
    """T5's bidirectional buckets of key minus query (transformers, modeling_t5.py)."""
    half = buckets // 2
    exact = half // 2
    size = np.abs(distance)
    large = exact + (np.log(np.maximum(size, 1) / exact) / np.log(max_distance / exact) * (half - exact)).astype(np.int64)
    return np.where(distance > 0, half, 0) + np.where(size < exact, size, np.minimum(large, half - 1))


def make_slopes(heads):
    """ALiBi's, of a power of two of heads."""
    return (2.0**(-8.0 * np.arange(1, heads + 1) / heads)).astype(np.float32)


def make_bias(case, inputs, length):
    """What a case adds to scores, for each pair: [heads, length, length]."""
    offset = np.arange(length)[None, :] - np.arange(length)[:, None]
    if case.name == "alibi":
        return (-make_slopes(case.heads)[:, None, None] * np.abs(offset)).astype(np.float32)
    if case.name == "t5":
        return np.ascontiguousarray(inputs["t5_bias.table"][t5_buckets(offset)].transpose(2, 0, 1))
    return inputs["bias"]


def count_flops(case, length, dim):
    """Of both products, on pairs that the mask shows."""
    queries = 1 if case.decode else length
    pairs = length * (length + 1) // 2 if case.causal else queries * length
    return 4.0 * case.heads * pairs * dim


def count_bytes(case, length, dim, dtype):
    """Of the keys and values."""
    return 2.0 * case.kv_heads * length * dim * (4 if dtype == "f32" else 2)


def to_bf16(array):
    """Rounded to the nearest, ties to even, as uint16."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(array):
    return (array.astype(np.uint32) << 16).view(np.float32)
