// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans for few queries: their rows are those of all heads that share a key
// head, and one step has all keys.
// RUN: posenc-opt %s --posenc-expand-encodings --canonicalize --cse --posenc-plan=isa=x86-64-avx512,x86-64-avx2,x86-64 --posenc-verify-plan | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --canonicalize --cse --posenc-plan=isa=x86-64-avx512 --remarks-filter=posenc-plan -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: posenc.plan @grouped_x86_64_avx512 kernel(@grouped)
// CHECK: posenc.keys {
// CHECK: posenc.step @interior
// CHECK: posenc.plan @grouped_x86_64_avx512_packed kernel(@grouped) isa("x86-64-avx512") heads(8) kv_heads(2)
// CHECK-SAME: rows([16, 4]) keys(16) packed(16) {
// CHECK: posenc.prepare @angles0 angles {
// CHECK: posenc.keys on_load {
// CHECK: posenc.prologue {
// CHECK-NOT: posenc.step @interior
// CHECK: posenc.step @edge until(#{{.*}}) {
// CHECK: posenc.select {{.*}} mask(#posenc.causal)
// CHECK-NOT: posenc.step
// CHECK: posenc.epilogue
// CHECK: posenc.plan @grouped_x86_64_avx2_packed {{.*}} rows([8, 4]) keys(16) packed(16) {
// CHECK: posenc.plan @grouped_x86_64_packed {{.*}} rows([4]) keys(16) packed(16) {
// REMARK: remark: [Analysis] Tiles | Category:posenc-plan | Remark="@grouped_x86_64_avx512_packed has tiles of 16 or 4 rows and blocks of 16 keys, for sequences of at most 16 queries of 4 heads"
posenc.kernel @grouped heads(8) kv_heads(2) head_dim(64) mask(#posenc.causal)
  encode [#posenc.rope]

// Heads of their own, and a group that is no power of 2.
// CHECK: posenc.plan @single_x86_64_avx512_packed {{.*}} rows([16, 1]) keys(16) packed(16) {
posenc.kernel @single heads(2) head_dim(64)
// CHECK: posenc.plan @five_x86_64_avx512_packed {{.*}} rows([16, 8]) keys(16) packed(16) {
posenc.kernel @five heads(5) kv_heads(1) head_dim(64)
// CHECK: posenc.plan @many_x86_64_avx512_packed {{.*}} rows([16]) keys(16) packed(16) {
posenc.kernel @many heads(71) kv_heads(1) head_dim(64)

// A window says where keys begin; norms over all heads need keys that are kept.
// CHECK: posenc.plan @window_x86_64_avx512_packed
// CHECK-SAME: from(#{{.*}}) packed(16) {
// CHECK: posenc.keys {
posenc.kernel @window heads(4) kv_heads(2) head_dim(16) mask(#posenc.window<left = 40>)
  encode [#posenc.qk_norm<kind = rms, over = all_heads, epsilon = 1.0e-6>]

// A select by distance is decided pair by pair.
// CHECK: posenc.plan @two_keys_x86_64_avx512_packed
// CHECK: posenc.step @edge
// CHECK-NOT: posenc.step
// CHECK: posenc.epilogue
posenc.kernel @two_keys heads(4) kv_heads(2) head_dim(16) mask(#posenc.causal)
  encode [#posenc.rerope<window = 512>]

// REMARK: remark: [Missed] PackedTiles | Category:posenc-plan | Remark="few queries have the tiles of many: rows of a table are read for every pair, which takes longer than to read the keys"
// CHECK-NOT: @shaw_x86_64_avx512_packed
posenc.kernel @shaw heads(4) kv_heads(2) head_dim(16) encode [#posenc.shaw<max_distance = 8>]
// REMARK: few queries have the tiles of many: a scan sees all keys of a row at once
posenc.kernel @scan heads(4) kv_heads(2) head_dim(16) mask(#posenc.causal) encode [#posenc.stick_breaking]
// REMARK: few queries have the tiles of many: a network mixes the scores of all heads
posenc.kernel @network heads(4) kv_heads(2) head_dim(16) encode [#posenc.alibi<form = symmetric>, #posenc.dape<hidden = 5>]
// REMARK: few queries have the tiles of many: lists of blocks are those of one head
posenc.kernel @listed heads(4) kv_heads(2) head_dim(16) blocks(#posenc.block_list<queries = 64, keys = 64>)
// REMARK: few queries have the tiles of many: key vectors differ between the heads that share a key head
posenc.kernel @turned heads(4) kv_heads(2) head_dim(16) encode [#posenc.rope<frequencies = per_head>]
