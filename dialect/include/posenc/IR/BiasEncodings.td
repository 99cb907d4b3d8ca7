// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that add a bias to the score.
#ifndef POSENC_BIAS_ENCODINGS_TD
#define POSENC_BIAS_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"
include "posenc/IR/TermEnums.td"

def Posenc_NopeAttr : Posenc_EncodingAttr<"Nope", "nope"> {
  let summary = "no position encoding";
  let description = [{
    Says explicitly what an absent `encode` list means too: scores depend on
    content alone (NoPE, arXiv 2305.19466).

    Example: `#posenc.nope`
  }];
  let assemblyFormat = "";
}

def Posenc_AlibiAttr : Posenc_EncodingAttr<"Alibi", "alibi", ["getOperandNames", "advise"]> {
  let summary = "attention with linear biases";
  let description = [{
    Adds `-m_h (p_i - p_j)` (`form = causal`), `-m_h |p_i - p_j|`
    (`form = symmetric`) or `m_h p_j` (`form = key`) to the score (arXiv
    2108.12409). `key` differs from `causal` by a constant of the row, which
    only the log-sum-exp shows; it is what Bloom's and Falcon's code adds. For a
    head count `H` that is a power of two
    `m_h = slope_scale * 2^(-max_exponent (h + 1) / H)`; otherwise, with `P` the
    largest power of two below `H`, the first `P` slopes are those of `P` heads
    and the rest are every other slope of `2 P` heads, appended in that order
    (the authors' code). `slope_scale` is L0 / L where positions are
    interpolated (arXiv 2310.13017). `slopes = operands` reads `m_h` from the
    caller's `<name>.slopes` [H or 1] instead, not negative.

    `site = inside` multiplies the bias by the scale of the dot product, as
    Falcon does. `rounding = bf16` rounds slopes, key positions and their
    products to bf16, to the nearest and ties to even, as Falcon's code does:
    positions beyond 256 collapse, and with a `context_length` the compiler says
    how many are left.

    `preset = "hf-falcon"` is `form = key, site = inside, rounding = bf16`
    (Hugging Face transformers, models/falcon/modeling_falcon.py,
    build_alibi_tensor).

    Constraints:
    - (alibi_c1) `max_exponent` and `slope_scale` are positive and finite;
    - (alibi_c2) `form = causal` and `form = key` need a mask that hides future
      keys, since they would reward them;
    - (alibi_c3) `rounding = bf16` needs `form = key`: no published code rounds
      distances;
    - (alibi_c4) a `preset` is known, and attributes that it states are not
      stated beside it;
    - (alibi_c5) `form = key` stands beside no encoding that sees the constant
      of a row by which it differs from `form = causal`: sinks, gates and caps
      of biased scores, weights without a softmax;
    - (alibi_c6) `slopes = operands` stands beside no number that makes slopes:
      `max_exponent`, `slope_scale`, `rounding`, `preset`.

    Examples: `#posenc.alibi<form = symmetric, max_exponent = 16.0>`,
    `#posenc.alibi<preset = "hf-falcon">`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_AlibiForm, "causal", "what the bias is linear in">:$form,
      Posenc_F64Param<"8.0", "the exponent of the last slope">:$max_exponent,
      Posenc_NameParam<"alibi">:$name,
      Posenc_EnumParam<Posenc_TermSite, "outside", "whether the scale multiplies the bias">:$site,
      Posenc_F64Param<"1.0", "multiplies every slope">:$slope_scale,
      Posenc_EnumParam<Posenc_AlibiRounding, "none", "the format of positions and slopes">:$rounding,
      StringRefParameter<"a published combination", "\"\"">:$preset,
      Posenc_EnumParam<Posenc_ScalarSource, "constants", "where slopes come from">:$slopes);
  let genVerifyDecl = 1;
}

def Posenc_T5BiasAttr : Posenc_EncodingAttr<"T5Bias", "t5_bias", ["getOperandNames", "advise"]> {
  let summary = "learned bias per bucket of relative distance";
  let description = [{
    Adds `table[bucket(p_j - p_i), h]` to the score (arXiv 1910.10683, section
    2.1; bucket law of Mesh TensorFlow and Hugging Face). With `n` buckets per
    direction, half of them hold one distance each and the rest grow
    logarithmically up to `max_distance`; farther keys share the last bucket.
    `direction = bidirectional` splits the buckets between past and future,
    `direction = causal` gives future keys the bucket of distance 0. Bucket
    borders are integer thresholds found in exact arithmetic. T5 models use
    `scale(1.0)`: state it on the kernel. T5 passes one table to all layers of a
    stack, umT5 one to each layer (Hugging Face transformers,
    models/umt5/modeling_umt5.py).

    Operand: `<name>.table` [buckets, H].

    Constraints:
    - (t5_bias_c1) `buckets` is at least 2, or even and at least 4 when
      bidirectional;
    - (t5_bias_c2) `max_distance` exceeds the number of distances that have a
      bucket of their own: half of the buckets of a direction.

    Example: `#posenc.t5_bias<buckets = 32, max_distance = 128, direction = bidirectional>`
  }];
  let parameters = (ins
      Posenc_IntParam<"32", "rows of the table">:$buckets,
      Posenc_IntParam<"128", "distance at which the last bucket starts at the latest">:$max_distance,
      Posenc_EnumParam<Posenc_Direction, "causal", "which side has buckets">:$direction,
      Posenc_NameParam<"t5_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_ToeplitzBiasAttr : Posenc_EncodingAttr<"ToeplitzBias", "toeplitz_bias", ["getOperandNames", "advise"]> {
  let summary = "learned bias per clipped distance";
  let description = [{
    Adds `table[clip(d, -max_distance, max_distance) + max_distance, h]`, where
    `d` is `p_j - p_i` or `p_i - p_j` by `orientation`.

    Operand: `<name>.table` [2 * max_distance + 1, H].

    Constraints:
    - (toeplitz_bias_c1) `max_distance` is between 0 and 2^24.

    Example: `#posenc.toeplitz_bias<max_distance = 127, orientation = query_minus_key>`
  }];
  let parameters = (ins
      Posenc_IntParam<"127", "distances beyond it share the last row">:$max_distance,
      Posenc_EnumParam<Posenc_Orientation, "key_minus_query", "the sign of the distance">:$orientation,
      Posenc_NameParam<"toeplitz_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_DenseBiasAttr : Posenc_EncodingAttr<"DenseBias", "dense_bias", ["getOperandNames"]> {
  let summary = "an additive bias for each pair, passed by the caller";
  let description = [{
    Adds `bias[h, i, j]` to the score, or with `batch = on` `bias[b, h, i, j]`.
    A value of -1e30 or less (-inf, or the lowest f32) masks the pair.

    Operand: `<name>` [H or 1, Lq, Lk], or [B, H or 1, Lq, Lk]; where queries or
    keys are packed it needs `batch = on` and is [H or 1, Tq or Lq, Tk or Lk].

    Examples: `#posenc.dense_bias`, `#posenc.dense_bias<batch = on>`
  }];
  let parameters = (ins
      Posenc_NameParam<"bias">:$name,
      Posenc_EnumParam<Posenc_TermSwitch, "off",
                       "whether each batch entry has numbers of its own">:$batch);
}

//===----------------------------------------------------------------------===//
// Functions of the distance
//===----------------------------------------------------------------------===//

def Posenc_KerpleAttr : Posenc_EncodingAttr<"Kerple", "kerple", ["getOperandNames"]> {
  let summary = "a kernel of the distance with two learned numbers per head";
  let description = [{
    Adds `-p_h ln(1 + a_h |p_i - p_j|)` (`kind = log`) or
    `-a_h |p_i - p_j|^p_h` (`kind = power`) to the scaled score (KERPLE, arXiv
    2205.09921). As in the authors' code (chijames/KERPLE,
    megatron/mpu/layers.py, ParallelKerplePower) both numbers are clamped to at
    least `floor`, and the power to at most `power_max`.

    `weight = on` is that code's multiplicative kernel: before biases are added
    the score is multiplied by `exp(-b_h |p_i - p_j|^r_h)`, whose numbers are
    clamped in the same way. `bias = off` leaves the sum out.

    Operands: `<name>.p` [H or 1], `<name>.a` [H or 1] with `bias = on`;
    `<name>.weight_p` (r), `<name>.weight_a` (b) [H or 1] with `weight = on`.

    Constraints:
    - (kerple_c1) `floor` and `power_max` are positive and finite, and `floor`
      is at most `power_max`;
    - (kerple_c2) `weight = on` needs `kind = power`, whose code alone has it;
    - (kerple_c3) `bias` or `weight` is on.

    Examples: `#posenc.kerple<kind = power>`,
    `#posenc.kerple<kind = power, weight = on>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_KerpleKind, "log", "the function of the distance">:$kind,
      Posenc_F64Param<"0.01", "the least p and a">:$floor,
      Posenc_F64Param<"2.0", "the greatest power">:$power_max,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether a kernel is added">:$bias,
      Posenc_EnumParam<Posenc_TermSwitch, "off", "whether a kernel is multiplied">:$weight,
      Posenc_NameParam<"kerple">:$name);
  let genVerifyDecl = 1;
}

def Posenc_FireAttr : Posenc_EncodingAttr<"Fire", "fire", ["getOperandNames"]> {
  let summary = "a small network of the distance over the query's position";
  let description = [{
    Adds `f_h(psi(p_i - p_j) / (psi(max(L, p_i)) + epsilon))` to the scaled
    score, with `psi(x) = ln(|c x| + 1)` and the network
    `f_h(x) = b2[h] + sum_m w2[m, h] max(0, w1[m] x + b1[m])` (FIRE, arXiv
    2310.04418; epsilon as in the copy of chuanyang-Zheng/DAPE). `length` is the
    learned threshold L as the network uses it, its multiplier included. With
    `scalars = operands` the caller passes `c` and `L` instead.

    Operands: `<name>.w1` [hidden], `<name>.b1` [hidden], `<name>.w2`
    [hidden, H], `<name>.b2` [H or 1]; with `scalars = operands` also `<name>.c`
    and `<name>.length` [H or 1].

    Constraints:
    - (fire_c1) `hidden` is from 1 to 65536;
    - (fire_c2) `c` is finite, `length` positive and finite, `epsilon` finite
      and not negative;
    - (fire_c3) with `scalars = operands` `c` and `length` are not stated.

    Example: `#posenc.fire<hidden = 32, c = 0.1, length = 512.0>`
  }];
  let parameters = (ins
      Posenc_IntParam<"32", "hidden units">:$hidden,
      Posenc_F64Param<"0.1", "multiplies distances">:$c,
      Posenc_F64Param<"512.0", "positions below it are normalised as it is">:$length,
      Posenc_F64Param<"1.0e-6", "added to the denominator">:$epsilon,
      Posenc_EnumParam<Posenc_ScalarSource, "constants", "where c and L come from">:$scalars,
      Posenc_NameParam<"fire">:$name);
  let genVerifyDecl = 1;
}

def Posenc_SandwichAttr : Posenc_EncodingAttr<"Sandwich", "sandwich"> {
  let summary = "the product of two sinusoidal embeddings as a bias";
  let description = [{
    Adds `(sum_t cos(x w_t) - n) / ((h + 1) 8 / H)` to the scaled score, with
    `w_t = base^(-2t / dims)` for the n = dims / 2 numbers t = `first`, `first`
    + 1, ... (arXiv 2212.10356; NeMo's SandwichRelativePositionEmbedding counts
    t from 1). `x` is `max(p_i - p_j, 0)` with `direction = causal`: NeMo takes
    the lower triangle, so that future keys count as the query itself, and
    `|p_i - p_j|` with `direction = bidirectional`.

    Constraints:
    - (sandwich_c1) `base` is positive and finite;
    - (sandwich_c2) `dims` is even and from 2 to 65536, or 0 for the head size;
    - (sandwich_c3) `first` is 0 or 1.

    Example: `#posenc.sandwich<direction = bidirectional>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_IntParam<"0", "twice the number of frequencies, 0 for the head size">:$dims,
      Posenc_IntParam<"1", "the first t">:$first,
      Posenc_EnumParam<Posenc_Direction, "causal", "what becomes of future keys">:$direction,
      Posenc_NameParam<"sandwich">:$name);
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Tokens on a grid
//===----------------------------------------------------------------------===//

def Posenc_SwinBiasAttr : Posenc_EncodingAttr<"SwinBias", "swin_bias", ["getOperandNames", "advise"]> {
  let summary = "learned bias per offset in a window of tokens";
  let description = [{
    Token `p` is in row `y = floor(p / width)` and column `x = p - width y` of
    the window. Adds `table[(y_i - y_j + height - 1) (2 width - 1) + x_i - x_j +
    width - 1, h]` to the scaled score (Swin v1, arXiv 2103.14030;
    microsoft/Swin-Transformer, models/swin_transformer.py). The sign is query
    minus key. Windows are batch entries; `#posenc.region_bias` adds the mask of
    shifted windows.

    Operand: `<name>.table` [(2 height - 1) (2 width - 1), H].

    Constraints:
    - (swin_bias_c1) `height` and `width` are from 1 to 2048.

    Example: `#posenc.swin_bias<height = 7, width = 7>`
  }];
  let parameters = (ins
      Posenc_IntParam<"7", "rows of the window">:$height,
      Posenc_IntParam<"7", "columns of the window">:$width,
      Posenc_NameParam<"swin_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_SwinV2BiasAttr : Posenc_EncodingAttr<"SwinV2Bias", "swin_v2_bias", ["getOperandNames", "advise"]> {
  let summary = "bias from a network of logarithmic offsets in a window";
  let description = [{
    Adds `16 sigmoid(c_h)` to the score, where with the offsets `(y, x)` of the
    tokens (query minus key, as in `#posenc.swin_bias`)
    `c_h = sum_m w2[m, h] max(0, wy[m] g(y, H') + wx[m] g(x, W') + b1[m])` and
    `g(r, n) = sign(r) log2(|8 r / (n - 1)| + 1) / 3` (Swin v2, arXiv
    2111.09883, section 3.3; models/swin_transformer_v2.py). `H'`, `W'` are the
    window that the network was trained for: `pretrained_height` and
    `pretrained_width`, 0 for the window itself. Cosine attention and its
    temperature are encodings of their own.

    With `form = logits` the caller passes `c` for each offset, with
    `form = folded` the bias itself, which is then `#posenc.swin_bias`.

    Operands: with `form = mlp` `<name>.wy`, `<name>.wx`, `<name>.b1` [hidden]
    (the columns of the first layer's weights, and its bias) and `<name>.w2`
    [hidden, H]; otherwise `<name>.table` [(2 height - 1) (2 width - 1), H].

    Constraints:
    - (swin_v2_bias_c1) `height` and `width` are from 1 to 2048;
    - (swin_v2_bias_c2) the pretrained window is not negative, and with
      `form = mlp` no side of it is 1, which would divide by 0;
    - (swin_v2_bias_c3) `hidden` is from 1 to 65536.

    Example: `#posenc.swin_v2_bias<height = 16, width = 16, pretrained_height = 8, pretrained_width = 8>`
  }];
  let parameters = (ins
      Posenc_IntParam<"8", "rows of the window">:$height,
      Posenc_IntParam<"8", "columns of the window">:$width,
      Posenc_IntParam<"0", "rows of the window of pretraining, 0: height">:$pretrained_height,
      Posenc_IntParam<"0", "columns of the window of pretraining, 0: width">:$pretrained_width,
      Posenc_IntParam<"512", "hidden units">:$hidden,
      Posenc_EnumParam<Posenc_SwinBiasForm, "mlp", "what the caller passes">:$form,
      Posenc_NameParam<"swin_v2_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_BeitBiasAttr : Posenc_EncodingAttr<"BeitBias", "beit_bias", ["getOperandNames", "advise"]> {
  let summary = "learned bias per offset on a grid behind a class token";
  let description = [{
    Position 0 is the class token, position `1 + p` is token `p` of a grid as in
    `#posenc.swin_bias`. Adds `table[r, h]` to the scaled score, with the offset's
    row `r` for two tokens of the grid and, of the last three rows, the first for
    the class token as query, the second for it as key, the third for both
    (BEiT, arXiv 2106.08254; microsoft/unilm, beit/modeling_finetune.py).

    Operand: `<name>.table` [(2 height - 1) (2 width - 1) + 3, H].

    Constraints:
    - (beit_bias_c1) `height` and `width` are from 1 to 2048.

    Example: `#posenc.beit_bias<height = 14, width = 14>`
  }];
  let parameters = (ins
      Posenc_IntParam<"14", "rows of the grid">:$height,
      Posenc_IntParam<"14", "columns of the grid">:$width,
      Posenc_NameParam<"beit_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_GridBiasAttr : Posenc_EncodingAttr<"GridBias", "grid_bias", ["getOperandNames", "advise"]> {
  let summary = "learned bias per clipped offset on a grid";
  let description = [{
    With the offsets `y` and `x` of two tokens, each `clip(d, -max, max) + max`
    (`distance = directed`) or `min(|d|, max)` (`distance = absolute`, as LeViT,
    arXiv 2104.01136), adds `table[y X + x, h]` (`layout = joint`, X values of
    x) or `rows[y, h] + columns[x, h]` (`layout = separable`, as iRPE's cross
    method, arXiv 2107.14222). The sign is that of `orientation`. Rows and
    columns of tokens are those of a grid with `width` columns
    (`coordinates = row_major`), or axes 0 and 1 of an int32 operand.

    Operands: `<name>.table` [Y X, H], or `<name>.rows` [Y, H] and
    `<name>.columns` [X, H]; with `coordinates = tensor` also
    `<name>.coordinates` int32 [2, B, Lk].

    Constraints:
    - (grid_bias_c1) `max_row` and `max_column` are from 0 to 4095;
    - (grid_bias_c2) `width` is positive with `coordinates = row_major`, and
      not stated otherwise.

    Example: `#posenc.grid_bias<width = 14, max_row = 13, max_column = 13, distance = absolute>`
  }];
  let parameters = (ins
      Posenc_IntParam<"0", "columns of the grid">:$width,
      Posenc_IntParam<"13", "rows farther away share a table row">:$max_row,
      Posenc_IntParam<"13", "columns farther away share a table row">:$max_column,
      Posenc_EnumParam<Posenc_GridDistance, "directed", "whether directions differ">:$distance,
      Posenc_EnumParam<Posenc_GridLayout, "joint", "one table or two">:$layout,
      Posenc_EnumParam<Posenc_Orientation, "query_minus_key", "the sign of offsets">:$orientation,
      Posenc_EnumParam<Posenc_GridCoordinates, "row_major", "where coordinates come from">:$coordinates,
      Posenc_NameParam<"grid_bias">:$name);
  let genVerifyDecl = 1;
}

def Posenc_RegionBiasAttr : Posenc_EncodingAttr<"RegionBias", "region_bias", ["getOperandNames"]> {
  let summary = "a finite penalty for keys of another region";
  let description = [{
    Adds `value` to the scaled score where query and key have different region
    numbers. Swin's shifted windows add -100, not -inf
    (microsoft/Swin-Transformer, models/swin_transformer.py, attn_mask).

    Operand: `<name>` int32 [B, Lk].

    Constraints:
    - (region_bias_c1) `value` is finite.

    Example: `#posenc.region_bias<value = -100.0>`
  }];
  let parameters = (ins
      Posenc_F64Param<"-100.0", "what is added">:$value,
      Posenc_NameParam<"regions">:$name);
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Positions against positions, and heads against heads
//===----------------------------------------------------------------------===//

def Posenc_TupeAttr : Posenc_EncodingAttr<"Tupe", "tupe", ["getOperandNames", "getFixedScale", "advise"]> {
  let summary = "untied positional scores with a class token of its own";
  let description = [{
    Scores are `s q_i . k_j + t_ij` with `s = 1 / sqrt(2 head_dim)` and `t_ij =
    s sum_c queries[p_i, h, c] keys[p_j, h, c]`, but `theta1[h]` for every key
    of the class token (position 0) and `theta2[h]` for it as key of the others
    (TUPE, arXiv 2006.15595; guolinke/TUPE,
    fairseq/modules/transformer_sentence_encoder.py). The tables are positions
    after the norm and the projections, which all layers share.

    `variant = relative` (TUPE-R) also adds `table[b, h]`, not scaled, with the
    bidirectional T5 bucket of `p_j - p_i`; the class token as key has the last
    row, `buckets`, and as query row `buckets / 2`, which no distance has; the
    latter wins.

    `theta = rows` takes both numbers from the tables as the code does: these
    have one row more, row 0 against row 0 gives theta1, row 1 against row 1
    theta2, and position p has row p + 1.

    Operands: `<name>.queries`, `<name>.keys` [length, H or 1, head_dim]
    (length + 1 rows with `theta = rows`); with `theta = operands`
    `<name>.theta1`, `<name>.theta2` [H or 1]; with `variant = relative`
    `<name>.table` [buckets + 1, H].

    Constraints:
    - (tupe_c1) `length` is from 1 to 2^20;
    - (tupe_c2) `buckets` and `max_distance` are as in `#posenc.t5_bias`.

    Example: `#posenc.tupe<variant = relative, length = 512>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_TupeVariant, "absolute", "TUPE-A or TUPE-R">:$variant,
      Posenc_IntParam<"512", "positions in the tables">:$length,
      Posenc_EnumParam<Posenc_TupeTheta, "operands", "where theta comes from">:$theta,
      Posenc_IntParam<"32", "buckets of both directions">:$buckets,
      Posenc_IntParam<"128", "distance at which the last bucket starts at the latest">:$max_distance,
      Posenc_NameParam<"tupe">:$name);
  let genVerifyDecl = 1;
}

def Posenc_DapeAttr : Posenc_EncodingAttr<"Dape", "dape", ["getOperandNames"]> {
  let summary = "a network over the scores and biases of all heads";
  let description = [{
    Replaces the score S by `S + B + N([S; B])`, where B is the sum of the biases
    before it in the list (0 if there are none) and N a network over the 2 H
    numbers of a pair with one hidden layer and
    `act(x) = max(x, negative_slope x)` (`version = v1`: DAPE, arXiv 2405.14722;
    `version = v2`: both layers are convolutions over three neighbouring keys,
    arXiv 2410.04798, after the mask has put 0 at hidden keys). See
    `posenc.head_mlp` for the formula. Biases behind it are added to the result.

    Operands: with `taps` 1 or 3, `<name>.w1` [2 H taps, hidden], `<name>.b1`
    [hidden], `<name>.w2` [hidden taps, H], `<name>.b2` [H].

    Constraints:
    - (dape_c1) `hidden` is from 1 to 4096;
    - (dape_c2) `negative_slope` is finite and from 0 to 1.

    Example: `#posenc.dape<version = v2>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_DapeVersion, "v1", "whether neighbouring keys count">:$version,
      Posenc_IntParam<"32", "hidden units">:$hidden,
      Posenc_F64Param<"0.01", "the slope of LeakyReLU below 0">:$negative_slope,
      Posenc_NameParam<"dape">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_BIAS_ENCODINGS_TD
