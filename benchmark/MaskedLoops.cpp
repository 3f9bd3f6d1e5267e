//===- MaskedLoops.cpp - loops written by hand ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedLoops.h"

#include <cmath>
#include <limits>

// Sums may be reordered, as those of compiled programs are: without it no
// compiler vectorizes them.
#pragma clang fp reassociate(on) contract(fast)

static constexpr float infinity = std::numeric_limits<float>::infinity();

namespace loops {

float mean(const Masked &input, float *__restrict dx) {
  float total = 0;
  for (int64_t row = 0; row < input.rows; ++row) {
    const float *__restrict x = input.x + row * input.columns;
    const bool *__restrict m = input.mask + row * input.columns;
    float *__restrict d = dx + row * input.columns;
    float sum = 0;
    int32_t count = 0;
    for (int64_t i = 0; i < input.columns; ++i) {
      sum += m[i] ? x[i] : 0.0f;
      count += m[i];
    }
    float scale = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
    total += sum * scale;
    for (int64_t i = 0; i < input.columns; ++i)
      d[i] = m[i] ? scale : 0.0f;
  }
  return total;
}

/// The largest selected element. Compilers do not reorder comparisons of
/// numbers that may be NaN, so the vectors are written out. What becomes of a
/// selected NaN is left open: the data has none.
static float maximum(const float *__restrict x, const bool *__restrict m,
                     int64_t count) {
  constexpr int lanes = 64;
  float largest[lanes];
  for (float &lane : largest)
    lane = -infinity;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) {
      float selected = m[i + lane] ? x[i + lane] : -infinity;
      largest[lane] = selected > largest[lane] ? selected : largest[lane];
    }
  float result = -infinity;
  for (float lane : largest)
    result = lane > result ? lane : result;
  for (; i < count; ++i)
    result = m[i] && x[i] > result ? x[i] : result;
  return result;
}

float max(const Masked &input, float *__restrict dx) {
  float total = 0;
  for (int64_t row = 0; row < input.rows; ++row) {
    const float *__restrict x = input.x + row * input.columns;
    const bool *__restrict m = input.mask + row * input.columns;
    float *__restrict d = dx + row * input.columns;
    float largest = maximum(x, m, input.columns);
    int32_t ties = 0;
    for (int64_t i = 0; i < input.columns; ++i)
      ties += m[i] & (x[i] == largest);
    float share = ties > 0 ? 1.0f / static_cast<float>(ties) : 0.0f;
    total += largest;
    for (int64_t i = 0; i < input.columns; ++i)
      d[i] = (m[i] & (x[i] == largest)) ? share : 0.0f;
  }
  return total;
}

float logsumexp(const Masked &input, float *__restrict dx) {
  float total = 0;
  for (int64_t row = 0; row < input.rows; ++row) {
    const float *__restrict x = input.x + row * input.columns;
    const bool *__restrict m = input.mask + row * input.columns;
    float *__restrict d = dx + row * input.columns;
    float largest = maximum(x, m, input.columns);
    float shift = largest == -infinity ? 0.0f : largest;
    float sum = 0;
    for (int64_t i = 0; i < input.columns; ++i) {
      float e = m[i] ? std::exp(x[i] - shift) : 0.0f;
      d[i] = e;
      sum += e;
    }
    total += shift + std::log(sum);
    float scale = sum > 0 ? 1.0f / sum : 0.0f;
    for (int64_t i = 0; i < input.columns; ++i)
      d[i] *= scale;
  }
  return total;
}

void softmax(const Masked &input, const float *__restrict dy,
             float *__restrict y, float *__restrict dx) {
  for (int64_t row = 0; row < input.rows; ++row) {
    const float *__restrict x = input.x + row * input.columns;
    const bool *__restrict m = input.mask + row * input.columns;
    const float *__restrict g = dy + row * input.columns;
    float *__restrict p = y + row * input.columns;
    float *__restrict d = dx + row * input.columns;
    float largest = maximum(x, m, input.columns);
    float shift = largest == -infinity ? 0.0f : largest;
    float sum = 0, dot = 0;
    for (int64_t i = 0; i < input.columns; ++i) {
      float e = m[i] ? std::exp(x[i] - shift) : 0.0f;
      p[i] = e;
      sum += e;
      dot += m[i] ? e * g[i] : 0.0f;
    }
    float scale = sum > 0 ? 1.0f / sum : 0.0f;
    dot *= scale;
    for (int64_t i = 0; i < input.columns; ++i) {
      p[i] *= scale;
      d[i] = m[i] ? p[i] * (g[i] - dot) : 0.0f;
    }
  }
}

} // namespace loops
