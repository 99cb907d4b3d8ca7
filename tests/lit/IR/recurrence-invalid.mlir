// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences that are none.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics
// RUN: posenc-opt %s -split-input-file -verify-diagnostics --posenc-verify-plan

posenc.kernel @counts heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects as many queries as keys and scales, at least one, but got 1 queries, 1 keys and 2 scales}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0, 2.0])
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @by_counts heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects as many queries as keys in 'by', but got 2 queries and 1 keys}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) by (%q, %q), (%k)
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @epsilon heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects 'epsilon' to be finite and not negative, but got -1}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) by (%q), (%k) epsilon(-1.0)
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @no_decay heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects a region that makes the decay beside tables and 'decayed_by'}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) by (%q), (%k) decayed_by
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @axes heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %g = posenc.table law(#posenc.operand<"gates">) : !posenc.table<head, key>
  // expected-error@below {{expects its decay to be made of tables over head, but got '!posenc.table<head, key>'}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) decay(%g) : !posenc.table<head, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @a_part heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects to be what its kernel yields}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0])
  %sum = posenc.add %o, %o : !posenc.output
  posenc.yield %sum : !posenc.output
}

// -----

posenc.kernel @counted heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects #posenc.appended where keys are those of new tokens, but got #posenc.iota}}
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %t = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %o = posenc.recurrence (%t), (%k), %v scales([1.0])
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @appended heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{expects #posenc.appended to be a law of keys in a body that yields a key, or of both sides in one with keys(state) and a posenc.recurrence}}
  %i = posenc.position query law(#posenc.appended)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %t = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %o = posenc.recurrence (%t), (%k), %v scales([1.0])
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{expects no operand to be named 'state_in', which the kernel itself uses}}
posenc.kernel @names heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.linear_attention, #posenc.dense_bias<name = "state_in">]

// -----

// Without keys(state), too: the reference knows states by their names.
// expected-error@below {{expects no operand to be named 'state_in', which the kernel itself uses}}
posenc.kernel @names_of_state heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %g = posenc.table law(#posenc.operand<"state_in">) : !posenc.table<head>
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) decay(%g) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{expects 'keys' to be the first entry of 'rows' beside a posenc.chunk, but got 32 and array<i64: 64, 16>}}
posenc.plan @keys kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64, 16]) keys(32) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %o = posenc.tile.recurrence (%q), (%k)
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{expects no 'descending' beside a posenc.chunk}}
posenc.plan @clauses kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64]) keys(64) descending {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %o = posenc.tile.recurrence (%q), (%k)
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{expects no 'packed' beside a posenc.chunk}}
posenc.plan @packed kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64]) keys(64) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %o = posenc.tile.recurrence (%q), (%k)
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{expects a posenc.prologue, a posenc.step and a posenc.epilogue, or a posenc.chunk in the place of the last two}}
posenc.plan @no_prologue kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64]) keys(64) {
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %o = posenc.tile.recurrence (%q), (%k)
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @decays kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64]) keys(64) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    // expected-error@below {{expects 'decays' beside 'decayed_by'}}
    %o = posenc.tile.recurrence (%q), (%k) by (%q), (%k) decayed_by
    posenc.yield %o : !posenc.output
  }
}
