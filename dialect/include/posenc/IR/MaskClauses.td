// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that are stated at level 1 only: they expand to posenc.select.
#ifndef POSENC_MASK_CLAUSES_TD
#define POSENC_MASK_CLAUSES_TD

include "posenc/IR/PosencAttrBase.td"
include "posenc/IR/RotaryEnums.td"
include "posenc/IR/TermEnums.td"

class Posenc_MaskClauseAttr<string name, string attrMnemonic, list<string> overrides = []>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_MaskClauseInterface, overrides>]> {
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Posenc_MaskListParam : AttrOrTypeParameter<"::mlir::ArrayAttr", "masks"> {
  let parser = "::posenc::parseMaskList($_parser)";
}

// Masks of several: `[...]`.
class Posenc_MaskListAttr<string name, string attrMnemonic>
    : Posenc_MaskClauseAttr<name, attrMnemonic,
                            ["getOperandNames", "verifyMask", "getNumPredicateInputs"]> {
  let parameters = (ins Posenc_MaskListParam:$clauses);
  let assemblyFormat = "`<` $clauses `>`";
  let genVerifyDecl = 1;
}

def Posenc_AllMaskAttr : Posenc_MaskListAttr<"AllMask", "all"> {
  let summary = "what every one of several masks shows";
  let description = [{
    Constraints:
    - (all_c1) the list holds masks, at least one;
    - (all_c2) masks that depend on an alignment have the same;
    - (all_c3) lists are at most 32 levels deep.

    Example: `#posenc.all<[#posenc.causal, #posenc.segments]>`
  }];
}

def Posenc_AnyMaskAttr : Posenc_MaskListAttr<"AnyMask", "any"> {
  let summary = "what at least one of several masks shows";
  let description = [{
    Constraints:
    - (any_c1) as `all_c1` to `all_c3`.

    Example: `#posenc.any<[#posenc.window<left = 127>, #posenc.all<[#posenc.causal, #posenc.segments]>]>`
  }];
}

def Posenc_PrefixMaskAttr
    : Posenc_MaskClauseAttr<"PrefixMask", "prefix", ["getOperandNames", "getNumPredicateInputs"]> {
  let summary = "a query sees a prefix, and beyond it the keys up to its place";
  let description = [{
    A query at `a` sees keys at `b` with `b < length` or `b <= a`: a prefix
    language model (arXiv 1910.10683, section 3.2.1). `by = index` compares
    storage indices with the stated alignment, `by = position` positions.

    Operand: `<name>` [B]: the length of each batch entry's prefix.

    Example: `#posenc.prefix<name = "prefix_lengths">`
  }];
  let parameters = (ins
      Posenc_NameParam<"prefix">:$name,
      Posenc_EnumParam<Posenc_MaskBasis, "index", "what is compared">:$by,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
}

def Posenc_SegmentsMaskAttr
    : Posenc_MaskClauseAttr<"SegmentsMask", "segments", ["getOperandNames"]> {
  let summary = "a query sees the keys of its own segment";
  let description = [{
    Two tokens see each other if their segment identifiers are equal: packed
    sequences, padding with an identifier of its own.

    Operand: `<name>` [B, Lk], int32; a query's is that of its own key.

    Example: `#posenc.segments<name = "segment_ids">`
  }];
  let parameters = (ins
      Posenc_NameParam<"segment_ids">:$name,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
}

def Posenc_PermutationMaskAttr
    : Posenc_MaskClauseAttr<"PermutationMask", "permutation", ["getOperandNames"]> {
  let summary = "a query sees the keys that come before it in another order";
  let description = [{
    Query i sees key j if `order[j] < order[i]`; `self = visible` (XLNet's
    content stream) also if they are equal, `self = masked` (its query stream)
    does not (arXiv 1906.08237, section 2.3).

    Operand: `<name>` [B, Lk], int32: the place of each token in the order.

    Example: `#posenc.permutation<name = "order", self = masked>`
  }];
  let parameters = (ins
      Posenc_NameParam<"order">:$name,
      Posenc_EnumParam<Posenc_SelfSight, "visible", "whether a query sees its own key">:$self,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
}

def Posenc_GroupMaskAttr
    : Posenc_MaskClauseAttr<"GroupMask", "group", ["verifyMask", "getNumPredicateInputs"]> {
  let summary = "a query sees the keys of its group; half of the heads shift groups";
  let description = [{
    A query at `a` sees keys at `b` with `floor((a + s_h) / size) = floor((b +
    s_h) / size)` and `b <= a`. The shift `s_h` is 0 in the first half of the
    heads and `shift` in the second (LongLoRA's S2-Attn, arXiv 2309.12307, in
    its flash form: nothing wraps around).

    `wrap = L` is the form without flash attention, for sequences of L tokens:
    the code rolls them (dvlab-research/LongLoRA, llama_attn_replace.py,
    forward_noflashattn), so that `(a + s_h) mod L` and `(b + s_h) mod L` stand
    for a and b. The shifted first group is the last tokens followed by the first
    ones: the first tokens see the last, which are their future.

    Constraints:
    - (group_c1) `size` is from 1 to 2^30, `shift` from 0 to size - 1 or -1 for
      half of the size, which is then even;
    - (group_c2) the number of heads is even;
    - (group_c3) `wrap` is 0 or a multiple of the size, at most 2^30.

    Examples: `#posenc.group<size = 2048>`, `#posenc.group<size = 2048, wrap = 8192>`
  }];
  let parameters = (ins
      Posenc_IntParam<"2048", "tokens in a group">:$size,
      Posenc_IntParam<"-1", "of the second half of the heads, -1: size / 2">:$shift,
      Posenc_IntParam<"0", "the length at which tokens wrap around, 0: they do not">:$wrap,
      Posenc_EnumParam<Posenc_MaskBasis, "index", "what is compared">:$by,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
  let genVerifyDecl = 1;
}

def Posenc_OperandWindowMaskAttr
    : Posenc_MaskClauseAttr<"OperandWindowMask", "operand_window", ["getOperandNames", "getNumPredicateInputs"]> {
  let summary = "a window whose reach the caller passes";
  let description = [{
    As `#posenc.window`, but `left` is a number of the call, one for all heads or
    each: a query at `a` sees keys at `b` with `a - b <= left[h]` and `b - a <=
    right`. A negative number means no bound, and so does -1 for `right`. The
    results are those of the window with this number. Blocks of keys that are out
    of a tile's reach are not computed.

    Operand: `<name>` [H or 1].

    Constraints:
    - (operand_window_c1) `right` is from -1 to 2^30.

    Example: `#posenc.operand_window<name = "window">`
  }];
  let parameters = (ins
      Posenc_NameParam<"window">:$name,
      Posenc_IntParam<"0", "keys after the query that it sees, -1: all">:$right,
      Posenc_EnumParam<Posenc_MaskBasis, "index", "what is compared">:$by,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
  let genVerifyDecl = 1;
}

def Posenc_DenseMaskAttr
    : Posenc_MaskClauseAttr<"DenseMask", "dense_mask", ["getOperandNames", "getNumPredicateInputs"]> {
  let summary = "a truth value for each pair, passed by the caller";
  let description = [{
    Query i sees key j unless `mask[h, i, j]` is 0, or with `batch = on`
    `mask[b, h, i, j]`. As in every table of pairs a number of -1e30 or less hides
    the pair from everything, also in `#posenc.any`. An additive mask is
    `#posenc.dense_bias`.

    Operand: `<name>` [H or 1, Lq, Lk], or [B, H or 1, Lq, Lk]; where queries or
    keys are packed it needs `batch = on` and is [H or 1, Tq or Lq, Tk or Lk].

    Examples: `#posenc.dense_mask<name = "mask">`,
    `#posenc.dense_mask<batch = on>`
  }];
  let parameters = (ins
      Posenc_NameParam<"mask">:$name,
      Posenc_EnumParam<Posenc_TermSwitch, "off",
                       "whether each batch entry has numbers of its own">:$batch);
}

#endif // POSENC_MASK_CLAUSES_TD
