// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that rotate queries and keys.
#ifndef POSENC_ROTARY_ENCODINGS_TD
#define POSENC_ROTARY_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"
include "posenc/IR/RotaryScaling.td"

def Posenc_RopeAttr
    : Posenc_EncodingAttr<"Rope", "rope", ["getOperandNames", "getFixedScale", "advise"]> {
  let summary = "rotary position embedding";
  let description = [{
    Turns channel pairs `(a, b)` of queries and keys at position `p` by the
    angle `t = p * base^(-2k / dims)` of pair `k`:
    `(a cos t - b sin t, a sin t + b cos t)` (RoFormer, arXiv 2104.09864,
    equation 34). `dims` channels are turned, the others pass through.

    ```
    pairing = half         a0 a1 a2 a3 | b0 b1 b2 b3     (GPT-NeoX, Hugging Face Llama)
    pairing = interleaved  a0 b0 a1 b1 a2 b2 a3 b3       (RoFormer, GPT-J, Meta Llama)
    ```

    The exponent is `-2k / dims`, `-2k / head_dim` with `exponent = head_dim`,
    or `-k / (n - 1)` over the n pairs with `exponent = linspace` (RetNet).
    `scaling` changes the frequencies (`#posenc.linear_scaling`, `#posenc.yarn`,
    ...). With `frequencies = operand` the caller passes them, with `per_head`
    those of each head (learned).

    Operands: `<name>.inv_freq` [pairs] with `frequencies = operand`,
    `<name>.frequencies` [H or 1, pairs] with `per_head`.

    Cosines and sines are multiplied by the attention factor of the scaling, or
    by `attention_factor` if it is stated (not 0). `factor_site = scale`
    multiplies the scale of the dot product, `1 / sqrt(head_dim)`, by its square
    instead. Where only a part of the head turns that is another number, so that
    the factor must be one for all channels: `attention_factor`, or YaRN's
    `mscale_all_dim` (DeepSeek's MLA).

    Angles are computed in double precision and stored as f32 cosines and sines.
    With a `context_length` the compiler warns if `sum_k cos(m w_k)` is negative
    at a distance m below it (arXiv 2405.14591).

    Constraints:
    - (rope_c1) `base` is positive and finite;
    - (rope_c2) `dims` is even and positive, or 0 for the whole head;
    - (rope_c3) `dims` is at most the kernel's `head_dim`;
    - (rope_c4) `attention_factor` is finite and not negative;
    - (rope_c5) frequencies that are operands have no `scaling`, default `base`
      and default `exponent`;
    - (rope_c6) `exponent = linspace` has more than one pair;
    - (rope_c7) rotations of the same channels have the same pairs: the second
      would turn pairs that the first has mixed, and a gain between them would be
      of other channels;
    - (rope_c8) `factor_site = scale` beside a rotation of a part of the head has
      a factor that is stated for all channels;
    - (rope_c9) `attention_factor` is stated where the scaling's depends on the
      call.

    Examples: `#posenc.rope<base = 5.0e5, pairing = interleaved, dims = 64, placement = last>`,
    `#posenc.rope<scaling = #posenc.linear_scaling<factor = 4.0>>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_Pairing, "half", "which channels form a pair">:$pairing,
      Posenc_IntParam<"0", "rotated channels, 0 for all">:$dims,
      Posenc_EnumParam<Posenc_Placement, "first", "which channels are rotated">:$placement,
      Posenc_EnumParam<Posenc_RopeExponent, "dims", "the exponent's denominator">:$exponent,
      Posenc_EnumParam<Posenc_RopeFrequencies, "law", "where frequencies come from">:$frequencies,
      OptionalParameter<"::posenc::RopeScalingAttrInterface", "a change of the frequencies">:$scaling,
      Posenc_F64Param<"0.0", "overrides that of the scaling, 0: does not">:$attention_factor,
      Posenc_EnumParam<Posenc_FactorSite, "rotation", "what the factor multiplies">:$factor_site,
      Posenc_NameParam<"rope">:$name);
  let genVerifyDecl = 1;
}

// A rotary encoding inside another; without one the default of that encoding.
def Posenc_InnerRope : OptionalParameter<"::posenc::RopeAttr", "the rotation"> {
  let cppAccessorType = "::posenc::RopeAttr";
}

// An encoding made of a #posenc.rope.
class Posenc_RopeVariantAttr<string name, string attrMnemonic, list<string> overrides = []>
    : Posenc_EncodingAttr<name, attrMnemonic,
          !listconcat(["getOperandNames", "getFixedScale"], overrides)> {
  let genVerifyDecl = 1;
}

def Posenc_XposAttr : Posenc_RopeVariantAttr<"Xpos", "xpos", ["advise"]> {
  let summary = "rotary embedding with a decay";
  let description = [{
    As `#posenc.rope` (by default interleaved, as in torchscale); pair `k` of a
    query at `p` is also multiplied by `z_k^((p - centre) / scale_base)` and that
    of a key by its inverse, with `z_k = (2k / n + gamma) / (1 + gamma)` over
    the `n = dims` rotated channels (arXiv 2212.10554; torchscale's
    component/xpos_relative_position.py). The product decays as
    `z_k^((p_i - p_j) / scale_base)`.

    The paper's law is `scale_base = 1.0`, where the exponent is `p - centre`
    itself; torchscale's is the default, `scale_base = 512.0`. `centre` changes
    no score, only the range of the vectors: torchscale takes half of the length
    of each call, flash-attention half of its table's. With a `context_length`
    the compiler says where the factor of keys leaves f32.

    Constraints:
    - (xpos_c1) `gamma` and `scale_base` are positive and finite, `centre` is
      finite;
    - (xpos_c2) the mask hides future keys, which would grow without bound.

    Examples: `#posenc.xpos`, `#posenc.xpos<scale_base = 1.0>`,
    `#posenc.xpos<centre = 1024.0, rope = <pairing = half>>`
  }];
  let parameters = (ins
      Posenc_F64Param<"512.0", "positions over which z_k is reached">:$scale_base,
      Posenc_F64Param<"0.4", "keeps the decay of the first pair from 0">:$gamma,
      Posenc_F64Param<"0.0", "the position that is not scaled">:$centre,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"xpos">:$name);
}

def Posenc_MropeAttr : Posenc_RopeVariantAttr<"Mrope", "mrope", ["advise"]> {
  let summary = "multimodal rotary embedding: pairs share three axes";
  let description = [{
    A position is (t, h, w): axes 0, 1, 2 of the kernel's `positions` tensor.
    Pair `k` turns by `p_a w_k` with its axis `a(k)` and the frequencies of
    `#posenc.rope`; positions of one axis are those of text, t = h = w.
    `sections` = [s_t, s_h, s_w] count pairs.

    - `layout = contiguous` (Qwen2-VL, Qwen2.5-VL): the first s_t pairs turn with
      t, the next s_h with h, the rest with w;
    - `layout = interleaved` (Qwen3-VL in Hugging Face): h if `k mod 3 = 1` and
      `k < 3 s_h`, w if `k mod 3 = 2` and `k < 3 s_w`, t otherwise;
    - `layout = interleaved_ggml` (llama.cpp's IMROPE): as that, but pairs beyond
      `3 s_t` with `k mod 3 = 0` and those left over by h and w do not turn.

    Constraints:
    - (mrope_c1) there are three sections, from 0 to 65536, that add up to the
      number of rotated pairs;
    - (mrope_c2) the kernel's positions have one or three axes;
    - (mrope_c3) the rotation's frequencies are of its law or an operand.

    Example: `#posenc.mrope<sections = [16, 24, 24], rope = <base = 1.0e6>>`
  }];
  let parameters = (ins
      "::mlir::DenseI64ArrayAttr":$sections,
      Posenc_EnumParam<Posenc_MropeLayout, "contiguous", "which pairs turn with which axis">:$layout,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"mrope">:$name);
  let assemblyFormat = "`<` struct(params) `>`";
}

// Where the coordinates of a grid come from.
defvar Posenc_GridParams = (ins
      Posenc_IntParam<"0", "columns of the grid, 0: axes of the positions">:$grid_width,
      Posenc_IntParam<"0", "rows of the grid, 0: no end">:$grid_height,
      Posenc_IntParam<"0", "first tokens that are not of the grid">:$class_tokens);

def Posenc_AxialRopeAttr : Posenc_EncodingAttr<"AxialRope", "axial_rope"> {
  let summary = "rotary embedding on a grid: pairs share two axes";
  let description = [{
    A token has a column x and a row y: with `grid_width = W` the token at
    position `p` has `x = g mod W + offset` and `y = floor(g / W) + offset` with
    `g = p - class_tokens`, and the first `class_tokens` tokens do not turn, nor
    do those behind `grid_height` rows, if it is stated (Llama 4's class token
    comes last); without it y and x are axes 0 and 1 of the kernel's `positions`
    tensor.

    Half of the `n = dims / 2` pairs turn with each axis. `layout = contiguous`:
    the first half with the first axis of `order`; `interleaved`: pairs take
    turns. The pair number m = 0 .. n/2 - 1 within its axis turns by

    - `exponent = restart`: `base^(-2m / n)` on both axes;
    - `exponent = continuous`: the frequency `base^(-k / n)` of its place k among
      all pairs;
    - `exponent = strided`: `base^(-2m / n)` on the first axis and
      `base^(-(2m + 1) / n)` on the second.

    Presets: `rope-vit` (naver-ai/rope-vit, deit/models_v2_rope.py; the
    defaults), `qwen2-vl-vision`, `pixtral` and `llama4-vision` (Hugging Face;
    the last one's class token stands behind the grid: state `grid_height`).

    Constraints:
    - (axial_rope_c1) `base` is positive and finite;
    - (axial_rope_c2) `dims` is a multiple of 4 and at most `head_dim`;
    - (axial_rope_c3) `grid_width`, `grid_height` and `class_tokens` are not
      negative, and the latter two are 0 without the first;
    - (axial_rope_c4) the kernel's positions have two axes without `grid_width`
      and one with it;
    - (axial_rope_c5) a preset is known and only `grid_width`, `grid_height`,
      `class_tokens` and `name` stand beside it; `llama4-vision` needs
      `grid_height`.

    Examples: `#posenc.axial_rope<grid_width = 14, class_tokens = 1>`,
    `#posenc.axial_rope<grid_width = 16, preset = "pixtral">`
  }];
  let parameters = !con((ins
      Posenc_F64Param<"100.0", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_Pairing, "interleaved", "which channels form a pair">:$pairing,
      Posenc_IntParam<"0", "rotated channels, 0 for all">:$dims,
      Posenc_EnumParam<Posenc_Placement, "first", "which channels are rotated">:$placement,
      Posenc_EnumParam<Posenc_AxisOrder, "xy", "which axis comes first">:$order,
      Posenc_EnumParam<Posenc_AxisLayout, "contiguous", "how pairs are shared">:$layout,
      Posenc_EnumParam<Posenc_AxisExponent, "restart", "the exponents of an axis">:$exponent,
      Posenc_IntParam<"0", "of the first column and row">:$offset),
      Posenc_GridParams, (ins
      StringRefParameter<"a published combination", "\"\"">:$preset,
      Posenc_NameParam<"axial_rope">:$name));
  let genVerifyDecl = 1;
}

def Posenc_MixedRopeAttr
    : Posenc_EncodingAttr<"MixedRope", "mixed_rope", ["getOperandNames"]> {
  let summary = "rotary embedding on a grid with learned frequencies";
  let description = [{
    Pair `k` of head `h` turns by `x fx[h, k] + y fy[h, k]` with the coordinates
    of `#posenc.axial_rope` (RoPE-Mixed, arXiv 2403.13298).

    Operands: `<name>.fx`, `<name>.fy` [H or 1, pairs].

    Constraints:
    - (mixed_rope_c1) `dims` is even and at most `head_dim`;
    - (mixed_rope_c2) as `axial_rope_c3` and `axial_rope_c4`.

    Example: `#posenc.mixed_rope<grid_width = 14, class_tokens = 1>`
  }];
  let parameters = !con((ins
      Posenc_EnumParam<Posenc_Pairing, "interleaved", "which channels form a pair">:$pairing,
      Posenc_IntParam<"0", "rotated channels, 0 for all">:$dims,
      Posenc_EnumParam<Posenc_Placement, "first", "which channels are rotated">:$placement),
      Posenc_GridParams, (ins
      Posenc_NameParam<"mixed_rope">:$name));
  let genVerifyDecl = 1;
}

def Posenc_FopeAttr : Posenc_EncodingAttr<"Fope", "fope", ["getOperandNames"]> {
  let summary = "Fourier position embedding: mixtures of cosines and sines";
  let description = [{
    Pair `k < outputs` of head `h` at position `p` becomes `(a C - b S, a S + b
    C)` with `C = sum_m cosine[m, h, k] cos(p w_m)` and `S = sum_m sine[m, h, k]
    sin(p w_m)` (arXiv 2412.17739; TsinghuaC3I/Fourier-Position-Embedding,
    olmo/model.py). The w_m are the `head_dim / 2` frequencies of `#posenc.rope`
    that make a whole turn within `length` (all of them if it is 0): slower ones
    are dropped. A normalisation of the mixtures is the caller's.

    Pairs from `outputs` on are left as they are (`padding = paper`: C = 1, S =
    0), or (`padding = code`: C = S = 1) are turned by 45 degrees and multiplied
    by sqrt(2). The turn is the same on queries and keys, so that it is left
    out: their products are doubled.

    Operands: `<name>.cosine`, `<name>.sine` [M + 1, H or 1, head_dim / 2], where
    M is the number of frequencies. The last row belongs to the frequency 0; its
    cosine is 1 for pairs from `outputs` on, all else in those columns is 0.

    Constraints:
    - (fope_c1) `base` is positive and finite;
    - (fope_c2) `length` is 0 or keeps at least one frequency;
    - (fope_c3) `outputs` is from 1 to `head_dim / 2`, or 0 for `head_dim / 4`.

    Example: `#posenc.fope<length = 512, padding = code>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_Pairing, "half", "which channels form a pair">:$pairing,
      Posenc_IntParam<"0", "the trained length, 0: keep all frequencies">:$length,
      Posenc_IntParam<"0", "pairs that are mixtures, 0: head_dim / 4">:$outputs,
      Posenc_EnumParam<Posenc_FopePadding, "paper", "what the other pairs become">:$padding,
      Posenc_NameParam<"fope">:$name);
  let genVerifyDecl = 1;
}

def Posenc_RopeBiasAttr
    : Posenc_EncodingAttr<"RopeBias", "rope_bias", ["getOperandNames"]> {
  let summary = "learned vectors on queries and keys before the rotation";
  let description = [{
    `form = vectors`: queries become `q + a_h` and keys `k + b_h`; stated before
    a rotary encoding this is RoPE with a bias (kexue.fm/archives/9577). b is
    that of the query head.

    `form = inside` and `outside` add the Toeplitz bias `a_h^T R(p_i)^T R(p_j)
    b_h = sum_k (a'_k b'_k + a''_k b''_k) cos(D w_k) + (a'_k b''_k - a''_k b'_k)
    sin(D w_k)`, D = p_i - p_j, times the scale of the dot product or as it is,
    with the pairs (a', a'') and the frequencies of `rope`.

    Operands: `<name>.query`, `<name>.key` [H or 1, head_dim] with `vectors`,
    else `<name>.query_first`, `<name>.query_second`, `<name>.key_first`,
    `<name>.key_second` [H or 1, pairs]: the two channels of each pair.

    Constraints:
    - (rope_bias_c1) `rope` stands beside `inside` and `outside` only, and its
      frequencies are known when compiled.

    Examples: `#posenc.rope_bias`, `#posenc.rope_bias<form = outside>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_RopeBiasForm, "vectors", "vectors or a bias">:$form,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"rope_bias">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_ROTARY_ENCODINGS_TD
