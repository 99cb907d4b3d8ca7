// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 1, and the containers of level 2.
#ifndef POSENC_KERNEL_OPS_TD
#define POSENC_KERNEL_OPS_TD

include "posenc/IR/PosencOpBase.td"

def Posenc_KernelOp : Posenc_Op<"kernel", [Symbol, IsolatedFromAbove]> {
  let summary = "an attention kernel";
  let description = [{
    `o = softmax(scale * q k^T + terms) v` for every batch entry and query
    head, with the position encoding inside.

    Without a body (level 1) the clauses say everything:

    - `heads`, `kv_heads` (default: `heads`; query head `h` reads key head
      `h / (heads / kv_heads)`), `head_dim` of queries and keys, `value_dim`
      (default: `head_dim`), `dtype` of q and o (default: f32), `kv_dtype` of k
      and v (default: `dtype`);
    - `kv_scales`: which keys and values share a scale, see below;
    - `table_dtype`: the type of the encodings' operands in memory (default: f32,
      or f64 where `dtype` is), positions apart;
    - `queries` and `keys`: how sequences lie in memory, see below;
    - `key_cache`: what the keys in memory have been through, see below;
    - `mask`: `#posenc.full` (default), `#posenc.causal`, `#posenc.window`,
      `#posenc.chunk`, ..., or `#posenc.all` and `#posenc.any` of several;
    - `blocks`: a `#posenc.block_list` of the blocks of keys that the caller wants
      to be computed for each block of queries, by default all; other pairs are
      masked, as by the last mask before the normaliser;
    - `scale` of the dot product (default: what an encoding fixes, or else
      `1 / sqrt(head_dim)`);
    - `positions`: `#posenc.iota` (default) or `#posenc.position_tensor`;
    - `context_length`: the longest sequence that the kernel is meant for, in tokens;
      the compiler warns of encodings that do not reach so far;
    - `no_lse`: the kernel never exports the log-sum-exp of a row; by default it
      can (natural logarithm, of the final scores);
    - `dropout`: the probability with which a weight is dropped (default: none), as
      `posenc.drop_weights` says; what the normaliser gives is dropped before values
      and value tables are summed;
    - `encode`: named encodings. Their order is the order of operations on q and
      k. Score terms go where their site says: terms inside the scale, caps,
      terms outside, maps, the mask, scans, the normaliser.

    Every entry of a batch is a sequence of its own, to which the clauses and the
    body apply. By default q is [B, H, Lq, head_dim] and k and v are [B, kv_heads,
    Lk, ...], and all sequences have Lq queries and Lk keys. Otherwise

    - `queries(packed)`: q and o are [T, H, ...] and lse is [T, H]; sequence b has
      the rows from `cu_seqlens_q[b]` up to `cu_seqlens_q[b + 1]` (int32 [B + 1]);
    - `keys(lengths)`: sequence b has the first `key_lengths[b]` (int32 [B]) of its
      Lk keys;
    - `keys(packed)`: k and v are [T, kv_heads, ...], cut by `cu_seqlens_k`;
    - `keys(paged)`: k and v are [pages, page_size, kv_heads, ...] and key j of
      sequence b is in page `page_table[b, j / page_size]` (int32 [B, max_pages]) at
      row `j % page_size`; lengths are `key_lengths`;
    - `keys(ring)`: k and v are [B, kv_heads, capacity, ...] and key j of a
      sequence is at row `j % capacity`. `key_lengths[b]` counts all keys that the
      sequence has had, of which the last `capacity` are there. A mask over
      indices must bound how far back queries see: to `reach` keys before their
      own place. A call needs a capacity of at least `reach + Lq`;
    - `keys(state)`: k and v are those of the queries' tokens alone, stored as
      `queries` says, and `key_lengths[b]` counts all tokens that the sequence
      has had, these included. What earlier tokens leave is in a state that a
      call takes and gives (`state_in`, `state_out`, and of a linear normaliser
      `sums_in`, `sums_out`), as `posenc.recurrence` says: it does not grow.

    Operands that have a number for every query or key of each batch entry are
    packed as these are.

    Keys of `keys(lengths)`, `keys(paged)` and `keys(ring)` are a cache, which an append kernel
    fills: it writes the keys and values of new tokens, the last ones of each
    sequence, behind those that are there. With `key_cache(raw)` (default) keys in
    memory are what the caller's projection made, and every call encodes them.
    With `key_cache(encoded)` the append kernel has done to them what the kernel
    does to key vectors (rotations, norms, ...), and they are read as they are.
    That needs one key vector for all products, which depends on nothing but the
    key, its key head, its own position and operands without a key axis; encoded
    keys are rounded to `kv_dtype`.

    Keys and values of type i8 or f8E4M3FN are codes: a number is its code times a
    scale, rounded to f32. The scales, k_scales and v_scales of f32, are one for
    each key head with `kv_scales(head)`, [kv_heads], or for each key of each key
    head with `kv_scales(token)`, stored as the keys are but without the last axis.
    An append kernel reads scales of heads and writes those of new tokens, the
    largest magnitude of a row divided by that of the codes: 127 or 448. A code is
    the number divided by its scale, rounded to the nearest, ties to even, and cut
    off at the largest.

    Kernels of f64 are there to check formulas: the reference evaluates them on
    unrounded inputs, and nothing else does.

    With a body (level 2) the body says what the numbers are and the clauses
    `mask`, `scale`, `positions`, `table_dtype`, `dropout` and `encode` must be
    absent; `blocks` remains. The body's
    arguments are the query, key and value vectors of one head; it yields the
    output.

    A body that yields a !posenc.key makes an append kernel: key and value are
    those of a new token, of type `dtype` and stored as `queries` says; what the
    body yields, and the value as it is, become a row of the cache, of type
    `kv_dtype` and stored as `keys` says. With n new tokens in a sequence of
    `key_lengths[b]` keys, these included, token i is written to key
    `key_lengths[b] - n + i`. Positions are `#posenc.appended` or those of an
    operand with a number for each new token. `posenc-split-cache` makes it.

    Constraints:
    - (kernel_c1) `heads` and `kv_heads` are positive, and `kv_heads` divides
      `heads`;
    - (kernel_c2) `head_dim` is even, from 2 to 256; `value_dim` is from 1 to
      256;
    - (kernel_c3) `dtype` and `table_dtype` are f32, bf16, f16 or f64, and so is
      `kv_dtype`, which can also be i8 or f8E4M3FN;
    - (kernel_c4) names of encodings are unique, and so are names of operands,
      which are C identifiers but for dots;
    - (kernel_c5) `scale` is finite and not 0;
    - (kernel_c6) `positions` and the mask agree on the alignment;
    - (kernel_c8) at most one of the `scale` clause and the encodings fixes the
      scale, or they agree;
    - (kernel_c9) `context_length` is positive;
    - (kernel_c10) with packed queries an operand with a query axis has a batch
      axis too, and with packed keys one with a key axis;
    - (kernel_c7) a body holds primitives only, has the arguments
      (!posenc.query, !posenc.key, !posenc.value) and yields an output or a key;
    - (kernel_c11) `key_cache` needs keys(lengths), keys(paged) or keys(ring), and
      so does a body that yields a key, beside which there is neither `key_cache`
      nor `blocks`;
    - (kernel_c12) `#posenc.appended` is a law of keys in a body that yields a
      key, and of both sides in one with keys(state) and a `posenc.recurrence`;
      `#posenc.iota` is none there; no table of a body that yields a key has a
      query or key axis;
    - (kernel_c13) `kv_scales` is given exactly when `kv_dtype` is i8 or f8E4M3FN;
    - (kernel_c14) with keys(ring), once `posenc-split-cache` has run, all scores
      have a mask over indices that bounds how far back queries see, nothing of
      the attention kernel reads an operand with a number for each key, and no
      `posenc.head_mlp` has more than one tap;
    - (kernel_c15) beside `blocks` nothing scans along rows and there is no
      `posenc.head_mlp`;
    - (kernel_c16) `dropout` is at least 0 and below 1;
    - (kernel_c17) with keys(state) there is no `blocks`, and once
      `posenc-form-recurrences` has run the output is a `posenc.recurrence`.

    Examples:
    ```mlir
    posenc.kernel @llama_3_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal)
      encode [#posenc.rope<base = 5.0e5>]

    posenc.kernel @decoder heads(32) kv_heads(8) head_dim(128) queries(packed)
      keys(paged) key_cache(encoded) mask(#posenc.causal) encode [#posenc.rope]

    posenc.kernel @sliding heads(32) kv_heads(8) head_dim(128) keys(ring)
      key_cache(encoded) mask(#posenc.window<left = 4095>) encode [#posenc.rope]

    posenc.kernel @level2 heads(8) head_dim(64) {
    ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
      %s = posenc.dot %q, %k scale(0.125)
      %u = posenc.select %s mask(#posenc.causal)
      %p = posenc.normalize softmax %u
      %o = posenc.weighted_sum %p, %v
      posenc.yield %o : !posenc.output
    }
    ```
  }];
  let arguments = (ins
      SymbolNameAttr:$sym_name,
      I64Attr:$heads,
      OptionalAttr<I64Attr>:$kv_heads,
      I64Attr:$head_dim,
      OptionalAttr<I64Attr>:$value_dim,
      OptionalAttr<TypeAttr>:$dtype,
      OptionalAttr<TypeAttr>:$kv_dtype,
      OptionalAttr<Posenc_KvScales>:$kv_scales,
      OptionalAttr<TypeAttr>:$table_dtype,
      OptionalAttr<Posenc_QueryStorage>:$queries,
      OptionalAttr<Posenc_KeyStorage>:$keys,
      OptionalAttr<Posenc_KeyCache>:$key_cache,
      OptionalAttr<Posenc_MaskClause>:$mask,
      OptionalAttr<F64Attr>:$scale,
      OptionalAttr<Posenc_PositionLaw>:$positions,
      UnitAttr:$no_lse,
      OptionalAttr<F64Attr>:$dropout,
      OptionalAttr<I64Attr>:$context_length,
      OptionalAttr<Posenc_EncodeList>:$encode,
      OptionalAttr<Posenc_BlockListAttr>:$blocks);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the body says what the kernel computes.
    bool isExpanded() { return !getBody().empty(); }
    int64_t getNumKvHeads() { return getKvHeads().value_or(getHeads()); }
    int64_t getValueSize() { return getValueDim().value_or(getHeadDim()); }
    ::mlir::Type getElementType();
    /// Of keys and values.
    ::mlir::Type getKeyElementType();
    /// Of the encodings' operands; a body says itself.
    ::mlir::Type getTableElementType();
    ::posenc::QueryStorage getQueryStorage() {
      return getQueries().value_or(::posenc::QueryStorage::dense);
    }
    ::posenc::KeyStorage getKeyStorage() {
      return getKeys().value_or(::posenc::KeyStorage::dense);
    }
    /// Whether keys and values are a cache that an append kernel fills.
    bool hasCache() {
      return getKeyStorage() == ::posenc::KeyStorage::lengths ||
             getKeyStorage() == ::posenc::KeyStorage::paged || isRing();
    }
    /// Whether the cache keeps the last keys of each sequence only.
    bool isRing() { return getKeyStorage() == ::posenc::KeyStorage::ring; }
    /// Whether earlier keys are in a state.
    bool hasState() { return getKeyStorage() == ::posenc::KeyStorage::state; }
    /// Whether the keys of a call are those of new tokens, the last of their
    /// sequence, which has `key_lengths` of them.
    bool hasNewTokens() { return hasState() || isAppend(); }
    /// What the output is, if it is one; else null.
    ::posenc::RecurrenceOp getRecurrence();
    /// Whether the body yields what is written to a cache.
    bool isAppend();
    /// "<name>_append_kv", of the kernel that fills this one's cache.
    ::std::string getAppendName() { return (getSymName() + "_append_kv").str(); }
    /// Whether sequences of a call differ in their numbers of queries or keys.
    bool hasSequences();
    /// The clause or its default.
    double getDotScale();
    /// Whether rows of scores have a log-sum-exp that a caller can ask for.
    bool exportsLse();
    ::posenc::MaskClauseAttrInterface getMaskOrDefault();
    ::posenc::PositionLawAttrInterface getPositionsOrDefault();
    /// The tensors that a level-2 body reads besides q, k and v, in order of
    /// first use.
    ::llvm::SmallVector<::posenc::OperandTensor> getOperandTensors();
    /// Whether queries have numbers of their keys: then Lq is at most Lk. The
    /// kernel must be expanded.
    bool looksUpQueriesAmongKeys();
  }];
}

def Posenc_EmbedOp : Posenc_Op<"embed", [Symbol, IsolatedFromAbove]> {
  let summary = "an input embedding with position encodings";
  let description = [{
    `y = dropout(scale * x + encodings)` for every batch entry and token, fused.
    `x` and `y` are [B, L, dim].

    Clauses as in `posenc.kernel`: `dim` of the embedding, `dtype` (default:
    f32), `table_dtype` of tables (numbers of tokens and sequences, such as
    words, stay f32, or are f64), `scale` of `x` (default: 1), `positions`
    (default: `#posenc.iota`), `dropout` (a probability, default: none), `encode`.

    With a body (level 2) only `dim` and `dtype` may be stated; its argument is
    the embedding vectors and it yields the encoded ones.

    Constraints:
    - (embed_c1) `dim` is from 1 to 65536;
    - (embed_c2) `dtype` is f32 or f64, `table_dtype` as in `posenc.kernel`;
    - (embed_c3) `scale` is finite; `dropout` is at least 0 and below 1;
    - (embed_c4) names of encodings and of operands are as in `posenc.kernel`;
    - (embed_c5) a body has the argument !posenc.tokens and yields one;
    - (embed_c6) `positions` are without `queries`.

    Example:
    ```mlir
    posenc.embed @identity dim(512) {
    ^bb0(%x: !posenc.tokens):
      posenc.yield %x : !posenc.tokens
    }
    ```
  }];
  let arguments = (ins
      SymbolNameAttr:$sym_name,
      I64Attr:$dim,
      OptionalAttr<TypeAttr>:$dtype,
      OptionalAttr<TypeAttr>:$table_dtype,
      OptionalAttr<F64Attr>:$scale,
      OptionalAttr<Posenc_PositionLaw>:$positions,
      OptionalAttr<F64Attr>:$dropout,
      OptionalAttr<Posenc_EncodeList>:$encode);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool isExpanded() { return !getBody().empty(); }
    ::mlir::Type getElementType();
    /// Of the encodings' operands; a body says itself.
    ::mlir::Type getTableElementType();
    ::posenc::PositionLawAttrInterface getPositionsOrDefault();
    ::llvm::SmallVector<::posenc::OperandTensor> getOperandTensors();
  }];
}

#endif // POSENC_KERNEL_OPS_TD
