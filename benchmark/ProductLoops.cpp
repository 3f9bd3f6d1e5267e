//===- ProductLoops.cpp - products written by hand ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace loops;

namespace {

/// A row of a dense matrix, as vectors of at most 64 bytes.
template <int Width>
struct Row {
  static constexpr int lanes = Width < 16 ? Width : 16;
  static constexpr int count = Width / lanes;
  typedef float Vector __attribute__((vector_size(lanes * 4), aligned(4)));

  Vector vectors[count];

  static Row zero() { return Row{}; }
  static Row load(const float *data) {
    Row row;
    for (int v = 0; v < count; ++v)
      row.vectors[v] = reinterpret_cast<const Vector *>(data)[v];
    return row;
  }
  void store(float *data) const {
    for (int v = 0; v < count; ++v)
      reinterpret_cast<Vector *>(data)[v] = vectors[v];
  }
  /// Adds factor * row.
  void add(float factor, const Row &row) {
    for (int v = 0; v < count; ++v)
      vectors[v] += factor * row.vectors[v];
  }
  void add(const Row &row) {
    for (int v = 0; v < count; ++v)
      vectors[v] += row.vectors[v];
  }
  float dot(const Row &row) const {
    Vector sums = vectors[0] * row.vectors[0];
    for (int v = 1; v < count; ++v)
      sums += vectors[v] * row.vectors[v];
    float sum = 0;
    for (int lane = 0; lane < lanes; ++lane) {
#pragma clang fp reassociate(on)
      sum += sums[lane];
    }
    return sum;
  }
};

template <int Width>
void product(const Csr &a, const float *b, float *c) {
  using R = Row<Width>;
  for (int64_t i = 0; i < a.rows; ++i) {
    R row = R::zero();
    int32_t p = a.positions[i], end = a.positions[i + 1];
    // One register would wait for each addition.
    if constexpr (R::count == 1) {
      R other = R::zero();
      for (; p + 1 < end; p += 2) {
        row.add(a.values[p], R::load(b + int64_t(a.coordinates[p]) * Width));
        other.add(a.values[p + 1],
                  R::load(b + int64_t(a.coordinates[p + 1]) * Width));
      }
      row.add(other);
    }
    for (; p < end; ++p)
      row.add(a.values[p], R::load(b + int64_t(a.coordinates[p]) * Width));
    row.store(c + i * Width);
  }
}

template <int Width>
void transposed(const Csr &a, const float *b, float *c) {
  using R = Row<Width>;
  std::memset(c, 0, int64_t(a.columns) * Width * sizeof(float));
  for (int64_t i = 0; i < a.rows; ++i) {
    R row = R::load(b + i * Width);
    for (int32_t p = a.positions[i]; p < a.positions[i + 1]; ++p) {
      float *sum = c + int64_t(a.coordinates[p]) * Width;
      R next = R::load(sum);
      next.add(a.values[p], row);
      next.store(sum);
    }
  }
}

template <int Width>
void sampled(const Csr &a, const float *x, const float *y, float *values) {
  using R = Row<Width>;
  for (int64_t i = 0; i < a.rows; ++i) {
    R row = R::load(x + i * Width);
    for (int32_t p = a.positions[i]; p < a.positions[i + 1]; ++p)
      values[p] = row.dot(R::load(y + int64_t(a.coordinates[p]) * Width));
  }
}

template <int Width>
void gradients(const Csr &a, const float *b, const float *dc, float *c,
               float *da, float *db) {
  using R = Row<Width>;
  std::memset(db, 0, int64_t(a.columns) * Width * sizeof(float));
  for (int64_t i = 0; i < a.rows; ++i) {
    R row = R::zero(), cotangent = R::load(dc + i * Width);
    for (int32_t p = a.positions[i]; p < a.positions[i + 1]; ++p) {
      R factor = R::load(b + int64_t(a.coordinates[p]) * Width);
      float *sum = db + int64_t(a.coordinates[p]) * Width;
      row.add(a.values[p], factor);
      R next = R::load(sum);
      next.add(a.values[p], cotangent);
      next.store(sum);
      da[p] = cotangent.dot(factor);
    }
    row.store(c + i * Width);
  }
}

template <int Width>
constexpr Products makeProducts() {
  return {Width, product<Width>, transposed<Width>, sampled<Width>,
          gradients<Width>};
}

constexpr Products all[] = {makeProducts<8>(), makeProducts<16>(),
                            makeProducts<32>(), makeProducts<64>(),
                            makeProducts<128>()};

} // namespace

const Products *loops::getProducts(int64_t width) {
  const Products *found = std::find_if(
      std::begin(all), std::end(all),
      [&](const Products &products) { return products.width == width; });
  return found == std::end(all) ? nullptr : found;
}
