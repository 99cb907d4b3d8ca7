// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout of weights from the clause to the driver; types of embeddings' tables.
// RUN: posenc-opt %s --posenc-expand-encodings -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-verify-plan -split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: posenc-opt %s --posenc-expand-encodings --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-lower-driver -split-input-file | FileCheck %s --check-prefix=DRIVER

// Value tables see the weights that are left.
// CHECK-LABEL: posenc.kernel @values heads(2) head_dim(8) {
// CHECK: %[[P:.*]] = posenc.normalize softmax
// CHECK-NEXT: %[[D:.*]] = posenc.drop_weights %[[P]] probability(2.500000e-01)
// CHECK-NEXT: posenc.weighted_sum %[[D]],
// CHECK: posenc.value_table %[[D]],
// PLAN-LABEL: posenc.plan @values_x86_64
// PLAN: posenc.tile.normalize softmax %{{.*}} dropout(2.500000e-01)
// The seed's halves, then those of what is drawn for the head, once for all runs
// of the tile's keys.
// DRIVER-LABEL: func.func private @values_x86_64_tile_item
// DRIVER-NOT: scf.for
// DRIVER: call @posenc_kernel_dropout(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64) -> i64
// DRIVER-NOT: call @posenc_kernel_dropout
// DRIVER-LABEL: func.func private @values_x86_64_merge_item
posenc.kernel @values heads(2) head_dim(8) dropout(0.25) encode [#posenc.shaw<max_distance = 4>]

// -----

// What a row leaves over is that of all weights.
// CHECK-LABEL: posenc.kernel @sticks
// CHECK: %[[P:.*]] = posenc.normalize exp
// CHECK-NEXT: %[[D:.*]] = posenc.drop_weights %[[P]]
// CHECK-NEXT: posenc.weighted_sum %[[D]],
// CHECK-NEXT: posenc.remainder %[[P]],
// PLAN-LABEL: posenc.plan @sticks_x86_64
// PLAN: %[[O:.*]] = posenc.tile.normalize exp %[[S:.*]] dropout(2.500000e-01)
// PLAN-NEXT: posenc.tile.remainder %[[O]], %[[S]]
// DRIVER-LABEL: func.func @sticks(
posenc.kernel @sticks heads(2) head_dim(8) mask(#posenc.causal) dropout(0.25) encode [#posenc.stick_breaking<remainder = value>]

// -----

// Nothing is dropped: neither an operation nor arguments.
// CHECK-LABEL: posenc.kernel @nothing
// CHECK-NOT: drop_weights
// PLAN-LABEL: posenc.plan @nothing_x86_64
// PLAN-NOT: dropout
// DRIVER-LABEL: func.func @nothing(
// DRIVER-NOT: dropout
posenc.kernel @nothing heads(2) head_dim(8) dropout(0.0)

// -----

// CHECK-LABEL: posenc.kernel @never
// CHECK: posenc.drop_weights
// PLAN-LABEL: posenc.plan @never_x86_64
// PLAN: posenc.tile.normalize softmax %{{[^ ]*$}}
posenc.kernel @never heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %d = posenc.drop_weights %p probability(0.0)
  %o = posenc.weighted_sum %d, %v
  posenc.yield %o : !posenc.output
}
