// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What definitions of attributes are made of. Holds no definition of one, so
// that the dialect's own and the named encodings are generated apart.
#ifndef POSENC_ATTR_BASE_TD
#define POSENC_ATTR_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "posenc/IR/PosencDialect.td"
include "posenc/IR/PosencEnums.td"
include "posenc/IR/PosencInterfaces.td"

class Posenc_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Posenc_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// A real number; integers and hexadecimal bit patterns are accepted too.
class Posenc_F64Param<string value, string desc>
    : AttrOrTypeParameter<"::llvm::APFloat", desc> {
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
  let parser = "::posenc::parseF64($_parser)";
  let defaultValue = !if(!empty(value), "", "::llvm::APFloat(" # value # ")");
}

// Real numbers, printed so that they read back unchanged.
def Posenc_F64ArrayParam
    : AttrOrTypeParameter<"::mlir::DenseF64ArrayAttr", "real numbers"> {
  let parser = "::posenc::parseF64Array($_parser)";
  let printer = "::posenc::printF64Array($_printer, $_self)";
}

class Posenc_IntParam<string value, string desc>
    : DefaultValuedParameter<"int64_t", value, desc>;

class Posenc_EnumParam<EnumInfo info, string value, string desc>
    : DefaultValuedParameter<"::posenc::" # info.className,
                             "::posenc::" # info.className # "::" # value, desc>;

class Posenc_NameParam<string value>
    : StringRefParameter<"the prefix of the operands' names", "\"" # value # "\"">;

#endif // POSENC_ATTR_BASE_TD
