// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of input embeddings: entries of the `encode` list of a
// posenc.embed.
#ifndef POSENC_EMBED_ENCODINGS_TD
#define POSENC_EMBED_ENCODINGS_TD

include "posenc/IR/EmbedEnums.td"
include "posenc/IR/EncodingBase.td"

// An encoding of embeddings. `x` below is the vector as the scale and the
// encodings before have left it, `p` the token's position as they have left it.
class Posenc_EmbedEncodingAttr<string name, string attrMnemonic,
                               list<string> overrides = []>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_EncodingInterface,
                       !listconcat(["verifyInEmbed", "expandEmbed"], overrides)>]> {
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// What is added to the vectors
//===----------------------------------------------------------------------===//

def Posenc_RawIndexAttr : Posenc_EmbedEncodingAttr<"RawIndex", "raw_index"> {
  let summary = "the position itself";
  let description = [{
    `y[c] = x[c] + scale p` for every channel, or for channel `channel` alone
    (a position of its own beside the others). A motivational baseline: it is
    unbounded and swamps x.

    Constraints:
    - (raw_index_c1) `scale` is finite;
    - (raw_index_c2) `channel` is -1, for all, or below `dim`.

    Example: `#posenc.raw_index<scale = 0.01>`
  }];
  let parameters = (ins
      Posenc_F64Param<"1.0", "added for each position">:$scale,
      Posenc_IntParam<"-1", "the channel, -1 for all">:$channel,
      Posenc_NameParam<"raw_index">:$name);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Posenc_OneHotAttr : Posenc_EmbedEncodingAttr<"OneHot", "one_hot"> {
  let summary = "a unit vector for each position";
  let description = [{
    `y[c] = x[c] + 1` where `c = first_dim + p`, x[c] elsewhere: a table of
    identity rows. A position outside 0 .. width - 1 fails the call.

    Constraints:
    - (one_hot_c1) the channels first_dim .. first_dim + width - 1 are those of
      the embedding; `width = 0` means all from `first_dim`.

    Example: `#posenc.one_hot<first_dim = 64, width = 32>`
  }];
  let parameters = (ins
      Posenc_IntParam<"0", "the channel of position 0">:$first_dim,
      Posenc_IntParam<"0", "positions that there are, 0: up to the last channel">:$width,
      Posenc_NameParam<"one_hot">:$name);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Posenc_SinusoidalAttr
    : Posenc_EmbedEncodingAttr<"Sinusoidal", "sinusoidal"> {
  let summary = "sines and cosines of the position";
  let description = [{
    Adds `sin(p w_k)` and `cos(p w_k)` for the n = floor(dim / 2) frequencies
    `w_k = base^-e(k)` (Vaswani et al., arXiv 1706.03762, section 3.5). What
    published code disagrees on is stated:

    - `layout`: `interleaved` puts the two of frequency k on the channels 2k and
      2k + 1 (the paper), `concatenated` on k and k + n (tensor2tensor, fairseq,
      Whisper);
    - `exponent`: `over_dim` is e(k) = 2k / dim (the paper), `over_last` is
      e(k) = k / max(n - 1, 1) (tensor2tensor, fairseq, Whisper);
    - `order`: which of the two is first (the sine in all of these).

    The last channel of an odd `dim` gets nothing. With `padding_idx` the
    position of that number gets nothing (fairseq: padding has it, and other
    tokens count from padding_idx + 1, see `#posenc.padded_positions`). `factor`
    multiplies the positions.

    Sources: tensor2tensor layers/common_attention.py:get_timing_signal_1d,
    fairseq modules/sinusoidal_positional_embedding.py.

    Constraints:
    - (sinusoidal_c1) `base` is positive and finite, `factor` finite;
    - (sinusoidal_c2) `padding_idx` is at least -1, -1 being none.

    Examples: `#posenc.sinusoidal<layout = interleaved, exponent = over_dim>`,
    `#posenc.sinusoidal<layout = concatenated, exponent = over_last, padding_idx = 1>`
  }];
  let parameters = (ins
      "::posenc::WaveLayout":$layout,
      "::posenc::WaveExponent":$exponent,
      Posenc_EnumParam<Posenc_WaveOrder, "sine_first", "which of the two is first">:$order,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_F64Param<"1.0", "multiplies positions">:$factor,
      Posenc_IntParam<"-1", "the position that gets nothing, -1: none">:$padding_idx,
      Posenc_NameParam<"sinusoidal">:$name);
}

def Posenc_LearnedAbsoluteAttr
    : Posenc_EmbedEncodingAttr<"LearnedAbsolute", "learned_absolute",
                               ["getOperandNames"]> {
  let summary = "a learned vector for each position";
  let description = [{
    With `e = table[p + offset]`: `y = x + e` (`merge = add`), `y = x (1 + e)`
    (`mul`) or `y = e` (`replace`, bert4keras's `zero`). `offset` is 0 in BERT
    and GPT-2, padding_idx + 1 = 2 in RoBERTa, 2 in OPT and BART. A row outside
    the table fails the call: there is no extrapolation.

    Operand: `<name>.table` [rows, dim].

    Constraints:
    - (learned_absolute_c1) `rows` is from 1 to 2^26;
    - (learned_absolute_c2) `offset` is between -2^30 and 2^30.

    Example: `#posenc.learned_absolute<rows = 1024>`
  }];
  let parameters = (ins
      "int64_t":$rows,
      Posenc_IntParam<"0", "the row of position 0">:$offset,
      Posenc_EnumParam<Posenc_EmbedMerge, "add", "how the row meets the vector">:$merge,
      Posenc_NameParam<"learned_absolute">:$name);
}

def Posenc_ConvS2SAttr
    : Posenc_EmbedEncodingAttr<"ConvS2S", "conv_s2s", ["getOperandNames"]> {
  let summary = "learned positions of a convolutional encoder or decoder";
  let description = [{
    Adds `table[p + offset]`; encoder and decoder have a table each (Gehring et
    al., arXiv 1705.03122, section 3.1). `offset = 2` is fairseq's padding_idx +
    1 for a padding_idx of 1. A row outside the table fails the call. Decoding
    step by step passes the token's place as `positions`, and padding counts as
    `#posenc.padded_positions` says.

    Operand: `<name>.source` or `<name>.target` [rows, dim], as `side` says.

    Constraints: as those of `#posenc.learned_absolute`.

    Example: `#posenc.conv_s2s<side = target, rows = 1026>`
  }];
  let parameters = (ins
      "::posenc::SequenceSide":$side,
      "int64_t":$rows,
      Posenc_IntParam<"2", "the row of position 0">:$offset,
      Posenc_NameParam<"conv_s2s">:$name);
}

def Posenc_HierarchicalAttr
    : Posenc_EmbedEncodingAttr<"Hierarchical", "hierarchical",
                               ["getOperandNames"]> {
  let summary = "learned vectors of n positions for n^2 positions";
  let description = [{
    Position `p = t n + s` of n = `rows` gets `e = alpha u_t + (1 - alpha) u_s`
    with `u_t = (T[t] - alpha T[0]) / (1 - alpha)`, that is `e = T[s] + alpha /
    (1 - alpha) (T[t] - T[0])`: exactly T[p] below n (Su Jianlin,
    kexue.fm/archives/7947; bert4keras layers.py:PositionEmbedding). Positions
    outside 0 .. n^2 - 1 fail the call.

    Operand: `<name>.table` [rows, dim].

    Constraints:
    - (hierarchical_c1) `rows` is from 1 to 2^26;
    - (hierarchical_c2) `alpha` is finite, not 0.5, with which (t, s) and (s, t)
      would be the same, and not 1.

    Example: `#posenc.hierarchical<rows = 512, alpha = 0.4>`
  }];
  let parameters = (ins
      "int64_t":$rows,
      Posenc_F64Param<"0.4", "the weight of the block">:$alpha,
      Posenc_EnumParam<Posenc_EmbedMerge, "add", "how it meets the vector">:$merge,
      Posenc_NameParam<"hierarchical">:$name);
}

def Posenc_ComplexOrderAttr
    : Posenc_EmbedEncodingAttr<"ComplexOrder", "complex_order", ["getOperandNames"]> {
  let summary = "complex-valued words that turn with their position";
  let description = [{
    Word w at position p is the complex vector `f_k = r_k exp(i (omega_k p +
    theta_k))`, k = 0 .. dim/2 - 1 (Wang et al., ICLR 2020). The embedding has
    twice as many channels: real parts, then imaginary parts (`layout =
    concatenated`), or in turns (`interleaved`). The result replaces x, which the
    kernel then does not take, or is added to it.

    Amplitudes r are [words, dim/2]. Frequencies omega and phases theta are
    shared as stated: `word_and_dimension` [words, dim/2], `word` [words],
    `dimension` [dim/2], `global` one number, and `phase = none`, as in the
    authors' code, leaves them out. Position counts from that of the kernel:
    some feeds count from 1. A word outside the tables fails the call.

    Operands: `<name>.ids` int32 [B, L], `<name>.amplitude`, `<name>.frequency`,
    `<name>.phase` (a global one has one row).

    Constraints:
    - (complex_order_c1) `words` is from 1 to 2^26;
    - (complex_order_c2) `frequency` is not `none`;
    - (complex_order_c3) `dim` is even;
    - (complex_order_c4) `merge` is not `mul`.

    Example: `#posenc.complex_order<words = 30000, frequency = dimension>`
  }];
  let parameters = (ins
      "int64_t":$words,
      "::posenc::WordSharing":$frequency,
      Posenc_EnumParam<Posenc_WordSharing, "none", "what phases depend on">:$phase,
      Posenc_EnumParam<Posenc_WaveLayout, "concatenated", "where the two parts are">:$layout,
      Posenc_EnumParam<Posenc_EmbedMerge, "replace", "how it meets the vector">:$merge,
      Posenc_NameParam<"complex_order">:$name);
}

def Posenc_CapeAttr
    : Posenc_EmbedEncodingAttr<"Cape", "cape", ["getOperandNames"]> {
  let summary = "sinusoids of continuous, augmented positions";
  let description = [{
    Positions are real: `q = position_scale p`, less their mean over the
    sequence with `mean = removed`; in training `q' = (q + D + e_t) exp(u)` with `D`
    uniform in +-`max_global_shift` and `u` in +-ln `max_global_scaling` for each
    sequence and `e_t` in +-`max_local_shift` for each token. Channel c gets
    `sin(frequency_scale q' base^(-2 floor(c/2) / dim) + pi/2 (c mod 2))`
    (arXiv 2106.03143). The port gambara/cape draws e_t from half that range:
    its `max_local_shift` and `pos_scale` are twice and once `max_local_shift` /
    `position_scale` here.

    With `positions = operand` p are numbers of `<name>.positions` [B, L]; a NaN
    is a padding that gets nothing and does not count in the mean.

    Constraints:
    - (cape_c1) shifts are finite and not negative, `max_global_scaling` is at
      least 1, scales are finite and `base` is positive;
    - (cape_c2) `mode = inference` states no shifts and no `max_global_scaling`.

    Example: `#posenc.cape<mode = training, max_global_shift = 5.0, max_local_shift = 0.5, max_global_scaling = 1.03>`
  }];
  let parameters = (ins
      "::posenc::EmbedMode":$mode,
      Posenc_F64Param<"0.0", "the bound of a sequence's shift">:$max_global_shift,
      Posenc_F64Param<"0.0", "the bound of a token's shift">:$max_local_shift,
      Posenc_F64Param<"1.0", "the bound of the scaling">:$max_global_scaling,
      Posenc_EnumParam<Posenc_PositionMean, "kept", "the port's normalize removes it">:$mean,
      Posenc_EnumParam<Posenc_PositionSource, "kernel", "where positions come from">:$positions,
      Posenc_F64Param<"1.0", "multiplies positions">:$position_scale,
      Posenc_F64Param<"1.0", "multiplies frequencies">:$frequency_scale,
      Posenc_F64Param<"1.0e4", "the base of the frequencies">:$base,
      Posenc_NameParam<"cape">:$name);
}

def Posenc_Cape2DAttr
    : Posenc_EmbedEncodingAttr<"Cape2D", "cape_2d", ["getOperandNames"]> {
  let summary = "waves over a plane at continuous, augmented positions";
  let description = [{
    Token `p = a columns + b` of a grid stands at x = -1 + 2 a / (rows - 1), y =
    -1 + 2 b / (columns - 1), or with `positions = operand` where `<name>.x` and
    `<name>.y` [B, L] say; a single row or column stands at -1. Training changes
    x and y as `#posenc.cape` does, with shifts of their own and one scaling.
    With n = dim / 2 and r_k = 10^(k / (n - 1)) (`radii = linspace`) or
    10^((k + 1) / n) (`steps`), `t_k = pi r_k (x cos k + y sin k)`, k in radians;
    channel k gets cos t_k and channel n + k sin t_k. The port gcambara/cape
    states `max_local_shift` as a part of the distance of two rows and draws from
    half that range.

    Constraints:
    - (cape_2d_c1) as `cape_c1` and `cape_c2`;
    - (cape_2d_c2) `dim` is even, and not 2 with `radii = linspace`;
    - (cape_2d_c3) `rows` and `columns` are positive with `positions = kernel`
      and 0 with `operand`.

    Example: `#posenc.cape_2d<mode = inference, radii = steps, rows = 14, columns = 14>`
  }];
  let parameters = (ins
      "::posenc::EmbedMode":$mode,
      "::posenc::GridRadii":$radii,
      Posenc_IntParam<"0", "rows of the grid">:$rows,
      Posenc_IntParam<"0", "columns of the grid">:$columns,
      Posenc_F64Param<"0.0", "the bound of a sequence's shift">:$max_global_shift,
      Posenc_F64Param<"0.0", "the bound of a token's shift">:$max_local_shift,
      Posenc_F64Param<"1.0", "the bound of the scaling">:$max_global_scaling,
      Posenc_EnumParam<Posenc_PositionSource, "kernel", "where positions come from">:$positions,
      Posenc_NameParam<"cape_2d">:$name);
}

//===----------------------------------------------------------------------===//
// What changes the positions of the encodings after it
//===----------------------------------------------------------------------===//

def Posenc_PaddedPositionsAttr
    : Posenc_EmbedEncodingAttr<"PaddedPositions", "padded_positions",
                               ["getOperandNames"]> {
  let summary = "positions that do not count padding";
  let description = [{
    Encodings after it see `first + n` for the n-th token of the sequence that is
    no padding, n = 0, 1, ..., and `padding` for a padding token. `first = 0` is
    Hugging Face's cumsum(mask) - 1 (with `padding` 0 or 1 as the model has it),
    `first = padding_idx + 1, padding = padding_idx` fairseq's make_positions,
    2 and 1 in RoBERTa.

    `source = mask`: `<name>.mask` int32 [B, L] is 0 for padding and 1 else;
    `source = ids`: `<name>.ids` int32 [B, L] is `padding_id` for padding.

    Constraints:
    - (padded_positions_c1) `first` and `padding` are between -2^30 and 2^30.

    Example: `#posenc.padded_positions<source = ids, padding_id = 1, first = 2, padding = 1>`
  }];
  let parameters = (ins
      "::posenc::PaddingSource":$source,
      "int64_t":$first,
      "int64_t":$padding,
      Posenc_IntParam<"0", "the identifier of padding">:$padding_id,
      Posenc_NameParam<"padded_positions">:$name);
}

def Posenc_ShiftedPositionsAttr
    : Posenc_EmbedEncodingAttr<"ShiftedPositions", "shifted_positions", ["getOperandNames"]> {
  let summary = "positions shifted by a random number for each sequence";
  let description = [{
    Encodings after it see `p + k` (SHAPE, Kiyono et al., EMNLP 2021), with K =
    `max_shift`:

    - `shift = training, law = paper`: k uniform in 0 .. K for each sequence;
    - `shift = training, law = code` (butsugiri/shape, onmt/modules/embeddings.py):
      k uniform in 0 .. min(K, table_rows - L) - 1, 0 if that is empty;
    - `shift = inference, law = paper`: k = 0; `law = code`: k = K;
    - `shift = operand`: k is `<name>.shift` [B], for steps of decoding that go
      on with what their prompt has drawn.

    Encoder and decoder draw independently if their calls have other seeds.

    Constraints:
    - (shifted_positions_c1) `max_shift` is from 0 to 2^30;
    - (shifted_positions_c2) `table_rows` is stated with `shift = training, law = code` only,
      and is positive.

    Example: `#posenc.shifted_positions<shift = training, law = paper, max_shift = 500>`
  }];
  let parameters = (ins
      "::posenc::ShiftSource":$shift,
      "::posenc::ShiftLaw":$law,
      Posenc_IntParam<"0", "the greatest shift">:$max_shift,
      Posenc_IntParam<"0", "rows of the authors' table of sinusoids">:$table_rows,
      Posenc_NameParam<"shifted_positions">:$name);
}

def Posenc_RandomisedPositionsAttr
    : Posenc_EmbedEncodingAttr<"RandomisedPositions", "randomised_positions",
                               ["getOperandNames"]> {
  let summary = "positions that are a random sample of a longer range";
  let description = [{
    Encodings after it see `<name>.positions` int32 [B, L]: in training L
    distinct numbers of 0 .. range - 1, sorted, drawn for each sequence (Ruoss et
    al., arXiv 2305.16843), for example
    `numpy.sort(rng.choice(range, L, replace=False))`; positions counted from 0
    otherwise. A number outside the range fails the call.

    Constraints:
    - (randomised_positions_c1) `range` is from 1 to 2^30.

    Example: `#posenc.randomised_positions<range = 2048>`
  }];
  let parameters = (ins
      "int64_t":$range,
      Posenc_NameParam<"randomised_positions">:$name);
}

def Posenc_PoseAttr
    : Posenc_EmbedEncodingAttr<"Pose", "pose"> {
  let summary = "positions with a random gap, of a longer sequence";
  let description = [{
    PoSE (arXiv 2309.10400; dwzhu-pku/PoSE, src/train_pose.py). In training the
    first `a` tokens keep p, `a` uniform in 1 .. (L + 1) div 2, and the others
    get p + s, s uniform in 0 .. max(target - L, 0), both drawn for each
    sequence; in inference all keep p. The text of the second part is the
    caller's to choose. An attention kernel takes the same positions as a
    `#posenc.position_tensor`.

    Constraints:
    - (pose_c1) `target` is from 1 to 2^30.

    Example: `#posenc.pose<mode = training, target = 16384>`
  }];
  let parameters = (ins
      "::posenc::EmbedMode":$mode,
      "int64_t":$target,
      Posenc_NameParam<"pose">:$name);
}

#endif // POSENC_EMBED_ENCODINGS_TD
