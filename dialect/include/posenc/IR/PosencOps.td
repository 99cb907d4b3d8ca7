// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Levels 1 and 2: the kernel and the primitives it is made of.
#ifndef POSENC_OPS_TD
#define POSENC_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "posenc/IR/PosencAttrs.td"
include "posenc/IR/PosencTypes.td"

def Posenc_MaskProp : Attr<CPred<"::llvm::isa<::posenc::MaskAttrInterface>($_self)">, "a mask"> {
  let storageType = "::posenc::MaskAttrInterface";
  let returnType = "::posenc::MaskAttrInterface";
  let convertFromStorage = "$_self";
}
class Posenc_LawAttr<string interface, string text>
    : Attr<CPred<"::llvm::isa<::posenc::" # interface # ">($_self)">, text> {
  let storageType = "::posenc::" # interface;
  let returnType = "::posenc::" # interface;
  let convertFromStorage = "$_self";
}
def Posenc_PositionLaw : Posenc_LawAttr<"PositionLawAttrInterface", "a position law">;
def Posenc_RelationLaw : Posenc_LawAttr<"RelationLawAttrInterface", "a relation law">;
def Posenc_FreqsLaw : Posenc_LawAttr<"FreqsLawAttrInterface", "a frequency law">;
def Posenc_EncodeList : TypedArrayAttrBase<
    Posenc_LawAttr<"EncodingAttrInterface", "an encoding">, "a list of encodings">;

// Where primitives and their connections may stand. Which of them a part of a
// plan may hold is checked by the pass posenc-verify-plan.
defvar Posenc_PlanParts = ["PrepareOp", "KeysOp", "PrologueOp", "StepOp", "EpilogueOp"];
defvar Posenc_PrimitiveParents = !listconcat(["KernelOp"], Posenc_PlanParts);

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

//===----------------------------------------------------------------------===//
// Level 1 (and the container of level 2)
//===----------------------------------------------------------------------===//

def Posenc_KernelOp : Posenc_Op<"kernel", [Symbol, IsolatedFromAbove]> {
  let summary = "an attention kernel";
  let description = [{
    `o = softmax(scale * q k^T + terms) v` for every batch entry and query
    head, with the position encoding inside.

    Without a body (level 1) the clauses say everything:

    - `heads`, `kv_heads` (default: `heads`; query head `h` reads key head
      `h / (heads / kv_heads)`), `head_dim` of queries and keys, `value_dim`
      (default: `head_dim`), `dtype` of q, k, v and o (default: f32);
    - `mask`: `#posenc.full` (default) or `#posenc.causal`;
    - `scale` of the dot product (default: `1 / sqrt(head_dim)`);
    - `positions`: `#posenc.iota` (default) or `#posenc.position_tensor`;
    - `no_lse`: the kernel never exports the log-sum-exp of a row; by default it
      can (natural logarithm, of the final scores);
    - `encode`: named encodings. Their order is the order of operations on q and
      k; score terms are added after the scaled dot product.

    With a body (level 2) the body says what the numbers are and the clauses
    `mask`, `scale`, `positions` and `encode` must be absent. The body's
    arguments are the query, key and value vectors of one head; it yields the
    output.

    Constraints:
    - (kernel_c1) `heads` and `kv_heads` are positive, and `kv_heads` divides
      `heads`;
    - (kernel_c2) `head_dim` is even, from 2 to 256; `value_dim` is from 1 to
      256;
    - (kernel_c3) `dtype` is f32;
    - (kernel_c4) names of encodings are unique, and so are names of operands,
      which are C identifiers but for dots;
    - (kernel_c5) `scale` is finite and not 0;
    - (kernel_c6) `positions` and the mask agree on the alignment;
    - (kernel_c7) a body holds primitives only, has the arguments
      (!posenc.query, !posenc.key, !posenc.value) and yields an output.

    Examples:
    ```mlir
    posenc.kernel @llama_3_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal)
      encode [#posenc.rope<base = 5.0e5>]

    posenc.kernel @level2 heads(8) head_dim(64) {
    ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
      %s = posenc.dot %q, %k scale(0.125)
      %u = posenc.select %s mask(#posenc.causal)
      %p = posenc.normalize softmax %u
      %o = posenc.weighted_sum %p, %v
      posenc.yield %o : !posenc.output
    }
    ```
  }];
  let arguments = (ins
      SymbolNameAttr:$sym_name,
      I64Attr:$heads,
      OptionalAttr<I64Attr>:$kv_heads,
      I64Attr:$head_dim,
      OptionalAttr<I64Attr>:$value_dim,
      OptionalAttr<TypeAttr>:$dtype,
      OptionalAttr<Posenc_MaskProp>:$mask,
      OptionalAttr<F64Attr>:$scale,
      OptionalAttr<Posenc_PositionLaw>:$positions,
      UnitAttr:$no_lse,
      OptionalAttr<Posenc_EncodeList>:$encode);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `heads` `(` $heads `)` (`kv_heads` `(` $kv_heads^ `)`)?
    `head_dim` `(` $head_dim `)`
    oilist(`value_dim` `(` $value_dim `)`
         | `dtype` `(` $dtype `)`
         | `mask` `(` $mask `)`
         | `scale` `(` $scale `)`
         | `positions` `(` $positions `)`
         | `no_lse` $no_lse
         | `encode` $encode)
    attr-dict-with-keyword ($body^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the body says what the kernel computes.
    bool isExpanded() { return !getBody().empty(); }
    int64_t getNumKvHeads() { return getKvHeads().value_or(getHeads()); }
    int64_t getValueSize() { return getValueDim().value_or(getHeadDim()); }
    ::mlir::Type getElementType();
    /// The clause or its default.
    double getDotScale();
    ::posenc::MaskAttrInterface getMaskOrDefault();
    ::posenc::PositionLawAttrInterface getPositionsOrDefault();
    /// The tensors that a level-2 body reads besides q, k and v, in order of
    /// first use.
    ::llvm::SmallVector<::posenc::OperandTensor> getOperandTensors();
  }];
}

//===----------------------------------------------------------------------===//
// Level 2: positions, relations, frequencies, tables
//===----------------------------------------------------------------------===//

def Posenc_PositionOp : Posenc_TypedOp<"position", "CoordType"> {
  let summary = "the integer position of each token of one side";
  let description = [{
    Example: `%i = posenc.position query law(#posenc.iota)`
  }];
  let arguments = (ins Posenc_Side:$side, Posenc_PositionLaw:$law);
  let results = (outs Posenc_CoordType:$result);
  let assemblyFormat = "$side `law` `(` $law `)` attr-dict";
}

def Posenc_RelationOp : Posenc_TypedOp<"relation", "RelationType"> {
  let summary = "an integer function of the distance between two tokens";
  let description = [{
    `result[i, j] = law(p_i - p_j)`.

    Constraints:
    - (relation_c1) `query` is a position of the query side, `key` of the key
      side.

    Example: `%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)`
  }];
  let arguments = (ins Posenc_CoordType:$query, Posenc_CoordType:$key,
                       Posenc_RelationLaw:$law);
  let results = (outs Posenc_RelationType:$result);
  let assemblyFormat = "$query `,` $key `law` `(` $law `)` attr-dict";
  let hasVerifier = 1;
}

def Posenc_FreqsOp : Posenc_TypedOp<"freqs", "FreqsType"> {
  let summary = "angular frequencies of rotated pairs";
  let description = [{
    Example: `%f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 128>)`
  }];
  let arguments = (ins Posenc_FreqsLaw:$law);
  let results = (outs Posenc_FreqsType:$result);
  let assemblyFormat = "`law` `(` $law `)` attr-dict";
}

def Posenc_TableOp : Posenc_PrimitiveOp<"table"> {
  let summary = "a table of numbers: constants, or an operand of the kernel";
  let description = [{
    Constraints:
    - (table_c1) `law` is `#posenc.constants` or `#posenc.operand`;
    - (table_c2) constants have no `query` or `key` axis; with a `head` axis
      their number is a multiple of the kernel's `heads`, without a `row` axis
      it is exactly that;
    - (table_c3) an operand states `rows` exactly when it has a `row` axis.

    Examples:
    ```mlir
    %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %t = posenc.table law(#posenc.operand<"t5_bias.table", rows = 32>) : !posenc.table<row, head>
    ```
  }];
  let arguments = (ins AnyAttr:$law);
  let results = (outs Posenc_TableType:$result);
  let assemblyFormat = "`law` `(` $law `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extent of the row axis, when there is one and it is known.
    ::std::optional<int64_t> getNumRows();
  }];
}

//===----------------------------------------------------------------------===//
// Level 2: vectors
//===----------------------------------------------------------------------===//

def Posenc_RotateOp : Posenc_PrimitiveOp<"rotate", [AllTypesMatch<["input", "result"]>]> {
  let summary = "rotates channel pairs by position-dependent angles";
  let description = [{
    For pair `k` of the `2n` channels that start at `first_dim`, with `n` the
    number of frequencies, and a token at position `p`:
    `(a, b) -> (a cos(p w_k) - b sin(p w_k), a sin(p w_k) + b cos(p w_k))`.
    Pair `k` is the channels `(k, k + n)` with `pairing(half)` and
    `(2k, 2k + 1)` with `pairing(interleaved)`, counted from `first_dim`.
    Other channels pass through.

    Constraints:
    - (rotate_c1) the rotated channels lie within the kernel's `head_dim`;
    - (rotate_c2) `position` is of the side of `input`.

    Example: `%1 = posenc.rotate %q by %i, %f pairing(half) first_dim(0) : !posenc.query`
  }];
  let arguments = (ins Posenc_Vector:$input, Posenc_CoordType:$position,
                       Posenc_FreqsType:$freqs, Posenc_Pairing:$pairing,
                       I64Attr:$first_dim);
  let results = (outs Posenc_Vector:$result);
  let assemblyFormat = [{
    $input `by` $position `,` $freqs `pairing` `(` $pairing `)`
    `first_dim` `(` $first_dim `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Level 2: scores
//===----------------------------------------------------------------------===//

def Posenc_DotOp : Posenc_TypedOp<"dot", "ScoreType"> {
  let summary = "the scaled dot product of every query with every key";
  let description = [{
    `result[i, j] = scale * sum_c query[i, c] key[j, c]`.

    Example: `%s = posenc.dot %q, %k scale(0.125)`
  }];
  let arguments = (ins Posenc_QueryType:$query, Posenc_KeyType:$key, F64Attr:$scale);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $query `,` $key `scale` `(` $scale `)` attr-dict
  }];
  let hasVerifier = 1;
}

class Posenc_RegionNote {
  string text = [{
    The region has one f64 argument per input and holds `arith` and `math`
    operations on f64 (and i1) that stand for real numbers: the reference
    evaluates them in double precision, a generator chooses the precision. A
    relation or position argument is its integer value; a table argument is
    looked up: its `row` axis by the nearest relation before it among the
    inputs, its other axes by the score's own indices.
  }];
}

def Posenc_BiasOp : Posenc_TypedOp<"bias", "ScoreType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a score term that does not depend on content";
  let description = [{
    `result[i, j] = region(inputs at (h, i, j))`.
  }] # Posenc_RegionNote<>.text # [{
    A bias is Toeplitz when its inputs are relations between affine positions
    and tables over `row` and `head` only.

    Constraints:
    - (bias_c1) the region's arguments match the inputs in number and are f64;
    - (bias_c2) the region holds only operations of the closed list and yields
      one f64;
    - (bias_c3) a table with a `row` axis has a relation before it whose
      values are within its rows.

    Example:
    ```mlir
    %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
    ^bb0(%distance: f64, %slope: f64):
      %t = arith.mulf %distance, %slope : f64
      %n = arith.negf %t : f64
      posenc.yield %n : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    `(` ($inputs^ `)` `:` type($inputs)):(`)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_MapOp : Posenc_TypedOp<"map", "ScoreType", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a pointwise function of the score";
  let description = [{
    `result[i, j] = region(score[i, j], inputs at (h, i, j))`, for example a
    soft cap.
  }] # Posenc_RegionNote<>.text # [{

    Constraints:
    - (map_c1) as `bias_c1` to `bias_c3`, the score's argument first.

    Example:
    ```mlir
    %t = posenc.map %s() {
    ^bb0(%x: f64):
      %cap = arith.constant 50.0 : f64
      %y = arith.divf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.mulf %z, %cap : f64
      posenc.yield %w : f64
    }
    ```
  }];
  let arguments = (ins Posenc_ScoreType:$score, Variadic<Posenc_TermInput>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = [{
    $score `(` ($inputs^ `)` `:` type($inputs)):(`)`)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Posenc_AddOp : Posenc_TypedOp<"add", "ScoreType", [Commutative]> {
  let summary = "the sum of two score terms";
  let description = [{Example: `%t = posenc.add %s, %b`}];
  let arguments = (ins Posenc_ScoreType:$lhs, Posenc_ScoreType:$rhs);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
  let hasCanonicalizer = 1;
}

def Posenc_SelectOp : Posenc_TypedOp<"select", "ScoreType"> {
  let summary = "keeps the scores that a mask allows, -inf elsewhere";
  let description = [{
    Example: `%u = posenc.select %t mask(#posenc.causal)`
  }];
  let arguments = (ins Posenc_ScoreType:$score, Posenc_MaskProp:$mask);
  let results = (outs Posenc_ScoreType:$result);
  let assemblyFormat = "$score `mask` `(` $mask `)` attr-dict";
  let hasFolder = 1;
}

def Posenc_NormalizeOp : Posenc_TypedOp<"normalize", "WeightsType"> {
  let summary = "turns rows of scores into weights";
  let description = [{
    `softmax`: `result[i, j] = exp(score[i, j] - lse_i)` with the natural
    log-sum-exp `lse_i` of row `i`. A row of which every score is -inf, or that
    has no keys, gets weights 0 and log-sum-exp -inf.

    Example: `%p = posenc.normalize softmax %u`
  }];
  let arguments = (ins Posenc_NormalizeKind:$kind, Posenc_ScoreType:$score);
  let results = (outs Posenc_WeightsType:$result);
  let assemblyFormat = "$kind $score attr-dict";
}

def Posenc_WeightedSumOp : Posenc_TypedOp<"weighted_sum", "OutputType"> {
  let summary = "the weighted sum of the values";
  let description = [{
    `result[i, c] = sum_j weights[i, j] value[j, c]`.

    Example: `%o = posenc.weighted_sum %p, %v`
  }];
  let arguments = (ins Posenc_WeightsType:$weights, Posenc_ValueType:$value);
  let results = (outs Posenc_OutputType:$result);
  let assemblyFormat = "$weights `,` $value attr-dict";
}

def Posenc_YieldOp : Posenc_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<!listconcat(Posenc_PrimitiveParents, ["BiasOp", "MapOp"])>]> {
  let summary = "ends a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // POSENC_OPS_TD
