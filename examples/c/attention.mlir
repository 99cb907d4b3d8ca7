// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of the examples: a grouped-query decoder with RoPE, one over a
// paged cache of encoded keys, and an encoder whose distance bias is written by
// hand.
posenc.kernel @decoder heads(8) kv_heads(2) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0>]

posenc.kernel @generator heads(8) kv_heads(2) head_dim(64) dtype(f32) mask(#posenc.causal)
  queries(packed) keys(paged) key_cache(encoded) encode [#posenc.rope<base = 10000.0>]

posenc.kernel @encoder heads(4) head_dim(32) dtype(f32) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%distance: f64):
    %d = math.absf %distance : f64
    %l = math.log1p %d : f64
    %n = arith.negf %l : f64
    posenc.yield %n : f64
  }
  %s = posenc.dot %q, %k scale(0.17677669529663689)
  %t = posenc.add %s, %b
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
