# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# POSENC_SANITIZE for the whole build: kernels that the compiler emits are not
# instrumented, everything else is. So calls into them cannot be checked for
# their type, which clang does by reading in front of the function.
if(POSENC_SANITIZE STREQUAL "address-undefined")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(POSENC_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(POSENC_SANITIZE STREQUAL "fuzzer")
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(NOT POSENC_SANITIZE STREQUAL "")
  message(FATAL_ERROR "POSENC_SANITIZE is '${POSENC_SANITIZE}': expected nothing, address-undefined, thread or fuzzer")
endif()
