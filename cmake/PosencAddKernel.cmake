# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# posenc_add_kernel(): compiled kernels as library targets.
#
#   posenc_add_kernel(<target> SPEC <file> [KERNEL <name>] [TARGETS <target>...])
#
# Compiles the kernels and input embeddings (posenc.kernel, posenc.embed) of a
# specification file, or the one that is named, when the file changes. Linking <target> links the kernels and posenc::runtime and
# makes their headers, <name>.h, includable. TARGETS is posenc-compile's
# --target; the default is the platform that CMake builds for.
#
# POSENC_COMPILER may name another posenc-compile, as is needed when the
# package was found for another machine than the one that builds.
include_guard(GLOBAL)

function(posenc_add_kernel target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SPEC;KERNEL" "TARGETS")
  if(NOT arg_SPEC OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "usage: posenc_add_kernel(<target> SPEC <file> [KERNEL <name>] [TARGETS <target>...])")
  endif()
  get_filename_component(spec "${arg_SPEC}" ABSOLUTE)

  if(arg_KERNEL)
    set(kernels ${arg_KERNEL})
  else()
    # The names are needed when CMake configures, so it does again when the file changes.
    if(NOT EXISTS "${spec}")
      message(FATAL_ERROR "posenc_add_kernel(${target}): expected a specification file, found no '${spec}'; "
                          "a file that the build makes needs KERNEL")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${spec}")
    file(READ "${spec}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "posenc\\.(kernel|embed)[ \t\r\n]*@\"?[A-Za-z_][A-Za-z0-9_]*" symbols "${text}")
    list(TRANSFORM symbols REPLACE "^.*@\"?" "" OUTPUT_VARIABLE kernels)
    if(NOT kernels)
      message(FATAL_ERROR "posenc_add_kernel(${target}): found no posenc.kernel and no posenc.embed in '${spec}'")
    endif()
  endif()

  if(POSENC_COMPILER)
    set(compiler "${POSENC_COMPILER}")
  else()
    set(compiler posenc::posenc-compile)
  endif()
  set(options)
  if(NOT arg_TARGETS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
      set(arg_TARGETS arm64-apple-macos)
    elseif(CMAKE_SYSTEM_NAME STREQUAL "Android")
      set(arg_TARGETS aarch64-android)
    else()
      set(arg_TARGETS aarch64-linux)
    endif()
  endif()
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    set(options --target=${targets})
  endif()

  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${target}.posenc")
  # The include directory must exist when a consumer's target is generated.
  file(MAKE_DIRECTORY "${directory}")
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${directory}")
  set(outputs)
  foreach(kernel IN LISTS kernels)
    set(archive "${directory}/lib${kernel}.a")
    set(header "${directory}/${kernel}.h")
    add_custom_command(
      OUTPUT "${archive}" "${header}"
      COMMAND ${compiler} "${spec}" --kernel ${kernel} ${options} -o "${directory}"
      DEPENDS "${spec}" ${compiler}
      COMMENT "Compiling kernel ${kernel}"
      VERBATIM)
    list(APPEND outputs "${archive}" "${header}")

    add_library(${target}_${kernel} STATIC IMPORTED GLOBAL)
    set_target_properties(${target}_${kernel} PROPERTIES IMPORTED_LOCATION "${archive}"
                                                         INTERFACE_LINK_LIBRARIES posenc::runtime)
    target_link_libraries(${target} INTERFACE ${target}_${kernel})
  endforeach()

  add_custom_target(${target}_compile DEPENDS ${outputs})
  add_dependencies(${target} ${target}_compile)
  foreach(kernel IN LISTS kernels)
    add_dependencies(${target}_${kernel} ${target}_compile)
  endforeach()
endfunction()
