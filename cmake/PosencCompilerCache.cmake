# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles through ccache where it is installed. The presets include this. What
# was compiled is kept when nothing else in the tree moved, whatever the tree's
# place, and precompiled headers are compared by what they hold.
find_program(POSENC_CCACHE ccache)
mark_as_advanced(POSENC_CCACHE)
if(POSENC_CCACHE)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
          CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${POSENC_CCACHE})
    endif()
  endforeach()
endif()
