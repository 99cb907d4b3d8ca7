// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Disks that are full and folders that cannot be written: one error that names
// the file, and no part of the output.
// REQUIRES: halide
// RUN: rm -rf %t && mkdir %t
// RUN: posenc-compile %s --no-cache --target=x86-64 --emit=object -o %t/objects

// Room for each object, none for the library of all, nor for the cache's entry
// of two: that alone would only cost time.
// RUN: not %python %S/Inputs/limit-file-size.py %t/objects %posenc_compile %s --target=x86-64 --cache-dir %t/cache -o %t/out 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not ls %t/out
// RUN: ls %t/cache | not grep temp
// What is there stays.
// RUN: mkdir %t/out && echo old > %t/out/libk.a
// RUN: not %python %S/Inputs/limit-file-size.py %t/objects %posenc_compile %s --target=x86-64 --cache-dir %t/cache -o %t/out 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: ls -A %t/out | count 1
// RUN: grep old %t/out/libk.a
// FULL-NOT: LLVM ERROR
// FULL: posenc-compile: error: cannot write '{{.*}}libk.a': File too large
// FULL-NOT: error

// Nobody can write there, not even root.
// RUN: not posenc-compile %s --target=x86-64 -o /proc/self 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not posenc-compile %s --target=x86-64 -o /proc/posenc 2>&1 | FileCheck %s --check-prefix=NO-FOLDER
// FOLDER: posenc-compile: error: cannot write '/proc/self/libk.a':
// NO-FOLDER: posenc-compile: error: cannot write '/proc/posenc':
posenc.kernel @k heads(4) head_dim(16) encode [#posenc.rope]
