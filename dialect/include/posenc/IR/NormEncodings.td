// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that normalise queries and keys.
#ifndef POSENC_NORM_ENCODINGS_TD
#define POSENC_NORM_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"
include "posenc/IR/RotaryEnums.td"

def Posenc_QkNormAttr
    : Posenc_EncodingAttr<"QkNorm", "qk_norm", ["getOperandNames", "getFixedScale"]> {
  let summary = "normalised queries and keys";
  let description = [{
    Divides queries and keys by a norm, before or after a rotation by their
    order in the list; `kind`, `over`, `epsilon` and `epsilon_site` are those of
    `posenc.vector_norm`. Then channels are multiplied by a gain (plus 1 with
    `unit_offset`, as Gemma stores it) and a bias is added:

    - `gain = none`: no weight (Llama 4);
    - `gain = channel`: one weight per channel for all heads (Qwen 3, Gemma 3);
    - `gain = head_channel`: weights of each query head (OLMo 2, Cohere). Keys
      have that of the query head: with fewer key heads the caller repeats it.

    `score_scale = learned` and `learned_log` fix the scale of the dot product
    to 1 and multiply queries by `g_h`, or by `exp(g_h)` (arXiv 2010.04245: l2
    norms and a learned g).

    Operands: `<name>.query_gain`, `<name>.key_gain`, and `<name>.query_bias`,
    `<name>.key_bias` with `bias`, [head_dim] or [H or 1, head_dim];
    `<name>.scale` [H or 1] unless `score_scale = kernel`.

    Presets (Hugging Face's modeling files): `qwen3`, `gemma3`, `olmo2`,
    `llama4`, `persimmon`, `cohere`.

    Constraints:
    - (qk_norm_c1) `epsilon` is finite and not negative;
    - (qk_norm_c2) `unit_offset` and `bias` have a gain;
    - (qk_norm_c3) a gain of one head does not stand beside `over = all_heads`,
      whose weights are of all heads;
    - (qk_norm_c4) a preset is known and nothing but `name` stands beside it.

    Examples: `#posenc.qk_norm<kind = rms, gain = channel, epsilon = 1.0e-6>`,
    `#posenc.qk_norm<kind = l2, epsilon = 1.0e-12, epsilon_site = floor, score_scale = learned>`,
    `#posenc.qk_norm<preset = "gemma3">`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_NormKind, "rms", "the norm">:$kind,
      Posenc_EnumParam<Posenc_NormAxis, "head", "what the norm runs over">:$over,
      Posenc_F64Param<"1.0e-6", "keeps the norm from 0">:$epsilon,
      Posenc_EnumParam<Posenc_EpsilonSite, "added", "where epsilon stands">:$epsilon_site,
      Posenc_EnumParam<Posenc_NormGain, "none", "what the gain is over">:$gain,
      DefaultValuedParameter<"bool", "false", "whether 1 is added to the gain">:$unit_offset,
      DefaultValuedParameter<"bool", "false", "whether a bias follows the gain">:$bias,
      Posenc_EnumParam<Posenc_NormScale, "kernel", "what multiplies the dot product">:$score_scale,
      StringRefParameter<"a published combination", "\"\"">:$preset,
      Posenc_NameParam<"qk_norm">:$name);
  let genVerifyDecl = 1;
}

def Posenc_KeyNormAttr : Posenc_EncodingAttr<"KeyNorm", "key_norm", ["getFixedScale"]> {
  let summary = "keys of length 1";
  let description = [{
    Divides keys by their l2 norm, leaves queries alone and fixes the scale of
    the dot product to 1 (kexue.fm/archives/9859).

    Constraints:
    - (key_norm_c1) as `qk_norm_c1`.

    Example: `#posenc.key_norm<epsilon = 1.0e-12, epsilon_site = floor>`
  }];
  let parameters = (ins
      Posenc_F64Param<"0.0", "keeps the norm from 0">:$epsilon,
      Posenc_EnumParam<Posenc_EpsilonSite, "added", "where epsilon stands">:$epsilon_site,
      Posenc_NameParam<"key_norm">:$name);
  let genVerifyDecl = 1;
}

def Posenc_CosineAttentionAttr
    : Posenc_EncodingAttr<"CosineAttention", "cosine_attention",
                          ["getOperandNames", "getFixedScale"]> {
  let summary = "the cosine of queries and keys times a temperature per head";
  let description = [{
    Divides queries and keys by their l2 norm, fixes the scale of the dot
    product to 1 and multiplies queries by `exp(min(logit_scale_h, ln(limit)))`
    (Swin Transformer V2, arXiv 2111.09883).

    Operand: `<name>.logit_scale` [H or 1].

    Constraints:
    - (cosine_attention_c1) as `qk_norm_c1`;
    - (cosine_attention_c2) `limit` is positive and finite.

    Example: `#posenc.cosine_attention`
  }];
  let parameters = (ins
      Posenc_F64Param<"100.0", "the greatest temperature">:$limit,
      Posenc_F64Param<"1.0e-12", "keeps the norm from 0">:$epsilon,
      Posenc_EnumParam<Posenc_EpsilonSite, "floor", "where epsilon stands">:$epsilon_site,
      Posenc_NameParam<"cosine_attention">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_NORM_ENCODINGS_TD
