// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codes.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

using namespace posenc;

RealTensor posenc::decode(KernelOp kernel, const RealTensor &codes,
                          const RealTensor &scales) {
  RealTensor numbers = codes;
  int64_t dim = codes.shape.back();
  // Rows of a head that follow one another, and heads.
  bool isDense =
      codes.shape.size() == 4 && kernel.getKeyStorage() != KeyStorage::paged;
  int64_t rows = isDense ? codes.shape[2] : 1;
  int64_t heads = isDense ? codes.shape[1] : *(codes.shape.end() - 2);
  bool areOfTokens = kernel.getKvScales() == KvScales::token;
  for (auto [index, number] : llvm::enumerate(numbers.data)) {
    auto row = static_cast<int64_t>(index) / dim;
    double scale = scales.data[areOfTokens ? row : row / rows % heads];
    number = static_cast<float>(number) * static_cast<float>(scale);
  }
  return numbers;
}

/// Numbers below 2^-126 count as 0.
static float flush(float value) {
  return std::abs(value) < FLT_MIN ? 0 : value;
}

static float findScale(llvm::ArrayRef<double> row, float largestCode) {
  float magnitude = 0;
  for (double number : row) {
    float next = std::abs(static_cast<float>(number));
    magnitude = std::isnan(next) || next > magnitude ? next : magnitude;
    if (std::isnan(magnitude))
      break;
  }
  return flush(flush(magnitude) / largestCode);
}

CodedRows posenc::encode(const KernelTensor &cache, const RealTensor &rows,
                         const RealTensor *scales) {
  CodedRows result;
  result.codes.shape = rows.shape;
  result.scales.shape = rows.shape;
  result.scales.shape.back() = 1;
  int64_t dim = rows.shape.back(), tokens = rows.shape[2];
  for (int64_t row = 0, e = rows.shape[1] * tokens; row < e; ++row) {
    llvm::ArrayRef<double> numbers =
        llvm::ArrayRef(rows.data).slice(row * dim, dim);
    float scale = scales ? static_cast<float>(scales->data[row / tokens])
                         : findScale(numbers, cache.getLargestCode());
    result.scales.data.push_back(scale);
    for (double number : numbers) {
      float quotient =
          flush(scale) == 0 ? 0 : flush(static_cast<float>(number)) / scale;
      float limit = cache.getLargestCode();
      quotient = std::clamp(quotient, -limit, limit);
      result.codes.data.push_back(cache.fromBits(cache.toBits(quotient)));
    }
  }
  return result;
}
