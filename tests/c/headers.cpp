// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generated headers as C++17.
#include "misuse_bias.h"
#include "misuse_codes.h"
#include "misuse_embed.h"
#include "misuse_listed.h"
#include "misuse_rope.h"
#include "misuse_serving.h"

static_assert(sizeof(misuse_rope_args) == 6 * sizeof(void *),
              "size, q, k, v, o and lse");
static_assert(sizeof(misuse_bias_args) == 9 * sizeof(void *),
              "size, q, k, v, o, lse and three operands");
static_assert(sizeof(misuse_serving_args) == 9 * sizeof(void *),
              "size, q, k, v, o, lse, bounds, lengths and pages");
static_assert(sizeof(misuse_codes_args) == 10 * sizeof(void *),
              "size, q, k, v, o, lse, two scales, lengths and a table");
static_assert(sizeof(misuse_listed_args) == 9 * sizeof(void *),
              "size, q, k, v, o, lse, lengths, offsets and indices");
static_assert(sizeof(misuse_embed_args) == 4 * sizeof(void *),
              "size, x, y and the table");
