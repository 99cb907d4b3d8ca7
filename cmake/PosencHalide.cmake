# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Halide 21 from its Python wheel: the wheel's own CMake package wants a Python
# development environment, so the three things we need are taken directly.
# POSENC_HALIDE_ROOT is the directory that holds include/Halide.h. By default it
# is that of the environment that scripts/install-deps.sh makes, then that of
# the Python in PATH.
if(NOT POSENC_HALIDE_ROOT)
  set(posenc_environments)
  foreach(environment "$ENV{POSENC_VENV}" "$ENV{VIRTUAL_ENV}")
    if(environment)
      list(APPEND posenc_environments "${environment}/bin")
    endif()
  endforeach()
  if(DEFINED ENV{XDG_CACHE_HOME})
    list(APPEND posenc_environments "$ENV{XDG_CACHE_HOME}/posenc/venv/bin")
  endif()
  find_program(POSENC_PYTHON python3 HINTS ${posenc_environments} "$ENV{HOME}/.cache/posenc/venv/bin" REQUIRED)
  execute_process(
    COMMAND ${POSENC_PYTHON} -c "import importlib.util as u; print(u.find_spec('halide').submodule_search_locations[0])"
    OUTPUT_VARIABLE halide_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(POSENC_HALIDE_ROOT "${halide_root}" CACHE PATH "Directory that holds include/Halide.h of Halide 21" FORCE)
endif()
find_library(POSENC_HALIDE_LIBRARY Halide HINTS ${POSENC_HALIDE_ROOT}/lib64 ${POSENC_HALIDE_ROOT}/lib NO_DEFAULT_PATH)
if(NOT EXISTS "${POSENC_HALIDE_ROOT}/include/Halide.h" OR NOT POSENC_HALIDE_LIBRARY)
  message(FATAL_ERROR "posenc needs Halide 21: run scripts/install-deps.sh, or pip install halide==21.0.0 and set "
                      "POSENC_HALIDE_ROOT to the directory of the Python package (it is '${POSENC_HALIDE_ROOT}')")
endif()
file(STRINGS "${POSENC_HALIDE_ROOT}/include/Halide.h" halide_version REGEX "#define HALIDE_VERSION_MAJOR +21")
if(NOT halide_version)
  message(FATAL_ERROR "posenc needs Halide 21; ${POSENC_HALIDE_ROOT} is another version")
endif()
message(STATUS "posenc: Halide from ${POSENC_HALIDE_ROOT}")

# Halide throws. Only targets that link this may include Halide.h. The shared
# library is installed beside ours, so that the installed tools do not need the
# wheel; its headers are not, since no public header includes them.
get_filename_component(POSENC_HALIDE_LIBRARY_NAME ${POSENC_HALIDE_LIBRARY} NAME)
add_library(posenc_halide INTERFACE)
target_include_directories(posenc_halide SYSTEM INTERFACE $<BUILD_INTERFACE:${POSENC_HALIDE_ROOT}/include>)
target_compile_definitions(posenc_halide INTERFACE HALIDE_WITH_EXCEPTIONS HALIDE_ENABLE_RTTI)
target_link_libraries(
  posenc_halide
  INTERFACE $<BUILD_INTERFACE:${POSENC_HALIDE_LIBRARY}>
            $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/${POSENC_HALIDE_LIBRARY_NAME}>
            ${CMAKE_DL_LIBS})
install(TARGETS posenc_halide EXPORT posencCompilerTargets)

# Installed tools find it there, wherever the prefix is moved to.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" ${LLVM_LIBRARY_DIRS})
