# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles through ccache where it is installed. The presets include this.
find_program(POSENC_CCACHE ccache)
mark_as_advanced(POSENC_CCACHE)
if(POSENC_CCACHE)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${POSENC_CCACHE})
    endif()
  endforeach()
endif()
