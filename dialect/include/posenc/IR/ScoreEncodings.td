// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to scores, and how they become weights.
#ifndef POSENC_SCORE_ENCODINGS_TD
#define POSENC_SCORE_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"
include "posenc/IR/TermEnums.td"

// Real numbers that need not be there.
def Posenc_OptionalF64ArrayParam
    : AttrOrTypeParameter<"::mlir::DenseF64ArrayAttr", "real numbers"> {
  let parser = "::posenc::parseF64Array($_parser)";
  let printer = "::posenc::printF64Array($_printer, $_self)";
  let defaultValue = "::mlir::DenseF64ArrayAttr()";
}

//===----------------------------------------------------------------------===//
// Functions of scores
//===----------------------------------------------------------------------===//

def Posenc_SoftcapAttr : Posenc_EncodingAttr<"Softcap", "softcap"> {
  let summary = "bounds scores smoothly";
  let description = [{
    `s -> cap tanh(s / cap)`, applied to the scaled dot products and the terms
    inside the scale before biases are added (`site = before_bias`: Gemma 2,
    arXiv 2408.00118, and flash-attention's order), or after (`site =
    after_bias`). The mask comes later.

    Constraints:
    - (softcap_c1) `cap` is positive and finite.

    Example: `#posenc.softcap<cap = 50.0>`
  }];
  let parameters = (ins
      Posenc_F64Param<"50.0", "the bound">:$cap,
      Posenc_EnumParam<Posenc_CapSite, "before_bias", "when scores are capped">:$site,
      Posenc_NameParam<"softcap">:$name);
  let genVerifyDecl = 1;
}

def Posenc_CopeAttr : Posenc_EncodingAttr<"Cope", "cope", ["getOperandNames"]> {
  let summary = "contextual positions: distances that gates count";
  let description = [{
    With the masked score S_ij, `x_ij = min(sum_t sigmoid(S_it), positions - 1)`
    over the visible keys t >= j, adds `q_i . e[x_ij]`, interpolated between
    neighbouring rows of e (CoPE, arXiv 2405.18719). The query is not scaled
    there (`site = outside`); published code keeps e as [head_dim, positions].

    Operand: `<name>.embedding` [positions, head_dim], or [positions, H or 1,
    head_dim] with `tables = per_head`.

    Constraints:
    - (cope_c1) `positions` is from 1 to 65536;
    - (cope_c2) the mask hides future keys, which would count as distance.

    Example: `#posenc.cope<positions = 64>`
  }];
  let parameters = (ins
      Posenc_IntParam<"64", "rows of the table">:$positions,
      Posenc_EnumParam<Posenc_TableSharing, "shared", "whether heads share the table">:$tables,
      Posenc_EnumParam<Posenc_TermSite, "outside", "whether the scale multiplies the term">:$site,
      Posenc_NameParam<"cope">:$name);
  let genVerifyDecl = 1;
}

def Posenc_FoxAttr : Posenc_EncodingAttr<"Fox", "fox", ["getOperandNames"]> {
  let summary = "forget gates: a bias that decays with what lies between";
  let description = [{
    Adds `c_i - c_j` to the scaled score, where `c_j = sum_{t <= j} ln f_t` runs
    over the keys and c_i is that of the query's own place (Forgetting
    Transformer, arXiv 2503.02130; zhixuan-lin/forgetting-transformer,
    ops/forgetting_attention.py). `gates = logits`: the caller passes x with `f
    = sigmoid(x)`; `gates = log`: ln f itself, 0 for padding on the left.

    Operand: `<name>.gates` [B, H, Lk].

    Constraints:
    - (fox_c1) the mask hides future keys, which the bias would reward.

    Example: `#posenc.fox`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_GateForm, "logits", "what the caller passes">:$gates,
      Posenc_NameParam<"fox">:$name);
}

def Posenc_RetentionDecayAttr : Posenc_EncodingAttr<"RetentionDecay", "retention_decay", ["getOperandNames"]> {
  let summary = "multiplies scores by an exponential decay per head";
  let description = [{
    `s -> gamma_h^(p_i - p_j) s` after biases, with `gamma_h = 1 -
    2^(-first_exponent - h)` (RetNet, arXiv 2307.08621, equation 8), or an
    operand. Nothing else of RetNet: see `#posenc.retention`.

    Operand: with `decay = operands` `<name>.gamma` [H or 1].

    Constraints:
    - (retention_decay_c1) `first_exponent` is positive and finite;
    - (retention_decay_c2) the mask hides future keys, which would grow.

    Example: `#posenc.retention_decay`
  }];
  let parameters = (ins
      Posenc_F64Param<"5.0", "the exponent of the first head">:$first_exponent,
      Posenc_EnumParam<Posenc_ScalarSource, "constants", "where gamma comes from">:$decay,
      Posenc_NameParam<"retention_decay">:$name);
  let genVerifyDecl = 1;
}

def Posenc_ComplexAttentionAttr
    : Posenc_EncodingAttr<"ComplexAttention", "complex_attention",
                          ["getOperandNames", "getFixedScale"]> {
  let summary = "the modulus of a complex product as the score";
  let description = [{
    The first half of the channels are the real parts q', k' and the second half
    the imaginary parts q'', k'' of n = head_dim / 2 complex numbers; the score
    is `sqrt((q'.k' - q''.k'')^2 + (q'.k'' + x)^2) / sqrt(n)`, without a
    conjugate, where x is `q''.k'` (`term = correct`) or, as in the released
    code, `q'.k''` once more (`term = faithful`) (complex-order embeddings, arXiv
    1912.12333; iclr-complex-order/complex-order, complex_mem_transformer.py).
    Terms of other encodings are added as usual.

    `positions = on` adds that code's position part `sqrt(((q' + v') . r'(t))^2 +
    ((q'' + v'') . r''(t))^2) / sqrt(n)` with `t = p_i - p_j`, and q + u takes
    the place of q in the first one. `(r'(t), r''(t))[c] = sum_m R_t[m] w[m, h,
    c]` with the sinusoids of `#posenc.transformer_xl`; `model_dim = 0` is heads
    * n. The code has the same numbers in both halves of u, v and w.

    Operands: with `positions = on` `<name>.u`, `<name>.v` [H or 1, head_dim],
    `<name>.w` [model_dim, H or 1, head_dim].

    Constraints:
    - (complex_attention_c1) `model_dim` is even and from 2 to 65536, or 0, which
      it is without `positions = on`; `base` is positive and finite;
    - (complex_attention_c2) `positions = on` needs a mask that hides future
      keys, as transformer_xl_c3.

    Examples: `#posenc.complex_attention<term = correct>`,
    `#posenc.complex_attention<positions = on>`
  }];
  let genVerifyDecl = 1;
  let parameters = (ins
      Posenc_EnumParam<Posenc_ComplexTerm, "faithful", "the imaginary part">:$term,
      Posenc_EnumParam<Posenc_TermSwitch, "off", "whether positions score too">:$positions,
      Posenc_IntParam<"0", "the width of the sinusoids, 0: all heads">:$model_dim,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_NameParam<"complex_attention">:$name);
}

//===----------------------------------------------------------------------===//
// Weights. At most one of these stands in a kernel.
//===----------------------------------------------------------------------===//

def Posenc_AttentionSinkAttr : Posenc_EncodingAttr<"AttentionSink", "attention_sink", ["getOperandNames"]> {
  let summary = "a score per head that takes weight and has no value";
  let description = [{
    `P_ij = e^S_ij / (e^s_h + sum_t e^S_it)` (openai/gpt-oss,
    gpt_oss/torch/model.py). The sink is not multiplied by the scale. The
    log-sum-exp includes it.

    Operand: `<name>.logits` [H or 1], unless `values` states one per head.

    Constraints:
    - (attention_sink_c1) `values` has one finite number for each head;
    - (attention_sink_c2) no other encoding of the kernel makes the weights.

    Examples: `#posenc.attention_sink`, `#posenc.attention_sink<values = [0.5, -1.0]>`
  }];
  let parameters = (ins
      Posenc_OptionalF64ArrayParam:$values,
      Posenc_NameParam<"sink">:$name);
}

def Posenc_SoftmaxOffByOneAttr : Posenc_EncodingAttr<"SoftmaxOffByOne", "softmax_off_by_one"> {
  let summary = "softmax with 1 added to the denominator";
  let description = [{
    `P_ij = e^S_ij / (1 + sum_t e^S_it)`: a sink of 0 in every head
    (evanmiller.org/attention-is-off-by-one.html).

    Constraints:
    - (softmax_off_by_one_c1) no other encoding of the kernel makes the weights.

    Example: `#posenc.softmax_off_by_one`
  }];
  let assemblyFormat = "";
}

def Posenc_StickBreakingAttr : Posenc_EncodingAttr<"StickBreaking", "stick_breaking"> {
  let summary = "weights that break pieces off a stick, the nearest key first";
  let description = [{
    `A_ij = sigmoid(S_ij) prod_t (1 - sigmoid(S_it))` over the visible keys `t >
    j`; the keys before the query are visible (`kind = strict`) or these and its
    own (`kind = attend_current`). Rows sum to at most 1; `remainder = value`
    gives the rest to the query's own value (arXiv 2410.17980;
    shawntan/stickbreaking-attention). Computed with logarithms, without a
    softmax.

    Constraints:
    - (stick_breaking_c1) the mask hides future keys;
    - (stick_breaking_c2) `remainder = value` needs `bottom_right` alignment;
    - (stick_breaking_c3) no other encoding of the kernel makes the weights.

    Example: `#posenc.stick_breaking<remainder = value>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_StickKind, "strict", "whether a query may take its own key">:$kind,
      Posenc_EnumParam<Posenc_StickRemainder, "drop", "what the rest is given to">:$remainder,
      Posenc_NameParam<"stick_breaking">:$name);
}

def Posenc_RetentionAttr : Posenc_EncodingAttr<"Retention", "retention", ["keepsLse"]> {
  let summary = "RetNet's retention in its parallel form";
  let description = [{
    The output is `sum_j S_ij v_j / clamp(sum_j |S_ij|, 1, 5e4)` with
    `S_ij = scale (R_i q_i) . (R_j k_j) D_ij` and `D_ij = gamma_h^(p_i - p_j) /
    sqrt(sum_t gamma_h^(p_i - p_t))` over the keys up to the query, `gamma_h = 1
    - 2^(-first_exponent - h)` (RetNet, arXiv 2307.08621; microsoft/torchscale,
    architecture/retnet.py, component/multiscale_retention.py). The rotation R
    turns neighbouring channels by `p base^(-k / (head_dim / 2 - 1))`, k counting
    from 0: not RoPE's frequencies. Group norm and gate come after the kernel.
    `rotation`, `decay_norm` and `score_norm` turn the parts off.

    Constraints:
    - (retention_c1) `base` and `first_exponent` are positive and finite;
    - (retention_c2) the mask is `#posenc.causal` and positions are
      `#posenc.iota`: the row sums are those of a geometric series;
    - (retention_c3) no other encoding of the kernel makes the weights.

    Example: `#posenc.retention`
  }];
  let parameters = (ins
      Posenc_F64Param<"5.0", "the exponent of the first head">:$first_exponent,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether q and k are rotated">:$rotation,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether decay is divided by the root of its row sum">:$decay_norm,
      Posenc_EnumParam<Posenc_TermSwitch, "on", "whether scores are divided by their absolute row sum">:$score_norm,
      Posenc_NameParam<"retention">:$name);
  let genVerifyDecl = 1;
}

def Posenc_LinearAttentionAttr : Posenc_EncodingAttr<"LinearAttention", "linear_attention", ["keepsLse", "getFixedScale"]> {
  let summary = "scores without an exponential, over a sum of their own";
  let description = [{
    `o_i = sum_j (R_i phi(q_i)) . (R_j phi(k_j)) v_j / sum_j phi(q_i) . phi(k_j)`
    with `phi(x) = elu(x) + 1`, `max(x, 0)` or `e^x` (arXiv 2006.16236). Rotary
    encodings behind it in the list are R: they turn the numerator alone, since
    rotated products may be negative (RoFormer, arXiv 2104.09864, section
    3.3). Before it they would turn q and k themselves. Rows whose sum is 0 are
    0.

    `epsilon` is added to the sum: 0 is the paper, 1.0e-6 the authors' code
    (idiap/fast-transformers, attention/linear_attention.py).

    Constraints:
    - (linear_attention_c1) no other encoding of the kernel makes the weights;
    - (linear_attention_c2) `epsilon` is finite and not negative;
    - (linear_attention_c3) with `epsilon` the mask is `#posenc.full` or
      `#posenc.causal`: it is added at the first key, which each row sees then.

    Example: `#posenc.linear_attention<map = relu, epsilon = 1.0e-6>`
  }];
  let genVerifyDecl = 1;
  let parameters = (ins
      Posenc_EnumParam<Posenc_FeatureMap, "elu1", "phi">:$map,
      Posenc_F64Param<"0.0", "added to the sum of a row">:$epsilon,
      Posenc_NameParam<"linear_attention">:$name);
}

#endif // POSENC_SCORE_ENCODINGS_TD
