# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's MultiHeadAttention and GroupQueryAttention."""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import cases

TYPES = {"f32": (np.float32, TensorProto.FLOAT), "f16": (np.float16, TensorProto.FLOAT16)}


def bind(node, feeds, outputs, shared, threads):
    """A function that runs a model of one node on bound buffers and gives its first output. `shared` are outputs that
    lie where an input does."""
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16,
             np.dtype(np.int32): TensorProto.INT32}
    graph = helper.make_graph(
        [node], "attention",
        [helper.make_tensor_value_info(name, kinds[array.dtype], array.shape) for name, array in feeds.items()],
        [helper.make_tensor_value_info(name, kinds[array.dtype], array.shape) for name, array in outputs.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    results = {name: values[shared[name]] if name in shared else ort.OrtValue.ortvalue_from_numpy(array)
               for name, array in outputs.items()}
    for name, value in results.items():
        binding.bind_ortvalue_output(name, value)
    first = results[next(iter(outputs))]

    def run():
        session.run_with_iobinding(binding)
        return first

    run.keep = values, results
    return run


def to_rows(array, dtype):
    """[1, heads, length, dim] -> [1, length, heads * dim]"""
    _, heads, length, dim = array.shape
    return np.ascontiguousarray(array.transpose(0, 2, 1, 3).reshape(1, length, heads * dim).astype(TYPES[dtype][0]))


def attention(case, inputs, length, dim, dtype, threads):
    if dtype not in TYPES:
        return  # the CPU provider has no bf16 attention
    kind = TYPES[dtype][0]
    q, k, v = (to_rows(inputs[name], dtype) for name in "qkv")
    if case.causal or case.decode:
        yield from group_query(case, q, k, v, inputs, length, dim, dtype, threads)
        return
    if case.name == "softcap":
        return
    feeds = {"q": q, "k": k, "v": v}
    names = ["q", "k", "v"]
    if case.name != "none":
        feeds["bias"] = cases.make_bias(case, inputs, length).astype(kind)[None]
        names += ["", "", "bias"]
    node = helper.make_node("MultiHeadAttention", names, ["o"], domain="com.microsoft", num_heads=case.heads)
    name = "ORT MHA" if case.name == "none" else "ORT MHA dense bias"
    yield name, bind(node, feeds, {"o": np.zeros_like(q)}, {}, threads)


def group_query(case, q, k, v, inputs, length, dim, dtype, threads):
    kind = TYPES[dtype][0]
    past = length - 1 if case.decode else 0
    # With a cache as long as the sequence, keys before the last are read where they are.
    room = length if case.decode else 0
    names = ["q", "k", "v", "past_k", "past_v", "lengths", "total"]
    cache = (1, case.kv_heads, length, dim)
    feeds = {"q": q, "k": k[:, past:], "v": v[:, past:],
             "past_k": np.ascontiguousarray(inputs["k"][:, :, :room].astype(kind)),
             "past_v": np.ascontiguousarray(inputs["v"][:, :, :room].astype(kind)),
             "lengths": np.array([length - 1], np.int32), "total": np.array([length], np.int32)}
    feeds["k"], feeds["v"] = (np.ascontiguousarray(feeds[name]) for name in "kv")
    extra = {}
    if case.name == "rope_causal":
        angles = np.outer(np.arange(length), 1e4**-(np.arange(0, dim, 2) / dim))
        feeds["cos"], feeds["sin"] = np.cos(angles).astype(kind), np.sin(angles).astype(kind)
        names += ["cos", "sin"]
        extra["do_rotary"] = 1
    node = helper.make_node("GroupQueryAttention", names, ["o", "keys", "values"], domain="com.microsoft",
                            num_heads=case.heads, kv_num_heads=case.kv_heads, **extra)
    outputs = {"o": np.zeros_like(q), "keys": np.zeros(cache, kind), "values": np.zeros(cache, kind)}
    shared = {"keys": "past_k", "values": "past_v"} if case.decode else {}
    yield "ORT GQA", bind(node, feeds, outputs, shared, threads)


def to_numpy(output, heads):
    rows = output.numpy().astype(np.float32)
    return rows.reshape(1, rows.shape[1], heads, -1).transpose(0, 2, 1, 3)
