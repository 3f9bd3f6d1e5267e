//===- RowLoops.cpp - rows of a sparse matrix, by hand -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

// Sums may be reordered, as those of compiled programs are.
#pragma clang fp reassociate(on) contract(fast)

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

#ifdef __AVX512F__
using Vector = __m512;
using Mask = __mmask16;
constexpr int lanes = 16;

Mask getMask(int left) {
  return left >= lanes ? Mask(-1) : Mask((1u << left) - 1);
}
Vector load(const float *data, Mask mask) {
  return _mm512_maskz_loadu_ps(mask, data);
}
void store(float *data, Mask mask, Vector value) {
  _mm512_mask_storeu_ps(data, mask, value);
}
Vector all(float value) { return _mm512_set1_ps(value); }
Vector select(Mask mask, Vector yes, Vector no) {
  return _mm512_mask_mov_ps(no, mask, yes);
}
Vector larger(Vector x, Vector y) { return _mm512_max_ps(x, y); }
float largest(Vector x) { return _mm512_reduce_max_ps(x); }
float add(Vector x) { return _mm512_reduce_add_ps(x); }

/// exp with 2 ulp: x = n ln 2 + r, a polynomial in r, times 2^n.
Vector exponential(Vector x) {
  x = _mm512_max_ps(x, all(-104.0f));
  Vector n = _mm512_roundscale_ps(_mm512_mul_ps(x, all(1.44269504f)), 8);
  Vector r = _mm512_fnmadd_ps(n, all(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, all(-2.12194440e-4f), r);
  Vector p = all(1.9875691500e-4f);
  for (float coefficient :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
        5.0000001201e-1f})
    p = _mm512_fmadd_ps(p, r, all(coefficient));
  p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), _mm512_add_ps(r, all(1)));
  return _mm512_scalef_ps(p, n);
}
#else
using Vector = float;
using Mask = bool;
constexpr int lanes = 1;

Mask getMask(int) { return true; }
Vector load(const float *data, Mask) { return *data; }
void store(float *data, Mask, Vector value) { *data = value; }
Vector all(float value) { return value; }
Vector select(Mask mask, Vector yes, Vector no) { return mask ? yes : no; }
Vector larger(Vector x, Vector y) { return x > y ? x : y; }
float largest(Vector x) { return x; }
float add(Vector x) { return x; }
Vector exponential(Vector x) { return std::exp(x); }
#endif

/// Calls body(p, mask) for the vectors of entries from `begin` to `end`. The
/// last one alone has a mask that is no constant.
template <typename Body>
[[gnu::always_inline]] inline void forEntries(int begin, int end,
                                              const Body &body) {
  int p = begin;
  for (; p + lanes <= end; p += lanes)
    body(p, getMask(lanes));
  if (p < end)
    body(p, getMask(end - p));
}

float maximum(const float *x, int begin, int end) {
  Vector result = all(-infinity);
  forEntries(begin, end, [&](int p, Mask mask) {
    result = larger(result, select(mask, load(x + p, mask), all(-infinity)));
  });
  return largest(result);
}

/// The exponentials exp(x_p - shift), stored in `e` unless it is null, and
/// their sum.
float exponentials(const float *x, float shift, int begin, int end, float *e) {
  Vector sum = all(0);
  forEntries(begin, end, [&](int p, Mask mask) {
    Vector power = exponential(load(x + p, mask) - all(shift));
    if (e)
      store(e + p, mask, power);
    sum += select(mask, power, all(0));
  });
  return add(sum);
}

} // namespace

void loops::rowSum(const Csr &a, float *y) {
  for (int i = 0; i < a.rows; ++i) {
    Vector sum = all(0);
    forEntries(a.positions[i], a.positions[i + 1],
               [&](int p, Mask mask) { sum += load(a.values + p, mask); });
    y[i] = add(sum);
  }
}

void loops::rowMax(const Csr &a, float *y) {
  for (int i = 0; i < a.rows; ++i)
    y[i] = maximum(a.values, a.positions[i], a.positions[i + 1]);
}

void loops::rowLogSumExp(const Csr &a, float *y) {
  for (int i = 0; i < a.rows; ++i) {
    int begin = a.positions[i], end = a.positions[i + 1];
    float shift = maximum(a.values, begin, end);
    float sum = exponentials(a.values, shift, begin, end, nullptr);
    y[i] = begin == end ? -infinity : shift + std::log(sum);
  }
}

void loops::rowLogSumExpGradient(const Csr &a, const float *dy, float *y,
                                 float *da) {
  for (int i = 0; i < a.rows; ++i) {
    int begin = a.positions[i], end = a.positions[i + 1];
    float shift = maximum(a.values, begin, end);
    float sum = exponentials(a.values, shift, begin, end, da);
    y[i] = begin == end ? -infinity : shift + std::log(sum);
    Vector scale = all(dy[i] / sum);
    forEntries(begin, end, [&](int p, Mask mask) {
      store(da + p, mask, load(da + p, mask) * scale);
    });
  }
}

void loops::softmax(const Csr &a, float *y) {
  for (int i = 0; i < a.rows; ++i) {
    int begin = a.positions[i], end = a.positions[i + 1];
    float shift = maximum(a.values, begin, end);
    float sum = exponentials(a.values, shift, begin, end, y);
    Vector scale = all(1 / sum);
    forEntries(begin, end, [&](int p, Mask mask) {
      store(y + p, mask, load(y + p, mask) * scale);
    });
  }
}

void loops::softmaxGradient(const Csr &a, const float *dy, float *y,
                            float *da) {
  for (int i = 0; i < a.rows; ++i) {
    int begin = a.positions[i], end = a.positions[i + 1];
    float shift = maximum(a.values, begin, end);
    Vector sum = all(0), dot = all(0);
    forEntries(begin, end, [&](int p, Mask mask) {
      Vector power = exponential(load(a.values + p, mask) - all(shift));
      store(y + p, mask, power);
      power = select(mask, power, all(0));
      sum += power;
      dot += power * load(dy + p, mask);
    });
    float scale = 1 / add(sum);
    Vector factor = all(scale), mean = all(add(dot) * scale);
    forEntries(begin, end, [&](int p, Mask mask) {
      Vector result = load(y + p, mask) * factor;
      store(y + p, mask, result);
      store(da + p, mask, result * (load(dy + p, mask) - mean));
    });
  }
}
