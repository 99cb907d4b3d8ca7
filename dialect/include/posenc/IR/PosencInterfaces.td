// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interfaces through which encodings, masks and laws plug in.
#ifndef POSENC_INTERFACES_TD
#define POSENC_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Posenc_EncodingInterface : AttrInterface<"EncodingAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{
    A named encoding: an entry of the `encode` list of a `posenc.kernel`. It is
    sugar for the primitives that `expand` builds; nothing after the expansion
    knows that it existed. A new encoding is an attribute with this interface.
  }];
  let methods = [
    InterfaceMethod<[{
      The name that prefixes the encoding's operands, unique in a kernel.}],
      "::llvm::StringRef", "getEncodingName">,
    InterfaceMethod<[{
      The names of the tensors that the caller passes for it.}],
      "::llvm::SmallVector<::std::string>", "getOperandNames", (ins), "",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Checks the parameters against the kernel (head counts, head size, mask).}],
      "::llvm::LogicalResult", "verifyInKernel",
      (ins "::posenc::KernelOp &":$kernel,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
      Builds the encoding's primitives: replaces the query and key vectors or
      appends score terms.}],
      "void", "expand", (ins "::posenc::Expansion &":$expansion)>,
  ];
}

def Posenc_MaskInterface : AttrInterface<"MaskAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{Which (query, key) pairs a kernel looks at.}];
  let methods = [
    InterfaceMethod<"Whether query row `i` sees key `j` (storage indices).",
      "bool", "allows",
      (ins "int64_t":$i, "int64_t":$j, "int64_t":$queryLen, "int64_t":$keyLen)>,
    InterfaceMethod<[{
      One past the last key that any row of [q_begin, q_end) may see, as the
      minimum of the results of a map over (q_begin, q_end, lq, lk).}],
      "::mlir::AffineMap", "getKeysEnd">,
    InterfaceMethod<[{
      Keys below the minimum of the map's results are seen by every row of
      [q_begin, q_end): no mask need be applied there.}],
      "::mlir::AffineMap", "getInteriorEnd">,
    InterfaceMethod<"Whether some row sees a key that comes after it.",
      "bool", "showsFuture">,
    InterfaceMethod<"The alignment, for masks that depend on one.",
      "::std::optional<::posenc::Alignment>", "getMaskAlignment">,
  ];
}

def Posenc_PositionLawInterface : AttrInterface<"PositionLawAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{Where positions come from.}];
  let methods = [
    InterfaceMethod<"How query rows are placed among the keys.",
      "::posenc::Alignment", "getAlignment">,
    InterfaceMethod<[{
      Whether distances between positions are distances between storage
      indices, so that a function of the distance is a Toeplitz matrix.}],
      "bool", "isAffine">,
  ];
}

def Posenc_RelationLawInterface : AttrInterface<"RelationLawAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{An integer function of the distance p_i - p_j.}];
  let methods = [
    InterfaceMethod<"The value at the distance `queryMinusKey`.",
      "int64_t", "apply", (ins "int64_t":$queryMinusKey)>,
    InterfaceMethod<[{
      The number of values 0 .. n-1, when the law has finitely many.}],
      "::std::optional<int64_t>", "getCardinality">,
  ];
}

def Posenc_FreqsLawInterface : AttrInterface<"FreqsLawAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{Angular frequencies known at compile time.}];
  let methods = [
    InterfaceMethod<"One frequency per pair, in radians per position.",
      "::llvm::SmallVector<double>", "getFrequencies">,
  ];
}

#endif // POSENC_INTERFACES_TD
