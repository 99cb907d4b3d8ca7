// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a libFuzzer target without libFuzzer: TARGET [--runs N] [--seed S]
// [--seconds T] [FILE...]. Inputs are mutations of the target's seed inputs and
// of the files; the same seed gives the same inputs. If the target dies, the
// seed of the input it died on is printed; `--runs 1 --seed THAT` repeats it.

#include "FuzzTarget.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>

extern "C" __attribute__((weak)) void
__sanitizer_set_death_callback(void (*callback)());

namespace {

volatile unsigned long long currentSeed;
const char *programName;

/// Only calls that are safe in a signal handler.
void reportSeed() {
  char digits[32];
  char *end = digits + sizeof(digits), *begin = end;
  *--begin = '\n';
  unsigned long long seed = currentSeed;
  do
    *--begin = static_cast<char>('0' + seed % 10);
  while (seed /= 10);
  auto print = [](const char *text, size_t size) {
    ssize_t ignored = write(STDERR_FILENO, text, size);
    (void)ignored;
  };
  print(programName, strlen(programName));
  constexpr char text[] = ": died; repeat with --runs 1 --seed ";
  print(text, sizeof(text) - 1);
  print(begin, static_cast<size_t>(end - begin));
}

void handleSignal(int number) {
  reportSeed();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

using Random = std::mt19937_64;

size_t below(Random &random, size_t bound) { return random() % bound; }

std::string mutate(Random &random, const std::vector<std::string> &seeds) {
  std::string input = seeds[below(random, seeds.size())];
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "18446744073709551616",
                                        "1e309",
                                        "nan"};
  for (size_t count = below(random, 6); count-- > 0;) {
    size_t size = input.size();
    size_t at = size ? below(random, size) : 0;
    size_t length =
        size ? 1 + below(random, std::min<size_t>(size - at, 16)) : 0;
    switch (below(random, 9)) {
    case 0: // flip a bit
      if (size)
        input[at] = static_cast<char>(input[at] ^ (1 << below(random, 8)));
      break;
    case 1: // any byte
      if (size)
        input[at] = static_cast<char>(random());
      break;
    case 2: // truncate
      input.resize(at);
      break;
    case 3: // remove
      input.erase(at, length);
      break;
    case 4: // repeat
      input.insert(at, input.substr(at, length));
      break;
    case 5: // insert any bytes
      input.insert(at, 1 + below(random, 4), static_cast<char>(random()));
      break;
    case 6: { // another number in place of one
      size_t digit = input.find_first_of("0123456789", at);
      if (digit == std::string::npos)
        break;
      size_t end = input.find_first_not_of("0123456789", digit);
      input.replace(digit, end == std::string::npos ? end : end - digit,
                    numbers[below(random, std::size(numbers))]);
      break;
    }
    case 7: { // the rest of another input
      const std::string &other = seeds[below(random, seeds.size())];
      if (!other.empty())
        input = input.substr(0, at) + other.substr(below(random, other.size()));
      break;
    }
    case 8: // swap two bytes
      if (size)
        std::swap(input[at], input[below(random, size)]);
      break;
    }
  }
  return input;
}

} // namespace

int main(int argc, char **argv) {
  programName = argv[0];
  unsigned long long runs = 20000, seed = 1;
  double seconds = 0;
  std::vector<std::string> seeds = posencFuzzSeeds();
  for (int i = 1; i < argc; ++i) {
    bool hasValue = i + 1 < argc;
    if (!strcmp(argv[i], "--runs") && hasValue)
      runs = std::strtoull(argv[++i], nullptr, 10);
    else if (!strcmp(argv[i], "--seed") && hasValue)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (!strcmp(argv[i], "--seconds") && hasValue)
      seconds = std::strtod(argv[++i], nullptr);
    else if (argv[i][0] == '-') {
      std::fprintf(stderr,
                   "usage: %s [--runs N] [--seed S] [--seconds T] [FILE...]\n",
                   argv[0]);
      return 2;
    } else {
      std::ifstream file(argv[i], std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "%s: error: cannot read '%s'\n", argv[0], argv[i]);
        return 2;
      }
      seeds.emplace_back(std::istreambuf_iterator<char>(file),
                         std::istreambuf_iterator<char>());
    }
  }
  if (seeds.empty())
    seeds.emplace_back();

  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(reportSeed);
  else
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      std::signal(number, handleSignal);
  std::signal(SIGABRT, handleSignal);

  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  unsigned long long run = 0;
  for (; run < runs && (seconds <= 0 || elapsed() < seconds); ++run) {
    currentSeed = seed + run;
    Random random(seed + run);
    std::string input = mutate(random, seeds);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()),
                           input.size());
  }
  std::printf("%s: %llu runs from seed %llu in %.1f s\n", argv[0], run, seed,
              elapsed());
  std::printf("%d passed, 0 failed\n", run > 0);
  return run == 0;
}
