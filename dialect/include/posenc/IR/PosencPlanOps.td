// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: where and how each term of a kernel is computed.
#ifndef POSENC_PLAN_OPS_TD
#define POSENC_PLAN_OPS_TD

include "posenc/IR/PosencOpBase.td"

def Posenc_PlanOp : Posenc_Op<"plan", [
    Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "how a kernel is computed on one instruction set";
  let description = [{
    A query tile of `rows` rows of one head walks its keys in runs, in blocks
    of `keys` keys, with one running softmax state. `rows` lists the tile
    functions to make, tallest first; the driver uses the tallest that the
    rows left fill, and the one that fits best at the end.

    The body holds, in this order: any number of `posenc.prepare`, at most one
    `posenc.keys`, one `posenc.prologue`, one or more `posenc.step` and one
    `posenc.epilogue`. Scores inside a plan are in base 2 after
    `posenc.tile.to_base2`; dot products are from the start if the prologue has
    a `posenc.tile.scale` marked `base2`. With kinds of normalisation that do
    not exponentiate, scores stay natural.

    The keys of a tile begin at the maximum of 0 and the results of `from`, a map
    over (q_begin, q_end, lq, lk), by default at 0. `descending` walks them from
    the last to the first: what scans along a row from the right needs.

    `dtype` is the type of queries and outputs in memory and `kv_dtype` that of
    keys and values (default: f32); arithmetic is f32. Those of type i8 and f8E4M3FN
    are codes, each with the scale of its key. With `indirect` the rows of
    keys and values are anywhere in their buffers and given one by one.

    With `blocks` a tile has queries of one block only and walks the runs of
    listed keys within the ranges of its steps, which apply no mask for it.

    `append` says that the kernel appends to a cache: its keys are the new ones,
    `kv_dtype` is the type that they have before, and nothing else is computed.
    Then the body holds any number of `posenc.prepare` and at most one
    `posenc.keys`, which yields one key; without it keys are written as they are.

    With a `posenc.chunk` in the place of steps and epilogue the plan is of a
    recurrence: the tokens of a head are computed in chunks of the tallest `rows`,
    one after another, with the state that the chunk before left; a function of
    fewer rows is for the end. `keys` has the tallest number too.

    A `packed` plan is for calls with few queries: at most that many in every
    sequence. The heads that share a key head are rows of one tile, so that keys
    and values are read once for all of them. With g = heads / kv_heads, or the
    tile's `rows` if that is less, row r is the query q_begin + r / g of the
    head that is r % g behind the tile's first, and a tile has rows / g queries
    at most. It stands beside the plan for all other calls.

    Constraints:
    - (plan_c1) `heads`, `kv_heads`, `head_dim` and `value_dim` are as in
      `posenc.kernel`;
    - (plan_c2) `rows` are positive and decrease, and there is at least one;
      `keys` is positive; `isa` is not empty;
    - (plan_c3) the parts stand in the order given above;
    - (plan_c4) `from` has four dimensions, no symbols and at least one result;
    - (plan_c5) with `append` there are no other parts than `posenc.prepare` and
      `posenc.keys`, and no `blocks`;
    - (plan_c6) with `blocks` there is no `descending`: scans see all keys of a row;
    - (plan_c7) with a `posenc.chunk` there are no steps and no epilogue, no
      `append`, `descending`, `from`, `indirect` and `blocks`, and `keys` is the
      first entry of `rows`;
    - (plan_c8) `packed` is positive, and there is no `descending`, `append`,
      `blocks` or `posenc.chunk` beside it.

    Example:
    ```mlir
    posenc.plan @nope_x86_64_avx2 kernel(@nope) isa("x86-64-avx2") heads(8) kv_heads(8)
        head_dim(64) value_dim(64) rows([24]) keys(256) {
      posenc.prologue {
      ^bb0(%q: !posenc.query):
        %0 = posenc.tile.scale %q by(0.18033688011112042) base2
        posenc.yield %0 : !posenc.query
      }
      posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) whole_blocks {
      ^bb0(%q: !posenc.query, %k: !posenc.key):
        %s = posenc.dot %q, %k scale(1.0)
        posenc.yield %s : !posenc.score
      }
      posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
      ^bb0(%q: !posenc.query, %k: !posenc.key):
        %s = posenc.dot %q, %k scale(1.0)
        posenc.yield %s : !posenc.score
      }
      posenc.epilogue {
      ^bb0(%state: !posenc.state):
        %o = posenc.tile.normalize softmax %state
        posenc.yield %o : !posenc.output
      }
    }
    ```
  }];
  let arguments = (ins
      SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$kernel, StrAttr:$isa,
      I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
      DenseI64ArrayAttr:$rows, I64Attr:$keys, UnitAttr:$descending,
      OptionalAttr<AffineMapAttr>:$from, OptionalAttr<TypeAttr>:$dtype,
      OptionalAttr<TypeAttr>:$kv_dtype, UnitAttr:$indirect, UnitAttr:$append,
      OptionalAttr<Posenc_BlockListAttr>:$blocks, OptionalAttr<I64Attr>:$packed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `kernel` `(` $kernel `)` `isa` `(` $isa `)`
    `heads` `(` $heads `)` `kv_heads` `(` $kv_heads `)`
    `head_dim` `(` $head_dim `)` `value_dim` `(` $value_dim `)`
    `rows` `(` $rows `)` `keys` `(` $keys `)` (`descending` $descending^)?
    (`from` `(` $from^ `)`)?
    (`dtype` `(` $dtype^ `)`)? (`kv_dtype` `(` $kv_dtype^ `)`)?
    (`indirect` $indirect^)? (`append` $append^)? (`blocks` `(` $blocks^ `)`)?
    (`packed` `(` $packed^ `)`)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::posenc::PrepareOp, 4> getPrepareOps();
    ::posenc::KeysOp getKeysOp(); // null when keys are used where they lie
    ::posenc::PrologueOp getPrologueOp();
    ::llvm::SmallVector<::posenc::StepOp, 4> getStepOps();
    ::posenc::EpilogueOp getEpilogueOp();
    ::posenc::ChunkOp getChunkOp(); // null unless it is of a recurrence
    /// The query heads that share a key head.
    int64_t getGroup() { return getHeads() / getKvHeads(); }
    ::posenc::PrepareOp lookupPrepare(::llvm::StringRef name);
    /// How the epilogue normalises; null if it does not.
    ::posenc::TileNormalizeOp getNormalizeOp();
    /// The tensors that the plan reads besides q, k and v, in order of first use.
    ::llvm::SmallVector<::posenc::OperandTensor> getOperandTensors();
  }];
}

class Posenc_PlanPartOp<string mnemonic, list<Trait> traits = []>
    : Posenc_Op<mnemonic, !listconcat([HasParent<"PlanOp">, IsolatedFromAbove,
                                       SingleBlock], traits)> {
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def Posenc_PrepareOp : Posenc_PlanPartOp<"prepare", [Symbol]> {
  let summary = "a table that is built once, before the tiles run";
  let description = [{
    Evaluated in double precision and stored as f32 in the prepared buffer; of a
    `posenc.prefix_sum` what rounding cuts off is stored too.

    - `angles`: yields a `posenc.rotate` of its argument, a key, or a query whose
      positions are its own. One row per position
      that a query or key of the call can have (per batch entry and token when
      positions are an operand): the cosines of its pairs, then the sines, times
      the modulus. One table per head if frequencies or mixes have such an axis.
    - `strip`: yields a Toeplitz score term. One number per head and distance
      `p_i - p_j`, rising.
    - `rows`: yields a table, and a relation if its `row` axis has no bounds:
      then it has one row for each distance of the call, rising. Stored in the
      order batch, head, then the other axes as the type has them.
    - `decays`: yields a Toeplitz score term, as `strip` does. One number per head
      and distance from 0 up to the tokens of a chunk, or the longest sequence of
      new ones if that is shorter.

    Constraints:
    - (prepare_c1) the body has no arguments, or with `angles` one, a query or
      key, and yields what its kind says.

    Example:
    ```mlir
    posenc.prepare @angles0 angles {
    ^bb0(%k: !posenc.key):
      %p = posenc.position key law(#posenc.iota)
      %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 128>)
      %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
      posenc.yield %r : !posenc.key
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Posenc_TableKind:$kind);
  let assemblyFormat = "$sym_name $kind attr-dict-with-keyword $body";
}

def Posenc_KeysOp : Posenc_PlanPartOp<"keys"> {
  let summary = "what is done to the keys once per (batch, key head)";
  let description = [{
    Its results are kept in scratch for all query tiles; a result that is the
    argument itself, and without this operation the keys, are read where the
    caller has them. With `on_load` nothing is kept: tiles compute the results
    of a block of keys when they come to it, which suits keys that are read once.

    Constraints:
    - (keys_c1) the body takes a !posenc.key and yields at least one, and one in
      an `append` plan;
    - (keys_c2) `on_load` stands in a `packed` plan.
  }];
  let arguments = (ins UnitAttr:$on_load);
  let assemblyFormat = "(`on_load` $on_load^)? attr-dict-with-keyword $body";
}

def Posenc_PrologueOp : Posenc_PlanPartOp<"prologue"> {
  let summary = "what is done to the queries once per tile";
  let description = [{
    Constraints:
    - (prologue_c1) the body takes a !posenc.query and yields at least one.
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Posenc_StepOp : Posenc_PlanPartOp<"step", [Symbol]> {
  let summary = "the score of a run of keys";
  let description = [{
    Steps follow one another: a step takes the keys from where the one before
    it stopped (where the plan's keys begin for the first) up to the minimum of
    the results of `until`, a map over (q_begin, q_end, lq, lk), or to their
    maximum if it says `maximum`; never beyond the end of the last step. A step
    with `maximum` comes first and has the body of the last step, which computes
    its keys in calls of their own: no code is made for it. With
    `whole_blocks` it stops after the last whole block of the plan's `keys` and
    leaves the rest to the next step.

    Constraints:
    - (step_c1) the body takes the queries of the prologue, then the keys of
      `posenc.keys` or the one key without it. It yields a !posenc.score; with
      `linear` normalisation a second one, the denominator's terms; then for
      each value table a !posenc.table and the !posenc.relation that looks it
      up.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, AffineMapAttr:$until,
                       UnitAttr:$maximum, UnitAttr:$whole_blocks);
  let assemblyFormat = [{
    $sym_name `until` `(` $until `)` (`maximum` $maximum^)?
    (`whole_blocks` $whole_blocks^)?
    attr-dict-with-keyword $body
  }];
}

def Posenc_EpilogueOp : Posenc_PlanPartOp<"epilogue"> {
  let summary = "from the running state to the output";
  let description = [{
    Constraints:
    - (epilogue_c1) the body takes a !posenc.state and yields a !posenc.output.
      Its `posenc.tile.normalize` says how the steps accumulate.
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Posenc_ChunkOp : Posenc_PlanPartOp<"chunk"> {
  let summary = "the outputs of a chunk of tokens, and the state behind them";
  let description = [{
    Constraints:
    - (chunk_c1) the body takes the queries of the prologue, then the keys of
      `posenc.keys` or the one key without it. It yields a !posenc.output, a
      `posenc.tile.recurrence`.
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
}

//===----------------------------------------------------------------------===//
// The closed list of tile operations
//===----------------------------------------------------------------------===//

class Posenc_TileOp<string mnemonic, string type>
    : Posenc_TypedOp<mnemonic, type, [], Posenc_PlanParts>;

def Posenc_TileRotateOp : Posenc_PrimitiveOp<"tile.rotate",
    [AllTypesMatch<["input", "result"]>], Posenc_PlanParts> {
  let summary = "rotates channel pairs by the angles of a prepared table";
  let description = [{
    As `posenc.rotate`, with the cosines and sines read from `table`; `dims`
    is twice the number of pairs.

    Constraints:
    - (tile_rotate_c1) `dims` is even and positive, and the rotated channels lie
      within the plan's `head_dim`.

    Example: `%0 = posenc.tile.rotate %k by @angles0 pairing(half) first_dim(0) dims(128) : !posenc.key`
  }];
  let arguments = (ins Posenc_Vector:$input, FlatSymbolRefAttr:$table,
                       Posenc_Pairing:$pairing, I64Attr:$first_dim, I64Attr:$dims);
  let results = (outs Posenc_Vector:$result);
  let assemblyFormat = [{
    $input `by` $table `pairing` `(` $pairing `)` `first_dim` `(` $first_dim `)`
    `dims` `(` $dims `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Posenc_TileScaleOp : Posenc_TileOp<"tile.scale", "QueryType"> {
  let summary = "multiplies the queries by a constant";
  let description = [{
    `base2` says that the factor holds log2(e): dot products with these queries
    are in base 2.

    Constraints:
    - (tile_scale_c1) `factor` is finite.

    Example: `%1 = posenc.tile.scale %q by(0.18033688011112042) base2`
  }];
  let arguments = (ins Posenc_QueryType:$input, F64Attr:$factor, UnitAttr:$base2);
  let results = (outs Posenc_QueryType:$result);
  let assemblyFormat = "$input `by` `(` $factor `)` (`base2` $base2^)? attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Posenc_TileToBase2Op : Posenc_TileOp<"tile.to_base2", "ScoreType"> {
  let summary = "multiplies a score term by log2(e)";
  let arguments = (ins Posenc_ScoreType:$input);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = "$input attr-dict";
}

def Posenc_TileLoadStripOp : Posenc_TileOp<"tile.load_strip", "ScoreType"> {
  let summary = "reads a Toeplitz term from a prepared strip";
  let arguments = (ins FlatSymbolRefAttr:$table);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = "$table attr-dict";
}

def Posenc_TileLoadTableOp : Posenc_PrimitiveOp<"tile.load_table", [], Posenc_PlanParts> {
  let summary = "a prepared table";
  let description = [{
    Example: `%t = posenc.tile.load_table @rows0 : !posenc.table<row, channel>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$table);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = "$table attr-dict `:` qualified(type($result))";
}

def Posenc_TileNormalizeOp : Posenc_TileOp<"tile.normalize", "OutputType"> {
  let summary = "from the running sums to the output";
  let description = [{
    `softmax` divides the running output by the running sum, after the sink's
    share is added to it; `exp` and `identity` leave it as it is, `abs_sum` and
    `linear` divide by the sum of magnitudes or of denominators, as
    `posenc.normalize` says. `softmax` and `exp` also write the natural
    log-sum-exp `ln(2) (m + log2(l))` where the caller wants it. Rows without
    keys give 0 and -inf, or the sink.

    With `dropout` the steps drop weights, as `posenc.drop_weights` says, when
    these are in the row's sums and before they meet values and value tables; the
    output is divided by `1 - dropout`, a remainder is not.

    Constraints:
    - (tile_normalize_c1) `dropout` is above 0 and below 1.

    Example: `%o = posenc.tile.normalize softmax %state dropout(0.1)`
  }];
  let arguments = (ins Posenc_NormalizeKind:$kind, Posenc_StateType:$state,
                       Optional<Posenc_TableType>:$sink,
                       OptionalAttr<DenseF64ArrayAttr>:$bounds,
                       OptionalAttr<F64Attr>:$dropout);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = [{
    $kind $state (`sink` `(` $sink^ `:` qualified(type($sink)) `)`)?
    (`bounds` `(` custom<Numbers>($bounds)^ `)`)? (`dropout` `(` $dropout^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Posenc_TileRecurrenceOp : Posenc_TypedOp<"tile.recurrence", "OutputType",
                                             [AttrSizedOperandSegments], Posenc_PlanParts> {
  let summary = "one chunk of a posenc.recurrence";
  let description = [{
    As `posenc.recurrence` says, with the scales in the queries and the powers of
    the decay read from `decays`, 1 without it. With s tokens in the chunk, row i of
    it and d from 0 to s, `decays[d]` is `g^d`: the output is what the chunk's own
    keys give, times `g^(i - j)`, and what the state does, times `g^(i + 1)`; the
    state becomes `g^s` times itself plus the keys times `g^(s - 1 - j)`.

    Constraints:
    - (tile_recurrence_c1) as recurrence_c1 and recurrence_c2, without scales;
      `decayed_by` needs `decays`.

    Example: `%o = posenc.tile.recurrence (%q), (%k) by (%a), (%b) epsilon(1.0e-6) decays(@decays0)`
  }];
  let arguments = (ins Variadic<Posenc_QueryType>:$queries, Variadic<Posenc_KeyType>:$keys,
                       Variadic<Posenc_QueryType>:$by_queries,
                       Variadic<Posenc_KeyType>:$by_keys,
                       OptionalAttr<F64Attr>:$epsilon, UnitAttr:$decayed_by,
                       OptionalAttr<FlatSymbolRefAttr>:$decays);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = [{
    `(` $queries `)` `,` `(` $keys `)`
    (`by` `(` $by_queries^ `)` `,` `(` $by_keys `)` (`epsilon` `(` $epsilon^ `)`)?
     (`decayed_by` $decayed_by^)?)?
    (`decays` `(` $decays^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(OutputType::get(context));
      return ::mlir::success();
    }
    bool divides() { return !getByQueries().empty(); }
  }];
}

def Posenc_TileRemainderOp : Posenc_TileOp<"tile.remainder", "OutputType"> {
  let summary = "adds what the weights of a row leave over times its own value";
  let arguments = (ins Posenc_OutputType:$output, Posenc_StateType:$state);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = "$output `,` $state attr-dict";
}

#endif // POSENC_PLAN_OPS_TD
