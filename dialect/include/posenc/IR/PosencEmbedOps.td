// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: what input embeddings need beside positions, tables and vectors.
#ifndef POSENC_EMBED_OPS_TD
#define POSENC_EMBED_OPS_TD

include "posenc/IR/EmbedEnums.td"
include "posenc/IR/PosencOpBase.td"

// Numbers of the tokens of an embedding.
class Posenc_TokenOp<string mnemonic, list<Trait> traits = []>
    : Posenc_TypedOp<mnemonic, "CoordType", traits, ["EmbedOp"]> {
  let results = (outs Posenc_CoordType:$result);
}

class Posenc_TokenVectorOp<string mnemonic, list<Trait> traits = []>
    : Posenc_TypedOp<mnemonic, "TokensType", traits, ["EmbedOp"]> {
  let results = (outs Posenc_TokensType:$result);
}

class Posenc_RandomNote {
  string text = [{
    Number n of a stream is a function of the call's `seed` and `offset`, of the
    stream and of n alone: with m = offset + n (modulo 2^64) it is word `m mod
    4` of Philox4x32-10 (Salmon et al., SC 2011) at the key (seed mod 2^32, seed
    div 2^32) and the counter (b mod 2^32, b div 2^32, stream, 0), b = m div 4,
    times 2^-32. A call whose offset is larger by the numbers that a call has
    drawn goes on where that call has ended.
  }];
}

//===----------------------------------------------------------------------===//
// Numbers of tokens
//===----------------------------------------------------------------------===//

def Posenc_CoordMapOp : Posenc_TokenOp<"coord_map", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of several numbers of a token";
  let description = [{
    `result[t] = region(inputs at (b, t))`. Inputs are numbers of the token and
    tables: their `batch` and `key` axes are looked up by the token's own batch
    entry and storage index, their `row` axis by the nearest number before.

    Constraints:
    - (coord_map_c1) there is an input; tables are over `batch`, `key` and
      `row`, and one with a `row` axis comes after a number;
    - (coord_map_c2) the region has one f64 argument for each input and yields
      one f64.

    Example:
    ```mlir
    %s = posenc.coord_map(%p, %shift) : !posenc.coord, !posenc.table<batch> {
    ^bb0(%position: f64, %k: f64):
      %r = arith.addf %position, %k : f64
      posenc.yield %r : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` `:` type($inputs) $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_CoordSumOp : Posenc_TokenOp<"coord_sum"> {
  let summary = "the running sum of a number over the tokens of a sequence";
  let description = [{
    `result[t] = sum_{u <= t} input[u]`: over a mask of 0 and 1 it counts the
    tokens that are no padding.

    Example: `%n = posenc.coord_sum %mask`
  }];
  let arguments = (ins Posenc_CoordType:$input);
  let assemblyFormat = "$input attr-dict";
}

def Posenc_CoordMeanOp : Posenc_TokenOp<"coord_mean"> {
  let summary = "the mean of a number over the tokens of a sequence";
  let description = [{
    The same for each token of a sequence. Tokens whose number is NaN do not
    count; without any other the mean is NaN.

    Example: `%m = posenc.coord_mean %p`
  }];
  let arguments = (ins Posenc_CoordType:$input);
  let assemblyFormat = "$input attr-dict";
}

def Posenc_LengthOp : Posenc_TokenOp<"length"> {
  let summary = "the number of tokens of a sequence";
  let description = [{
    L of the call, the same for each token.

    Example: `%l = posenc.length`
  }];
  let assemblyFormat = "attr-dict";
}

def Posenc_BoundedOp : Posenc_TokenOp<"bounded"> {
  let summary = "a position that must be a row of a table";
  let description = [{
    The position itself where it is an integer from 0 to `rows` - 1; otherwise
    the whole call fails and names it (POSENC_OUT_OF_RANGE at run time).
    Without it a table's index is clamped. `what` says what has the rows.

    Constraints:
    - (bounded_c1) `rows` is from 1 to 2^53.

    Example: `%q = posenc.bounded %p rows(512) of("learned.table")`
  }];
  let arguments = (ins Posenc_CoordType:$position, I64Attr:$rows, StrAttr:$what);
  let assemblyFormat = "$position `rows` `(` $rows `)` `of` `(` $what `)` attr-dict";
  let hasVerifier = 1;
}

def Posenc_RandomOp : Posenc_TokenOp<"random"> {
  let summary = "a random number from 0 to 1 for each token or sequence";
  let description = [{
    Uniform over [0, 1). `sequence`: number b for all tokens of batch entry b.
    `token`: number b L + t.
  }] # Posenc_RandomNote<>.text # [{

    Constraints:
    - (random_c1) `stream` is from 1 to 2^31 - 1 and differs from that of every
      other operation that draws.

    Example: `%u = posenc.random sequence stream(1)`
  }];
  let arguments = (ins Posenc_RandomScope:$scope, I64Attr:$stream);
  let assemblyFormat = "$scope `stream` `(` $stream `)` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Vectors of tokens
//===----------------------------------------------------------------------===//

def Posenc_ChannelMapOp : Posenc_TokenVectorOp<"channel_map", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of every channel, its index and numbers of the token";
  let description = [{
    `result[t, c] = region(input[t, c], k, part, inputs at (b, t, k))`.

    Without `pairing` k is the channel and `part` is 0. With it channels come in
    n = dim div 2 pairs as in `posenc.rotate`: channel `k + part n` with
    `pairing(half)` and `2 k + part` with `pairing(interleaved)`, part being 0 or
    1; the last channel of an odd `dim` is part 0 of k = n.

    Inputs are numbers of the token and tables: their `channel` axis is looked
    up by k, their `row` axis by the nearest number before, `batch` and `key` by
    the token's own batch entry and storage index. Indices are clamped to the
    table.

    Constraints:
    - (channel_map_c1) tables are over `batch`, `key`, `row` and `channel`, and
      one with a `row` axis comes after a number;
    - (channel_map_c2) the region has three f64 arguments and one for each
      input, and yields one f64.

    Example:
    ```mlir
    %1 = posenc.channel_map %x(%p, %rows : !posenc.coord, !posenc.table<row, channel>) {
    ^bb0(%element: f64, %channel: f64, %part: f64, %position: f64, %row: f64):
      %one = arith.constant 1.0 : f64
      %gain = arith.addf %one, %row : f64
      %r = arith.mulf %element, %gain : f64
      posenc.yield %r : f64
    }
    ```
  }];
  let arguments = (ins Posenc_TokensType:$input, Variadic<Posenc_TermInput>:$inputs,
                       OptionalAttr<Posenc_Pairing>:$pairing);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `(` ($inputs^ `:` type($inputs))? `)` (`pairing` `(` $pairing^ `)`)?
    $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_DropoutOp : Posenc_TokenVectorOp<"dropout"> {
  let summary = "drops random elements and scales up the others";
  let description = [{
    An element is 0 where its random number is below `probability` and is
    multiplied by `1 / (1 - probability)` elsewhere (inverted dropout). Element
    (b, t, c) has number (b L + t) dim + c.
  }] # Posenc_RandomNote<>.text # [{

    Constraints:
    - (dropout_c1) `probability` is at least 0 and below 1;
    - (dropout_c2) `stream` is from 0 to 2^31 - 1 and differs from that of every
      other operation that draws.

    Example: `%1 = posenc.dropout %x probability(0.1) stream(0)`
  }];
  let arguments = (ins Posenc_TokensType:$input, F64Attr:$probability, I64Attr:$stream);
  let assemblyFormat = [{
    $input `probability` `(` $probability `)` `stream` `(` $stream `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // POSENC_EMBED_OPS_TD
