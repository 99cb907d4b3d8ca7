#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads TableGen definitions through llvm-tblgen --dump-json, for the scripts beside it."""

import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIALECT = "dialect/include/posenc/IR/Posenc.td"
INTERFACES = "dialect/include/posenc/IR/PosencInterfaces.td"
PASSES = "passes/include/posenc/Transforms/Passes.td"


def add_arguments(parser):
    parser.add_argument("--llvm-tblgen", default="llvm-tblgen-22", help="LLVM's tblgen")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include", help="the folder that holds mlir/")


def read_records(options, file):
    """The records of a file of this repository: name -> fields."""
    command = [options.llvm_tblgen, "--dump-json", file, "-I", options.mlir_include]
    for folder in ("dialect/include", "passes/include"):
        command += ["-I", folder]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    return {name: record for name, record in json.loads(output).items()
            if isinstance(record, dict) and "!superclasses" in record}
