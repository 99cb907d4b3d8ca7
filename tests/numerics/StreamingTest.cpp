// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schemes that are a way to keep keys: positions of their slots (StreamingLLM),
// and a memory at position 0 (LongLLaMA). Kernels are compared with formulas.
#include "NativeCall.h"
#include "TestRun.h"

#include <cmath>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
constexpr int64_t heads = 4, kvHeads = 2, headDim = 16;
constexpr double base = 100;

/// A key or value of some token: row [kvHeads, headDim].
struct Row {
  const double *data;
  int64_t position = 0;
};
} // namespace

/// RoPE's rotation of pairs (c, c + headDim / 2).
static std::vector<double> rotate(const double *vector, int64_t position) {
  std::vector<double> result(headDim);
  for (int64_t c = 0; c < headDim / 2; ++c) {
    double angle =
        static_cast<double>(position) * std::pow(base, -2.0 * c / headDim);
    double x = vector[c], y = vector[c + headDim / 2];
    result[c] = x * std::cos(angle) - y * std::sin(angle);
    result[c + headDim / 2] = x * std::sin(angle) + y * std::cos(angle);
  }
  return result;
}

/// What one head's query at `position` gets of the keys.
static std::vector<double> attend(const double *query, int64_t position,
                                  ArrayRef<Row> keys, ArrayRef<Row> values,
                                  int64_t kvHead) {
  std::vector<double> q = rotate(query, position), scores;
  for (const Row &row : keys) {
    std::vector<double> k = rotate(row.data + kvHead * headDim, row.position);
    double score = 0;
    for (int64_t c = 0; c < headDim; ++c)
      score += q[c] * k[c];
    scores.push_back(score / std::sqrt(static_cast<double>(headDim)));
  }
  double maximum = *llvm::max_element(scores), sum = 0;
  std::vector<double> result(headDim);
  for (auto [score, row] : zip(scores, values)) {
    double weight = std::exp(score - maximum);
    sum += weight;
    for (int64_t c = 0; c < headDim; ++c)
      result[c] += weight * row.data[kvHead * headDim + c];
  }
  for (double &x : result)
    x /= sum;
  return result;
}

/// Row `row` of [rows, heads, headDim].
static std::string compareRow(ArrayRef<float> o, int64_t row,
                              const RealTensor &q, int64_t position,
                              ArrayRef<Row> keys, ArrayRef<Row> values) {
  for (int64_t h = 0; h < heads; ++h) {
    int64_t first = (row * heads + h) * headDim;
    std::vector<double> wanted =
        attend(&q.data[first], position, keys, values, h / (heads / kvHeads));
    for (int64_t c = 0; c < headDim; ++c)
      if (!(std::abs(o[first + c] - wanted[c]) <= 1e-5))
        return ("o[" + Twine(row) + ", " + Twine(h) + ", " + Twine(c) +
                "] is " + std::to_string(o[first + c]) + ", but must be " +
                std::to_string(wanted[c]))
            .str();
  }
  return "";
}

/// The first tokens and the last ones stay. A page table forgets the pages
/// between them without a copy; slots give positions (arXiv 2309.17453).
static std::string streamTokens(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem = kernel.load(
      "posenc.kernel @stream heads(4) kv_heads(2) head_dim(16) queries(packed) "
      "keys(paged) mask(#posenc.causal) encode [#posenc.rope<base = 100.0>]",
      isa);
  if (!problem.empty())
    return problem;
  constexpr int64_t pageSize = 16, recent = 3, maxPages = recent + 1,
                    pages = maxPages + 1, tokens = 200;
  std::mt19937 random(3);
  RealTensor q = makeRandom(random, {tokens, heads, headDim});
  RealTensor k = makeRandom(random, {tokens, kvHeads, headDim});
  RealTensor v = makeRandom(random, {tokens, kvHeads, headDim});
  ReferenceInputs cache;
  cache.kCache.shape = cache.vCache.shape = {pages, pageSize, kvHeads, headDim};
  for (RealTensor *tensor : {&cache.kCache, &cache.vCache})
    tensor->data.assign(pages * pageSize * kvHeads * headDim, std::nan(""));

  std::vector<int64_t> table; // pages in use, and those of each slot's token
  std::vector<int64_t> slots;
  int64_t nextPage = 0;
  for (int64_t token = 0; token < tokens; ++token) {
    if (slots.size() == table.size() * pageSize) {
      if (table.size() == maxPages) { // the oldest but the first
        nextPage = table[1];
        table.erase(table.begin() + 1);
        slots.erase(slots.begin() + pageSize, slots.begin() + 2 * pageSize);
      }
      table.push_back(nextPage++);
    }
    slots.push_back(token);
    ReferenceInputs step = cache;
    step.k = slice(k, 0, token, token + 1);
    step.v = slice(v, 0, token, token + 1);
    step.positions["cu_seqlens_q"] = {{2}, {0, 1}};
    step.positions["key_lengths"] = {{1}, {static_cast<int64_t>(slots.size())}};
    IntTensor &pageTable = step.positions["page_table"];
    pageTable.shape = {1, maxPages};
    pageTable.data.assign(table.begin(), table.end());
    pageTable.data.resize(maxPages, pages - 1);
    problem = appendNative(kernel, step, Arrangement::Compact, cache.kCache,
                           cache.vCache);
    if (!problem.empty())
      return problem;
    step.q = slice(q, 0, token, token + 1);
    step.k = cache.kCache;
    step.v = cache.vCache;
    NativeResults results;
    problem = callNative(kernel, step, {}, results);
    std::vector<Row> keys, values;
    for (auto [slot, held] : enumerate(slots)) {
      keys.push_back(
          {&k.data[held * kvHeads * headDim], static_cast<int64_t>(slot)});
      values.push_back({&v.data[held * kvHeads * headDim]});
    }
    if (problem.empty())
      problem = compareRow(results.o, 0, step.q, keys.size() - 1, keys, values);
    if (!problem.empty())
      return "token " + std::to_string(token) + ": " + problem;
  }
  return "";
}

/// Keys of a memory count as if they were at position 0, local tokens from
/// there on (arXiv 2307.03170).
static std::string recallMemory(const std::string &isa) {
  LoadedKernel kernel;
  std::string problem = kernel.load(
      "posenc.kernel @recall heads(4) kv_heads(2) head_dim(16) "
      "queries(packed) keys(packed) mask(#posenc.causal) "
      "positions(#posenc.position_tensor) encode [#posenc.rope<base = 100.0>]",
      isa);
  if (!problem.empty())
    return problem;
  constexpr int64_t memory = 75, local = 40;
  std::mt19937 random(5);
  ReferenceInputs inputs;
  inputs.q = makeRandom(random, {local, heads, headDim});
  inputs.k = makeRandom(random, {memory + local, kvHeads, headDim});
  inputs.v = makeRandom(random, {memory + local, kvHeads, headDim});
  inputs.positions["cu_seqlens_q"] = {{2}, {0, local}};
  inputs.positions["cu_seqlens_k"] = {{2}, {0, memory + local}};
  IntTensor &positions = inputs.positions["positions"];
  positions.shape = {memory + local};
  for (int64_t j = 0; j < memory + local; ++j)
    positions.data.push_back(std::max<int64_t>(j - memory, 0));
  NativeResults results;
  problem = callNative(kernel, inputs, {}, results);
  std::vector<Row> keys, values;
  for (int64_t j = 0; j < memory + local && problem.empty(); ++j) {
    keys.push_back({&inputs.k.data[j * kvHeads * headDim], positions.data[j]});
    values.push_back({&inputs.v.data[j * kvHeads * headDim]});
    if (j >= memory)
      problem =
          compareRow(results.o, j - memory, inputs.q, j - memory, keys, values);
  }
  return problem;
}

void posenc::numerics::testStreaming(TestRun &run, const std::string &isa) {
  run.test("streaming/" + isa + "/slots", [&] { return streamTokens(isa); });
  run.test("streaming/" + isa + "/memory", [&] { return recallMemory(isa); });
}
