// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings whose score terms depend on queries or keys and on their distance.
#ifndef POSENC_CONTENT_ENCODINGS_TD
#define POSENC_CONTENT_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"
include "posenc/IR/TermEnums.td"

def Posenc_ShawAttr : Posenc_EncodingAttr<"Shaw", "shaw", ["getOperandNames", "advise"]> {
  let summary = "learned vectors per clipped distance for keys and values";
  let description = [{
    With `r = clip(d, -max_distance, max_distance) + max_distance` the score is
    `scale (q_i . k_j + q_i . keys[r])` and the output `sum_j P_ij (v_j +
    values[r])` (arXiv 1803.02155, equations 3 to 5; tensor2tensor,
    layers/common_attention.py, dot_product_attention_relative). `d` is
    `p_j - p_i` unless `orientation` says otherwise. The paper's tables are
    shared by the heads of a layer; `site = inside` is the paper and the code.

    Operands: `<name>.keys` [2 max_distance + 1, head_dim] and, with
    `values = on`, `<name>.values` [2 max_distance + 1, value_dim]; with
    `tables = per_head` [.., H or 1, ..].

    Constraints:
    - (shaw_c1) `max_distance` is from 0 to 2^20.

    Example: `#posenc.shaw<max_distance = 16, values = off>`
  }];
  let parameters = (ins
      Posenc_IntParam<"16", "distances beyond it share a row">:$max_distance,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether values have a table">:$values,
      Posenc_EnumParam<Posenc_TableSharing, "shared", "whether heads share tables">:$tables,
      Posenc_EnumParam<Posenc_Orientation, "key_minus_query", "the sign of the distance">:$orientation,
      Posenc_EnumParam<Posenc_TermSite, "inside", "whether the scale multiplies the term">:$site,
      Posenc_NameParam<"shaw">:$name);
  let genVerifyDecl = 1;
}

def Posenc_NezhaAttr : Posenc_EncodingAttr<"Nezha", "nezha", ["advise"]> {
  let summary = "sinusoids per clipped distance for keys and values";
  let description = [{
    As `#posenc.shaw` with one fixed table for both sides:
    `a[r, 2c] = sin(r w_c)`, `a[r, 2c + 1] = cos(r w_c)`,
    `w_c = base^(-2c / head_dim)`; the angle counts rows `r = 0 .. 2
    max_distance`, not signed distances (NEZHA, arXiv 1909.00204, section 2.1).
    `layout = concatenated` has all sines first.

    Constraints:
    - (nezha_c1) `max_distance` is from 0 to 2^20, `base` positive and finite;
    - (nezha_c2) the kernel's `value_dim` is its `head_dim` if `values = on`.

    Example: `#posenc.nezha<max_distance = 64>`
  }];
  let parameters = (ins
      Posenc_IntParam<"64", "distances beyond it share a row">:$max_distance,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_TermLayout, "interleaved", "where sines and cosines are">:$layout,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether values have the table too">:$values,
      Posenc_EnumParam<Posenc_Orientation, "key_minus_query", "the sign of the distance">:$orientation,
      Posenc_EnumParam<Posenc_TermSite, "inside", "whether the scale multiplies the term">:$site,
      Posenc_NameParam<"nezha">:$name);
  let genVerifyDecl = 1;
}

def Posenc_TransformerXlAttr : Posenc_EncodingAttr<"TransformerXl", "transformer_xl", ["getOperandNames", "advise"]> {
  let summary = "content and position scores with learned offsets of the query";
  let description = [{
    The score is `scale ((q_i + u_h) . k_j + (q_i + v_h) . r_h(p_i - p_j))` with
    `r_h(t)[c] = sum_m R_t[m] w[m, h, c]` and the sinusoids `R_t = [sin(t w_0),
    .., cos(t w_0), ..]`, `w_k = base^(-2k / model_dim)` (Transformer-XL, arXiv
    1901.02860, section 3.3; kimiyoung/transformer-xl,
    pytorch/mem_transformer.py, where u is r_w_bias and v r_r_bias). Memory is
    keys before the queries. `clamp_len` caps t, 0 does not. Tied or untied u
    and v are a matter of what the caller passes to each layer.

    Operands: `<name>.u`, `<name>.v` [H or 1, head_dim], `<name>.w`
    [model_dim, H or 1, head_dim].

    Constraints:
    - (transformer_xl_c1) `model_dim` is even and from 2 to 65536, or 0 for
      heads * head_dim;
    - (transformer_xl_c2) `clamp_len` is from 0 to 2^20, `base` positive and
      finite;
    - (transformer_xl_c3) the mask hides future keys, for which the code's shift
      yields what belongs to other rows: `#posenc.xlnet` is bidirectional.

    Example: `#posenc.transformer_xl<model_dim = 1024, clamp_len = 1000>`
  }];
  let parameters = (ins
      Posenc_IntParam<"0", "the width of the sinusoids, 0: all heads">:$model_dim,
      Posenc_IntParam<"0", "the greatest distance, 0: none">:$clamp_len,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_NameParam<"transformer_xl">:$name);
  let genVerifyDecl = 1;
}

def Posenc_XlnetAttr : Posenc_EncodingAttr<"Xlnet", "xlnet", ["getOperandNames", "advise"]> {
  let summary = "Transformer-XL's scores in both directions, and segments";
  let description = [{
    As `#posenc.transformer_xl` for all keys, with distances clamped to
    [-clamp_len, clamp_len], and with `segments = on` the term
    `scale (q_i + s_h) . e[g_ij, h]`, where `g_ij` is 0 if query and key have
    the same segment number and 1 if not (XLNet, arXiv 1906.08237, section 2.5;
    Hugging Face transformers, models/xlnet/modeling_xlnet.py). `orientation =
    key_minus_query` is the reversed half of `bi_data`. Permutations are masks.

    Operands: those of `#posenc.transformer_xl`; with `segments = on` also
    `<name>.s` [H or 1, head_dim], `<name>.e` [2, H or 1, head_dim] and
    `<name>.segment_ids` int32 [B, Lk].

    Constraints:
    - (xlnet_c1) as transformer_xl_c1 and transformer_xl_c2.

    Example: `#posenc.xlnet<model_dim = 1024, segments = on>`
  }];
  let parameters = (ins
      Posenc_IntParam<"0", "the width of the sinusoids, 0: all heads">:$model_dim,
      Posenc_IntParam<"0", "the greatest distance, 0: none">:$clamp_len,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_TermSwitch, "off", "whether segments count">:$segments,
      Posenc_EnumParam<Posenc_Orientation, "query_minus_key", "the sign of distances">:$orientation,
      Posenc_NameParam<"xlnet">:$name);
  let genVerifyDecl = 1;
}

def Posenc_TenerAttr : Posenc_EncodingAttr<"Tener", "tener", ["getOperandNames", "getFixedScale"]> {
  let summary = "direction-aware sinusoids without a scale";
  let description = [{
    With `R_t = [sin(t w_0), .., cos(t w_0), ..]` of head_dim channels the score
    is

    - `law = paper`: `(q_i + u_h) . k_j + (q_i + v_h) . R(p_i - p_j)` (TENER,
      arXiv 1911.04474, section 3.2);
    - `law = code`: `(q_i + u_h) . k_j + (q_i + v_h) . R(p_j - p_i) + k_j .
      R(p_i - p_j)` (fastnlp/TENER, modules/relative_transformer.py, where u is
      r_r_bias and v r_w_bias: their names are swapped against
      Transformer-XL's).

    Neither is divided by sqrt(head_dim); `scaled = on` is the code's flag that
    does. `w_k = base^(-k / (head_dim / 2 - 1))` as in the code
    (`exponent = half_minus_one`), or `base^(-2k / head_dim)`
    (`exponent = half`).

    Operands: `<name>.u`, `<name>.v` [H or 1, head_dim].

    Constraints:
    - (tener_c1) `base` is positive and finite;
    - (tener_c2) `exponent = half_minus_one` needs a `head_dim` of at least 4.

    Example: `#posenc.tener<law = paper>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_LawSource, "code", "what to follow">:$law,
      Posenc_EnumParam<Posenc_TermExponent, "half_minus_one", "the exponents of the frequencies">:$exponent,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_TermSwitch, "off", "whether scores are divided by sqrt(head_dim)">:$scaled,
      Posenc_NameParam<"tener">:$name);
  let genVerifyDecl = 1;
}

def Posenc_DebertaAttr : Posenc_EncodingAttr<"Deberta", "deberta", ["getOperandNames", "getFixedScale", "advise"]> {
  let summary = "disentangled attention: content to position and back";
  let description = [{
    The score is `s (q_i . k_j + q_i . keys[r(p_i - p_j), h] + k_j . queries[r',
    h])` with `s = 1 / sqrt(head_dim (1 + n))` for the n of `c2p` and `p2c` that
    are on (DeBERTa, arXiv 2006.03654, equation 4). All released code takes
    `r' = r(p_i - p_j)` (`p2c_index = code`); the paper writes `r(p_j - p_i)`
    (`p2c_index = paper`). The tables are P W_k and P W_q, split in heads, with
    biases where the checkpoint has them.

    - v1 (`buckets = 0`): `r(d) = clamp(d + k, 0, 2k - 1)` with k =
      `max_distance`;
    - v2 and v3 (`buckets = B`): `r(d) = clamp(b(d) + B, 0, 2B - 1)`, where with
      m = B / 2 and M = `max_distance` `b(d) = d` up to `|d| = m` and
      `sign(d) (ceil(ln(|d| / m) / ln((M - 1) / m) (m - 1)) + m)` beyond (arXiv
      2111.09543). With `clamp = official` (microsoft/DeBERTa, da_utils.py) d is
      clamped to `[-(M - 1), M - 1]` first, with `clamp = hf` (transformers,
      modeling_deberta_v2.py) it is not: keys M or more ahead then have row 0
      instead of 1. Bucket borders are integers found in exact arithmetic.

    `preset = "microsoft-v2"` and `"hf-v2"` (v3 too) are `buckets = 256,
    max_distance = 512` and `clamp = official` or `clamp = hf`.

    Operands: `<name>.keys` [2k, H or 1, head_dim] with `c2p = on` and
    `<name>.queries` of the same shape with `p2c = on`, where k is B with
    buckets.

    Constraints:
    - (deberta_c1) `max_distance` is from 1 to 2^20;
    - (deberta_c2) `buckets` is 0, or even and at least 4, and `max_distance`
      exceeds buckets / 2 + 1;
    - (deberta_c3) `clamp` is stated with buckets only;
    - (deberta_c4) a `preset` is known, and attributes that it states are not
      stated beside it.

    Examples: `#posenc.deberta`, `#posenc.deberta<preset = "hf-v2">`
  }];
  let parameters = (ins
      Posenc_IntParam<"512", "distances beyond it share a row">:$max_distance,
      Posenc_IntParam<"0", "buckets of one direction, 0: one distance each">:$buckets,
      Posenc_EnumParam<Posenc_BucketClamp, "official", "whether distances are clamped first">:$clamp,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "content to position">:$c2p,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "position to content">:$p2c,
      Posenc_EnumParam<Posenc_LawSource, "code", "the row of position to content">:$p2c_index,
      StringRefParameter<"a published combination", "\"\"">:$preset,
      Posenc_NameParam<"deberta">:$name);
  let genVerifyDecl = 1;
}

def Posenc_MtfContextualAttr : Posenc_EncodingAttr<"MtfContextual", "mtf_contextual", ["getOperandNames", "advise"]> {
  let summary = "a bias per bucket that the query chooses";
  let description = [{
    Adds `q_i . table[bucket(p_j - p_i), h]` to the score: Mesh TensorFlow's
    `contextual` relative attention, a projection of the query to one number per
    T5 bucket (mesh_tensorflow/transformer/transformer_layers.py). The buckets
    are those of `#posenc.t5_bias`. Mesh TensorFlow does not scale the term
    (`site = outside`).

    Operand: `<name>.table` [buckets, H or 1, head_dim].

    Constraints:
    - (mtf_contextual_c1) `buckets` and `max_distance` are as in
      `#posenc.t5_bias`.

    Example: `#posenc.mtf_contextual<buckets = 32, max_distance = 128, direction = bidirectional>`
  }];
  let parameters = (ins
      Posenc_IntParam<"32", "rows of the table">:$buckets,
      Posenc_IntParam<"128", "distance at which the last bucket starts at the latest">:$max_distance,
      Posenc_EnumParam<Posenc_Direction, "causal", "which side has buckets">:$direction,
      Posenc_EnumParam<Posenc_TermSite, "outside", "whether the scale multiplies the term">:$site,
      Posenc_NameParam<"mtf_contextual">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_CONTENT_ENCODINGS_TD
