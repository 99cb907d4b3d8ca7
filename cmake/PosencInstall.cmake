# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` installs besides the libraries, which their own
# functions install, and the CMake package.
#
# There are two sets of targets: posencTargets, the runtime and the tools, which
# a program that uses compiled kernels needs, and posencCompilerTargets, the C++
# libraries of the compiler, which want MLIR's package too.
include(CMakePackageConfigHelpers)

foreach(tool posenc-opt posenc-compile posenc-run posenc-bench posenc-lsp-server)
  if(TARGET ${tool})
    install(TARGETS ${tool} EXPORT posencTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(PROGRAMS ${POSENC_HALIDE_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})

foreach(module dialect passes generators)
  foreach(directory ${PROJECT_SOURCE_DIR}/${module}/include ${PROJECT_BINARY_DIR}/${module}/include)
    if(EXISTS ${directory})
      install(
        DIRECTORY ${directory}/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING
        PATTERN "*.h"
        PATTERN "*.td"
        PATTERN "*.inc"
        PATTERN "CMakeFiles" EXCLUDE)
    endif()
  endforeach()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(posenc_cmake_directory ${CMAKE_INSTALL_LIBDIR}/cmake/posenc)
configure_package_config_file(cmake/posencConfig.cmake.in ${PROJECT_BINARY_DIR}/posencConfig.cmake
                              INSTALL_DESTINATION ${posenc_cmake_directory}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/posencConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/posencConfig.cmake ${PROJECT_BINARY_DIR}/posencConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PosencAddKernel.cmake
        DESTINATION ${posenc_cmake_directory})
foreach(set posencTargets posencCompilerTargets)
  install(EXPORT ${set} NAMESPACE posenc:: DESTINATION ${posenc_cmake_directory})
endforeach()
