// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that rotate queries and keys.
#ifndef POSENC_ROTARY_ENCODINGS_TD
#define POSENC_ROTARY_ENCODINGS_TD

include "posenc/IR/EncodingBase.td"

def Posenc_RopeAttr : Posenc_EncodingAttr<"Rope", "rope"> {
  let summary = "rotary position embedding";
  let description = [{
    Turns channel pairs `(a, b)` of queries and keys at position `p` by the
    angle `t = p * base^(-2k / dims)` of pair `k`:
    `(a cos t - b sin t, a sin t + b cos t)` (RoFormer, arXiv 2104.09864,
    equation 34). `dims` channels are turned, the others pass through; the
    exponent's denominator is `dims`, not the head size.

    ```
    pairing = half         a0 a1 a2 a3 | b0 b1 b2 b3     (GPT-NeoX, Hugging Face Llama)
    pairing = interleaved  a0 b0 a1 b1 a2 b2 a3 b3       (RoFormer, GPT-J, Meta Llama)
    ```

    Angles are computed in double precision and stored as f32 cosines and sines.

    Constraints:
    - (rope_c1) `base` is positive and finite;
    - (rope_c2) `dims` is even and positive, or 0 for the whole head;
    - (rope_c3) `dims` is at most the kernel's `head_dim`.

    Example: `#posenc.rope<base = 5.0e5, pairing = interleaved, dims = 64, placement = last>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_EnumParam<Posenc_Pairing, "half", "which channels form a pair">:$pairing,
      Posenc_IntParam<"0", "rotated channels, 0 for all">:$dims,
      Posenc_EnumParam<Posenc_Placement, "first", "which channels are rotated">:$placement,
      Posenc_NameParam<"rope">:$name);
  let genVerifyDecl = 1;
}

#endif // POSENC_ROTARY_ENCODINGS_TD
