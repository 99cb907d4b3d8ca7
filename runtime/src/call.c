/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading posenc_call across versions of the struct.
 */
#include "internal.h"

#include <string.h>

/* No version of the struct will be this large: a bigger size is garbage, and
 * the bytes behind it must not be read. */
#define LARGEST_CALL 4096

/* A member that the caller's version of the struct holds completely. */
#define COPY(member)                                                           \
  if (call->size >= offsetof(posenc_call, member) + sizeof(call->member))      \
  options->member = call->member

posenc_status posenc_read_call(const posenc_call *call, posenc_call *options) {
  memset(options, 0, sizeof(*options));
  options->size = sizeof(*options);
  if (!call)
    return POSENC_OK;
  if (call->size == 0) {
    if (call->pool || call->scratch || call->scratch_bytes || call->prepared ||
        call->stream || call->first_head || call->seed || call->offset)
      return posenc_fail(POSENC_INVALID_ARGUMENT,
                         "call->size is 0 although other members are set; "
                         "initialise it with POSENC_CALL_INIT");
    return POSENC_OK;
  }
  if (call->size < sizeof(call->size) || call->size > LARGEST_CALL)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "call->size is %zu, but must be sizeof(posenc_call), "
                       "which is %zu in this version",
                       call->size, sizeof(*call));
  for (size_t i = sizeof(*call); i < call->size; ++i)
    if (((const char *)call)[i])
      return posenc_fail(POSENC_VERSION_MISMATCH,
                         "call sets a member at byte %zu, but this runtime "
                         "(version %d.%d.%d) knows only the first %zu bytes",
                         i, POSENC_VERSION_MAJOR, POSENC_VERSION_MINOR,
                         POSENC_VERSION_PATCH, sizeof(*call));
  COPY(pool);
  COPY(scratch);
  COPY(scratch_bytes);
  COPY(prepared);
  COPY(stream);
  COPY(first_head);
  COPY(seed);
  COPY(offset);
  if (!options->scratch && options->scratch_bytes)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "call->scratch is NULL, but call->scratch_bytes is %zu",
                       options->scratch_bytes);
  return POSENC_OK;
}
