# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How tests are declared. Each function puts its programs where
# scripts/run_tests.py looks for them, and makes a ctest of each.
find_package(GTest REQUIRED)

# Everything that a test run needs; what scripts/test.sh builds.
add_custom_target(posenc-tests)
if(TARGET posenc-guest)
  add_dependencies(posenc-tests posenc-guest)
endif()

function(posenc_add_test_program kind name sources libs)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${libs} posenc_warnings)
  if(libs MATCHES "Posenc(Analysis|Compiler|HalideGenerator|NumericsSupport|Reference)")
    posenc_precompile(${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin/${kind})
  add_dependencies(posenc-tests ${name})
endfunction()

# posenc_add_unit_test(<name> SOURCES ... [LIBS ...]): GoogleTest.
function(posenc_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  posenc_add_test_program(unit ${name} "${arg_SOURCES}" "${arg_LIBS};GTest::gtest_main")
  add_test(NAME unit/${name} COMMAND ${name})
endfunction()

# posenc_add_counted_test(<kind> <name> SOURCES ... [LIBS ...]): a program whose
# last line is `N passed, N failed`. The kind (numerics, c, ...) is the runner.
function(posenc_add_counted_test kind name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBS")
  posenc_add_test_program(${kind} ${name} "${arg_SOURCES}" "${arg_LIBS}")
  add_test(NAME ${kind}/${name} COMMAND ${name})
endfunction()

# posenc_add_fuzz_target(<name> SOURCES ... [LIBS ...]): LLVMFuzzerTestOneInput.
# With POSENC_SANITIZE=fuzzer libFuzzer drives it, else tests/fuzz/FuzzMain.cpp,
# which runs a fixed number of seeded inputs.
function(posenc_add_fuzz_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  if(POSENC_SANITIZE STREQUAL "fuzzer")
    posenc_add_test_program(fuzz ${name} "${arg_SOURCES}" "${arg_LIBS}")
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    posenc_add_test_program(fuzz ${name} "${arg_SOURCES};${PROJECT_SOURCE_DIR}/tests/fuzz/FuzzMain.cpp" "${arg_LIBS}")
    add_test(NAME fuzz/${name} COMMAND ${name})
  endif()
endfunction()
