// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s -posenc-plan=isa=x86-64 -posenc-lower-driver -split-input-file | FileCheck %s
// RUN: posenc-opt %s -posenc-plan=isa=x86-64 -posenc-lower-driver -posenc-driver-to-llvm -split-input-file \
// RUN:   | mlir-translate -mlir-to-llvmir -split-input-file | FileCheck %s --check-prefix=LLVM

// Frequencies that depend on the call, a modulus, and positions on two axes.

// CHECK-LABEL: func.func private @angles_angles0_item(
// Frequencies once for an item, of the row's head.
// CHECK:         scf.for
// CHECK:           arith.divf
// CHECK:         scf.for
// The second axis, halved.
// CHECK:           llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK:           math.floor
// CHECK:           scf.for
// CHECK:             math.cos
// CHECK:             math.sin
// CHECK:             math.exp
// CHECK-LABEL: func.func private @angles_x86_64_key_item(
// CHECK:         call @angles_x86_64_keys(
// CHECK-LABEL: func.func private @angles_x86_64_tile_item(

// LLVM: @angles_tensors = {{.*}} { ptr @angles_tensor_name5, i32 3, i32 28, i8 0, i8 32,
// QUERIES_AMONG_KEYS
// LLVM: @angles_desc = internal constant {{.*}} { i32 6, i32 1, ptr @angles_name,
posenc.kernel @angles heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i0 = posenc.position query law(#posenc.position_tensor<axes = 2>)
  %j0 = posenc.position key law(#posenc.position_tensor<axes = 2>)
  %i1 = posenc.position query law(#posenc.position_tensor<axes = 2, axis = 1>)
  %j1 = posenc.position key law(#posenc.position_tensor<axes = 2, axis = 1>)
  %hi = posenc.remap %i1 {
  ^bb0(%x: f64):
    %c = arith.constant 0.5 : f64
    %y = arith.mulf %x, %c : f64
    %z = math.floor %y : f64
    posenc.yield %z : f64
  }
  %hj = posenc.remap %j1 {
  ^bb0(%x: f64):
    %c = arith.constant 0.5 : f64
    %y = arith.mulf %x, %c : f64
    %z = math.floor %y : f64
    posenc.yield %z : f64
  }
  %w = posenc.table law(#posenc.operand<"w", rows = 4>) : !posenc.table<row, head>
  %f = posenc.freqs_map(%w) : !posenc.table<row, head> pairs(4) {
  ^bb0(%pair: f64, %length: f64, %x: f64):
    %y = arith.divf %x, %length : f64
    posenc.yield %y : f64
  }
  %q1 = posenc.rotate %q by(%i0, %hi) freqs(%f, %f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %x: f64):
    %y = math.exp %pair : f64
    posenc.yield %y : f64
  }
  %k1 = posenc.rotate %k by(%j0, %hj) freqs(%f, %f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %x: f64):
    %y = math.exp %pair : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q1, %k1 scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// A running sum, and a projection of rows without bounds.

// CHECK-LABEL: func.func private @rows_rows{{[01]}}_item(
// CHECK-LABEL: func.func private @rows_rows{{[01]}}_item(
// CHECK-LABEL: func.func private @rows_x86_64_tile_item(
// CHECK:         call @rows_x86_64_tile8(

// LLVM: @rows_desc = internal constant {{.*}} { i32 6, i32 1, ptr @rows_name,
posenc.kernel @rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %g = posenc.table law(#posenc.operand<"gates">) : !posenc.table<batch, head, key>
  %c = posenc.prefix_sum %g : !posenc.table<batch, head, key> {
  ^bb0(%x: f64):
    %y = math.log1p %x : f64
    posenc.yield %y : f64
  }
  %ci = posenc.at_query %c bottom_right : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
  %b = posenc.bias(%ci, %c) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
  ^bb0(%x: f64, %y: f64):
    %z = arith.subf %x, %y : f64
    posenc.yield %z : f64
  }
  %w = posenc.table_map channels(6) {
  ^bb0(%row: f64, %channel: f64):
    %x = arith.mulf %row, %channel : f64
    %y = math.sin %x : f64
    posenc.yield %y : f64
  }
  %m = posenc.table law(#posenc.operand<"project", rows = 6, channels = 8>) : !posenc.table<row, head, channel>
  %r = posenc.project %w, %m : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
  %t = posenc.table_dot %q, %r at(%d) scale(0.5) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.add %s0, %b
  %s = posenc.add %s1, %t
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// All heads of a call, all keys of a row, and no log-sum-exp.

// CHECK-LABEL: func.func private @scan_x86_64_tile_item(
// One run: no limit of its length is computed.
// CHECK:         call @scan_x86_64_tile8(

// q and k: UNIT_STRIDE | ALL_HEADS.
// LLVM: @scan_tensors = {{.*}} { ptr @scan_tensor_name0, i32 4, i32 36, i8 2,
// LLVM-NOT: @scan_tensor_name4
// QUERIES_AMONG_KEYS | ALL_HEADS | ONE_RUN
// LLVM: @scan_desc = internal constant {{.*}} { i32 6, i32 7, ptr @scan_name,
posenc.kernel @scan heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %q1 = posenc.vector_norm %q rms over(all_heads) epsilon(1.0e-6) added : !posenc.query
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.select %s0 mask(#posenc.causal)
  %s = posenc.rowscan %s1 inclusive {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize identity %s
  %o0 = posenc.weighted_sum %p, %v
  %o1 = posenc.remainder %p, %v
  %o = posenc.add %o0, %o1 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

// Packed queries are seen as one batch entry; keys are found through pages.
// CHECK-LABEL: func.func private @pages_row_item(
// CHECK:         call @posenc_kernel_sequence(
// CHECK-LABEL: func.func private @pages_x86_64_tile_item(
// CHECK:         call @posenc_kernel_sequence(
// CHECK-LABEL: func.func @pages(
// CHECK:         constant @pages_row_item
// CHECK:         constant @pages_x86_64_tile_item
// ALL_QUERIES at 2, H at 1, 8 at 3; bf16. ROLES: QUERY_BOUNDS, KEY_LENGTHS, PAGE_TABLE.
// LLVM: @pages_tensors = {{.*}} { ptr @pages_tensor_name0, i32 3, i32 4, i8 4, i8 16, i16 0, i32 0, [6 x { i32, i32, i64 }] [{ i32, i32, i64 } { i32 8, i32 2, i64 0 }, { i32, i32, i64 } { i32 2, i32 1, i64 0 }, { i32, i32, i64 } { i32 0, i32 3, i64 8 },
// LLVM-SAME: { ptr @pages_tensor_name4, i32 1, i32 64, i8 0, i8 32,
// LLVM-SAME: { ptr @pages_tensor_name5, i32 1, i32 256, i8 0, i8 32,
// LLVM-SAME: { ptr @pages_tensor_name6, i32 2, i32 516, i8 0, i8 32,
posenc.kernel @pages heads(2) head_dim(8) dtype(bf16) queries(packed) keys(paged) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
