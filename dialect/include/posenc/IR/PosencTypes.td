// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of level 2 and 3.
#ifndef POSENC_TYPES_TD
#define POSENC_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "posenc/IR/PosencDialect.td"
include "posenc/IR/PosencEnums.td"

class Posenc_Type<string name, string typeMnemonic, string text>
    : TypeDef<Posenc_Dialect, name> {
  let mnemonic = typeMnemonic;
  let summary = text;
}

// Types without parameters need not be spelled on each operation.
class Posenc_SimpleType<string name, string typeMnemonic, string text>
    : Posenc_Type<name, typeMnemonic, text>;

def Posenc_QueryType : Posenc_SimpleType<"Query", "query",
    "the query vectors of one head: [Lq, head_dim]">;
def Posenc_KeyType : Posenc_SimpleType<"Key", "key",
    "the key vectors of one head: [Lk, head_dim]">;
def Posenc_ValueType : Posenc_SimpleType<"Value", "value",
    "the value vectors of one head: [Lk, value_dim]">;
def Posenc_TokensType : Posenc_SimpleType<"Tokens", "tokens",
    "the embedding vectors of one sequence: [L, dim]">;
def Posenc_CoordType : Posenc_SimpleType<"Coord", "coord",
    "a real number for each token of one side: its position on one axis">;
def Posenc_RelationType : Posenc_SimpleType<"Relation", "relation",
    "an integer for each (query, key) pair: a distance or a bucket">;
def Posenc_FreqsType : Posenc_SimpleType<"Freqs", "freqs",
    "angular frequencies in radians per position, one for each rotated pair">;
def Posenc_ScoreType : Posenc_SimpleType<"Score", "score",
    "a real number for each (query, key) pair of one head">;
def Posenc_WeightsType : Posenc_SimpleType<"Weights", "weights",
    "a weight for each (query, key) pair of one head">;
def Posenc_OutputType : Posenc_SimpleType<"Output", "output",
    "the output vectors of one head: [Lq, value_dim]">;
def Posenc_StateType : Posenc_SimpleType<"State", "state",
    "the running maximum, sum and output of the rows of one query tile">;

def Posenc_TableType : Posenc_Type<"Table", "table", "numbers looked up by index"> {
  let description = [{
    Each axis says what indexes it: `row` a relation or a position, `head` the
    query head, `query` and `key` the storage index of the token, `batch` the
    batch entry, `channel` a channel of a vector or a `posenc.sum_index`. A
    number outside a finite `row` axis is clamped to it.

    Examples: `!posenc.table<row, head>`, `!posenc.table<row, channel>`
  }];
  let parameters = (ins ArrayRefParameter<"::posenc::TableAxis">:$axes);
  let assemblyFormat = "`<` $axes `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasAxis(::posenc::TableAxis axis) const { return ::llvm::is_contained(getAxes(), axis); }
  }];
}

def Posenc_Vector : AnyTypeOf<[Posenc_QueryType, Posenc_KeyType, Posenc_TokensType],
                              "query, key or embedding vectors">;
def Posenc_ScoreOrOutput : AnyTypeOf<[Posenc_ScoreType, Posenc_OutputType],
                                     "scores or outputs">;
def Posenc_RowIndex : AnyTypeOf<[Posenc_RelationType, Posenc_CoordType, Posenc_ScoreType],
                                "a relation, a position or scores">;
def Posenc_TermInput
    : AnyTypeOf<[Posenc_RelationType, Posenc_CoordType, Posenc_TableType],
                "a relation, a position or a table">;

#endif // POSENC_TYPES_TD
