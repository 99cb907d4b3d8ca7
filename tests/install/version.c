/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Uses the installed runtime without a kernel.
 */
#include <posenc/posenc.h>

#include <stdio.h>

int main(void) {
  posenc_pool *pool = NULL;
  if (posenc_version() != POSENC_VERSION_NUMBER) {
    fprintf(stderr, "header %d, library %d\n", (int)POSENC_VERSION_NUMBER,
            (int)posenc_version());
    return 1;
  }
  if (posenc_pool_create(2, &pool) != POSENC_OK) {
    fprintf(stderr, "%s\n", posenc_last_error());
    return 1;
  }
  posenc_pool_destroy(pool);
  return 0;
}
