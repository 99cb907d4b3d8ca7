# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's scaled_dot_product_attention and FlexAttention."""

import math

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def t5_buckets(distance, buckets=32, max_distance=128):
    """T5's bidirectional buckets of key minus query (transformers, modeling_t5.py)."""
    half = buckets // 2
    exact = half // 2
    size = distance.abs()
    large = exact + (torch.log(size.clamp(min=1).float() / exact) / math.log(max_distance / exact) *
                     (half - exact)).to(torch.int64)
    return torch.where(distance > 0, half, 0) + torch.where(size < exact, size, large.clamp(max=half - 1))


def make_slopes(heads):
    return torch.tensor([2.0**(-8.0 * (h + 1) / heads) for h in range(heads)])


def make_rotation(length, dim):
    """Cosines and sines of RoPE, pairs (k, k + dim / 2)."""
    angles = torch.outer(torch.arange(length).float(), 1e4**-(torch.arange(0, dim, 2).float() / dim))
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def make_bias(case, inputs, length):
    """The dense bias of the case, or none."""
    offset = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    if case.name == "dense_bias":
        return torch.from_numpy(inputs["bias"])
    if case.name == "alibi":
        return -make_slopes(case.heads)[:, None, None] * offset.abs()
    if case.name == "t5":
        return torch.from_numpy(inputs["t5_bias.table"])[t5_buckets(offset)].permute(2, 0, 1).contiguous()
    return None


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
        bias = make_bias(case, inputs, length).to(TYPES[dtype])[None]
        yield "SDPA dense bias", lambda: attend(q, k, v, attn_mask=bias)


def flex(case, inputs, length, dim, dtype):
    q, k, v = (torch.from_numpy(inputs[name]).to(TYPES[dtype]) for name in "qkv")
    slopes = make_slopes(case.heads)
    score, mask = None, None
    if case.name == "dense_bias":
        bias = torch.from_numpy(inputs["bias"])
        score = lambda s, b, h, i, j: s + bias[h, i, j]
    elif case.name == "alibi":
        score = lambda s, b, h, i, j: s - slopes[h] * (i - j).abs()
    elif case.name == "t5":
        table = torch.from_numpy(inputs["t5_bias.table"])
        buckets = t5_buckets(torch.arange(1 - length, length)).to(torch.int32)
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
