// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of input embeddings and of their encodings.
#ifndef POSENC_EMBED_ENUMS_TD
#define POSENC_EMBED_ENUMS_TD

include "posenc/IR/PosencEnums.td"

def Posenc_RandomScope : Posenc_Enum<"RandomScope",
    "what a random number is drawn for", [
    I32EnumAttrCase<"sequence", 0>,
    I32EnumAttrCase<"token", 1>]>;

def Posenc_EmbedMerge : Posenc_Enum<"EmbedMerge",
    "how an encoding meets the vector: x + e, x (1 + e) or e", [
    I32EnumAttrCase<"add", 0>,
    I32EnumAttrCase<"mul", 1>,
    I32EnumAttrCase<"replace", 2>]>;

def Posenc_WaveLayout : Posenc_Enum<"WaveLayout",
    "whether the two channels of a frequency are neighbours or half the vector "
    "apart", [
    I32EnumAttrCase<"interleaved", 0>,
    I32EnumAttrCase<"concatenated", 1>]>;

def Posenc_WaveExponent : Posenc_Enum<"WaveExponent",
    "the exponent of frequency k of n: 2k / dim or k / max(n - 1, 1)", [
    I32EnumAttrCase<"over_dim", 0>,
    I32EnumAttrCase<"over_last", 1>]>;

def Posenc_WaveOrder : Posenc_Enum<"WaveOrder",
    "which channel of a frequency comes first", [
    I32EnumAttrCase<"sine_first", 0>,
    I32EnumAttrCase<"cosine_first", 1>]>;

def Posenc_EmbedMode : Posenc_Enum<"EmbedMode",
    "whether positions are drawn at random", [
    I32EnumAttrCase<"training", 0>,
    I32EnumAttrCase<"inference", 1>]>;

def Posenc_ShiftSource : Posenc_Enum<"ShiftSource",
    "where the shift of a sequence comes from", [
    I32EnumAttrCase<"training", 0>,
    I32EnumAttrCase<"inference", 1>,
    I32EnumAttrCase<"operand", 2>]>;

def Posenc_ShiftLaw : Posenc_Enum<"ShiftLaw",
    "whether a paper or its authors' code is followed", [
    I32EnumAttrCase<"paper", 0>,
    I32EnumAttrCase<"code", 1>]>;

def Posenc_PositionSource : Posenc_Enum<"PositionSource",
    "whether positions are the kernel's or an operand of the encoding", [
    I32EnumAttrCase<"kernel", 0>,
    I32EnumAttrCase<"operand", 1>]>;

def Posenc_PositionMean : Posenc_Enum<"PositionMean",
    "what becomes of the mean of a sequence's positions", [
    I32EnumAttrCase<"kept", 0>,
    I32EnumAttrCase<"removed", 1>]>;

def Posenc_GridRadii : Posenc_Enum<"GridRadii",
    "the radii of frequency k of n: 10^(k / (n - 1)) or 10^((k + 1) / n)", [
    I32EnumAttrCase<"linspace", 0>,
    I32EnumAttrCase<"steps", 1>]>;

def Posenc_PaddingSource : Posenc_Enum<"PaddingSource",
    "whether padding is told by a mask or by token identifiers", [
    I32EnumAttrCase<"mask", 0>,
    I32EnumAttrCase<"ids", 1>]>;

def Posenc_SequenceSide : Posenc_Enum<"SequenceSide",
    "the side of an encoder-decoder model", [
    I32EnumAttrCase<"source", 0>,
    I32EnumAttrCase<"target", 1>]>;

def Posenc_WordSharing : Posenc_Enum<"WordSharing",
    "what a learned number of a word and a channel depends on", [
    I32EnumAttrCase<"word_and_dimension", 0>,
    I32EnumAttrCase<"word", 1>,
    I32EnumAttrCase<"dimension", 2>,
    I32EnumAttrCase<"global", 3>,
    I32EnumAttrCase<"none", 4>]>;

#endif // POSENC_EMBED_ENUMS_TD
