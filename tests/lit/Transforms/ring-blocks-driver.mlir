// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans and host programs of rings of keys and of lists of blocks.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-verify-plan -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-lower-driver -split-input-file | FileCheck %s --check-prefix=DRIVER

// A ring is rows that are given one by one, as those of pages.
// CHECK-LABEL: posenc.kernel @ring heads
// CHECK-SAME: keys(ring)
// CHECK-LABEL: posenc.plan @ring_x86_64
// CHECK-SAME: indirect {
// CHECK-LABEL: posenc.kernel @ring_append_kv
// CHECK-SAME: keys(ring) {
// DRIVER-LABEL: func.func private @ring_row_item
// DRIVER-LABEL: func.func private @ring_x86_64_tile_item
posenc.kernel @ring heads(4) kv_heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 31>) encode [#posenc.rope]

// -----

// Tiles walk what is listed; the steps are those of the mask alone.
// CHECK-LABEL: posenc.plan @listed_x86_64
// CHECK-SAME: blocks(<queries = 64, keys = 32>) {
// CHECK: posenc.step @interior
// CHECK-NOT: posenc.select
// CHECK: posenc.step @edge
// CHECK: posenc.select %{{.*}} mask(#posenc.causal)
// DRIVER-LABEL: func.func private @listed_x86_64_next_listed
// DRIVER-NOT: @listed_x86_64_next_keys
// DRIVER: call @posenc_kernel_next_listed
// DRIVER-LABEL: func.func private @listed_x86_64_tile_item
// DRIVER: call @listed_x86_64_next_listed
posenc.kernel @listed heads(4) head_dim(8) mask(#posenc.causal) blocks(#posenc.block_list<queries = 64, keys = 32>)

// -----

// Lists and masks over other things than indices are looked at in turn.
// DRIVER-LABEL: func.func private @both_x86_64_next_listed
// DRIVER: scf.while
// DRIVER: call @posenc_kernel_next_listed
// DRIVER: call @both_x86_64_next_keys
// CHECK-LABEL: posenc.plan @both_x86_64
posenc.kernel @both heads(4) head_dim(8) mask(#posenc.segments) blocks(#posenc.block_list<queries = 64, keys = 32>)
