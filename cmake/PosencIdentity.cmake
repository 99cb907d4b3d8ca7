# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes to OUTPUT a C string that identifies the compiler: its sources under
# ROOT, the Halide library HALIDE and the version of LLVM.
set(all)
foreach(directory dialect passes generators runtime/include)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/${directory}/*)
  list(APPEND all ${files})
endforeach()
list(SORT all)
file(SHA256 ${HALIDE} hashes)
string(APPEND hashes " LLVM ${LLVM}\n")
foreach(file IN LISTS all)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 identity "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "\"${identity}\"\n")
