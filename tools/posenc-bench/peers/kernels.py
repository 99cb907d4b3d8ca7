# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles posenc specifications and calls the kernels through their C interface.

The library of a kernel and the runtime are linked into a shared object; the manifest says which fields the
arguments' struct has, and tensors are passed as DLTensors, without a copy."""

import ctypes
import json
import os
import subprocess

import numpy as np


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Call(ctypes.Structure):
    """posenc_call of posenc.h."""
    _fields_ = [("size", ctypes.c_size_t), ("pool", ctypes.c_void_p), ("scratch", ctypes.c_void_p),
                ("scratch_bytes", ctypes.c_size_t), ("prepared", ctypes.c_void_p), ("stream", ctypes.c_void_p),
                ("first_head", ctypes.c_int32), ("seed", ctypes.c_uint64), ("offset", ctypes.c_uint64)]


TYPES = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "int32": (0, 32)}


def view(array, dtype):
    """A DLTensor of a numpy array; bf16 numbers come as uint16. Both must outlive the calls."""
    code, bits = TYPES[dtype]
    assert array.itemsize * 8 == bits, (array.dtype, dtype)
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
    return DLTensor(array.ctypes.data, 1, 0, array.ndim, DLDataType(code, bits, 1), shape, strides, 0)


class Library:
    """The kernels of a specification's text."""

    def __init__(self, text, prefix, folder):
        os.makedirs(folder, exist_ok=True)
        spec = os.path.join(folder, "kernels.mlir")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([os.path.join(prefix, "bin", "posenc-compile"), spec, "-o", folder], check=True)
        self.manifests = {}
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    manifest = json.load(file)
                self.manifests[manifest["kernel"]] = manifest
        archives = [os.path.join(folder, f"lib{name}.a") for name in self.manifests]
        shared = os.path.join(folder, "kernels.so")
        subprocess.run(["cc", "-shared", "-o", shared, "-Wl,--whole-archive", *archives,
                        find_runtime(prefix), "-Wl,--no-whole-archive", "-lpthread", "-lm", "-ldl"], check=True)
        self.library = ctypes.CDLL(shared)
        self.library.posenc_last_error.restype = ctypes.c_char_p

    def make_pool(self, threads):
        pool = ctypes.c_void_p()
        if self.library.posenc_pool_create(ctypes.c_int32(threads), ctypes.byref(pool)):
            raise RuntimeError(self.library.posenc_last_error().decode())
        return pool

    def bind(self, kernel, arrays, pool):
        """A function of no arguments that calls the kernel with tables prepared. `arrays` has the inputs and outputs
        by name; those that it lacks are NULL."""
        tensors = self.manifests[kernel]["tensors"]
        args_type = type("Args", (ctypes.Structure,), {
            "_fields_": [("size", ctypes.c_size_t)] + [(t["field"], ctypes.POINTER(DLTensor)) for t in tensors]})
        args = args_type(size=ctypes.sizeof(args_type))
        keep = []
        for tensor in tensors:
            if tensor["name"] in arrays:
                keep.append(view(arrays[tensor["name"]], tensor["dtype"]))
                setattr(args, tensor["field"], ctypes.pointer(keep[-1]))
        call = Call(size=ctypes.sizeof(Call), pool=pool)

        def allocate(function, *arguments):
            function.restype = ctypes.c_size_t
            size = function(ctypes.byref(args), *arguments)
            keep.append(np.zeros(size + 64, np.uint8))
            return keep[-1].ctypes.data + -keep[-1].ctypes.data % 64, size

        prepared, size = allocate(getattr(self.library, kernel + "_prepared_bytes"))
        self.check(getattr(self.library, kernel + "_prepare")(ctypes.byref(args), ctypes.c_void_p(prepared),
                                                              ctypes.c_size_t(size)))
        call.prepared = prepared
        call.scratch, call.scratch_bytes = allocate(getattr(self.library, kernel + "_scratch_bytes"), ctypes.byref(call))
        function = getattr(self.library, kernel)

        def run():
            self.check(function(ctypes.byref(args), ctypes.byref(call)))

        run.keep = (keep, args, call, arrays)
        return run

    def check(self, status):
        if status:
            raise RuntimeError(self.library.posenc_last_error().decode())


def find_runtime(prefix):
    for folder in ("lib", "lib64"):
        path = os.path.join(prefix, folder, "libposenc_runtime.a")
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"no libposenc_runtime.a below {prefix}; expected an installed posenc (cmake --install)")
