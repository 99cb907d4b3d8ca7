/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs kernels for a program of another architecture: see protocol.h. The first
 * argument is the number of the file that both share.
 */
#include "protocol.h"

#include "posenc/posenc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t (*function)(uint64_t, uint64_t, uint64_t);

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

static int fail(const char *what) {
  fprintf(stderr, "posenc-guest: error: %s: %s\n", what, strerror(errno));
  return 1;
}

/* -1 at the end of the input. */
static int read_all(void *data, size_t bytes) {
  char *place = data;
  while (bytes) {
    ssize_t got = read(STDIN_FILENO, place, bytes);
    if (got <= 0) {
      if (got < 0 && errno == EINTR)
        continue;
      return -1;
    }
    place += got;
    bytes -= (size_t)got;
  }
  return 0;
}

static uint64_t symbol(uint64_t handle, uint64_t name) {
  void *found = dlsym(handle ? pointer(handle) : RTLD_DEFAULT, pointer(name));
  return (uint64_t)(uintptr_t)found;
}

static uint64_t call(uint64_t address, uint64_t a, uint64_t b, uint64_t c) {
  function called;
  memcpy(&called, &address, sizeof(called));
  return called(a, b, c);
}

static void describe_error(uint64_t buffer, uint64_t bytes, uint64_t of_call) {
  const char *error = of_call ? posenc_last_error() : dlerror();
  snprintf(pointer(buffer), bytes, "%s", error ? error : "no error");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: posenc-guest FILE-NUMBER\n");
    return 1;
  }
  int file = atoi(argv[1]);
  posenc_guest_request request;
  while (read_all(&request, sizeof(request)) == 0) {
    const uint64_t *a = request.arguments;
    uint64_t answer = 0;
    switch (request.kind) {
    case POSENC_GUEST_MAP:
      if (mmap(pointer(a[0]), a[1], PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, file, (off_t)a[2]) == MAP_FAILED)
        return fail("mmap");
      continue;
    case POSENC_GUEST_UNMAP:
      if (munmap(pointer(a[0]), a[1]))
        return fail("munmap");
      continue;
    case POSENC_GUEST_OPEN:
      answer = (uint64_t)(uintptr_t)dlopen(pointer(a[0]), RTLD_NOW);
      break;
    case POSENC_GUEST_SYMBOL:
      answer = symbol(a[0], a[1]);
      break;
    case POSENC_GUEST_CALL:
      answer = call(a[0], a[1], a[2], a[3]);
      break;
    case POSENC_GUEST_CLOSE:
      dlclose(pointer(a[0]));
      continue;
    case POSENC_GUEST_ERROR:
      describe_error(a[0], a[1], a[2]);
      break;
    default:
      errno = EINVAL;
      return fail("request");
    }
    if (write(STDOUT_FILENO, &answer, sizeof(answer)) != sizeof(answer))
      return fail("write");
  }
  return 0;
}
