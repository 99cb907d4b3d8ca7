// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Laws that change rotary frequencies: the `scaling` of #posenc.rope.
#ifndef POSENC_ROTARY_SCALING_TD
#define POSENC_ROTARY_SCALING_TD

include "posenc/IR/PosencAttrBase.td"
include "posenc/IR/RotaryEnums.td"
include "posenc/IR/RotaryInterfaces.td"

class Posenc_OptionalF64ArrayParam<string desc>
    : OptionalParameter<"::mlir::DenseF64ArrayAttr", desc> {
  let parser = "::posenc::parseF64Array($_parser)";
  let printer = "::posenc::printF64Array($_printer, $_self)";
}

class Posenc_RopeScalingAttr<string name, string attrMnemonic, list<string> methods>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_RopeScalingInterface, methods>]> {
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Posenc_LinearScalingAttr
    : Posenc_RopeScalingAttr<"LinearScaling", "linear_scaling", ["scaleFrequencies"]> {
  let summary = "position interpolation: every frequency over a factor";
  let description = [{
    `w'_k = w_k / factor`, which is the position `p / factor` (position
    interpolation, arXiv 2306.15595; "linear" in Hugging Face).

    Constraints:
    - (linear_scaling_c1) `factor` is positive and finite.

    Example: `#posenc.linear_scaling<factor = 4.0>`
  }];
  let parameters = (ins Posenc_F64Param<"1.0", "target length over trained length">:$factor);
}

def Posenc_DynamicLinearAttr
    : Posenc_RopeScalingAttr<"DynamicLinear", "dynamic_linear", ["isKnown", "buildFrequencies"]> {
  let summary = "position interpolation by the length of the call";
  let description = [{
    `w'_k = w_k L0 / max(L, L0)` with the length L of the call (yarn's
    LlamaDynamicScaledRotaryEmbedding without NTK).

    Constraints:
    - (dynamic_linear_c1) `original_length` is positive.

    Example: `#posenc.dynamic_linear<original_length = 2048>`
  }];
  let parameters = (ins Posenc_IntParam<"2048", "the trained length L0">:$original_length);
}

def Posenc_NtkAttr
    : Posenc_RopeScalingAttr<"Ntk", "ntk", ["verifyScaling", "scaleFrequencies"]> {
  let summary = "NTK-aware scaling: a greater base";
  let description = [{
    The base becomes `base * alpha^(n / (n - 2))` with `n = dims`: the first
    pair keeps its frequency, that of the last one is divided by `alpha`
    (bloc97, 2023).

    Constraints:
    - (ntk_c1) `alpha` is positive and finite;
    - (ntk_c2) there are more than 2 rotated channels: with 2 the exponent is
      n / 0.

    Example: `#posenc.ntk<alpha = 8.0>`
  }];
  let parameters = (ins Posenc_F64Param<"1.0", "the extension of the context">:$alpha);
}

def Posenc_DynamicNtkAttr
    : Posenc_RopeScalingAttr<"DynamicNtk", "dynamic_ntk",
          ["isKnown", "verifyScaling", "buildFrequencies"]> {
  let summary = "NTK-aware scaling by the length of the call";
  let description = [{
    As `#posenc.ntk` with `alpha = factor max(L, L0) / L0 - (factor - 1)`, where
    L is the length of the call (Hugging Face's "dynamic", where L0 is
    `max_position_embeddings`). All keys turn with the base of this call: a
    cache of rotated keys, which mixes bases, is another computation.

    Constraints:
    - (dynamic_ntk_c1) `factor` is at least 1 and finite, `original_length`
      positive;
    - (dynamic_ntk_c2) as `ntk_c2`.

    Example: `#posenc.dynamic_ntk<factor = 2.0, original_length = 4096>`
  }];
  let parameters = (ins Posenc_F64Param<"1.0", "how fast the base grows">:$factor,
                        Posenc_IntParam<"2048", "the trained length L0">:$original_length);
}

def Posenc_YarnAttr
    : Posenc_RopeScalingAttr<"Yarn", "yarn",
          ["verifyScaling", "scaleFrequencies", "getAttentionFactors", "isFactorOfAll"]> {
  let summary = "YaRN: interpolation of the slow pairs, and an attention factor";
  let description = [{
    `w'_k = (1 - ramp_k) w_k + ramp_k w_k / factor` (arXiv 2309.00071). With `n =
    dims`, trained length L0 and `c(r) = n ln(L0 / (2 pi r)) / (2 ln base)`:

    - `ramp = code`: `ramp_k = clamp((k - low) / (high - low), 0, 1)` with `low =
      max(c(beta_fast), 0)` and `high = min(c(beta_slow), n - 1)`, rounded down
      and up unless `truncate = false` (GPT-OSS), and `high + 0.001` if they are
      equal: what every implementation does;
    - `ramp = paper`: linear in the number of rotations `r_k = L0 w_k / (2 pi)`:
      `ramp_k = 1 - clamp((r_k - beta_slow) / (beta_fast - beta_slow), 0, 1)`.

    With `g(x) = 0.1 x ln(factor) + 1` (1 if `factor <= 1`) the attention factor
    is `m = g(1)`, or `g(mscale) / g(mscale_all_dim)` if both are stated. With
    `factor_site = scale` of the encoding the scale of the dot product is
    multiplied by m^2 instead (DeepSeek: by `g(mscale_all_dim)^2`, beside the
    ratio on the rotation).

    Presets: `gpt-oss` (openai/gpt-oss, gpt_oss/torch/model.py), `deepseek-v3`
    (deepseek-ai/DeepSeek-V3, inference/model.py).

    Constraints:
    - (yarn_c1) `factor` and `original_length` are positive, and `beta_fast` is
      greater than `beta_slow`, which is positive;
    - (yarn_c2) the base is above 1;
    - (yarn_c3) `mscale` and `mscale_all_dim` are both stated or neither;
    - (yarn_c4) a preset is known and nothing stands beside it.

    Examples: `#posenc.yarn<factor = 16.0, original_length = 4096>`,
    `#posenc.yarn<preset = "gpt-oss">`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0", "target length over trained length">:$factor,
      Posenc_IntParam<"2048", "the trained length L0">:$original_length,
      Posenc_F64Param<"32.0", "rotations from which a pair is left alone">:$beta_fast,
      Posenc_F64Param<"1.0", "rotations below which a pair is interpolated">:$beta_slow,
      DefaultValuedParameter<"bool", "true", "whether the ends of the ramp are pairs">:$truncate,
      Posenc_EnumParam<Posenc_YarnRamp, "code", "what the ramp is linear in">:$ramp,
      Posenc_F64Param<"0.0", "0: not stated">:$mscale,
      Posenc_F64Param<"0.0", "0: not stated">:$mscale_all_dim,
      StringRefParameter<"a published combination", "\"\"">:$preset);
}

def Posenc_DynamicYarnAttr
    : Posenc_RopeScalingAttr<"DynamicYarn", "dynamic_yarn",
          ["isKnown", "isFactorKnown", "verifyScaling", "buildFrequencies"]> {
  let summary = "YaRN by the length of the call";
  let description = [{
    The frequencies of `#posenc.yarn` with the factor `max(factor, L / L0)` for
    the length L of the call (jquesnelle/yarn, scaled_rope,
    LlamaDynamicYaRNScaledRotaryEmbedding; `factor` is 1, or that of the
    fine-tuning with its `finetuned`). All keys turn with the factor of this
    call.

    The code's attention factor, `0.1 ln(max(factor, L / L0)) + 1`, grows with
    the call too, which the modulus of a rotation does not see: the encoding
    states its own.

    Constraints:
    - (dynamic_yarn_c1) `factor` is at least 1, `original_length`, `beta_fast`
      and `beta_slow` as in `yarn_c1`;
    - (dynamic_yarn_c2) the base is above 1;
    - (dynamic_yarn_c3) the encoding states `attention_factor`.

    Example: `#posenc.rope<attention_factor = 1.0, scaling = #posenc.dynamic_yarn<original_length = 4096>>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0", "the least factor">:$factor,
      Posenc_IntParam<"2048", "the trained length L0">:$original_length,
      Posenc_F64Param<"32.0", "rotations from which a pair is left alone">:$beta_fast,
      Posenc_F64Param<"1.0", "rotations below which a pair is interpolated">:$beta_slow,
      DefaultValuedParameter<"bool", "true", "whether the ends of the ramp are pairs">:$truncate,
      Posenc_EnumParam<Posenc_YarnRamp, "code", "what the ramp is linear in">:$ramp);
}

def Posenc_LongRopeAttr
    : Posenc_RopeScalingAttr<"LongRope", "longrope",
          ["isKnown", "verifyScaling", "scaleFrequencies", "buildFrequencies",
           "getAttentionFactors", "getUnscaledPrefix"]> {
  let summary = "LongRoPE: a divisor for each pair";
  let description = [{
    `w'_k = w_k / long_k` or `w_k / short_k` (arXiv 2402.13753; Phi-3). `select =
    by_length` takes the long list when the call is longer than
    `original_length` L0 (Hugging Face), `short` and `long` state it (llama.cpp
    decides by the configured context). `interpolate = true` takes `1 + (long_k -
    1) (max(L, L0) / L0 - 1) / (factor - 1)` for long_k by the length L of the
    call (microsoft/LongRoPE's dynamic variant). The first `keep_first` positions
    turn with the plain frequencies (microsoft/LongRoPE).

    The attention factor, with `s = factor`, is `sqrt(1 + ln s / ln L0)` (`su`),
    `0.1 ln s + 1` (`yarn`) or 1 (`none`), and 1 for `s <= 1`; it does not depend
    on the list that is used.

    Constraints:
    - (longrope_c1) `factor` is positive and `original_length` at least 2;
    - (longrope_c2) lists that are used have a positive number for each rotated
      pair;
    - (longrope_c3) `keep_first` is not negative;
    - (longrope_c4) `interpolate = true` needs `select = long` and a `factor`
      above 1.

    Example: `#posenc.longrope<short_factor = [1.0, 1.5], long_factor = [1.5, 3.0], factor = 32.0, original_length = 4096>`
  }];
  let parameters = (ins
      Posenc_OptionalF64ArrayParam<"divisors up to L0">:$short_factor,
      Posenc_OptionalF64ArrayParam<"divisors beyond L0">:$long_factor,
      Posenc_F64Param<"1.0", "longest over trained length">:$factor,
      Posenc_IntParam<"4096", "the trained length L0">:$original_length,
      Posenc_EnumParam<Posenc_LongRopeSelect, "by_length", "which list is used">:$select,
      Posenc_EnumParam<Posenc_LongRopeFactor, "su", "the attention factor">:$attention,
      Posenc_IntParam<"0", "first positions that are not scaled">:$keep_first,
      DefaultValuedParameter<"bool", "false", "whether divisors grow with the call">:$interpolate);
}

def Posenc_Llama3Attr
    : Posenc_RopeScalingAttr<"Llama3", "llama3", ["scaleFrequencies"]> {
  let summary = "Llama 3.1: slow pairs over a factor, a blend between";
  let description = [{
    With the wavelength `2 pi / w_k` and trained length L0: pairs shorter than
    `L0 / high_freq_factor` stay, those longer than `L0 / low_freq_factor` get
    `w_k / factor`, others `(1 - t) w_k / factor + t w_k` with `t = (L0 w_k / (2
    pi) - low) / (high - low)` (meta-llama/llama-models, models/llama3/model.py).

    `step = true` is for equal factors, as Llama 4 Scout's configuration has them
    (16, 1, 1): pairs that turn at least that often within L0 stay, slower ones
    are divided. Hugging Face's formula divides 0 by 0 in lanes that it then
    discards, but for a pair that turns exactly that often; meta-llama's asserts
    that the factors differ.

    Constraints:
    - (llama3_c1) `factor`, `low_freq_factor` and `original_length` are positive;
    - (llama3_c2) `high_freq_factor` is greater than `low_freq_factor`, since the
      blend divides by their difference, or equal to it with `step = true`.

    Examples: `#posenc.llama3<factor = 32.0>`,
    `#posenc.llama3<factor = 16.0, high_freq_factor = 1.0, step = true>`
  }];
  let parameters = (ins
      Posenc_F64Param<"8.0", "target length over trained length">:$factor,
      Posenc_F64Param<"1.0", "rotations below which a pair is divided">:$low_freq_factor,
      Posenc_F64Param<"4.0", "rotations above which a pair stays">:$high_freq_factor,
      Posenc_IntParam<"8192", "the trained length L0">:$original_length,
      DefaultValuedParameter<"bool", "false", "whether there is no blend">:$step);
}

def Posenc_ProportionalAttr
    : Posenc_RopeScalingAttr<"Proportional", "proportional", ["verifyScaling", "scaleFrequencies"]> {
  let summary = "p-RoPE: only the fastest pairs turn";
  let description = [{
    The first `floor(fraction * n / 2)` of the pairs keep `w_k / factor`, the
    others get 0 (arXiv 2410.06205; "proportional" in Hugging Face). Unlike a
    rotation of fewer `dims` the pairs and the exponent are those of the whole
    head.

    Constraints:
    - (proportional_c1) `fraction` is from 0 to 1 and `factor` positive;
    - (proportional_c2) the encoding turns the whole head.

    Example: `#posenc.proportional<fraction = 0.25>`
  }];
  let parameters = (ins Posenc_F64Param<"1.0", "of the pairs">:$fraction,
                        Posenc_F64Param<"1.0", "divisor of what is left">:$factor);
}

def Posenc_NtkMixedAttr
    : Posenc_RopeScalingAttr<"NtkMixed", "ntk_mixed", ["scaleFrequencies"]> {
  let summary = "Su's mixed NTK scaling";
  let description = [{
    `w'_k = w_k exp(-a (k + 1)^exponent)` with `a = ln(factor) / (n /
    2)^exponent`: the last pair gets exactly `1 / factor` (kexue.fm/archives/9706,
    bojone/rerope).

    Constraints:
    - (ntk_mixed_c1) `factor` and `exponent` are positive and finite.

    Example: `#posenc.ntk_mixed<factor = 8.0>`
  }];
  let parameters = (ins Posenc_F64Param<"1.0", "the extension of the context">:$factor,
                        Posenc_F64Param<"0.75", "of the pair's number">:$exponent);
}

def Posenc_PowerScalingAttr
    : Posenc_RopeScalingAttr<"PowerScaling", "power_scaling", ["scaleFrequencies"]> {
  let summary = "Giraffe's power scaling";
  let description = [{
    `w'_k = w_k (1 - 2k / n)^kappa` (arXiv 2308.10882, section 3.2).

    Constraints:
    - (power_scaling_c1) `kappa` is finite and not negative.

    Example: `#posenc.power_scaling<kappa = 0.5>`
  }];
  let parameters = (ins Posenc_F64Param<"0.0", "the exponent">:$kappa);
}

def Posenc_TruncatedScalingAttr
    : Posenc_RopeScalingAttr<"TruncatedScaling", "truncated_scaling", ["scaleFrequencies"]> {
  let summary = "Giraffe's truncated basis";
  let description = [{
    `w'_k = w_k` if `w_k >= high`, `rho` if `low < w_k < high`, 0 otherwise
    (arXiv 2308.10882, section 3.3).

    Constraints:
    - (truncated_scaling_c1) `low`, `high` and `rho` are finite, and `0 <= low <=
      high`.

    Example: `#posenc.truncated_scaling<low = 0.001, high = 0.01, rho = 0.002>`
  }];
  let parameters = (ins Posenc_F64Param<"0.0", "frequencies up to it become 0">:$low,
                        Posenc_F64Param<"0.0", "frequencies from it on stay">:$high,
                        Posenc_F64Param<"0.0", "what those between become">:$rho);
}

#endif // POSENC_ROTARY_SCALING_TD
