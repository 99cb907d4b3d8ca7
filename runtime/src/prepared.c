/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The header of prepared buffers.
 */
#include "internal.h"

#include <string.h>

#define HEADER_BYTES 64
/* What allocators guarantee, and enough for the tables' elements. */
#define BUFFER_ALIGNMENT 8
/* "posencPB"; also tells a buffer of the other byte order. */
#define MAGIC UINT64_C(0x706f73656e635042)

typedef struct header {
  uint64_t magic;
  uint64_t fingerprint;
  int64_t payload_bytes;
  uint32_t abi;
  int32_t variant;
  int32_t batch, heads, kv_heads, query_len, key_len; /* at most 2^30 */
  int32_t reserved;
  uint64_t sequences; /* hash of lengths that tables depend on, or 0 */
} header;

_Static_assert(sizeof(header) == HEADER_BYTES, "the header is part of the ABI");

static header make_header(const posenc_frame *frame, int64_t payload_bytes) {
  header h;
  memset(&h, 0, sizeof(h));
  h.magic = MAGIC;
  h.fingerprint = frame->desc->fingerprint;
  h.payload_bytes = payload_bytes;
  h.abi = frame->desc->abi;
  h.variant = (int32_t)frame->variant;
  h.batch = (int32_t)frame->batch;
  h.heads = (int32_t)frame->heads;
  h.kv_heads = (int32_t)frame->kv_heads;
  h.query_len = (int32_t)frame->longest_query;
  /* With a state the tokens before the call show in no table but those that
   * depend on lengths, which have a hash. */
  if (!(frame->desc->flags & POSENC_KERNEL_STATE))
    h.key_len = (int32_t)frame->longest_key;
  if (frame->desc->flags & POSENC_KERNEL_PREPARED_BY_LENGTH)
    h.sequences = posenc_hash_sequences(frame);
  return h;
}

size_t posenc_prepared_total_bytes(int64_t payload_bytes) {
  if (payload_bytes < 0 ||
      (uint64_t)payload_bytes > (uint64_t)PTRDIFF_MAX - HEADER_BYTES)
    return SIZE_MAX;
  return (size_t)payload_bytes + HEADER_BYTES;
}

posenc_status posenc_prepared_begin(const posenc_frame *frame, void *buffer,
                                    size_t size, int64_t payload_bytes,
                                    char **payload) {
  const char *kernel = frame->desc->name;
  size_t total = posenc_prepared_total_bytes(payload_bytes);
  *payload = NULL;
  if (total == SIZE_MAX)
    return posenc_fail(POSENC_OVERFLOW,
                       "%s: the prepared buffer does not fit in the address "
                       "space",
                       kernel);
  if (!buffer)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "%s: buffer is NULL", kernel);
  if ((uintptr_t)buffer % BUFFER_ALIGNMENT)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: buffer must be aligned to %d bytes, best to 64",
                       kernel, BUFFER_ALIGNMENT);
  if (size < total)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: buffer has %zu bytes, but must have %zu", kernel,
                       size, total);
  /* Without the magic number the buffer is refused until it is finished. */
  header unfinished;
  memset(&unfinished, 0, sizeof(unfinished));
  unfinished.payload_bytes = payload_bytes;
  memcpy(buffer, &unfinished, sizeof(unfinished));
  *payload = (char *)buffer + HEADER_BYTES;
  return POSENC_OK;
}

void posenc_prepared_finish(const posenc_frame *frame, void *buffer) {
  header h;
  memcpy(&h, buffer, sizeof(h));
  h = make_header(frame, h.payload_bytes);
  memcpy(buffer, &h, sizeof(h));
}

posenc_status posenc_check_prepared(posenc_frame *frame, const void *prepared) {
  const char *kernel = frame->desc->name;
  header actual;
  if (!prepared)
    return POSENC_OK;
  if ((uintptr_t)prepared % BUFFER_ALIGNMENT)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: call->prepared must be aligned to %d bytes", kernel,
                       BUFFER_ALIGNMENT);
  memcpy(&actual, prepared, sizeof(actual));
  header wanted = make_header(frame, actual.payload_bytes);
  if (actual.magic != wanted.magic || actual.payload_bytes < 0)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: call->prepared is not a prepared buffer, or the "
                       "prepare function failed",
                       kernel);
  if (actual.abi != wanted.abi || actual.fingerprint != wanted.fingerprint)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: call->prepared was made by another kernel or "
                       "another compilation of it",
                       kernel);
  if (actual.variant != wanted.variant)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: call->prepared was made for another instruction "
                       "set than %s",
                       kernel, frame->desc->variants[wanted.variant].isa);
  const struct {
    const char *name;
    int32_t actual, wanted;
  } sizes[] = {
      {"B", actual.batch, wanted.batch},
      {"H", actual.heads, wanted.heads},
      {"Hkv", actual.kv_heads, wanted.kv_heads},
      {"Lq", actual.query_len, wanted.query_len},
      {"Lk", actual.key_len, wanted.key_len},
  };
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i)
    if (sizes[i].actual != sizes[i].wanted)
      return posenc_fail(POSENC_INVALID_ARGUMENT,
                         "%s: call->prepared was made for %s = %" PRId32
                         ", but this call has %" PRId32,
                         kernel, sizes[i].name, sizes[i].actual,
                         sizes[i].wanted);
  if (actual.sequences != wanted.sequences)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: call->prepared was made for sequences of other "
                       "lengths, on which its tables depend",
                       kernel);
  /* Kernels only read it; the frame's member is not const because the code that
   * fills the tables uses it too. */
  frame->prepared = (char *)(uintptr_t)prepared + HEADER_BYTES;
  return POSENC_OK;
}
