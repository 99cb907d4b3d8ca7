# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The headers of MLIR and of the dialect take most of the time of compiling a
# file, so they are read once. Sources include what they need all the same.
option(POSENC_PRECOMPILE_HEADERS "Read the headers of MLIR and of the dialect once" ON)

set(posenc_mlir_headers
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Math/IR/Math.h> <mlir/IR/BuiltinOps.h>
    <mlir/IR/IRMapping.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/Parser/Parser.h> <mlir/Pass/Pass.h>
    <mlir/Pass/PassManager.h> <llvm/ADT/TypeSwitch.h> <llvm/Support/CommandLine.h>)
set(posenc_dialect_headers ${posenc_mlir_headers} <posenc/IR/Posenc.h> <posenc/IR/FactorOps.h>)

# posenc_add_precompiled(<name> <library>... HEADERS <header>...)
function(posenc_add_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp CONTENT "")
  add_library(posenc_precompiled_${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  target_link_libraries(posenc_precompiled_${name} PRIVATE ${arg_UNPARSED_ARGUMENTS} posenc_warnings)
  target_precompile_headers(posenc_precompiled_${name} PRIVATE ${arg_HEADERS})
endfunction()

if(POSENC_PRECOMPILE_HEADERS)
  posenc_add_precompiled(library posenc_mlir HEADERS ${posenc_mlir_headers})
  posenc_add_precompiled(dialect_library PosencIR HEADERS ${posenc_dialect_headers})
  # A program has other flags than a library: -fPIE, not -fPIC.
  posenc_add_precompiled(dialect_program PosencIR HEADERS ${posenc_dialect_headers})
  set_target_properties(posenc_precompiled_dialect_program PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(posenc_precompiled_dialect_program PRIVATE -fPIE)
endif()

# posenc_precompile(<target>): its files need not read those headers.
function(posenc_precompile target)
  if(NOT POSENC_PRECOMPILE_HEADERS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if("posenc_halide" IN_LIST libraries)
    # Halide is compiled with definitions and headers of its own.
    target_precompile_headers(${target} PRIVATE <Halide.h> ${posenc_dialect_headers})
  elseif(type STREQUAL "EXECUTABLE")
    target_precompile_headers(${target} REUSE_FROM posenc_precompiled_dialect_program)
  elseif(target STREQUAL "PosencIR")
    target_precompile_headers(${target} REUSE_FROM posenc_precompiled_library)
  else()
    target_precompile_headers(${target} REUSE_FROM posenc_precompiled_dialect_library)
  endif()
endfunction()
