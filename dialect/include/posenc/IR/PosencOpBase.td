// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What definitions of operations are made of.
#ifndef POSENC_OP_BASE_TD
#define POSENC_OP_BASE_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "posenc/IR/PosencAttrs.td"
include "posenc/IR/PosencTypes.td"

class Posenc_LawAttr<string interface, string text>
    : Attr<CPred<"::llvm::isa<::posenc::" # interface # ">($_self)">, text> {
  let storageType = "::posenc::" # interface;
  let returnType = "::posenc::" # interface;
  let convertFromStorage = "$_self";
}
def Posenc_MaskLaw : Posenc_LawAttr<"MaskAttrInterface", "a mask over two indices">;
def Posenc_MaskClause : Posenc_LawAttr<"MaskClauseAttrInterface", "a mask">;
def Posenc_PositionLaw : Posenc_LawAttr<"PositionLawAttrInterface", "a position law">;
def Posenc_RelationLaw : Posenc_LawAttr<"RelationLawAttrInterface", "a relation law">;
def Posenc_FreqsLaw : Posenc_LawAttr<"FreqsLawAttrInterface", "a frequency law">;
def Posenc_EncodeList : TypedArrayAttrBase<
    Posenc_LawAttr<"EncodingAttrInterface", "an encoding">, "a list of encodings">;

// Where primitives and their connections may stand. Which of them a part of a
// plan may hold is checked by the pass posenc-verify-plan.
defvar Posenc_PlanParts = ["PrepareOp", "KeysOp", "PrologueOp", "StepOp", "EpilogueOp",
                           "ChunkOp"];
defvar Posenc_PrimitiveParents = !listconcat(["KernelOp", "EmbedOp"], Posenc_PlanParts);

class Posenc_PrimitiveOp<string mnemonic, list<Trait> traits = [],
                         list<string> parents = Posenc_PrimitiveParents>
    : Posenc_Op<mnemonic, !listconcat([Pure, ParentOneOf<parents>], traits)>;

// A primitive whose one result always has the same type.
class Posenc_TypedOp<string mnemonic, string type, list<Trait> traits = [],
                     list<string> parents = Posenc_PrimitiveParents>
    : Posenc_PrimitiveOp<mnemonic, !listconcat([InferTypeOpInterface], traits), parents> {
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(}] # type # [{::get(context));
      return ::mlir::success();
    }
  }];
}

// A table over rows and channels.
class Posenc_TypedTableOp<string mnemonic, list<Trait> traits = []>
    : Posenc_PrimitiveOp<mnemonic, !listconcat([InferTypeOpInterface], traits)> {
  let results = (outs Posenc_TableType:$result);
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(::posenc::TableType::get(
          context, {::posenc::TableAxis::row, ::posenc::TableAxis::channel}));
      return ::mlir::success();
    }
  }];
}

class Posenc_RegionNote {
  string text = [{
    The region has one f64 argument per input and holds `arith` and `math`
    operations on f64 (and i1) that stand for real numbers: the reference
    evaluates them in double precision, a generator chooses the precision. A
    relation or position argument is its value; a table argument is looked up:
    its `row` axis by the nearest relation, position or `posenc.sum_index`
    before it among the inputs, its `channel` axis by the nearest
    `posenc.sum_index` before it, its other axes by the score's own indices.
  }];
}

#endif // POSENC_OP_BASE_TD
