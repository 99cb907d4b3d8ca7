/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Version, status names and the last error of each thread.
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[POSENC_ERROR_BYTES];

int32_t posenc_version(void) { return POSENC_VERSION_NUMBER; }

static const char *name_of(int32_t status) {
  switch (status) {
  case POSENC_OK:
    return "ok";
  case POSENC_INVALID_ARGUMENT:
    return "invalid argument";
  case POSENC_SHAPE_MISMATCH:
    return "shape mismatch";
  case POSENC_DTYPE_MISMATCH:
    return "dtype mismatch";
  case POSENC_STRIDE_UNSUPPORTED:
    return "stride unsupported";
  case POSENC_OUT_OF_RANGE:
    return "out of range";
  case POSENC_OVERFLOW:
    return "overflow";
  case POSENC_UNSUPPORTED_CPU:
    return "unsupported CPU";
  case POSENC_OUT_OF_MEMORY:
    return "out of memory";
  case POSENC_NO_DEVICE:
    return "no device";
  case POSENC_DEVICE_ERROR:
    return "device error";
  case POSENC_VERSION_MISMATCH:
    return "version mismatch";
  case POSENC_INTERNAL:
    return "internal error";
  default:
    return NULL;
  }
}

const char *posenc_status_string(posenc_status status) {
  const char *name = name_of((int32_t)status);
  return name ? name : "unknown status";
}

bool posenc_is_failure(int32_t value) {
  return value != POSENC_OK && name_of(value) != NULL;
}

const char *posenc_last_error(void) { return last_error; }

void posenc_clear_error(void) { last_error[0] = '\0'; }

posenc_status posenc_fail(posenc_status status, const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (vsnprintf(last_error, sizeof(last_error), format, values) < 0)
    last_error[0] = '\0';
  va_end(values);
  return status;
}
