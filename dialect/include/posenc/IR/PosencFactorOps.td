// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: biases of low rank as more channels of queries and keys.
#ifndef POSENC_FACTOR_OPS_TD
#define POSENC_FACTOR_OPS_TD

include "posenc/IR/PosencOpBase.td"

def Posenc_TileFactorsOp : Posenc_PrimitiveOp<"tile.factors", [], ["PrepareOp"]> {
  let summary = "the summands of a bias of one side, channel by channel";
  let description = [{
    `result[b, h, t, c]` is the region of a `posenc.bias` at the queries or keys t,
    with c in the place of the `posenc.sum_index` among its inputs: there are as
    many channels as that counts, and one without it. In a `posenc.prepare` of
    kind `rows`, which has a row for each query or key that a sequence of the call
    can have.

    Constraints:
    - (tile_factors_c1) `bias` is a `posenc.bias` of one side: its inputs are
      positions of that side, maps of these, and tables without an axis of the
      other side;
    - (tile_factors_c2) the result is over `query` or `key`, then `channel`; before
      these `batch` and `head` where it differs by them.

    Example:
    ```mlir
    posenc.prepare @rows0 rows {
      %c = posenc.sum_index extent(4)
      %p = posenc.position query law(#posenc.iota)
      %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
      ^bb0(%n: f64, %x: f64):
        %y = arith.mulf %n, %x : f64
        %z = math.cos %y : f64
        posenc.yield %z : f64
      }
      %f = posenc.tile.factors %b : !posenc.table<query, channel>
      posenc.yield %f : !posenc.table<query, channel>
    }
    ```
  }];
  let arguments = (ins Posenc_ScoreType:$bias);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = "$bias attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The bias that has the summands.
    ::posenc::BiasOp getBiasOp();
    int64_t getNumChannels();
  }];
}

def Posenc_TileVectorOp : Posenc_PrimitiveOp<"tile.vector", [], ["PrologueOp", "KeysOp"]> {
  let summary = "vectors of prepared factors";
  let description = [{
    The channels of the tables, one after another; what follows them is not read.

    Constraints:
    - (tile_vector_c1) there is at least one table; tables are over `query` for
      queries and over `key` for keys, and `channel`, and may be over `batch` and
      `head`;
    - (tile_vector_c2) tables are those of `posenc.tile.factors`, and have at most
      `head_dim` channels together.

    Example:
    ```mlir
    posenc.prologue {
    ^bb0(%q: !posenc.query):
      %t = posenc.tile.load_table @rows0 : !posenc.table<query, channel>
      %v = posenc.tile.vector(%t) : !posenc.table<query, channel> -> !posenc.query
      posenc.yield %v : !posenc.query
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TableType>:$tables);
  let results = (outs AnyTypeOf<[Posenc_QueryType, Posenc_KeyType]>:$result);
  let assemblyFormat = "`(` $tables `)` attr-dict `:` qualified(type($tables)) `->` type($result)";
  let hasVerifier = 1;
}

#endif // POSENC_FACTOR_OPS_TD
