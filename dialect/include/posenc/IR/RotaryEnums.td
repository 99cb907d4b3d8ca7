// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keywords of rotary, remapping and norm encodings and of mask clauses.
#ifndef POSENC_ROTARY_ENUMS_TD
#define POSENC_ROTARY_ENUMS_TD

include "posenc/IR/PosencEnums.td"

def Posenc_RopeExponent : Posenc_Enum<"RopeExponent",
    "the exponent of a rotary frequency", [
    I32EnumAttrCase<"dims", 0>,
    I32EnumAttrCase<"head_dim", 1>,
    I32EnumAttrCase<"linspace", 2>]>;

def Posenc_RopeFrequencies : Posenc_Enum<"RopeFrequencies",
    "where rotary frequencies come from", [
    I32EnumAttrCase<"law", 0>,
    I32EnumAttrCase<"operand", 1>,
    I32EnumAttrCase<"per_head", 2>]>;

def Posenc_FactorSite : Posenc_Enum<"FactorSite",
    "what an attention factor multiplies", [
    I32EnumAttrCase<"rotation", 0>,
    I32EnumAttrCase<"scale", 1>]>;

def Posenc_YarnRamp : Posenc_Enum<"YarnRamp", "what YaRN's ramp is linear in", [
    I32EnumAttrCase<"code", 0>,
    I32EnumAttrCase<"paper", 1>]>;

def Posenc_LongRopeSelect : Posenc_Enum<"LongRopeSelect",
    "which of LongRoPE's lists is used", [
    I32EnumAttrCase<"by_length", 0>,
    I32EnumAttrCase<"short_list", 1, "short">,
    I32EnumAttrCase<"long_list", 2, "long">]>;

def Posenc_LongRopeFactor : Posenc_Enum<"LongRopeFactor",
    "the law of LongRoPE's attention factor", [
    I32EnumAttrCase<"su", 0>,
    I32EnumAttrCase<"yarn", 1>,
    I32EnumAttrCase<"none", 2>]>;

def Posenc_MropeLayout : Posenc_Enum<"MropeLayout",
    "which pairs turn with which axis of a position", [
    I32EnumAttrCase<"contiguous", 0>,
    I32EnumAttrCase<"interleaved", 1>,
    I32EnumAttrCase<"interleaved_ggml", 2>]>;

def Posenc_AxisOrder : Posenc_Enum<"AxisOrder",
    "which axis of a grid has the first pairs", [
    I32EnumAttrCase<"xy", 0>,
    I32EnumAttrCase<"yx", 1>]>;

def Posenc_AxisLayout : Posenc_Enum<"AxisLayout",
    "how pairs are shared between the axes of a grid", [
    I32EnumAttrCase<"contiguous", 0>,
    I32EnumAttrCase<"interleaved", 1>]>;

def Posenc_AxisExponent : Posenc_Enum<"AxisExponent",
    "whether frequencies start again on each axis", [
    I32EnumAttrCase<"restart", 0>,
    I32EnumAttrCase<"continuous", 1>,
    I32EnumAttrCase<"strided", 2>]>;

def Posenc_FopePadding : Posenc_Enum<"FopePadding",
    "what pairs without a mixture become", [
    I32EnumAttrCase<"paper", 0>,
    I32EnumAttrCase<"code", 1>]>;

def Posenc_RopeBiasForm : Posenc_Enum<"RopeBiasForm",
    "vectors before the rotation, or a bias inside or outside the scale", [
    I32EnumAttrCase<"vectors", 0>,
    I32EnumAttrCase<"inside", 1>,
    I32EnumAttrCase<"outside", 2>]>;

def Posenc_SelfExtendLaw : Posenc_Enum<"SelfExtendLaw",
    "how the shift of grouped positions is divided", [
    I32EnumAttrCase<"code", 0>,
    I32EnumAttrCase<"paper", 1>]>;

def Posenc_LogNLaw : Posenc_Enum<"LogNLaw", "what log-n scaling counts", [
    I32EnumAttrCase<"rerope", 0>,
    I32EnumAttrCase<"qwen1", 1>]>;

def Posenc_NormGain : Posenc_Enum<"NormGain", "what the gain of a norm is over", [
    I32EnumAttrCase<"none", 0>,
    I32EnumAttrCase<"channel", 1>,
    I32EnumAttrCase<"head_channel", 2>]>;

def Posenc_NormScale : Posenc_Enum<"NormScale",
    "what multiplies the dot product of normalised vectors", [
    I32EnumAttrCase<"kernel", 0>,
    I32EnumAttrCase<"learned", 1>,
    I32EnumAttrCase<"learned_log", 2>]>;

def Posenc_SelfSight : Posenc_Enum<"SelfSight",
    "whether a query sees its own key", [
    I32EnumAttrCase<"visible", 0>,
    I32EnumAttrCase<"masked", 1>]>;

#endif // POSENC_ROTARY_ENUMS_TD
