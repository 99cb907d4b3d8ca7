# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's scaled_dot_product_attention and FlexAttention."""

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import cases

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def make_rotation(length, dim):
    """Cosines and sines of RoPE, pairs (k, k + dim / 2)."""
    angles = torch.outer(torch.arange(length).float(), 1e4**-(torch.arange(0, dim, 2).float() / dim))
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def sdpa(case, inputs, length, dim, dtype):
    """(name, function that gives the output) of each way to call it."""
    q, k, v = (torch.from_numpy(inputs[name]).to(TYPES[dtype]) for name in "qkv")
    attend = F.scaled_dot_product_attention
    if case.decode:
        group = case.heads // case.kv_heads
        folded = q.reshape(1, case.kv_heads, group, dim)
        yield "SDPA", lambda: attend(folded, k, v).reshape(1, case.heads, 1, dim)
        if group > 1:
            yield "SDPA enable_gqa", lambda: attend(q, k, v, enable_gqa=True)
    elif case.name == "none":
        yield "SDPA", lambda: attend(q, k, v)
    elif case.name == "causal":
        yield "SDPA", lambda: attend(q, k, v, is_causal=True)
    elif case.name == "rope_causal":
        cos, sin = (x.to(TYPES[dtype]) for x in make_rotation(length, dim))
        yield "SDPA", lambda: attend(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
    elif case.name == "softcap":
        scale = dim**-0.5
        yield "eager", lambda: torch.softmax(50 * torch.tanh(q @ k.mT * (scale / 50)), -1) @ v
    else:
        bias = torch.from_numpy(cases.make_bias(case, inputs, length)).to(TYPES[dtype])[None]
        yield "SDPA dense bias", lambda: attend(q, k, v, attn_mask=bias)


def flex(case, inputs, length, dim, dtype):
    q, k, v = (torch.from_numpy(inputs[name]).to(TYPES[dtype]) for name in "qkv")
    slopes = torch.from_numpy(cases.make_slopes(case.heads))
    score, mask = None, None
    if case.name == "dense_bias":
        bias = torch.from_numpy(inputs["bias"])
        score = lambda s, b, h, i, j: s + bias[h, i, j]
    elif case.name == "alibi":
        score = lambda s, b, h, i, j: s - slopes[h] * (i - j).abs()
    elif case.name == "t5":
        table = torch.from_numpy(inputs["t5_bias.table"])
        buckets = torch.from_numpy(cases.t5_buckets(np.arange(1 - length, length)).astype(np.int32))
        score = lambda s, b, h, i, j: s + table[buckets[j - i + (length - 1)], h]
    elif case.name == "softcap":
        score = lambda s, b, h, i, j: 50.0 * torch.tanh(s / 50.0)
    if case.causal:
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device="cpu")
    if case.name == "rope_causal":
        return  # the rotation would be a call of its own, as for SDPA
    torch._dynamo.reset()
    gqa = case.heads != case.kv_heads
    compiled = torch.compile(lambda q, k, v: flex_attention(q, k, v, score_mod=score, block_mask=mask, enable_gqa=gqa),
                             dynamic=False, fullgraph=True)
    yield "FlexAttention", lambda: compiled(q, k, v)


def to_numpy(output):
    return output.float().numpy()
