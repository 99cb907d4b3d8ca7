// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine can do: FMA peak and streaming read bandwidth.
#include "Machine.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Tools/Pages.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <immintrin.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace posenc;

double posenc::now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string posenc::getCpuName() {
  if (auto buffer = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo")) {
    for (llvm::StringRef rest = (*buffer)->getBuffer(); !rest.empty();) {
      auto [line, next] = rest.split('\n');
      rest = next;
      if (line.consume_front("model name"))
        return line.ltrim(" \t:").str() + " (" +
               llvm::sys::getHostCPUName().str() + ")";
    }
  }
  return llvm::sys::getHostCPUName().str();
}

/// Runs `body(thread)` on all threads at once; returns the seconds of the
/// slowest.
static double runTogether(int threads, const std::function<void(int)> &body) {
  std::atomic<int> waiting{threads};
  std::vector<double> seconds(threads);
  auto work = [&](int thread) {
    --waiting;
    while (waiting.load() > 0) {
    }
    double start = now();
    body(thread);
    seconds[thread] = now() - start;
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(work, thread);
  work(0);
  for (std::thread &other : others)
    other.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// Twelve chains hide the latency of a fused multiply-add on every x86 core
// there is. The registers start at zero, so nothing overflows.
// clang-format off
#define POSENC_CHAINS(X, R)                                                    \
  X(R, "0") X(R, "1") X(R, "2") X(R, "3") X(R, "4") X(R, "5")                  \
  X(R, "6") X(R, "7") X(R, "8") X(R, "9") X(R, "10") X(R, "11")
// clang-format on
#define POSENC_FMA(R, I) "vfmadd231ps %%" R "14, %%" R "15, %%" R I "\n"
#define POSENC_DOT(R, I) "vdpbf16ps %%" R "14, %%" R "15, %%" R I "\n"
#define POSENC_MUL_ADD(R, I)                                                   \
  "mulps %%" R "15, %%" R I "\n"                                               \
  "addps %%" R "14, %%" R I "\n"
#define POSENC_CLOBBERS                                                        \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",        \
      "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15"

static void spinPairs(long iterations) {
  __asm__ volatile(
      "vpxord %%zmm14, %%zmm14, %%zmm14\n"
      "vpxord %%zmm15, %%zmm15, %%zmm15\n"
      "1:\n" POSENC_CHAINS(POSENC_DOT, "zmm") "dec %0\njnz 1b\nvzeroupper\n"
      : "+r"(iterations)::POSENC_CLOBBERS);
}
static void spinAvx512(long iterations) {
  __asm__ volatile(
      "vpxord %%zmm14, %%zmm14, %%zmm14\n"
      "vpxord %%zmm15, %%zmm15, %%zmm15\n"
      "1:\n" POSENC_CHAINS(POSENC_FMA, "zmm") "dec %0\njnz 1b\nvzeroupper\n"
      : "+r"(iterations)::POSENC_CLOBBERS);
}
static void spinAvx2(long iterations) {
  __asm__ volatile(
      "vpxor %%ymm14, %%ymm14, %%ymm14\n"
      "vpxor %%ymm15, %%ymm15, %%ymm15\n"
      "1:\n" POSENC_CHAINS(POSENC_FMA, "ymm") "dec %0\njnz 1b\nvzeroupper\n"
      : "+r"(iterations)::POSENC_CLOBBERS);
}
static void spinSse(long iterations) {
  __asm__ volatile(
      "xorps %%xmm14, %%xmm14\nxorps %%xmm15, %%xmm15\n"
      "1:\n" POSENC_CHAINS(POSENC_MUL_ADD, "xmm") "dec %0\njnz 1b\n"
      : "+r"(iterations)::POSENC_CLOBBERS);
}

double posenc::measurePeak(llvm::StringRef isa, int threads) {
  constexpr long iterations = 400000;
  const InstructionSet &set = *findInstructionSet(isa);
  int64_t products = set.pairKeys ? 2 * set.lanes : set.lanes;
  auto *spin = set.pairKeys      ? spinPairs
               : set.lanes == 16 ? spinAvx512
               : set.lanes == 8  ? spinAvx2
                                 : spinSse;
  double seconds = runTogether(threads, [&](int) { spin(iterations); });
  return 12.0 * 2 * products * iterations * threads / seconds / 1e9;
}

namespace {
/// A buffer that no cache holds.
struct StreamBuffer {
  StreamBuffer() {
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    bytes = std::max<size_t>(size_t(256) << 20, cache > 0 ? 5 * cache : 0);
    data = static_cast<char *>(allocatePages(bytes));
    if (data)
      std::fill(data, data + bytes, 1);
  }
  ~StreamBuffer() { std::free(data); }
  char *data = nullptr;
  size_t bytes = 0;
};
} // namespace

static void readAll(const char *data, size_t bytes) {
  // Wide enough for any core to be limited by memory, old enough to run on all.
  __m128 sum[8] = {};
  const float *floats = reinterpret_cast<const float *>(data);
  for (size_t i = 0; i + 32 <= bytes / sizeof(float); i += 32)
    for (int lane = 0; lane < 8; ++lane)
      sum[lane] = _mm_add_ps(sum[lane], _mm_load_ps(floats + i + 4 * lane));
  for (__m128 part : sum)
    __asm__ volatile("" ::"x"(part));
}

double posenc::measureReadBandwidth(int threads) {
  static const StreamBuffer buffer;
  if (!buffer.data)
    return 0;
  size_t share = buffer.bytes / threads / 128 * 128;
  double seconds = runTogether(threads, [&](int thread) {
    readAll(buffer.data + thread * share, share);
  });
  return double(share) * threads / seconds / 1e9;
}
