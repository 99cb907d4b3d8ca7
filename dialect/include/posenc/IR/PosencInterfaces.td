// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interfaces through which encodings, masks and laws plug in.
#ifndef POSENC_INTERFACES_TD
#define POSENC_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Posenc_EncodingInterface : AttrInterface<"EncodingAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{
    A named encoding: an entry of the `encode` list of a `posenc.kernel` or
    `posenc.embed`. It is sugar for the primitives that `expand` builds; nothing
    after the expansion knows that it existed. A new encoding is an attribute
    with this interface.
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
      Checks the parameters against the kernel (head counts, head size, mask).
      By default an encoding is not one of a kernel.}],
      "::llvm::LogicalResult", "verifyInKernel",
      (ins "::posenc::KernelOp &":$kernel,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "",
      /*defaultImplementation=*/[{
        return emitError() << "does not take " << $_attr
                           << ", which encodes the input embedding: expected "
                              "it in a posenc.embed";
      }]>,
    InterfaceMethod<[{
      Checks the parameters against an input embedding. By default an encoding
      is not one of an embedding.}],
      "::llvm::LogicalResult", "verifyInEmbed",
      (ins "::posenc::EmbedOp &":$embed,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "",
      /*defaultImplementation=*/[{
        return emitError() << "does not take " << $_attr
                           << ", which encodes attention: expected it in a "
                              "posenc.kernel";
      }]>,
    InterfaceMethod<[{
      The scale of the dot product, for encodings that fix it.}],
      "::std::optional<double>", "getFixedScale", (ins "::posenc::KernelOp &":$kernel), "",
      /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<[{
      Whether the kernel's rows still have a log-sum-exp.}],
      "bool", "keepsLse", (ins), "",
      /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      Builds the encoding's primitives in a kernel: replaces vectors or adds
      terms at their sites.}],
      "void", "expand", (ins "::posenc::Expansion &":$expansion), "",
      /*defaultImplementation=*/[{ (void)expansion; }]>,
    InterfaceMethod<[{
      Builds the encoding's primitives in an input embedding.}],
      "void", "expandEmbed", (ins "::posenc::EmbedExpansion &":$expansion), "",
      /*defaultImplementation=*/[{ (void)expansion; }]>,
    InterfaceMethod<[{
      What the kernel's author should know about a context of that length, as
      warnings.}],
      "void", "advise",
      (ins "::posenc::KernelOp &":$kernel, "int64_t":$context,
           "::llvm::function_ref<void(const ::llvm::Twine &)>":$warn), "",
      /*defaultImplementation=*/[{ (void)kernel; (void)context; (void)warn; }]>,
  ];
}

def Posenc_MaskClauseInterface : AttrInterface<"MaskClauseAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{
    A mask as a user states it. Conjunctions of masks are applied one after the
    other; inside a disjunction their predicates are built in one region.
  }];
  let methods = [
    InterfaceMethod<"Whether some row sees a key that comes after it.",
      "bool", "showsFuture">,
    InterfaceMethod<"The alignment, for masks that depend on one.",
      "::std::optional<::posenc::Alignment>", "getClauseAlignment">,
    InterfaceMethod<"The names of the tensors that the caller passes for it.",
      "::llvm::SmallVector<::std::string>", "getOperandNames", (ins), "",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Checks the parameters against the kernel.",
      "::llvm::LogicalResult", "verifyMask",
      (ins "::posenc::KernelOp &":$kernel,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "",
      /*defaultImplementation=*/"(void)kernel; (void)emitError; return ::llvm::success();">,
    InterfaceMethod<"Applies the mask to a score.",
      "::mlir::Value", "expandMask",
      (ins "::posenc::Expansion &":$expansion, "::mlir::Value":$score)>,
    InterfaceMethod<"How many values the predicate reads.",
      "unsigned", "getNumPredicateInputs", (ins), "",
      /*defaultImplementation=*/"return 2;">,
    InterfaceMethod<"What the predicate reads.",
      "::llvm::SmallVector<::mlir::Value>", "getPredicateInputs",
      (ins "::posenc::Expansion &":$expansion)>,
    InterfaceMethod<"Whether a pair is allowed: an i1 made of the inputs' f64.",
      "::mlir::Value", "buildPredicate",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$inputs)>,
  ];
}

def Posenc_MaskInterface : AttrInterface<"MaskAttrInterface"> {
  let cppNamespace = "::posenc";
  let description = [{
    A predicate over two indices, that of a query and that of a key: storage
    indices aligned as `getMaskAlignment` says (query row i counts as i + Lk -
    Lq with `bottom_right`), or positions.
  }];
  let methods = [
    InterfaceMethod<"Whether a query at `a` sees a key at `b`.",
      "bool", "allowsPair", (ins "double":$a, "double":$b)>,
    InterfaceMethod<[{
      The first key that any row of [q_begin, q_end) may see, as the maximum of
      0 and the results of a map over (q_begin, q_end, lq, lk).}],
      "::mlir::AffineMap", "getKeysBegin">,
    InterfaceMethod<[{
      One past the last such key, as the minimum of the results.}],
      "::mlir::AffineMap", "getKeysEnd">,
    InterfaceMethod<[{
      Keys from the maximum of 0 and the results of this map up to the minimum
      of those of `getInteriorEnd` are seen by every row of [q_begin, q_end): no
      mask need be applied there.}],
      "::mlir::AffineMap", "getInteriorBegin">,
    InterfaceMethod<"See `getInteriorBegin`.",
      "::mlir::AffineMap", "getInteriorEnd">,
    InterfaceMethod<"The alignment, for masks that depend on one.",
      "::std::optional<::posenc::Alignment>", "getMaskAlignment">,
    InterfaceMethod<[{
      How many keys before its own place a query sees at most, for masks over
      storage indices, aligned `bottom_right`, that bound it.}],
      "::std::optional<int64_t>", "getReach">,
  ];
  let extraClassDeclaration = [{
    /// Whether query row `i` sees key `j` (storage indices).
    bool allows(int64_t i, int64_t j, int64_t queryLen, int64_t keyLen);
  }];
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
