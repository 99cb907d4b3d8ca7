// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that the verifier refuses.
posenc.kernel @k heads(8) head_dim(3)
