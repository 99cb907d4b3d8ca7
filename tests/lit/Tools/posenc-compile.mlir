// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-compile writes, that it writes the same every time, with and
// without its cache, and that it explains itself.
// RUN: rm -rf %t && mkdir %t
// RUN: posenc-compile %s --no-cache -o %t/a --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: posenc-compile %s --cache-dir %t/cache -o %t/b
// RUN: posenc-compile %s --cache-dir %t/cache -o %t/c
// RUN: diff -r %t/a %t/b
// RUN: diff -r %t/a %t/c
// RUN: ls %t/a | FileCheck %s --check-prefix=FILES
// RUN: ls %t/cache | grep -v timestamp | count 12
// A damaged entry is compiled again.
// RUN: %python -c "import glob; [open(f, 'r+b').write(b'x' * 80) for f in glob.glob(r'%t/cache/llvmcache-*')]"
// RUN: posenc-compile %s --cache-dir %t/cache -o %t/e
// RUN: diff -r %t/a %t/e
// RUN: FileCheck %s --check-prefix=HEADER < %t/a/first.h
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/a/second.json
// RUN: posenc-compile %s --no-cache --kernel second -o %t/d
// RUN: posenc-compile %s --no-cache --kernel second -o %t/g
// RUN: diff %t/d/libsecond.a %t/g/libsecond.a

// EXPLAIN-LABEL: bias: bias is evaluated once per head and distance
// EXPLAIN: kernel first
// EXPLAIN: tensor q: f32 [B, H, Lq, 16]
// EXPLAIN: operand t5_bias.table: f32 [32, H or 1]
// EXPLAIN: kernel second

// FILES: first.h
// FILES-NEXT: first.json
// FILES-NEXT: libfirst.a
// FILES-NEXT: libsecond.a
// FILES-NEXT: second.h
// FILES-NEXT: second.json

// HEADER: typedef struct first_args {
// HEADER: const DLTensor *q; /* f32 [B, H, Lq, 16], unit stride: queries */
// HEADER: DLTensor *lse; /* f32 [B, H, Lq], optional
// HEADER: const DLTensor *t5_bias_table; /* f32 [32, H or 1]
// HEADER: posenc_status first(const first_args *args, const posenc_call *call);
// HEADER: size_t first_scratch_bytes(

// MANIFEST: "kernel": "second"
// MANIFEST: "isas": [
// MANIFEST-NEXT: "x86-64-avx512",
// MANIFEST: "name": "q"
posenc.kernel @first heads(4) head_dim(16) dtype(f32) scale(1.0) encode [#posenc.t5_bias]
posenc.kernel @second heads(4) head_dim(16) dtype(f32) mask(#posenc.causal) no_lse encode [#posenc.rope]
