// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, and the laws of positions, relations, frequencies and tables.
#ifndef POSENC_ATTRS_TD
#define POSENC_ATTRS_TD

include "posenc/IR/PosencAttrBase.td"

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

class Posenc_MaskAttr<string name, string attrMnemonic, list<string> overrides = []>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_MaskInterface>,
                   DeclareAttrInterfaceMethods<Posenc_MaskClauseInterface, overrides>]>;

def Posenc_FullMaskAttr : Posenc_MaskAttr<"FullMask", "full", ["getNumPredicateInputs"]> {
  let summary = "every query sees every key";
  let description = [{Example: `#posenc.full`}];
}

def Posenc_CausalMaskAttr : Posenc_MaskAttr<"CausalMask", "causal"> {
  let summary = "a query sees the keys up to its own place";
  let description = [{
    With `bottom_right` query row `i` sees keys `j <= i + Lk - Lq`, so that the
    last query sees every key (decoding with a cache); with `top_left` it sees
    `j <= i`. Storage indices are compared, not positions.

    Examples: `#posenc.causal`, `#posenc.causal<top_left>`
  }];
  let parameters = (ins
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$alignment);
  let assemblyFormat = "(`<` $alignment^ `>`)?";
}

def Posenc_WindowMaskAttr : Posenc_MaskAttr<"WindowMask", "window"> {
  let summary = "a query sees the keys near its own place";
  let description = [{
    A query at `a` sees keys at `b` with `a - b <= left` and `b - a <= right`:
    both bounds are inclusive and count neighbours, as in flash-attention's
    `window_size`. A "sliding window of W" tokens in Mistral, Gemma or GPT-OSS
    counts the query itself: `left = W - 1`. -1 means no bound. By default the
    window is causal (`right = 0`).

    `by = index` compares storage indices with the stated alignment, `by =
    position` positions.

    Constraints:
    - (window_c1) `left` and `right` are at least -1 and at most 2^30.

    Examples: `#posenc.window<left = 4095>`, `#posenc.window<left = 64, right = 64>`
  }];
  let parameters = (ins
      Posenc_IntParam<"-1", "keys before the query that it sees, -1: all">:$left,
      Posenc_IntParam<"0", "keys after the query that it sees, -1: all">:$right,
      Posenc_EnumParam<Posenc_MaskBasis, "index", "what is compared">:$by,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Posenc_ChunkMaskAttr : Posenc_MaskAttr<"ChunkMask", "chunk"> {
  let summary = "a query sees the keys of its own chunk";
  let description = [{
    A query at `a` sees keys at `b` with `floor(a / size) = floor(b / size)`
    and `b <= a` (Llama 4's chunked attention).

    Constraints:
    - (chunk_c1) `size` is from 1 to 2^30.

    Example: `#posenc.chunk<size = 8192>`
  }];
  let parameters = (ins
      Posenc_IntParam<"8192", "tokens in a chunk">:$size,
      Posenc_EnumParam<Posenc_MaskBasis, "index", "what is compared">:$by,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Posenc_BlockListAttr : Posenc_Attr<"BlockList", "block_list"> {
  let summary = "the blocks of keys that each block of queries sees, passed by the caller";
  let description = [{
    Query row i of a sequence, counted from its first query, is in block
    `i / queries`, key j in block `j / keys`. Block m of queries sees the blocks of keys
    `indices[offsets[b, h, m]]` up to `indices[offsets[b, h, m + 1] - 1]`, which
    rise (compressed sparse rows); nothing else is computed.

    Operands, int32: `<name>.offsets` [B or 1, H or 1, n + 1] for at least the
    blocks of the longest sequence of queries, and `<name>.indices` [N].

    Constraints:
    - (block_list_c1) `queries` and `keys` are from 1 to 2^30;
    - (block_list_c2) `name` is a C identifier but for dots.

    Example: `#posenc.block_list<queries = 64, keys = 128>`
  }];
  let parameters = (ins "int64_t":$queries, "int64_t":$keys,
                        Posenc_NameParam<"blocks">:$name);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::std::string getOffsetsName() const { return (getName() + ".offsets").str(); }
    ::std::string getIndicesName() const { return (getName() + ".indices").str(); }
  }];
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

class Posenc_PositionLawAttr<string name, string attrMnemonic>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_PositionLawInterface,
                                               ["getAlignment", "isAffine"]>]>;

def Posenc_IotaAttr : Posenc_PositionLawAttr<"Iota", "iota"> {
  let summary = "positions counted from the storage index";
  let description = [{
    Key `j` is at `j + offset`; query row `i` is at `i + Lk - Lq + offset` with
    `bottom_right` and at `i + offset` with `top_left` alignment.

    Constraints:
    - (iota_c1) `offset` is between -2^30 and 2^30.

    Examples: `#posenc.iota`, `#posenc.iota<offset = 16, align = top_left>`
  }];
  let parameters = (ins
      Posenc_IntParam<"0", "added to every position">:$offset,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Posenc_PositionTensorAttr
    : Posenc_PositionLawAttr<"PositionTensor", "position_tensor"> {
  let summary = "positions read from an int32 operand [B, Lk] or [axes, B, Lk]";
  let description = [{
    Key `j` of batch entry `b` is at `positions[b, j]`; query row `i` is at
    `positions[b, i + Lk - Lq]` with `bottom_right` and at `positions[b, i]`
    with `top_left` alignment. Lq must not exceed Lk. With `axes` above 1 the
    operand is [axes, B, Lk] and `axis` says which of them this is. Segment
    identifiers are positions too.

    `queries` names an operand [B, Lq] (or [axes, B, Lq]) of the queries' own:
    row `i` is at `query_positions[b, i]`, and Lq may be any. So the keys may be
    one shard of a sequence and the queries another.

    Constraints:
    - (position_tensor_c1) `name` is a C identifier but for dots;
    - (position_tensor_c2) `axes` is from 1 to 4, `axis` from 0 to axes - 1;
    - (position_tensor_c3) `queries` is empty or as `name`, and another name.

    Examples: `#posenc.position_tensor<name = "positions">`,
    `#posenc.position_tensor<axes = 3, axis = 1>`,
    `#posenc.position_tensor<queries = "query_positions">`
  }];
  let parameters = (ins
      StringRefParameter<"the operand's name", "\"positions\"">:$name,
      Posenc_IntParam<"1", "axes of a position">:$axes,
      Posenc_IntParam<"0", "which axis is read">:$axis,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align,
      StringRefParameter<"the operand of the queries' own positions", "\"\"">:$queries);
  let extraClassDeclaration = [{
    bool hasOwnQueries() const { return !getQueries().empty(); }
    /// The operand that has the positions of a side's tokens.
    ::llvm::StringRef getTensor(::posenc::Side side) const {
      return side == ::posenc::Side::query && hasOwnQueries() ? getQueries()
                                                              : getName();
    }
  }];
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Posenc_AppendedAttr : Posenc_PositionLawAttr<"Appended", "appended"> {
  let summary = "positions of new tokens, counted from the start of their sequence";
  let description = [{
    The law of `#posenc.iota` in a kernel that appends keys to a cache, and of
    both sides with keys(state): token `i` of `n` new ones in a sequence of
    `length` keys, these included, is at `length - n + i + offset`.

    Constraints:
    - (appended_c1) `offset` is between -2^30 and 2^30.

    Example: `#posenc.appended<offset = 16>`
  }];
  let parameters = (ins Posenc_IntParam<"0", "added to every position">:$offset);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

class Posenc_RelationLawAttr<string name, string attrMnemonic>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_RelationLawInterface>]>;

def Posenc_DifferenceAttr : Posenc_RelationLawAttr<"Difference", "difference"> {
  let summary = "the signed distance between two tokens";
  let description = [{
    `p_i - p_j` with `query_minus_key`, `p_j - p_i` with `key_minus_query`.

    Example: `#posenc.difference<query_minus_key>`
  }];
  let parameters = (ins "::posenc::Orientation":$orientation);
  let assemblyFormat = "`<` $orientation `>`";
}

def Posenc_ClippedDistanceAttr
    : Posenc_RelationLawAttr<"ClippedDistance", "clipped_distance"> {
  let summary = "the distance clipped to [-max, max], counted from 0";
  let description = [{
    `clip(d, -max, max) + max` where `d` is the distance of that orientation:
    `2 * max + 1` values.

    Constraints:
    - (clipped_distance_c1) `max` is between 0 and 2^24.

    Example: `#posenc.clipped_distance<key_minus_query, max = 16>`
  }];
  let parameters = (ins "::posenc::Orientation":$orientation, "int64_t":$max);
  let assemblyFormat = "`<` $orientation `,` `max` `=` $max `>`";
  let genVerifyDecl = 1;
}

def Posenc_ThresholdBucketAttr
    : Posenc_RelationLawAttr<"ThresholdBucket", "threshold_bucket"> {
  let summary = "the number of thresholds that the distance has reached";
  let description = [{
    With `n = p_i - p_j`, a past or present key (`n >= 0`) gets the number of
    thresholds `<= n`; a future key gets `future_offset` plus the number of
    thresholds `<= -n`, or the bucket of distance 0 when `future_offset` is -1.
    Thresholds are found once, in exact arithmetic, instead of evaluating a
    logarithm on the device.

    Constraints:
    - (threshold_bucket_c1) thresholds are positive and do not decrease;
    - (threshold_bucket_c2) `future_offset` is between -1 and 2^26.

    Example: `#posenc.threshold_bucket<[1, 2, 4, 8], future_offset = 5>`
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$thresholds,
                        "int64_t":$futureOffset);
  let assemblyFormat = "`<` $thresholds `,` `future_offset` `=` $futureOffset `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Frequencies and tables
//===----------------------------------------------------------------------===//

def Posenc_GeometricAttr
    : Posenc_Attr<"Geometric", "geometric",
                  [DeclareAttrInterfaceMethods<Posenc_FreqsLawInterface>]> {
  let summary = "frequencies base^(-2k / dims), k = 0 .. dims/2 - 1";
  let description = [{
    The law of RoFormer (arXiv 2104.09864, section 3.2.2).

    Constraints:
    - (geometric_c1) `base` is positive and finite;
    - (geometric_c2) `dims` is even and from 2 to 65536.

    Example: `#posenc.geometric<base = 1.0e4, dims = 128>`
  }];
  let parameters = (ins Posenc_F64Param<"", "the base, positive">:$base,
                        "int64_t":$dims);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Posenc_FrequenciesAttr
    : Posenc_Attr<"Frequencies", "frequencies",
                  [DeclareAttrInterfaceMethods<Posenc_FreqsLawInterface>]> {
  let summary = "frequencies as a list";
  let description = [{
    What the scaling laws of rotary encodings fold to. 0 leaves a pair as it is.

    Constraints:
    - (frequencies_c1) there is at least one, and all are finite.

    Example: `#posenc.frequencies<[1.0, 0.01]>`
  }];
  let parameters = (ins Posenc_F64ArrayParam:$values);
  let assemblyFormat = "`<` $values `>`";
  let genVerifyDecl = 1;
}

def Posenc_ConstantsAttr : Posenc_Attr<"Constants", "constants"> {
  let summary = "a table whose numbers are known at compile time";
  let description = [{
    Row-major over the axes of the table's type; `channels` is the extent of its
    `channel` axis when it has a `row` axis too.

    Examples: `#posenc.constants<[0.5, 0.25]>`, `#posenc.constants<[0.5, 0.25], channels = 2>`
  }];
  let parameters = (ins Posenc_F64ArrayParam:$values,
                        Posenc_IntParam<"0", "the extent of the channel axis">:$channels);
  let assemblyFormat = "`<` $values (`,` `channels` `=` $channels^)? `>`";
}

def Posenc_OperandAttr : Posenc_Attr<"Operand", "operand"> {
  let summary = "a table that the caller passes in";
  let description = [{
    The name under which the caller finds it, and the extent of its `row` axis
    if it has one. The `head` axis has the extent H of the call, or 1 for a
    table that all heads share; `query` and `key` have Lq and Lk. In tables
    with a `query` and a `key` axis a value of -1e30 or less means that the
    pair is masked. `batch` has B. `dtype` is the type of the elements in memory,
    by default f32; whatever it is, the numbers are real.

    Constraints:
    - (operand_c1) `name` is a C identifier but for dots;
    - (operand_c2) `rows` is between 0 and 2^26, `channels` between 0 and 65536;
    - (operand_c3) `dtype` is bf16, f16 or f64 where it is given.

    Examples: `#posenc.operand<"t5_bias.table", rows = 32>`, `#posenc.operand<"bias">`,
    `#posenc.operand<"shaw.keys", rows = 33, channels = 64, dtype = bf16>`
  }];
  let parameters = (ins StringRefParameter<"the operand's name">:$name,
                        Posenc_IntParam<"0", "the extent of the row axis">:$rows,
                        Posenc_IntParam<"0", "the extent of the channel axis">:$channels,
                        OptionalParameter<"::mlir::Type", "the type in memory">:$dtype);
  let assemblyFormat = [{
    `<` $name (`,` struct($rows, $channels, $dtype)^)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // POSENC_ATTRS_TD
