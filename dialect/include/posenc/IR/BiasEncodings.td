// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that add a bias to the score.
#ifndef POSENC_BIAS_ENCODINGS_TD
#define POSENC_BIAS_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"

def Posenc_NopeAttr : Posenc_EncodingAttr<"Nope", "nope"> {
  let summary = "no position encoding";
  let description = [{
    Says explicitly what an absent `encode` list means too: scores depend on
    content alone (NoPE, arXiv 2305.19466).

    Example: `#posenc.nope`
  }];
  let assemblyFormat = "";
}

def Posenc_AlibiAttr : Posenc_EncodingAttr<"Alibi", "alibi"> {
  let summary = "attention with linear biases";
  let description = [{
    Adds `-m_h (p_i - p_j)` (`form = causal`) or `-m_h |p_i - p_j|`
    (`form = symmetric`) to the scaled score (arXiv 2108.12409). For a head
    count `H` that is a power of two `m_h = 2^(-max_exponent (h + 1) / H)`;
    otherwise, with `P` the largest power of two below `H`, the first `P`
    slopes are those of `P` heads and the rest are every other slope of `2 P`
    heads, appended in that order (the authors' code).

    Constraints:
    - (alibi_c1) `max_exponent` is positive and finite;
    - (alibi_c2) `form = causal` needs a mask that hides future keys, since it
      would reward them.

    Example: `#posenc.alibi<form = symmetric, max_exponent = 16.0>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_BiasForm, "causal", "the distance that is used">:$form,
      Posenc_F64Param<"8.0", "the exponent of the last slope">:$max_exponent,
      Posenc_NameParam<"alibi">:$name);
  let genVerifyDecl = 1;
}

def Posenc_T5BiasAttr : Posenc_EncodingAttr<"T5Bias", "t5_bias", ["getOperandNames"]> {
  let summary = "learned bias per bucket of relative distance";
  let description = [{
    Adds `table[bucket(p_j - p_i), h]` to the score (arXiv 1910.10683, section
    2.1; bucket law of Mesh TensorFlow and Hugging Face). With `n` buckets per
    direction, half of them hold one distance each and the rest grow
    logarithmically up to `max_distance`; farther keys share the last bucket.
    `direction = bidirectional` splits the buckets between past and future,
    `direction = causal` gives future keys the bucket of distance 0. Bucket
    borders are integer thresholds found in exact arithmetic. T5 models use
    `scale(1.0)`: state it on the kernel.

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

def Posenc_ToeplitzBiasAttr : Posenc_EncodingAttr<"ToeplitzBias", "toeplitz_bias", ["getOperandNames"]> {
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
    Adds `bias[h, i, j]` to the score. A value of -1e30 or less (-inf, or the
    lowest f32) masks the pair.

    Operand: `<name>` [H or 1, Lq, Lk].

    Example: `#posenc.dense_bias`
  }];
  let parameters = (ins Posenc_NameParam<"bias">:$name);
}

#endif // POSENC_BIAS_ENCODINGS_TD
