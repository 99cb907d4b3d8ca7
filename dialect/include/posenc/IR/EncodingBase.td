// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What named encodings are made of.
#ifndef POSENC_ENCODING_BASE_TD
#define POSENC_ENCODING_BASE_TD

include "posenc/IR/PosencAttrBase.td"

// An encoding of attention. `overrides` are methods of the interface that are
// not as by default, beside those that every such encoding has.
class Posenc_EncodingAttr<string name, string attrMnemonic, list<string> overrides = []>
    : Posenc_Attr<name, attrMnemonic,
                  [DeclareAttrInterfaceMethods<Posenc_EncodingInterface,
                       !listconcat(["verifyInKernel", "expand"], overrides)>]> {
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

#endif // POSENC_ENCODING_BASE_TD
