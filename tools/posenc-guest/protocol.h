/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What an emulated program is asked for on its standard input. Both sides see a
 * file at the same addresses, so pointers into it mean the same to both; both
 * are 64-bit and little-endian, so structures do too.
 */
#ifndef POSENC_GUEST_PROTOCOL_H
#define POSENC_GUEST_PROTOCOL_H

#include <stdint.h>

enum {
  POSENC_GUEST_MAP = 0,    /* address, bytes, offset in the file; no answer */
  POSENC_GUEST_UNMAP = 1,  /* address, bytes; no answer */
  POSENC_GUEST_OPEN = 2,   /* path; answers a handle, or 0 */
  POSENC_GUEST_SYMBOL = 3, /* handle or 0, name; answers an address, or 0 */
  POSENC_GUEST_CALL = 4,   /* function, three arguments; answers its result */
  POSENC_GUEST_CLOSE = 5,  /* handle; no answer */
  POSENC_GUEST_ERROR = 6   /* buffer, bytes: writes what went wrong last in OPEN
                            * or SYMBOL, or with a third argument the runtime's
                            * sentence; answers 0 */
};

typedef struct posenc_guest_request {
  uint64_t kind;
  uint64_t arguments[4];
} posenc_guest_request;

#endif /* POSENC_GUEST_PROTOCOL_H */
