// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of the encodings that add to scores: what published code disagrees
// on.
#ifndef POSENC_TERM_ENUMS_TD
#define POSENC_TERM_ENUMS_TD

include "posenc/IR/PosencEnums.td"

def Posenc_TermSite : Posenc_Enum<"TermSite",
    "whether a term is multiplied by the scale of the dot product", [
    I32EnumAttrCase<"inside", 0>,
    I32EnumAttrCase<"outside", 1>]>;

def Posenc_TermSwitch : Posenc_Enum<"TermSwitch", "whether a part is there", [
    I32EnumAttrCase<"off", 0>,
    I32EnumAttrCase<"on", 1>]>;

def Posenc_ScalarSource : Posenc_Enum<"ScalarSource",
    "whether learned scalars are constants or operands", [
    I32EnumAttrCase<"constants", 0>,
    I32EnumAttrCase<"operands", 1>]>;

def Posenc_TableSharing : Posenc_Enum<"TableSharing",
    "whether all heads share a table of vectors", [
    I32EnumAttrCase<"shared", 0>,
    I32EnumAttrCase<"per_head", 1>]>;

def Posenc_AlibiForm : Posenc_Enum<"AlibiForm",
    "what a linear bias is linear in", [
    I32EnumAttrCase<"causal", 0>,
    I32EnumAttrCase<"symmetric", 1>,
    I32EnumAttrCase<"key", 2>]>;

def Posenc_AlibiRounding : Posenc_Enum<"AlibiRounding",
    "the format that slopes, positions and their product are rounded to", [
    I32EnumAttrCase<"none", 0>,
    I32EnumAttrCase<"bf16", 1>]>;

def Posenc_KerpleKind : Posenc_Enum<"KerpleKind", "the kernel of KERPLE", [
    I32EnumAttrCase<"log", 0>,
    I32EnumAttrCase<"power", 1>]>;

def Posenc_SwinBiasForm : Posenc_Enum<"SwinBiasForm",
    "what the caller passes for Swin v2's bias", [
    I32EnumAttrCase<"mlp", 0>,
    I32EnumAttrCase<"logits", 1>,
    I32EnumAttrCase<"folded", 2>]>;

def Posenc_TupeVariant : Posenc_Enum<"TupeVariant", "TUPE-A or TUPE-R", [
    I32EnumAttrCase<"absolute", 0>,
    I32EnumAttrCase<"relative", 1>]>;

def Posenc_TupeTheta : Posenc_Enum<"TupeTheta",
    "where the scores of the class token come from", [
    I32EnumAttrCase<"operands", 0>,
    I32EnumAttrCase<"rows", 1>]>;

def Posenc_GridLayout : Posenc_Enum<"GridLayout",
    "one table over both axes or one for each", [
    I32EnumAttrCase<"joint", 0>,
    I32EnumAttrCase<"separable", 1>]>;

def Posenc_GridDistance : Posenc_Enum<"GridDistance",
    "whether both directions of an axis share a row", [
    I32EnumAttrCase<"directed", 0>,
    I32EnumAttrCase<"absolute", 1>]>;

def Posenc_GridCoordinates : Posenc_Enum<"GridCoordinates",
    "where rows and columns of tokens come from", [
    I32EnumAttrCase<"row_major", 0>,
    I32EnumAttrCase<"tensor", 1>]>;

def Posenc_DapeVersion : Posenc_Enum<"DapeVersion", "version of DAPE", [
    I32EnumAttrCase<"v1", 0>,
    I32EnumAttrCase<"v2", 1>]>;

def Posenc_LawSource : Posenc_Enum<"LawSource",
    "what to follow where a paper and its code differ", [
    I32EnumAttrCase<"code", 0>,
    I32EnumAttrCase<"paper", 1>]>;

def Posenc_TermLayout : Posenc_Enum<"TermLayout",
    "where a sinusoidal table has its sines and cosines", [
    I32EnumAttrCase<"interleaved", 0>,
    I32EnumAttrCase<"concatenated", 1>]>;

def Posenc_TermExponent : Posenc_Enum<"TermExponent",
    "the denominator of the exponents k / n of n sinusoids", [
    I32EnumAttrCase<"half", 0>,
    I32EnumAttrCase<"half_minus_one", 1>]>;

def Posenc_BucketClamp : Posenc_Enum<"BucketClamp",
    "whether distances are clamped before they are put into buckets", [
    I32EnumAttrCase<"official", 0>,
    I32EnumAttrCase<"hf", 1>]>;

def Posenc_CapSite : Posenc_Enum<"CapSite",
    "whether scores are capped before or after biases are added", [
    I32EnumAttrCase<"before_bias", 0>,
    I32EnumAttrCase<"after_bias", 1>]>;

def Posenc_StickKind : Posenc_Enum<"StickKind",
    "whether a query may take its own key", [
    I32EnumAttrCase<"strict", 0>,
    I32EnumAttrCase<"attend_current", 1>]>;

def Posenc_StickRemainder : Posenc_Enum<"StickRemainder",
    "what the rest of the stick is given to", [
    I32EnumAttrCase<"drop", 0>,
    I32EnumAttrCase<"value", 1>]>;

def Posenc_GateForm : Posenc_Enum<"GateForm",
    "what the caller passes for a gate", [
    I32EnumAttrCase<"logits", 0>,
    I32EnumAttrCase<"log", 1>]>;

def Posenc_FeatureMap : Posenc_Enum<"FeatureMap",
    "the feature map of linear attention", [
    I32EnumAttrCase<"elu1", 0>,
    I32EnumAttrCase<"relu", 1>,
    I32EnumAttrCase<"exp", 2>]>;

def Posenc_ComplexTerm : Posenc_Enum<"ComplexTerm",
    "whether the imaginary part repeats a term as the released code does", [
    I32EnumAttrCase<"faithful", 0>,
    I32EnumAttrCase<"correct", 1>]>;

#endif // POSENC_TERM_ENUMS_TD
