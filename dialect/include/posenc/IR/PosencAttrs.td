// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, and the laws of positions, relations, frequencies and tables.
#ifndef POSENC_ATTRS_TD
#define POSENC_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "posenc/IR/PosencDialect.td"
include "posenc/IR/PosencEnums.td"
include "posenc/IR/PosencInterfaces.td"

class Posenc_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Posenc_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// A real number; integers and hexadecimal bit patterns are accepted too.
class Posenc_F64Param<string value, string desc>
    : AttrOrTypeParameter<"::llvm::APFloat", desc> {
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
  let parser = "::posenc::parseF64($_parser)";
  let defaultValue = !if(!empty(value), "", "::llvm::APFloat(" # value # ")");
}

// Real numbers, printed so that they read back unchanged.
def Posenc_F64ArrayParam
    : AttrOrTypeParameter<"::mlir::DenseF64ArrayAttr", "real numbers"> {
  let parser = "::posenc::parseF64Array($_parser)";
  let printer = "::posenc::printF64Array($_printer, $_self)";
}

class Posenc_IntParam<string value, string desc>
    : DefaultValuedParameter<"int64_t", value, desc>;

class Posenc_EnumParam<EnumInfo info, string value, string desc>
    : DefaultValuedParameter<"::posenc::" # info.className,
                             "::posenc::" # info.className # "::" # value, desc>;

class Posenc_NameParam<string value>
    : StringRefParameter<"the prefix of the operands' names", "\"" # value # "\"">;

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

class Posenc_MaskAttr<string name, string attrMnemonic>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_MaskInterface>]>;

def Posenc_FullMaskAttr : Posenc_MaskAttr<"FullMask", "full"> {
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
  let summary = "positions read from an int32 operand [B, Lk]";
  let description = [{
    Key `j` of batch entry `b` is at `positions[b, j]`; query row `i` is at
    `positions[b, i + Lk - Lq]` with `bottom_right` and at `positions[b, i]`
    with `top_left` alignment. Lq must not exceed Lk.

    Constraints:
    - (position_tensor_c1) `name` is a C identifier but for dots.

    Example: `#posenc.position_tensor<name = "positions">`
  }];
  let parameters = (ins
      StringRefParameter<"the operand's name", "\"positions\"">:$name,
      Posenc_EnumParam<Posenc_Alignment, "bottom_right",
                       "where row i stands when Lq != Lk">:$align);
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

def Posenc_ConstantsAttr : Posenc_Attr<"Constants", "constants"> {
  let summary = "a table whose numbers are known at compile time";
  let description = [{
    Row-major over the axes of the table's type.

    Example: `#posenc.constants<[0.5, 0.25]>`
  }];
  let parameters = (ins Posenc_F64ArrayParam:$values);
  let assemblyFormat = "`<` $values `>`";
}

def Posenc_OperandAttr : Posenc_Attr<"Operand", "operand"> {
  let summary = "a table that the caller passes in";
  let description = [{
    The name under which the caller finds it, and the extent of its `row` axis
    if it has one. The `head` axis has the extent H of the call, or 1 for a
    table that all heads share; `query` and `key` have Lq and Lk. In tables
    with a `query` and a `key` axis a value of -1e30 or less means that the
    pair is masked. Element type f32.

    Constraints:
    - (operand_c1) `name` is a C identifier but for dots;
    - (operand_c2) `rows` is between 0 and 2^26.

    Examples: `#posenc.operand<"t5_bias.table", rows = 32>`, `#posenc.operand<"bias">`
  }];
  let parameters = (ins StringRefParameter<"the operand's name">:$name,
                        Posenc_IntParam<"0", "the extent of the row axis">:$rows);
  let assemblyFormat = "`<` $name (`,` `rows` `=` $rows^)? `>`";
  let genVerifyDecl = 1;
}

#endif // POSENC_ATTRS_TD
