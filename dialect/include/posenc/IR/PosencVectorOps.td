// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: what is done to one vector of each token.
#ifndef POSENC_VECTOR_OPS_TD
#define POSENC_VECTOR_OPS_TD

include "posenc/IR/PosencOpBase.td"

class Posenc_VectorOp<string mnemonic, list<Trait> traits = []>
    : Posenc_PrimitiveOp<mnemonic, !listconcat(
          [AllTypesMatch<["input", "result"]>], traits)> {
  let results = (outs Posenc_Vector:$result);
}

def Posenc_RotateOp : Posenc_VectorOp<"rotate", [IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "rotates channel pairs by position-dependent angles";
  let description = [{
    For pair `k` of the `2n` channels that start at `first_dim`, with `n` the
    number of frequencies, and a token at the positions `p_a` on one or more
    axes: `(a, b) -> m (a cos t - b sin t), m (a sin t + b cos t)` with
    `t = sum_a p_a w_a[k]`. Pair `k` is the channels `(k, k + n)` with
    `pairing(half)` and `(2k, 2k + 1)` with `pairing(interleaved)`, counted from
    `first_dim`. Other channels pass through.

    The modulus `m` is 1, or `region(k, p_0)`: attention factors, xPos decay.

    With `mix` the cosines and sines of n frequencies are mixed to those of the
    pairs: `C[k] = sum_m cos_mix[m, h, k] cos(t_m)`,
    `S[k] = sum_m sin_mix[m, h, k] sin(t_m)` (FoPE, arXiv 2412.17739), and the
    pair becomes `(a C - b S, a S + b C)`.

    Constraints:
    - (rotate_c1) the rotated channels lie within the kernel's `head_dim`;
    - (rotate_c2) positions are of the side of `input`;
    - (rotate_c3) there is one list of frequencies for each position, all of
      one length;
    - (rotate_c4) `mix` is two tables over (row, channel) or (row, head,
      channel) with a row for each frequency;
    - (rotate_c5) the modulus region has two f64 arguments and yields one f64.

    Examples:
    ```mlir
    %1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
    %2 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
    ^bb0(%pair: f64, %position: f64):
      %m = arith.constant 1.19 : f64
      posenc.yield %m : f64
    }
    ```
  }];
  let arguments = (ins Posenc_Vector:$input, Variadic<Posenc_CoordType>:$positions,
                       Variadic<Posenc_FreqsType>:$freqs,
                       Variadic<Posenc_TableType>:$mix,
                       Posenc_Pairing:$pairing, I64Attr:$first_dim);
  let regions = (region MaxSizedRegion<1>:$modulus);
  let assemblyFormat = [{
    $input `by` `(` $positions `)` `freqs` `(` $freqs `)`
    (`mix` `(` $mix^ `:` type($mix) `)`)? `pairing` `(` $pairing `)`
    `first_dim` `(` $first_dim `)` attr-dict `:` type($result)
    (`modulus` $modulus^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of rotated pairs, if it is known.
    ::std::optional<int64_t> getNumPairs();
    /// Whether queries have positions of their own by the laws of these.
    bool hasOwnQueries();
    /// Whether the vectors are such queries.
    bool turnsOwnQueries();
  }];
}

def Posenc_VaddOp : Posenc_VectorOp<"vadd"> {
  let summary = "adds a vector of a table";
  let description = [{
    `result[t, c] = input[t, c] + scale * table[.., c]`: a learned vector per
    head (Transformer-XL's u and v, a projection's bias), or with `at` the row
    of the token's position (learned and sinusoidal embeddings).

    Constraints:
    - (vadd_c1) the table has a `channel` axis, and else `head` or `row`; it has
      `row` exactly when `at` is given;
    - (vadd_c2) `channel` has the extent of the vector.

    Examples:
    ```mlir
    %1 = posenc.vadd %q, %vectors : !posenc.query, !posenc.table<head, channel>
    %2 = posenc.vadd %k, %rows at(%j) : !posenc.key, !posenc.table<row, channel>
    ```
  }];
  let arguments = (ins Posenc_Vector:$input, Posenc_TableType:$table,
                       Optional<Posenc_CoordType>:$position);
  let assemblyFormat = [{
    $input `,` $table (`at` `(` $position^ `)`)? attr-dict `:` type($result) `,`
    qualified(type($table))
  }];
  let hasVerifier = 1;
}

def Posenc_ChannelScaleOp : Posenc_VectorOp<"channel_scale"> {
  let summary = "multiplies each channel by a number of a table";
  let description = [{
    `result[t, c] = input[t, c] * (offset + table[.., c])`: the gain of a norm,
    with `offset(1.0)` as Gemma stores it.

    Constraints:
    - (channel_scale_c1) the table is over (channel) or (head, channel), and
      `channel` has the extent of the vector;
    - (channel_scale_c2) `offset` is finite.

    Example: `%1 = posenc.channel_scale %q, %gain offset(0.0) : !posenc.query, !posenc.table<channel>`
  }];
  let arguments = (ins Posenc_Vector:$input, Posenc_TableType:$table, F64Attr:$offset);
  let assemblyFormat = [{
    $input `,` $table `offset` `(` $offset `)` attr-dict `:` type($result) `,`
    qualified(type($table))
  }];
  let hasVerifier = 1;
}

def Posenc_RowScaleOp : Posenc_VectorOp<"row_scale", [IsolatedFromAbove, SingleBlock]> {
  let summary = "multiplies each token's vector by a number";
  let description = [{
    `result[t, c] = input[t, c] * region(inputs at (h, t))`: constants, query
    temperatures, log-n scaling, a scale per head.
  }] # Posenc_RegionNote<>.text # [{

    Constraints:
    - (row_scale_c1) inputs are positions of the side of `input`, and tables
      over `row`, `head`, `batch` and the side's own storage index;
    - (row_scale_c2) the region has one f64 argument for each input and yields
      one f64.

    Example:
    ```mlir
    %1 = posenc.row_scale %q(%i) : !posenc.query, !posenc.coord {
    ^bb0(%p: f64):
      %one = arith.constant 1.0 : f64
      %n = arith.addf %p, %one : f64
      %l = math.log %n : f64
      posenc.yield %l : f64
    }
    ```
  }];
  let arguments = (ins Posenc_Vector:$input, Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `(` ($inputs^)? `)` `:` type($result) (`,` type($inputs)^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_VectorNormOp : Posenc_VectorOp<"vector_norm"> {
  let summary = "divides each token's vector by its norm";
  let description = [{
    - `l2`: `x / sqrt(sum x^2 + epsilon)`;
    - `rms`: `x / sqrt(mean x^2 + epsilon)`;
    - `layer`: the same as `rms` after the mean over the channels is taken off.

    With `floor` instead of `added` epsilon is a lower bound of the square root
    (`torch.nn.functional.normalize`). `over(head)` runs over the channels of a
    head, `over(all_heads)` over those of all heads of the token, as OLMo 2 does
    before it splits heads. Gains and offsets follow as `posenc.channel_scale`
    and `posenc.vadd`.

    Constraints:
    - (vector_norm_c1) `epsilon` is finite and not negative.

    Example: `%1 = posenc.vector_norm %q rms over(head) epsilon(1.0e-6) added : !posenc.query`
  }];
  let arguments = (ins Posenc_Vector:$input, Posenc_NormKind:$kind,
                       Posenc_NormAxis:$over, F64Attr:$epsilon,
                       Posenc_EpsilonSite:$epsilon_site);
  let assemblyFormat = [{
    $input $kind `over` `(` $over `)` `epsilon` `(` $epsilon `)` $epsilon_site
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Posenc_VectorMapOp : Posenc_VectorOp<"vector_map", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of every channel";
  let description = [{
    `result[t, c] = region(input[t, c])`: the feature map of linear attention.

    Constraints:
    - (vector_map_c1) the region has one f64 argument and yields one f64.

    Example:
    ```mlir
    %1 = posenc.vector_map %q : !posenc.query {
    ^bb0(%x: f64):
      %e = math.exp %x : f64
      posenc.yield %e : f64
    }
    ```
  }];
  let arguments = (ins Posenc_Vector:$input);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input `:` type($result) $body attr-dict";
  let hasRegionVerifier = 1;
}

#endif // POSENC_VECTOR_OPS_TD
