// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that change positions or the temperature of a query.
#ifndef POSENC_REMAP_ENCODINGS_TD
#define POSENC_REMAP_ENCODINGS_TD

include "posenc/IR/RotaryEncodings.td"

def Posenc_ReRopeAttr : Posenc_RopeVariantAttr<"ReRope", "rerope", ["advise"]> {
  let summary = "rotary embedding that stops counting at a window";
  let description = [{
    Keys at a distance `p_i - p_j < window` score as with `rope`, farther ones
    as if they were at the distance `window` (kexue.fm/archives/9708,
    bojone/rerope): the second product is of queries turned to the position
    `window` with keys as they are. The log-n scaling of its code is
    `#posenc.log_n`.

    Constraints:
    - (rerope_c1) `window` is from 1 to 2^30;
    - (rerope_c2) the mask hides future keys;
    - (rerope_c3) no other encoding of the kernel splits the dot product.

    Example: `#posenc.rerope<window = 512, rope = <base = 1.0e4>>`
  }];
  let parameters = (ins
      Posenc_IntParam<"512", "distances from it on are the same">:$window,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"rerope">:$name);
}

def Posenc_LeakyReRopeAttr : Posenc_RopeVariantAttr<"LeakyReRope", "leaky_rerope"> {
  let summary = "rotary embedding that counts more slowly beyond a window";
  let description = [{
    As `#posenc.rerope`, with the distance `window + (p_i - p_j - window) /
    leak` beyond the window: queries at `(p + window (leak - 1)) / leak`, keys at
    `p / leak`.

    Constraints:
    - (leaky_rerope_c1) as `rerope_c1` to `rerope_c3`;
    - (leaky_rerope_c2) `leak` is positive and finite.

    Example: `#posenc.leaky_rerope<window = 512, leak = 16.0>`
  }];
  let parameters = (ins
      Posenc_IntParam<"512", "distances below it are counted in full">:$window,
      Posenc_F64Param<"16.0", "the divisor of farther distances">:$leak,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"leaky_rerope">:$name);
}

def Posenc_SelfExtendAttr : Posenc_RopeVariantAttr<"SelfExtend", "self_extend", ["advise"]> {
  let summary = "rotary embedding with grouped positions beyond a window";
  let description = [{
    Keys at a distance `p_i - p_j < window` score as with `rope`, farther ones
    with the query at `floor(p_i / group) + window - shift` and the key at
    `floor(p_j / group)` (arXiv 2401.01325). `law = code`: `shift = window /
    group`, which need not be an integer (datamllab/LongLM); `law = paper`:
    `floor(window / group)`.

    Constraints:
    - (self_extend_c1) as `rerope_c1` to `rerope_c3`;
    - (self_extend_c2) `group` is from 1 to 2^30.

    Example: `#posenc.self_extend<group = 8, window = 1024, law = paper>`
  }];
  let parameters = (ins
      Posenc_IntParam<"8", "positions in a group">:$group,
      Posenc_IntParam<"1024", "distances below it are counted in full">:$window,
      Posenc_EnumParam<Posenc_SelfExtendLaw, "code", "the division of the shift">:$law,
      Posenc_InnerRope:$rope,
      Posenc_NameParam<"self_extend">:$name);
}

def Posenc_LogNAttr : Posenc_EncodingAttr<"LogN", "log_n"> {
  let summary = "queries scaled by the logarithm of their position";
  let description = [{
    Multiplies queries by `max(1, ln(n + 1) / ln(length))`. `law = rerope`: n is
    the query's position (bojone/rerope); `law = qwen1`: its storage index among
    the keys, whatever the positions are (Qwen 1's modeling_qwen.py). Negative n
    count as 0.

    Constraints:
    - (log_n_c1) `length` is from 2 to 2^30.

    Example: `#posenc.log_n<length = 4096>`
  }];
  let parameters = (ins
      Posenc_IntParam<"4096", "the trained length">:$length,
      Posenc_EnumParam<Posenc_LogNLaw, "rerope", "what is counted">:$law,
      Posenc_NameParam<"log_n">:$name);
  let genVerifyDecl = 1;
}

def Posenc_QueryTemperatureAttr
    : Posenc_EncodingAttr<"QueryTemperature", "query_temperature"> {
  let summary = "Llama 4's temperature of layers without positions";
  let description = [{
    Multiplies queries by `1 + attn_scale ln(1 + floor((p + 1) / floor_scale))`
    (Hugging Face's modeling_llama4.py), where a negative `p + 1` counts as 0.

    Constraints:
    - (query_temperature_c1) `attn_scale` is finite and not negative,
      `floor_scale` positive and finite.

    Example: `#posenc.query_temperature<attn_scale = 0.1, floor_scale = 8192.0>`
  }];
  let parameters = (ins
      Posenc_F64Param<"0.1", "the slope">:$attn_scale,
      Posenc_F64Param<"8192.0", "positions that share a temperature">:$floor_scale,
      Posenc_NameParam<"query_temperature">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_REMAP_ENCODINGS_TD
