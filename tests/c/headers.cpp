// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generated headers as C++17.
#include "misuse_bias.h"
#include "misuse_rope.h"

static_assert(sizeof(misuse_rope_args) == 6 * sizeof(void *),
              "size, q, k, v, o and lse");
static_assert(sizeof(misuse_bias_args) == 9 * sizeof(void *),
              "size, q, k, v, o, lse and three operands");
