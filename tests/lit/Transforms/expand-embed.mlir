// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings become primitives; no clause and no named encoding is left.
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s --check-prefix=NAMES
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-expand-encodings | FileCheck %s
// NAMES-NOT: encode
// NAMES-NOT: #posenc.sinusoidal

// CHECK-LABEL: posenc.embed @identity dim(8) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !posenc.tokens):
// CHECK-NEXT: posenc.yield %[[X]] : !posenc.tokens
posenc.embed @identity dim(8)

// CHECK-LABEL: posenc.embed @sinusoidal dim(4) {
// CHECK: %[[X:.*]] = posenc.row_scale %{{.*}}() : !posenc.tokens {
// CHECK: %[[W:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e-02]>) : !posenc.table<channel>
// CHECK: %[[P:.*]] = posenc.position token law(#posenc.iota<offset = 5>)
// CHECK: %[[Y:.*]] = posenc.channel_map %[[X]](%[[P]], %[[W]] : !posenc.coord, !posenc.table<channel>) pairing(interleaved) {
// CHECK: ^bb0(%[[E:.*]]: f64, %[[K:.*]]: f64, %[[PART:.*]]: f64, %[[A:.*]]: f64, %[[F:.*]]: f64):
// CHECK: %[[T:.*]] = arith.mulf %[[A]], %[[F]] : f64
// CHECK: math.sin %[[T]]
// CHECK: math.cos %[[T]]
// CHECK: %[[Z:.*]] = posenc.dropout %[[Y]] probability(1.000000e-01) stream(0)
// CHECK: posenc.yield %[[Z]]
posenc.embed @sinusoidal dim(4) scale(2.0) positions(#posenc.iota<offset = 5>) dropout(0.1)
  encode [#posenc.sinusoidal<layout = interleaved, exponent = over_dim>]

// CHECK-LABEL: posenc.embed @learned dim(4) {
// CHECK: %[[P:.*]] = posenc.position token law(#posenc.iota)
// CHECK: %[[Q:.*]] = posenc.remap %[[P]] {
// CHECK: %[[R:.*]] = posenc.bounded %[[Q]] rows(512) of("learned_absolute.table")
// CHECK: %[[T:.*]] = posenc.table law(#posenc.operand<"learned_absolute.table", rows = 512, channels = 4>) : !posenc.table<row, channel>
// CHECK: posenc.vadd %{{.*}}, %[[T]] at(%[[R]]) : !posenc.tokens, !posenc.table<row, channel>
posenc.embed @learned dim(4) encode [#posenc.learned_absolute<rows = 512, offset = 2>]

// Positions change for the encodings after.
// CHECK-LABEL: posenc.embed @padded dim(4) {
// CHECK: %[[I:.*]] = posenc.position token law(#posenc.position_tensor<name = "padded_positions.ids">)
// CHECK: %[[M:.*]] = posenc.remap %[[I]] {
// CHECK: %[[S:.*]] = posenc.coord_sum %[[M]]
// CHECK: %[[P:.*]] = posenc.coord_map(%[[M]], %[[S]]) : !posenc.coord, !posenc.coord {
// CHECK: posenc.channel_map %{{.*}}(%[[P]] : !posenc.coord) {
posenc.embed @padded dim(4) encode [#posenc.padded_positions<source = ids, first = 2, padding = 1>, #posenc.raw_index]

// What is replaced is not read.
// CHECK-LABEL: posenc.embed @replaced dim(4) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !posenc.tokens):
// CHECK: posenc.channel_map %[[X]](
posenc.embed @replaced dim(4) scale(3.0) encode [#posenc.learned_absolute<rows = 8, merge = replace>]

// Every draw has a stream of its own.
// CHECK-LABEL: posenc.embed @random dim(4) {
// CHECK: posenc.random sequence stream(1)
// CHECK: posenc.random sequence stream(2)
// CHECK: posenc.random sequence stream(3)
// CHECK: posenc.random token stream(4)
posenc.embed @random dim(4) encode [
  #posenc.shifted_positions<shift = training, law = paper, max_shift = 8>,
  #posenc.cape<mode = training, max_global_shift = 5.0, max_local_shift = 0.5, max_global_scaling = 1.03>]
