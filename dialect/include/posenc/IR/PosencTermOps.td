// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: positions, relations, frequencies and tables.
#ifndef POSENC_TERM_OPS_TD
#define POSENC_TERM_OPS_TD

include "posenc/IR/PosencOpBase.td"

//===----------------------------------------------------------------------===//
// Positions and relations
//===----------------------------------------------------------------------===//

def Posenc_PositionOp : Posenc_TypedOp<"position", "CoordType"> {
  let summary = "the position of each token of one side, on one axis";
  let description = [{
    `result[t]` is what the law gives token t of that side: with `#posenc.iota`
    key j is at `j + offset` and query row i at `i + Lk - Lq + offset`
    (`bottom_right`) or `i + offset` (`top_left`); with
    `#posenc.position_tensor` the operand holds the keys' positions, and query
    rows have those of the keys at their place, unless the law has `queries`:
    then row i is at `queries[b, i]`.
    `#posenc.appended` is the law of keys that are appended to a cache.

    Examples: `%i = posenc.position query law(#posenc.iota)`,
    `%x = posenc.position key law(#posenc.position_tensor<axes = 3, axis = 2>)`
  }];
  let arguments = (ins Posenc_Side:$side, Posenc_PositionLaw:$law);
  let results = (outs Posenc_CoordType:$result);
  let assemblyFormat = "$side `law` `(` $law `)` attr-dict";
}

def Posenc_RemapOp : Posenc_TypedOp<"remap", "CoordType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of a position";
  let description = [{
    `result[t] = region(position[t])`: interpolation, grouping, rows and columns
    of a grid, clamping. The region is as that of `posenc.bias`.

    Constraints:
    - (remap_c1) the region has one f64 argument and yields one f64.

    Example:
    ```mlir
    %g = posenc.remap %i {
    ^bb0(%p: f64):
      %eight = arith.constant 8.0 : f64
      %q = arith.divf %p, %eight : f64
      %f = math.floor %q : f64
      posenc.yield %f : f64
    }
    ```
  }];
  let arguments = (ins Posenc_CoordType:$position);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_CoordType:$result);
  let assemblyFormat = "$position $body attr-dict";
  let hasRegionVerifier = 1;
}

def Posenc_RelationOp : Posenc_TypedOp<"relation", "RelationType"> {
  let summary = "a function of the distance between two tokens";
  let description = [{
    `result[i, j] = law(p_i - p_j)`.

    Constraints:
    - (relation_c1) `query` is a position of the query side, `key` of the key
      side;
    - (relation_c2) positions that a `posenc.remap` made have the law
      `#posenc.difference`: others are of integers.

    Example: `%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)`
  }];
  let arguments = (ins Posenc_CoordType:$query, Posenc_CoordType:$key,
                       Posenc_RelationLaw:$law);
  let results = (outs Posenc_RelationType:$result);
  let assemblyFormat = "$query `,` $key `law` `(` $law `)` attr-dict";
  let hasVerifier = 1;
}

def Posenc_RelationMapOp : Posenc_TypedOp<"relation_map", "RelationType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of relations, positions and tables";
  let description = [{
    `result[i, j] = region(inputs at (h, i, j))`: two-dimensional indices,
    overrides for a class token, segments.
  }] # Posenc_RegionNote<>.text # [{
    `rows(n)` states that the values are integers from 0 to n - 1; values
    outside are clamped. Without it the relation has no bounds and looks up no
    finite table.

    Constraints:
    - (relation_map_c1) as `bias_c1` to `bias_c3`;
    - (relation_map_c2) `rows` is positive and at most 2^26.

    Example:
    ```mlir
    %s = posenc.relation_map(%r) : !posenc.relation rows(3) {
    ^bb0(%d: f64):
      %one = arith.constant 1.0 : f64
      %n = arith.addf %d, %one : f64
      posenc.yield %n : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TermInput>:$inputs, OptionalAttr<I64Attr>:$rows);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_RelationType:$result);
  let assemblyFormat = [{
    `(` ($inputs^ `)` `:` type($inputs)):(`)`)? (`rows` `(` $rows^ `)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_SumIndexOp : Posenc_TypedOp<"sum_index", "RelationType"> {
  let summary = "an index that a bias sums over";
  let description = [{
    Among the inputs of a `posenc.bias`, `map` or `relation_map` it makes the
    result the sum of the region over the index 0 .. extent - 1: hidden units
    of a small network, frequencies, channels of two vectors. At most one
    stands among the inputs.

    Constraints:
    - (sum_index_c1) `extent` is from 1 to 65536.

    Example: `%m = posenc.sum_index extent(32)`
  }];
  let arguments = (ins I64Attr:$extent);
  let results = (outs Posenc_RelationType:$result);
  let assemblyFormat = "`extent` `(` $extent `)` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

def Posenc_FreqsOp : Posenc_TypedOp<"freqs", "FreqsType"> {
  let summary = "angular frequencies of rotated pairs, known when compiled";
  let description = [{
    `result[k] = law(k)`, in radians per position: `base^(-2k / dims)` with
    `#posenc.geometric`, a list with `#posenc.frequencies`.

    Example: `%f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 128>)`
  }];
  let arguments = (ins Posenc_FreqsLaw:$law);
  let results = (outs Posenc_FreqsType:$result);
  let assemblyFormat = "`law` `(` $law `)` attr-dict";
}

def Posenc_FreqsMapOp : Posenc_TypedOp<"freqs_map", "FreqsType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "angular frequencies that depend on the call";
  let description = [{
    `result[k] = region(k, length, tables at k)` for the pairs k = 0 .. pairs -
    1. `length` is the call's: Lk of a kernel, L of an embedding, plus the
    offset of its positions when they are `#posenc.iota`. Tables are over `row`
    (the pair) and `head`.

    Constraints:
    - (freqs_map_c1) the region has two f64 arguments and one for each table,
      and yields one f64;
    - (freqs_map_c2) `pairs` is from 1 to 32768.

    Example:
    ```mlir
    %w = posenc.table law(#posenc.operand<"rope.inv_freq", rows = 64>) : !posenc.table<row>
    %f = posenc.freqs_map(%w) : !posenc.table<row> pairs(64) {
    ^bb0(%pair: f64, %length: f64, %inv_freq: f64):
      posenc.yield %inv_freq : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TableType>:$tables, I64Attr:$pairs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_FreqsType:$result);
  let assemblyFormat = [{
    `(` ($tables^ `)` `:` type($tables)):(`)`)? `pairs` `(` $pairs `)` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

def Posenc_TableOp : Posenc_PrimitiveOp<"table"> {
  let summary = "a table of numbers: constants, or an operand of the kernel";
  let description = [{
    Constraints:
    - (table_c1) `law` is `#posenc.constants` or `#posenc.operand`;
    - (table_c2) constants have no `query`, `key` or `batch` axis; their number
      is a multiple of the kernel's `heads` if they have a `head` axis, of 1
      otherwise, and exactly that without a `row` or `channel` axis; with both
      of these axes they state `channels`;
    - (table_c3) an operand states `rows` exactly when it has a `row` axis, and
      `channels` exactly when it has a `channel` axis.

    Examples:
    ```mlir
    %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %t = posenc.table law(#posenc.operand<"t5_bias.table", rows = 32>) : !posenc.table<row, head>
    ```
  }];
  let arguments = (ins AnyAttr:$law);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = "`law` `(` $law `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extent of the row axis, when there is one and it is known.
    ::std::optional<int64_t> getNumRows();
    /// The extent of the channel axis, when there is one and it is known.
    ::std::optional<int64_t> getNumChannels();
  }];
}

def Posenc_TableMapOp : Posenc_TypedTableOp<"table_map", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a table whose rows are a function of their index";
  let description = [{
    `result[r, c] = region(r, c)` for every integer r and the channels c = 0 ..
    channels - 1: sinusoids of a distance, for example.

    Constraints:
    - (table_map_c1) the region has two f64 arguments and yields one f64;
    - (table_map_c2) the result is a !posenc.table<row, channel>; `channels` is
      from 1 to 65536.

    Example:
    ```mlir
    %t = posenc.table_map channels(64) {
    ^bb0(%row: f64, %channel: f64):
      %p = arith.mulf %row, %channel : f64
      %s = math.sin %p : f64
      posenc.yield %s : f64
    }
    ```
  }];
  let arguments = (ins I64Attr:$channels);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`channels` `(` $channels `)` $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_ProjectOp : Posenc_PrimitiveOp<"project"> {
  let summary = "a table times a matrix, for each head";
  let description = [{
    `result[r, h, c] = sum_m table[r, m] weights[m, h, c]`, where m is the
    channel of `table` and the row of `weights`. Transformer-XL's projected
    positions (arXiv 1901.02860, section 3.3).

    Constraints:
    - (project_c1) `table` is over (row, channel), `weights` an operand over
      (row, head, channel) with as many rows as `table` has channels, and the
      result over (row, head, channel).

    Example: `%projected = posenc.project %rows, %weights : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>`
  }];
  let arguments = (ins Posenc_TableType:$table, Posenc_TableType:$weights);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = [{
    $table `,` $weights attr-dict `:` qualified(type($table)) `,`
    qualified(type($weights)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Posenc_PrefixSumOp : Posenc_PrimitiveOp<"prefix_sum", [
    IsolatedFromAbove, SingleBlock, AllTypesMatch<["table", "result"]>]> {
  let summary = "the running sum of a table along its keys";
  let description = [{
    `result[.., j] = sum_{t <= j} region(table[.., t])`.

    Constraints:
    - (prefix_sum_c1) the table has a `key` axis and no `query`, `row` or
      `channel` axis;
    - (prefix_sum_c2) the region has one f64 argument and yields one f64.

    Example:
    ```mlir
    %sums = posenc.prefix_sum %gates : !posenc.table<batch, head, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    ```
  }];
  let arguments = (ins Posenc_TableType:$table);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = "$table `:` qualified(type($table)) $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_AtQueryOp : Posenc_PrimitiveOp<"at_query"> {
  let summary = "a table over keys, read at the query's own place";
  let description = [{
    `result[.., i] = table[.., i + Lk - Lq]` (`bottom_right`) or
    `table[.., i]` (`top_left`). Lq must not exceed Lk.

    Constraints:
    - (at_query_c1) the table has a `key` and no `query` axis, and the result
      is the same with `query` in the place of `key`.

    Example: `%own = posenc.at_query %gates bottom_right : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>`
  }];
  let arguments = (ins Posenc_TableType:$table, Posenc_Alignment:$alignment);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = [{
    $table $alignment attr-dict `:` qualified(type($table)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

#endif // POSENC_TERM_OPS_TD
