// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The posenc dialect and the base classes of its definitions.
#ifndef POSENC_DIALECT_TD
#define POSENC_DIALECT_TD

include "mlir/IR/OpBase.td"

def Posenc_Dialect : Dialect {
  let name = "posenc";
  let cppNamespace = "::posenc";
  let summary = "Attention kernels and the position encodings fused into them";
  let description = [{
    One kernel is described at three levels, all of them in this dialect.

    1. **What a user writes**: `posenc.kernel` with a list of named encodings
       (`#posenc.rope<...>`, `#posenc.alibi<...>`, ...).
    2. **What it means**: `posenc.kernel` with a body, SSA over a small set of
       primitives (`posenc.position`, `posenc.relation`, `posenc.bias`, ...).
       A named encoding means its expansion and nothing else; the reference
       interpreter executes this level in double precision.
    3. **How it is computed**: `posenc.plan`, one for each instruction set,
       which says where each term is evaluated: in tables built beforehand
       (`posenc.prepare`), once per key (`posenc.keys`), once per query tile
       (`posenc.prologue`), per score (`posenc.step`) or at the end
       (`posenc.epilogue`).

    Conventions used throughout: `i` is a query row of `Lq`, `j` a key column
    of `Lk`, `h` a query head; distances are `p_i - p_j` unless an orientation
    says otherwise; scores are natural (base e) at level 2.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Posenc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Posenc_Dialect, mnemonic, traits>;

#endif // POSENC_DIALECT_TD
