/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Choice of a kernel's variant for this CPU.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "a, b, c"; cut when it does not fit. */
static void list_variants(const posenc_kernel_desc *desc, char *text,
                          size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < desc->variant_count && used < size; ++i) {
    int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                     desc->variants[i].isa);
    if (n < 0)
      return;
    used += (size_t)n;
  }
}

posenc_status posenc_choose_variant(const posenc_kernel_desc *desc,
                                    int64_t *variant) {
  char held[256];
  uint64_t features = posenc_cpu_features();
  const char *forced = getenv("POSENC_ISA");
  if (forced && !forced[0])
    forced = NULL;
  for (int32_t i = 0; i < desc->variant_count; ++i) {
    const posenc_variant_desc *candidate = &desc->variants[i];
    bool fits = (candidate->requires_ & ~features) == 0;
    if (forced && strcmp(forced, candidate->isa) != 0)
      continue;
    if (fits) {
      *variant = i;
      return POSENC_OK;
    }
    if (forced)
      return posenc_fail(POSENC_UNSUPPORTED_CPU,
                         "%s: POSENC_ISA is %s, which this CPU cannot run",
                         desc->name, forced);
  }
  list_variants(desc, held, sizeof(held));
  if (forced)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: POSENC_ISA is %.64s, but the library holds %s",
                       desc->name, forced, held);
  return posenc_fail(POSENC_UNSUPPORTED_CPU,
                     "%s: this CPU can run none of the library's variants: %s",
                     desc->name, held);
}
