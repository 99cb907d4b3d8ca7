// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of laws that change rotary frequencies.
#ifndef POSENC_ROTARY_INTERFACES_TD
#define POSENC_ROTARY_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Posenc_RopeScalingInterface : AttrInterface<"RopeScalingAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{
    A law that changes the frequencies of a rotary encoding for contexts longer
    than those of its training: the `scaling` of `#posenc.rope`. Laws that are
    known when compiled fold to a list, others build a `posenc.freqs_map`.
  }];
  let methods = [
    InterfaceMethod<"Checks the parameters against the frequencies.",
      "::llvm::LogicalResult", "verifyScaling",
      (ins "const ::posenc::RotaryLaw &":$law,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "",
      /*defaultImplementation=*/"(void)law; (void)emitError; return ::llvm::success();">,
    InterfaceMethod<"Whether the changed frequencies are known when compiled.",
      "bool", "isKnown", (ins), "", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<"The changed frequencies, for laws known when compiled.",
      "::llvm::SmallVector<double>", "scaleFrequencies",
      (ins "const ::posenc::RotaryLaw &":$law), "",
      /*defaultImplementation=*/"return law.frequencies;">,
    InterfaceMethod<"Builds the changed frequencies.",
      "::mlir::Value", "buildFrequencies",
      (ins "::posenc::ExpansionBase &":$expansion,
           "const ::posenc::RotaryLaw &":$law), "",
      /*defaultImplementation=*/"return expansion.freqs($_attr.scaleFrequencies(law));">,
    InterfaceMethod<[{
      What cosines and sines are multiplied by, and the factor of the scale of
      the dot product.}],
      "::posenc::AttentionFactors", "getAttentionFactors",
      (ins "::posenc::FactorSite":$site), "",
      /*defaultImplementation=*/"(void)site; return {};">,
    InterfaceMethod<[{
      Whether the attention factor is known when compiled: otherwise the
      encoding states one.}],
      "bool", "isFactorKnown", (ins), "", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<"Whether the attention factor is meant for channels that do not turn, too.",
      "bool", "isFactorOfAll", (ins), "",
      /*defaultImplementation=*/"return $_attr.getAttentionFactors(FactorSite::scale).scale == 1;">,
    InterfaceMethod<"The number of first positions that keep the plain frequencies.",
      "int64_t", "getUnscaledPrefix", (ins), "",
      /*defaultImplementation=*/"return 0;">,
  ];
}

#endif // POSENC_ROTARY_INTERFACES_TD
