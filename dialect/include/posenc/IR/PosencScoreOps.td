// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: scores, weights and outputs.
#ifndef POSENC_SCORE_OPS_TD
#define POSENC_SCORE_OPS_TD

include "posenc/IR/PosencOpBase.td"

//===----------------------------------------------------------------------===//
// Terms that depend on content
//===----------------------------------------------------------------------===//

def Posenc_DotOp : Posenc_TypedOp<"dot", "ScoreType"> {
  let summary = "the scaled dot product of every query with every key";
  let description = [{
    `result[i, j] = scale * sum_c query[i, c] key[j, c]`, over all channels or
    with `channels([q, k, n])` over `query[i, q + c] key[j, k + c]`, c < n.

    Constraints:
    - (dot_c1) `scale` is finite;
    - (dot_c2) the channels lie within the kernel's `head_dim`.

    Examples: `%s = posenc.dot %q, %k scale(0.125)`,
    `%r = posenc.dot %q, %k scale(1.0) channels([0, 32, 32])`
  }];
  let arguments = (ins Posenc_QueryType:$query, Posenc_KeyType:$key, F64Attr:$scale,
                       OptionalAttr<DenseI64ArrayAttr>:$channels);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $query `,` $key `scale` `(` $scale `)` (`channels` `(` $channels^ `)`)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key,
                                 "::llvm::APFloat":$scale)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(ScoreType::get(context));
      return ::mlir::success();
    }
    /// Whether it runs over all channels.
    bool isWhole() { return !getChannels(); }
  }];
}

def Posenc_TableDotOp : Posenc_TypedOp<"table_dot", "ScoreType"> {
  let summary = "the dot product of queries or keys with a row of a table";
  let description = [{
    `result[i, j] = scale * sum_c v[c] table[r(i, j), h, c]`, where v is
    `query[i]` or `key[j]` and r the index: a relation, or scores, between whose
    neighbouring rows is interpolated: with `f = floor(r)`,
    `(1 - (r - f)) t[f] + (r - f) t[f + 1]`. Rows outside the table are clamped.

    Constraints:
    - (table_dot_c1) `scale` is finite;
    - (table_dot_c2) the table is over (row, channel) or (row, head, channel),
      with as many channels as the kernel's `head_dim`;
    - (table_dot_c3) a relation's values are within the table's rows.

    Example: `%t = posenc.table_dot %q, %rows at(%clipped) scale(0.125) : !posenc.query, !posenc.table<row, channel>, !posenc.relation`
  }];
  let arguments = (ins AnyTypeOf<[Posenc_QueryType, Posenc_KeyType]>:$vector,
                       Posenc_TableType:$table, Posenc_RowIndex:$index, F64Attr:$scale);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $vector `,` $table `at` `(` $index `)` `scale` `(` $scale `)` attr-dict `:`
    type($vector) `,` qualified(type($table)) `,` type($index)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Terms that do not, and functions of scores
//===----------------------------------------------------------------------===//

def Posenc_BiasOp : Posenc_TypedOp<"bias", "ScoreType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a score term that does not depend on content";
  let description = [{
    `result[i, j] = region(inputs at (h, i, j))`, summed over the
    `posenc.sum_index` among the inputs if there is one.
  }] # Posenc_RegionNote<>.text # [{
    A bias is Toeplitz when its inputs are relations between affine positions
    and tables over `row` and `head` only.

    Constraints:
    - (bias_c1) the region's arguments match the inputs in number and are f64;
    - (bias_c2) the region holds only operations of the closed list and yields
      one f64;
    - (bias_c3) a table with a `row` axis has a relation, position or sum index
      before it, and one with a `channel` axis a sum index; the values of a
      relation or sum index are within the table;
    - (bias_c4) there is at most one `posenc.sum_index`.

    Example:
    ```mlir
    %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
    ^bb0(%distance: f64, %slope: f64):
      %t = arith.mulf %distance, %slope : f64
      %n = arith.negf %t : f64
      posenc.yield %n : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    `(` ($inputs^ `)` `:` type($inputs)):(`)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_MapOp : Posenc_TypedOp<"map", "ScoreType", [
    IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "a pointwise function of scores";
  let description = [{
    `result[i, j] = region(scores[i, j], inputs at (h, i, j))`, for example a
    soft cap. A pair that is masked in any of the scores stays masked.
  }] # Posenc_RegionNote<>.text # [{

    Constraints:
    - (map_c1) as `bias_c1` to `bias_c4`, the scores' arguments first; there is
      at least one score.

    Example:
    ```mlir
    %t = posenc.map %s() {
    ^bb0(%x: f64):
      %cap = arith.constant 50.0 : f64
      %y = arith.divf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.mulf %z, %cap : f64
      posenc.yield %w : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_ScoreType>:$scores, Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $scores `(` ($inputs^ `)` `:` type($inputs)):(`)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_HeadMlpOp : Posenc_PrimitiveOp<"head_mlp", [
    InferTypeOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a small network over the scores of all heads of a pair";
  let description = [{
    With H heads, n scores and `hidden` units:
    `u[m, i, j] = act(bias_in[m] + sum_{s, g, t} weights_in[s H + g, m, t] scores_s[g, i, j + t - taps / 2])`,
    `result[h, i, j] = bias_out[h] + sum_{m, t} weights_out[m, h, t] u[m, i, j + t - taps / 2]`
    (DAPE, arXiv 2405.14722; `taps = 3`: DAPE v2, arXiv 2410.04798). `act` is
    the region. Keys beyond the ends and masked pairs count as 0. All heads of
    the kernel must be in the call.

    Operands: `weights_in` over (row = n H taps, channel = hidden), row
    `(s H + g) taps + t`; `bias_in` over (channel); `weights_out` over (row =
    hidden taps, head), row `m taps + t`; `bias_out` over (head).

    Constraints:
    - (head_mlp_c1) the tables have these axes and extents;
    - (head_mlp_c2) `taps` is 1 or 3;
    - (head_mlp_c3) the region has one f64 argument and yields one f64.

    Example:
    ```mlir
    %t = posenc.head_mlp(%s, %b) weights(%w1, %b1, %w2, %b2) taps(1) {
    ^bb0(%x: f64):
      %zero = arith.constant 0.0 : f64
      %y = arith.maximumf %x, %zero : f64
      posenc.yield %y : f64
    }
    ```
  }];
  let arguments = (ins Posenc_TableType:$weights_in, Posenc_TableType:$bias_in,
                       Posenc_TableType:$weights_out, Posenc_TableType:$bias_out,
                       Variadic<Posenc_ScoreType>:$scores, I64Attr:$taps);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(ScoreType::get(context));
      return ::mlir::success();
    }
  }];
}

def Posenc_AddOp : Posenc_PrimitiveOp<"add", [Commutative, SameOperandsAndResultType]> {
  let summary = "the sum of two score terms or of two outputs";
  let description = [{
    A pair that is masked in one of the terms is masked in the sum.

    Example: `%t = posenc.add %s, %b`
  }];
  let arguments = (ins Posenc_ScoreOrOutput:$lhs, Posenc_ScoreOrOutput:$rhs);
  let results = (outs Posenc_ScoreOrOutput:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict custom<OrScore>(type($result))";
  let hasCanonicalizer = 1;
}

def Posenc_SelectOp : Posenc_TypedOp<"select", "ScoreType", [
    IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "keeps the scores that a predicate allows; others elsewhere";
  let description = [{
    `result[i, j] = allowed(i, j) ? score[i, j] : other[i, j]`, where `other` is
    -inf by default: a mask. The predicate is

    - `mask(...)`: a mask over the storage indices, or with `at(%i, %j)` over two
      positions;
    - `where(...)`: a region over inputs as in `posenc.bias` that yields an i1.

    A pair that is masked in the chosen score stays masked.

    Constraints:
    - (select_c1) exactly one of `mask` and `where` is there;
    - (select_c2) `at` is a position of the query side and one of the key side;
    - (select_c3) the region's inputs are as in `bias_c1` to `bias_c3`, without
      a `posenc.sum_index`; it yields one i1.

    Examples:
    ```mlir
    %u = posenc.select %t mask(#posenc.causal)
    %near = posenc.select %s else(%t) mask(#posenc.window<left = 511>) at(%i, %j)
    %w = posenc.select %t where(%i, %j) : !posenc.coord, !posenc.coord {
    ^bb0(%a: f64, %b: f64):
      %same = arith.cmpf oeq, %a, %b : f64
      posenc.yield %same : i1
    }
    ```
  }];
  let arguments = (ins Posenc_ScoreType:$score, Optional<Posenc_ScoreType>:$other,
                       Variadic<Posenc_CoordType>:$positions,
                       Variadic<Posenc_TermInput>:$inputs,
                       OptionalAttr<Posenc_MaskLaw>:$mask);
  let regions = (region MaxSizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $score (`else` `(` $other^ `)`)? (`mask` `(` $mask^ `)`)? (`at` `(` $positions^ `)`)?
    (`where` `(` $inputs^ `)` `:` type($inputs))? ($body^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$score, "::posenc::MaskAttrInterface":$mask)>];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_RowscanOp : Posenc_TypedOp<"rowscan", "ScoreType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a sum along a row, from the right";
  let description = [{
    `result[i, j] = sum_t region(score[i, t])` over the keys `t >= j`
    (`inclusive`) or `t > j` (`exclusive`) that are not masked in `score`. A
    masked pair stays masked.

    Constraints:
    - (rowscan_c1) the region has one f64 argument and yields one f64.

    Example:
    ```mlir
    %n = posenc.rowscan %s exclusive {
    ^bb0(%x: f64):
      %e = math.exp %x : f64
      %l = math.log1p %e : f64
      posenc.yield %l : f64
    }
    ```
  }];
  let arguments = (ins Posenc_ScoreType:$score, Posenc_ScanKind:$kind);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = "$score $kind $body attr-dict";
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Weights and outputs
//===----------------------------------------------------------------------===//

def Posenc_NormalizeOp : Posenc_TypedOp<"normalize", "WeightsType", [AttrSizedOperandSegments]> {
  let summary = "turns rows of scores into weights";
  let description = [{
    Masked pairs (scores of -inf) weigh 0 in every kind.

    - `softmax`: `result[i, j] = exp(score[i, j] - lse_i)` with the natural
      log-sum-exp `lse_i` of row `i`. `sink(%s)` adds a score per head that has
      no key to the log-sum-exp. A row of which every score is -inf, or that has
      no keys, gets weights 0 and the log-sum-exp of its sink or -inf.
    - `exp`: `exp(score[i, j])`; the row's log-sum-exp is that of the scores.
    - `identity`: `score[i, j]`.
    - `abs_sum`: `score[i, j] / clamp(sum_j |score[i, j]|, low, high)`.
    - `linear`: `score[i, j] / sum_j by[i, j]`; 0 when that sum is 0.

    The last three have no log-sum-exp.

    Constraints:
    - (normalize_c1) `by` is there exactly with `linear`, `bounds` exactly with
      `abs_sum`, `sink` at most with `softmax`;
    - (normalize_c2) a sink is a table over (head);
    - (normalize_c3) bounds are two positive numbers that do not decrease.

    Examples: `%p = posenc.normalize softmax %u`,
    `%w = posenc.normalize abs_sum %u bounds([1.0, 5.0e4])`
  }];
  let arguments = (ins Posenc_NormalizeKind:$kind, Posenc_ScoreType:$score,
                       Optional<Posenc_ScoreType>:$denominator,
                       Optional<Posenc_TableType>:$sink,
                       OptionalAttr<DenseF64ArrayAttr>:$bounds);
  let results = (outs Posenc_WeightsType:$result);
  let assemblyFormat = [{
    $kind $score (`by` `(` $denominator^ `)`)?
    (`sink` `(` $sink^ `:` qualified(type($sink)) `)`)?
    (`bounds` `(` custom<Numbers>($bounds)^ `)`)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::posenc::NormalizeKind":$kind, "::mlir::Value":$score)>];
  let hasVerifier = 1;
}

def Posenc_DropWeightsOp : Posenc_TypedOp<"drop_weights", "WeightsType", [], ["KernelOp"]> {
  let summary = "drops random weights and scales up the others";
  let description = [{
    `result[i, j]` is 0 where the random number of the pair is below
    `probability`, and `weights[i, j] / (1 - probability)` elsewhere. The
    log-sum-exp of a row stays that of all its scores, and no sink is dropped.

    The random number of query i and key j is a function of the call's `seed`
    and `offset`, the batch entry b, the head h of the specification (that of
    the call plus `first_head`), the query's place among the keys and the key's
    index in its sequence: not of tiles, threads, storage or the machine, nor of
    whether a sequence is computed at once or in pieces behind a cache. With
    F(c0, c1, c2, c3) the four words of Philox4x32-10 (Salmon et al., SC 2011) at
    the key (seed mod 2^32, seed div 2^32) and the counter (c0, c1, c2, c3), all
    modulo 2^32,

        (r0, r1, ., .) = F(offset mod 2^32, offset div 2^32, b, h)
        number = word (j mod 4) of F(j div 4, i + Lk - Lq, r0, r1), times 2^-32

    Every `posenc.drop_weights` of a kernel draws the same numbers.

    Constraints:
    - (drop_weights_c1) `probability` is at least 0 and below 1;
    - (drop_weights_c2) its weights are those of a `posenc.normalize`.

    Example: `%d = posenc.drop_weights %p probability(0.1)`
  }];
  let arguments = (ins Posenc_WeightsType:$weights, F64Attr:$probability);
  let results = (outs Posenc_WeightsType:$result);
  let assemblyFormat = "$weights `probability` `(` $probability `)` attr-dict";
  let hasVerifier = 1;
}

def Posenc_WeightedSumOp : Posenc_TypedOp<"weighted_sum", "OutputType"> {
  let summary = "the weighted sum of the values";
  let description = [{
    `result[i, c] = sum_j weights[i, j] value[j, c]`.

    Example: `%o = posenc.weighted_sum %p, %v`
  }];
  let arguments = (ins Posenc_WeightsType:$weights, Posenc_ValueType:$value);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = "$weights `,` $value attr-dict";
}

def Posenc_ValueTableOp : Posenc_TypedOp<"value_table", "OutputType"> {
  let summary = "the weighted sum of rows of a table";
  let description = [{
    `result[i, c] = sum_j weights[i, j] table[r(i, j), h, c]` (Shaw's values,
    arXiv 1803.02155, equation 3).

    Constraints:
    - (value_table_c1) the table is over (row, channel) or (row, head, channel)
      with `value_dim` channels, and the relation's values are within its rows.

    Example: `%o = posenc.value_table %p, %rows at(%clipped) : !posenc.table<row, channel>`
  }];
  let arguments = (ins Posenc_WeightsType:$weights, Posenc_TableType:$table,
                       Posenc_RelationType:$relation);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = [{
    $weights `,` $table `at` `(` $relation `)` attr-dict `:` qualified(type($table))
  }];
  let hasVerifier = 1;
}

def Posenc_RemainderOp : Posenc_TypedOp<"remainder", "OutputType"> {
  let summary = "the weight that a row leaves over, times the query's own value";
  let description = [{
    `result[i, c] = (1 - sum_j weights[i, j]) value[i + Lk - Lq, c]`
    (stick-breaking attention, arXiv 2410.17980). Lq must not exceed Lk.

    Constraints:
    - (remainder_c1) its weights are those of a `posenc.normalize`: what a row
      leaves over does not depend on what is dropped.

    Example: `%o = posenc.remainder %p, %v`
  }];
  let arguments = (ins Posenc_WeightsType:$weights, Posenc_ValueType:$value);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = "$weights `,` $value attr-dict";
  let hasVerifier = 1;
}

def Posenc_RecurrenceOp : Posenc_TypedOp<"recurrence", "OutputType", [
    IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "causal attention without a softmax, as a sum that each token updates";
  let description = [{
    `result[i, c] = sum_j g^(i' - j) s[i, j] value[j, c]` over the keys `j <= i'`,
    where `i' = i + Lk - Lq` is the place of query i among the keys, `s[i, j] =
    sum_t scales[t] (queries[t][i] . keys[t][j])`, and g is the decay of the head:
    what the region makes of tables over heads, 1 without a region.

    With `by` it is divided by `epsilon + sum_j s'[i, j]`, where `s'[i, j] = sum_t
    by_queries[t][i] . by_keys[t][j]`, times `g^(i' - j)` with `decayed_by`; it is
    0 where that is 0, and where a query sees no key.

    That needs no scores of all pairs: the state behind token n is `S[t head_dim +
    d, c] = sum_j g^(n - j) keys[t][j, d] value[j, c]` over `j <= n`, one for
    each query head, and the result is a product of queries and state. With
    keys(state) keys before the call's are there by their state alone:
    `state_in` is that behind the token before the call, absent or of a sequence
    without such tokens 0, and `state_out` that behind the last token. Of `by`
    there are `sums_in` and `sums_out`, in the same way: `Z[t head_dim + d] =
    sum_j by_keys[t][j, d]`, times `g^(n - j)` with `decayed_by`.

    `posenc-form-recurrences` makes it of products, maps and a
    `posenc.normalize`. A decay above 1 grows, with the errors of f32.

    Constraints:
    - (recurrence_c1) there are as many queries as keys and scales, at least one,
      and as many queries as keys in `by`, if that is there;
    - (recurrence_c2) scales are finite; `epsilon` is finite and not negative;
      without `by` there is neither `epsilon` nor `decayed_by`;
    - (recurrence_c3) the region has one f64 argument for each table, which are
      over (head), and yields one f64; without a region there are no tables and
      no `decayed_by`;
    - (recurrence_c4) it is what the kernel yields.

    Example:
    ```mlir
    %o = posenc.recurrence (%q), (%k), %v scales([0.125]) by (%a), (%b)
      epsilon(1.0e-6) decay(%m) : !posenc.table<head> {
    ^bb0(%gamma: f64):
      posenc.yield %gamma : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_QueryType>:$queries, Variadic<Posenc_KeyType>:$keys,
                       Posenc_ValueType:$value,
                       Variadic<Posenc_QueryType>:$by_queries,
                       Variadic<Posenc_KeyType>:$by_keys,
                       Variadic<Posenc_TableType>:$tables,
                       DenseF64ArrayAttr:$scales, OptionalAttr<F64Attr>:$epsilon,
                       UnitAttr:$decayed_by);
  let regions = (region MaxSizedRegion<1>:$decay);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = [{
    `(` $queries `)` `,` `(` $keys `)` `,` $value `scales` `(` custom<Numbers>($scales) `)`
    (`by` `(` $by_queries^ `)` `,` `(` $by_keys `)` (`epsilon` `(` $epsilon^ `)`)?
     (`decayed_by` $decayed_by^)?)?
    (`decay` `(` $tables^ `)` `:` qualified(type($tables)))? ($decay^)? attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(OutputType::get(context));
      return ::mlir::success();
    }
    bool decays() { return !getDecay().empty(); }
    /// Whether sums of products divide the output.
    bool divides() { return !getByQueries().empty(); }
  }];
}

def Posenc_YieldOp : Posenc_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<!listconcat(Posenc_PrimitiveParents, [
        "BiasOp", "MapOp", "RemapOp", "RelationMapOp", "FreqsMapOp", "TableMapOp",
        "PrefixSumOp", "RotateOp", "RowScaleOp", "VectorMapOp", "SelectOp",
        "RowscanOp", "HeadMlpOp", "RecurrenceOp", "CoordMapOp",
        "ChannelMapOp"])>]> {
  let summary = "ends a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // POSENC_SCORE_OPS_TD
