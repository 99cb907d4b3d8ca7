/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Detection of CPU features.
 */
#include "internal.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t read_xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

static bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

static uint64_t detect(void) {
  uint32_t eax, ebx, ecx, edx;
  /* FMA, OSXSAVE, AVX, F16C */
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) ||
      !has(ecx, UINT32_C(1) << 12 | UINT32_C(1) << 27 | UINT32_C(1) << 28 |
                    UINT32_C(1) << 29))
    return 0;
  /* The operating system saves SSE and AVX registers; AVX-512 also needs the
   * mask registers and both halves of zmm. */
  uint64_t state = read_xcr0();
  if ((state & 0x6) != 0x6)
    return 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      !has(ebx, UINT32_C(1) << 5)) /* AVX2 */
    return 0;
  uint64_t features = POSENC_CPU_AVX2_FMA;
  uint32_t last_subleaf = eax;
  /* F, DQ, CD, BW, VL */
  if ((state & 0xe6) != 0xe6 ||
      !has(ebx, UINT32_C(1) << 16 | UINT32_C(1) << 17 | UINT32_C(1) << 28 |
                    UINT32_C(1) << 30 | UINT32_C(1) << 31))
    return features;
  features |= POSENC_CPU_AVX512;
  if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) &&
      has(eax, UINT32_C(1) << 5)) /* AVX512_BF16 */
    features |= POSENC_CPU_AVX512_BF16;
  return features;
}
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>

/* The numbers are those of Linux's asm/hwcap.h, which may be older than the
 * CPU. */
#define HWCAP_FPHP_BIT (1ul << 9)
#define HWCAP_ASIMDHP_BIT (1ul << 10)
#define HWCAP_ASIMDDP_BIT (1ul << 20)
#define HWCAP_SVE_BIT (1ul << 22)
#define HWCAP2_SVE2_BIT (1ul << 1)
#define HWCAP2_BF16_BIT (1ul << 14)
#define HWCAP2_SVEBF16_BIT (1ul << 12)
#ifndef PR_SVE_GET_VL
#define PR_SVE_GET_VL 51
#define PR_SVE_VL_LEN_MASK 0xffff
#endif

static bool has(unsigned long word, unsigned long bits) {
  return (word & bits) == bits;
}

static uint64_t detect(void) {
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  if (!has(first, HWCAP_FPHP_BIT | HWCAP_ASIMDHP_BIT | HWCAP_ASIMDDP_BIT) ||
      !has(second, HWCAP2_BF16_BIT))
    return 0;
  uint64_t features = POSENC_CPU_DOTPROD_BF16;
  if (!has(first, HWCAP_SVE_BIT) ||
      !has(second, HWCAP2_SVE2_BIT | HWCAP2_SVEBF16_BIT))
    return features;
  features |= POSENC_CPU_SVE2;
  /* HWCAP does not say how long vectors are, and the system may have made them
   * shorter than the CPU's. */
  int length = prctl(PR_SVE_GET_VL);
  if (length >= 0)
    switch (length & PR_SVE_VL_LEN_MASK) {
    case 16:
      return features | POSENC_CPU_SVE_128;
    case 32:
      return features | POSENC_CPU_SVE_256;
    case 64:
      return features | POSENC_CPU_SVE_512;
    }
  return features;
}
#else
static uint64_t detect(void) { return 0; }
#endif

/* Set in the word once it is filled; not a feature. */
#define DETECTED (UINT64_C(1) << 63)

uint64_t posenc_cpu_features(void) {
  /* Threads that come first all compute and store the same value. */
  static _Atomic uint64_t word;
  uint64_t value = atomic_load_explicit(&word, memory_order_relaxed);
  if (!(value & DETECTED)) {
    value = detect() | DETECTED;
    atomic_store_explicit(&word, value, memory_order_relaxed);
  }
  return value & ~DETECTED;
}
