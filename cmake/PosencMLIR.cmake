# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The only file that talks to LLVM's and MLIR's CMake packages.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "posenc: MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")
if(NOT LLVM_ENABLE_RTTI)
  message(FATAL_ERROR "posenc needs an MLIR built with RTTI, since Halide is; ${MLIR_DIR} is not")
endif()

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})

# Headers and definitions of LLVM and MLIR. Everything links the two shared
# libraries; mixing in the static archives would give two type registries.
add_library(posenc_mlir INTERFACE)
# The installed package takes the include directories from the MLIR it finds.
list(TRANSFORM LLVM_INCLUDE_DIRS REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>" OUTPUT_VARIABLE posenc_llvm_includes)
list(TRANSFORM MLIR_INCLUDE_DIRS REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>" OUTPUT_VARIABLE posenc_mlir_includes)
target_include_directories(posenc_mlir SYSTEM INTERFACE ${posenc_llvm_includes} ${posenc_mlir_includes})
target_compile_definitions(posenc_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(posenc_mlir INTERFACE MLIR LLVM)

# posenc_tablegen(<target> <td-file> [<generator-flag> <output> ...])
# Runs mlir-tblgen on a .td once for each flag/output pair and adds <target>
# that builds them all into the current binary directory.
function(posenc_tablegen target td)
  set(outputs)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(pairs ${ARGN})
  set(includes ${MLIR_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/dialect/include ${PROJECT_SOURCE_DIR}/passes/include)
  list(TRANSFORM includes PREPEND -I)
  while(pairs)
    list(POP_FRONT pairs flags output)
    separate_arguments(flag_list UNIX_COMMAND "${flags}")
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${td})
    set(result ${CMAKE_CURRENT_BINARY_DIR}/${output})
    add_custom_command(
      OUTPUT ${result}
      COMMAND mlir-tblgen ${flag_list} ${source} -o ${result} -d ${result}.d --write-if-changed
              ${includes}
      DEPENDS ${source} mlir-tblgen
      DEPFILE ${result}.d
      VERBATIM)
    list(APPEND outputs ${result})
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
endfunction()

# posenc_add_library(<name> SOURCES ... [DEPENDS tablegen-targets] [LIBS ...])
# A library of the compiler: static, public headers in the module's include/,
# exported with the package. DEPENDS also reaches every target that links it,
# since generated headers are part of the interface.
function(posenc_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LIBS;PRIVATE_LIBS")
  add_library(${name} STATIC ${arg_SOURCES})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC posenc_mlir ${arg_LIBS}
                                PRIVATE $<BUILD_INTERFACE:posenc_warnings> ${arg_PRIVATE_LIBS})
  posenc_precompile(${name})
  install(TARGETS ${name} EXPORT posencCompilerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
install(TARGETS posenc_mlir EXPORT posencCompilerTargets)
