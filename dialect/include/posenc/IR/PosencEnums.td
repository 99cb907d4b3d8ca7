// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of the dialect.
#ifndef POSENC_ENUMS_TD
#define POSENC_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Posenc_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::posenc";
}

def Posenc_Side : Posenc_Enum<"Side", "which side of a score a token is on; 'token' in posenc.embed", [
    I32EnumAttrCase<"query", 0>,
    I32EnumAttrCase<"key", 1>,
    I32EnumAttrCase<"token", 2>]>;

def Posenc_Alignment : Posenc_Enum<"Alignment",
    "where query row i stands among the keys when Lq != Lk", [
    I32EnumAttrCase<"bottom_right", 0>,
    I32EnumAttrCase<"top_left", 1>]>;

def Posenc_MaskBasis : Posenc_Enum<"MaskBasis", "what a mask compares", [
    I32EnumAttrCase<"index", 0>,
    I32EnumAttrCase<"position", 1>]>;

def Posenc_QueryStorage : Posenc_Enum<"QueryStorage",
    "how the queries of a call lie in memory", [
    I32EnumAttrCase<"dense", 0>,
    I32EnumAttrCase<"packed", 1>]>;

def Posenc_KeyStorage : Posenc_Enum<"KeyStorage",
    "how the keys of a call lie in memory", [
    I32EnumAttrCase<"dense", 0>,
    I32EnumAttrCase<"lengths", 1>,
    I32EnumAttrCase<"packed", 2>,
    I32EnumAttrCase<"paged", 3>,
    I32EnumAttrCase<"ring", 4>,
    I32EnumAttrCase<"state", 5>]>;

def Posenc_KeyCache : Posenc_Enum<"KeyCache",
    "what the keys in memory have been through", [
    I32EnumAttrCase<"raw", 0>,
    I32EnumAttrCase<"encoded", 1>]>;

def Posenc_KvScales : Posenc_Enum<"KvScales",
    "what has a scale of its own among quantised keys and values", [
    I32EnumAttrCase<"head", 0>,
    I32EnumAttrCase<"token", 1>]>;

def Posenc_Pairing : Posenc_Enum<"Pairing",
    "which two channels a rotation turns together", [
    I32EnumAttrCase<"half", 0>,
    I32EnumAttrCase<"interleaved", 1>]>;

def Posenc_Placement : Posenc_Enum<"Placement",
    "which channels of a head a partial rotation turns", [
    I32EnumAttrCase<"first", 0>,
    I32EnumAttrCase<"last", 1>]>;

def Posenc_Orientation : Posenc_Enum<"Orientation", "the sign of a distance", [
    I32EnumAttrCase<"query_minus_key", 0>,
    I32EnumAttrCase<"key_minus_query", 1>]>;

def Posenc_Direction : Posenc_Enum<"Direction",
    "whether past and future distances have buckets of their own", [
    I32EnumAttrCase<"causal", 0>,
    I32EnumAttrCase<"bidirectional", 1>]>;

def Posenc_TableAxis : Posenc_Enum<"TableAxis", "what an axis of a table counts", [
    I32EnumAttrCase<"row", 0>,
    I32EnumAttrCase<"head", 1>,
    I32EnumAttrCase<"query", 2>,
    I32EnumAttrCase<"key", 3>,
    I32EnumAttrCase<"batch", 4>,
    I32EnumAttrCase<"channel", 5>]>;

def Posenc_NormalizeKind : Posenc_Enum<"NormalizeKind",
    "how a row of scores becomes weights", [
    I32EnumAttrCase<"softmax", 0>,
    I32EnumAttrCase<"exp", 1>,
    I32EnumAttrCase<"identity", 2>,
    I32EnumAttrCase<"abs_sum", 3>,
    I32EnumAttrCase<"linear", 4>]>;

def Posenc_NormKind : Posenc_Enum<"NormKind",
    "the statistic that a vector is divided by", [
    I32EnumAttrCase<"l2", 0>,
    I32EnumAttrCase<"rms", 1>,
    I32EnumAttrCase<"layer", 2>]>;

def Posenc_NormAxis : Posenc_Enum<"NormAxis",
    "the channels that a norm runs over", [
    I32EnumAttrCase<"head", 0>,
    I32EnumAttrCase<"all_heads", 1>]>;

def Posenc_EpsilonSite : Posenc_Enum<"EpsilonSite",
    "how epsilon keeps a norm from dividing by 0", [
    I32EnumAttrCase<"added", 0>,
    I32EnumAttrCase<"floor", 1>]>;

def Posenc_ScanKind : Posenc_Enum<"ScanKind",
    "whether a scan counts the key itself", [
    I32EnumAttrCase<"inclusive", 0>,
    I32EnumAttrCase<"exclusive", 1>]>;

def Posenc_TableKind : Posenc_Enum<"TableKind",
    "the shape of a table that is built before the tiles run", [
    I32EnumAttrCase<"angles", 0>,
    I32EnumAttrCase<"strip", 1>,
    I32EnumAttrCase<"rows", 2>,
    I32EnumAttrCase<"decays", 3>]>;

#endif // POSENC_ENUMS_TD
