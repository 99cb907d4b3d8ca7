// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s -posenc-lower-driver -split-input-file | FileCheck %s
// RUN: posenc-opt %s -posenc-lower-driver -posenc-driver-to-llvm \
// RUN:     -split-input-file \
// RUN:   | mlir-translate -mlir-to-llvmir -split-input-file \
// RUN:   | FileCheck %s --check-prefix=LLVM

// Two instruction sets, a transform of keys, angles and a strip of operands.

// The kernel and its plans are gone.
// CHECK-NOT: posenc.

// CHECK-DAG: llvm.mlir.global internal constant @two_tensor_name5("table\00")
// CHECK-DAG: llvm.mlir.global internal constant @two_isa_name0("x86-64-avx512\00")
// CHECK-DAG: llvm.mlir.global internal constant @two_isa_name1("x86-64\00")
// CHECK-DAG: func.func private @two_avx512_tile48(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: func.func private @two_avx512_tile32(
// CHECK-DAG: func.func private @two_avx512_keys(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: func.func private @two_x86_64_tile12(

// Items are called by the runtime through their address only.
// CHECK-LABEL: func.func private @two_strip0_item(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i32 attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK-LABEL: func.func private @two_angles0_item(
// CHECK:         math.cos %{{.*}} : f64
// CHECK:         math.sin %{{.*}} : f64
// CHECK-LABEL: func.func private @two_avx512_key_item(
// CHECK:         call @two_avx512_keys(
// CHECK:         call @posenc_kernel_tile_failed(
// CHECK-LABEL: func.func private @two_avx512_tile_item(
// CHECK:         scf.index_switch
// CHECK:           call @two_avx512_tile48(
// CHECK:           call @two_avx512_tile32(
// CHECK-LABEL: func.func private @two_x86_64_key_item(
// CHECK-LABEL: func.func private @two_x86_64_tile_item(
// CHECK-NOT:     scf.index_switch
// CHECK:         call @two_x86_64_tile12(

// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[ARGS:.*]]: !llvm.ptr, %[[CALL:.*]]: !llvm.ptr) -> i32 {
// CHECK:         %[[DESC:.*]] = llvm.mlir.addressof @two_desc
// CHECK:         call @posenc_kernel_enter(%[[DESC]], %[[ARGS]], %[[CALL]], %[[FRAME:.*]]) :
// CHECK:         call @posenc_kernel_scratch(%[[FRAME]],
// CHECK:         constant @two_strip0_item
// CHECK:         call @posenc_kernel_parallel(%[[FRAME]],
// CHECK:         constant @two_angles0_item
// CHECK:         call @posenc_kernel_parallel(%[[FRAME]],
// CHECK:         scf.index_switch
// CHECK:           constant @two_avx512_key_item
// CHECK:           call @posenc_kernel_parallel(%[[FRAME]],
// CHECK:           constant @two_avx512_tile_item
// CHECK:           call @posenc_kernel_parallel(%[[FRAME]],
// CHECK:           constant @two_x86_64_key_item
// CHECK:           constant @two_x86_64_tile_item
// CHECK:         call @posenc_kernel_leave(%[[FRAME]],

// CHECK-LABEL: func.func @two_prepare(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i32 {
// CHECK:         call @posenc_kernel_enter_prepare(
// CHECK:         call @posenc_prepared_begin(
// CHECK:         call @posenc_kernel_parallel(
// CHECK:         call @posenc_prepared_finish(
// CHECK-LABEL: func.func @two_prepared_bytes(
// CHECK-SAME:    !llvm.ptr) -> i64 {
// CHECK:         call @posenc_prepared_total_bytes(
// CHECK-LABEL: func.func @two_scratch_bytes(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: !llvm.ptr) -> i64 {
// CHECK:         call @posenc_kernel_scratch_bytes(

// LLVM: @two_variants = internal constant {{.*}} { ptr @two_isa_name0, i64 2 }, {{.*}} { ptr @two_isa_name1, i64 0 }
// q: rank 4, UNIT_STRIDE; f32; [B, H, Lq, 8], each axis in its place.
// LLVM: @two_tensors = internal constant {{.*}} { ptr @two_tensor_name0, i32 4, i32 4, i8 2, i8 32, i16 0, i32 0, [6 x { i32, i32, i64 }] [{ i32, i32, i64 } { i32 1, i32 0, i64 0 }, { i32, i32, i64 } { i32 2, i32 1, i64 0 }, { i32, i32, i64 } { i32 4, i32 2, i64 0 }, { i32, i32, i64 } { i32 0, i32 3, i64 8 }, { i32, i32, i64 } zeroinitializer,
// lse: rank 3, OUTPUT | OPTIONAL. The table: PREPARE; [4, H or 1].
// LLVM-SAME: { ptr @two_tensor_name4, i32 3, i32 3,
// LLVM-SAME: { ptr @two_tensor_name5, i32 2, i32 8, i8 2, i8 32, i16 0, i32 0, [6 x { i32, i32, i64 }] [{ i32, i32, i64 } { i32 0, i32 0, i64 4 }, { i32, i32, i64 } { i32 6, i32 1, i64 0 },
// abi, flags, name, heads, kv_heads, head_dim, value_dim, tensors, variants.
// LLVM: @two_desc = internal constant {{.*}} { i32 6, i32 0, ptr @two_name, i32 4, i32 2, i32 8, i32 6, i32 6, i32 2, ptr @two_tensors, ptr @two_variants, i64 {{.*}} }
// LLVM: define internal i32 @two_avx512_tile_item(ptr
// LLVM: define i32 @two(ptr
// LLVM: define i32 @two_prepare(ptr
// LLVM: define i64 @two_prepared_bytes(ptr
// LLVM: define i64 @two_scratch_bytes(ptr

#interior = affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>
#edge = affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>
posenc.kernel @two heads(4) kv_heads(2) head_dim(8) value_dim(6) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 4], future_offset = -1>)
  %t = posenc.table law(#posenc.operand<"table", rows = 4>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%bucket: f64, %x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q1, %k1 scale(0.5)
  %u = posenc.add %s, %b
  %m = posenc.select %u mask(#posenc.causal)
  %p = posenc.normalize softmax %m
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @two_avx512 kernel(@two) isa("x86-64-avx512") heads(4) kv_heads(2) head_dim(8) value_dim(6) rows([48, 32]) keys(256) {
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 4], future_offset = -1>)
    %t = posenc.table law(#posenc.operand<"table", rows = 4>) : !posenc.table<row, head>
    %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
    ^bb0(%bucket: f64, %x: f64):
      posenc.yield %x : f64
    }
    %c = posenc.tile.to_base2 %b
    posenc.yield %c : !posenc.score
  }
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %j = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    %0 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %0 = posenc.tile.rotate %k by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.query
    %1 = posenc.tile.scale %0 by(0.72134752044448169) base2
    posenc.yield %1 : !posenc.query
  }
  posenc.step @interior until(#interior) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %0 = posenc.dot %q, %k scale(1.0)
    %1 = posenc.tile.load_strip @strip0
    %2 = posenc.add %0, %1
    posenc.yield %2 : !posenc.score
  }
  posenc.step @edge until(#edge) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %0 = posenc.dot %q, %k scale(1.0)
    %1 = posenc.tile.load_strip @strip0
    %2 = posenc.add %0, %1
    %3 = posenc.select %2 mask(#posenc.causal)
    posenc.yield %3 : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
posenc.plan @two_x86_64 kernel(@two) isa("x86-64") heads(4) kv_heads(2) head_dim(8) value_dim(6) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 4], future_offset = -1>)
    %t = posenc.table law(#posenc.operand<"table", rows = 4>) : !posenc.table<row, head>
    %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
    ^bb0(%bucket: f64, %x: f64):
      posenc.yield %x : f64
    }
    %c = posenc.tile.to_base2 %b
    posenc.yield %c : !posenc.score
  }
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %j = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    %0 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %0 = posenc.tile.rotate %k by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.query
    %1 = posenc.tile.scale %0 by(0.72134752044448169) base2
    posenc.yield %1 : !posenc.query
  }
  posenc.step @edge until(#edge) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %0 = posenc.dot %q, %k scale(1.0)
    %1 = posenc.tile.load_strip @strip0
    %2 = posenc.add %0, %1
    %3 = posenc.select %2 mask(#posenc.causal)
    posenc.yield %3 : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// Nothing is prepared or transformed; no log-sum-exp; positions per score.

// CHECK-LABEL: func.func @bare(
// CHECK-NOT:     llvm.store
// CHECK:         call @posenc_kernel_scratch(
// CHECK-NOT:     index_switch
// Tiles, then what parts of tiles left.
// CHECK:         constant @bare_x86_64_tile_item
// CHECK:         call @posenc_kernel_parallel(
// CHECK:         constant @bare_x86_64_merge_item
// CHECK:         call @posenc_kernel_parallel(
// CHECK-NOT:     call @posenc_kernel_parallel(
// CHECK-LABEL: func.func @bare_prepare(

// Constants of the bias, rounded to f32, for all heads of the kernel.
// LLVM: @bare_x86_64_constants0 = internal constant [2 x float] [float 5.000000e-01, float 2.500000e-01]
// positions: int32 or int64 [B, Lk], UNIT_STRIDE | POSITIONS.
// LLVM: { ptr @bare_tensor_name4, i32 2, i32 20, i8 0, i8 32,
// flags: QUERIES_AMONG_KEYS.
// LLVM: @bare_desc = internal constant {{.*}} { i32 6, i32 1, ptr @bare_name, i32 2, i32 2, i32 8, i32 8, i32 5, i32 1,

#all = affine_map<(q_begin, q_end, lq, lk) -> (lk)>
posenc.kernel @bare heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %t = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %slope: f64):
    %x = arith.mulf %d, %slope : f64
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(0.5)
  %u = posenc.add %s, %b
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @bare_x86_64 kernel(@bare) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5)
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(#all) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %i = posenc.position query law(#posenc.position_tensor)
    %j = posenc.position key law(#posenc.position_tensor)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %t = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<head> {
    ^bb0(%d: f64, %slope: f64):
      %x = arith.mulf %d, %slope : f64
      posenc.yield %x : f64
    }
    %s = posenc.dot %q, %k scale(1.0)
    %u = posenc.add %s, %b
    %c = posenc.tile.to_base2 %u
    posenc.yield %c : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
