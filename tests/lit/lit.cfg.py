# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the tests of this folder run.
#
# Features: avx2 and avx512 (what this CPU can execute), halide,
# sanitizer, plugin (the stock mlir-opt can load posenc), and the name of each tool that
# was built. With POSENC_ROUNDTRIP_ALL in the environment every posenc-opt of
# the suite also checks that its input prints and parses back unchanged.
import os
import sys

import lit.formats

from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

if llvm_config is None:
    import lit.llvm

    lit.llvm.initialize(lit_config, config)
    from lit.llvm import llvm_config

config.name = "posenc"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.posenc_binary, "tests", "lit")

# FileCheck and the like, before any other LLVM's that PATH may have.
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)

for name, path in config.posenc_tools.items():
    if not os.path.exists(path):
        lit_config.fatal(f"{name} is not built: {path} does not exist")

roundtrip = " --verify-roundtrip" if os.environ.get("POSENC_ROUNDTRIP_ALL") else ""
tools = [
    ToolSubst(name, path + (roundtrip if name == "posenc-opt" else ""), unresolved="fatal")
    for name, path in config.posenc_tools.items()
]
tools += [ToolSubst(name, unresolved="fatal") for name in ("FileCheck", "count", "not", "split-file")]
tools += [ToolSubst(name, unresolved="ignore") for name in ("mlir-opt", "mlir-translate", "llvm-nm", "llvm-readobj", "llvm-tblgen")]
llvm_config.add_tool_substitutions(tools, [config.llvm_tools_dir])

config.substitutions += [
    ("%python", sys.executable),
    ("%specs", os.path.join(config.posenc_source, "specs")),
    ("%source", config.posenc_source),
    ("%mlir_include", config.mlir_include_dir),
    ("%plugin", config.posenc_plugin),
    # The programs alone, for scripts that run them.
    ("%posenc_opt", config.posenc_tools["posenc-opt"]),
    ("%posenc_compile", config.posenc_tools.get("posenc-compile", "")),
    ("%posenc_run", config.posenc_tools.get("posenc-run", "")),
]

config.available_features.update(config.posenc_tools)
if config.posenc_sanitize:
    config.available_features.add("sanitizer")
if config.posenc_halide:
    config.available_features.add("halide")
if config.posenc_plugin and os.path.exists(os.path.join(config.llvm_tools_dir, "mlir-opt")):
    config.available_features.add("plugin")


def cpu_flags():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next((set(line.split()) for line in file if line.startswith("flags")), set())
    except OSError:
        return set()


flags = cpu_flags()
if {"avx2", "fma", "f16c", "bmi1", "bmi2"} <= flags:
    config.available_features.add("avx2")
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        config.available_features.add("avx512")
