//===- DenseProductTest.cpp - Products of dense matrices --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Against plain loops in a wider type, with the bound
// |err| <= 4 gamma_n sum |terms|, n = k + 2 (the terms, beta c, and scaling).
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"
#include "Entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <random>
#include <vector>

namespace {

template <typename T>
struct Wider;
template <>
struct Wider<float> {
  using Type = double;
};
template <>
struct Wider<double> {
  using Type = long double;
};

void gemm(int64_t m, int64_t n, int64_t k, float alpha, const float *a,
          int64_t ar, int64_t ac, const float *b, int64_t br, int64_t bc,
          float beta, float *c, int64_t cr, int64_t cc) {
  sparseAutogradGemmF32(m, n, k, alpha, a, ar, ac, b, br, bc, beta, c, cr, cc);
}

void gemm(int64_t m, int64_t n, int64_t k, double alpha, const double *a,
          int64_t ar, int64_t ac, const double *b, int64_t br, int64_t bc,
          double beta, double *c, int64_t cr, int64_t cc) {
  sparseAutogradGemmF64(m, n, k, alpha, a, ar, ac, b, br, bc, beta, c, cr, cc);
}

/// A matrix with the values of `dense` (row-major) laid out in one of five
/// ways; the places between its elements hold `gap`.
template <typename T>
struct Laid {
  enum Layout { rowMajor, padded, columnMajor, paddedColumnMajor, strided };
  static constexpr int numLayouts = 5;

  std::vector<T> storage;
  int64_t rows, columns, rowStride, columnStride;

  Laid(int layout, int64_t rows, int64_t columns, T gap)
      : rows(rows), columns(columns) {
    switch (layout) {
    case rowMajor:
      rowStride = columns, columnStride = 1;
      break;
    case padded:
      rowStride = columns + 3, columnStride = 1;
      break;
    case columnMajor:
      rowStride = 1, columnStride = rows;
      break;
    case paddedColumnMajor:
      rowStride = 1, columnStride = rows + 5;
      break;
    default:
      rowStride = 2 * columns + 1, columnStride = 2;
    }
    int64_t size = rows && columns ? (rows - 1) * rowStride +
                                         (columns - 1) * columnStride + 1
                                   : 0;
    storage.assign(size, gap);
  }
  T &at(int64_t i, int64_t j) {
    return storage[i * rowStride + j * columnStride];
  }
  void fill(const std::vector<T> &dense) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        at(i, j) = dense[i * columns + j];
  }
};

template <typename T>
std::vector<T> randomMatrix(std::mt19937 &engine, int64_t rows,
                            int64_t columns) {
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> values(rows * columns);
  for (T &value : values)
    value = distribution(engine);
  return values;
}

/// sum a b and sum |a b| of every element.
template <typename T>
struct Reference {
  using W = typename Wider<T>::Type;
  int64_t k;
  std::vector<W> sums, magnitudes;

  Reference(const std::vector<T> &a, const std::vector<T> &b, int64_t m,
            int64_t n, int64_t k)
      : k(k), sums(m * n), magnitudes(m * n) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const T *left = a.data(), *right = b.data();
        W sum = 0, magnitude = 0;
        for (int64_t p = 0; p < k; ++p) {
          W term = static_cast<W>(left[i * k + p]) * right[p * n + j];
          sum += term;
          magnitude += std::fabs(term);
        }
        sums[i * n + j] = sum;
        magnitudes[i * n + j] = magnitude;
      }
  }

  /// Whether `value` is within the bound at that element.
  bool accepts(int64_t element, T alpha, T beta, T before, T value) const {
    W expected = alpha * sums[element];
    W magnitude = std::fabs(alpha) * magnitudes[element];
    if (beta != T(0)) {
      expected += static_cast<W>(beta) * before;
      magnitude += std::fabs(static_cast<W>(beta) * before);
    }
    W unit = std::numeric_limits<T>::epsilon() / 2;
    W gamma = (k + 2) * unit / (1 - (k + 2) * unit);
    return std::fabs(value - expected) <= 4 * gamma * magnitude;
  }
};

constexpr int64_t sizes[] = {0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 129};

template <typename T>
class DenseProduct : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseProduct, Types);

} // namespace

TYPED_TEST(DenseProduct, EverySizeAndLayout) {
  using T = TypeParam;
  constexpr T alphas[] = {1, T(-0.5), 2, 0};
  constexpr T betas[] = {0, 1, T(-0.25)};
  T nan = std::numeric_limits<T>::quiet_NaN();
  T gap = T(12345);
  std::mt19937 engine(1);
  int64_t wrong = 0, gaps = 0, variant = 0;
  for (int64_t m : sizes)
    for (int64_t n : sizes)
      for (int64_t k : sizes) {
        std::vector<T> a = randomMatrix<T>(engine, m, k);
        std::vector<T> b = randomMatrix<T>(engine, k, n);
        std::vector<T> c = randomMatrix<T>(engine, m, n);
        Reference<T> reference(a, b, m, n, k);
        for (int layoutA = 0; layoutA < Laid<T>::numLayouts; ++layoutA)
          for (int layoutB = 0; layoutB < Laid<T>::numLayouts; ++layoutB) {
            // Layouts of C, alpha and beta take turns: the numbers of them have
            // no common divisor, so all combinations come up over the sizes.
            ++variant;
            // Of the larger sizes some layouts each; over the sizes, all.
            if (m * n * k > 20000 && variant % 11)
              continue;
            T alpha = alphas[variant % 4], beta = betas[variant % 3];
            Laid<T> laidA(layoutA, m, k, nan), laidB(layoutB, k, n, nan);
            Laid<T> laidC(variant % 7 % Laid<T>::numLayouts, m, n, gap);
            laidA.fill(a);
            laidB.fill(b);
            if (beta == 0)
              laidC.fill(std::vector<T>(m * n, nan));
            else
              laidC.fill(c);
            ASSERT_EQ(runEntry([&] {
                        gemm(m, n, k, alpha, laidA.storage.data(),
                             laidA.rowStride, laidA.columnStride,
                             laidB.storage.data(), laidB.rowStride,
                             laidB.columnStride, beta, laidC.storage.data(),
                             laidC.rowStride, laidC.columnStride);
                      }),
                      SPARSE_AUTOGRAD_SUCCESS);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                wrong += !reference.accepts(i * n + j, alpha, beta,
                                            c[i * n + j], laidC.at(i, j));
                laidC.at(i, j) = gap;
              }
            gaps += std::count_if(laidC.storage.begin(), laidC.storage.end(),
                                  [=](T value) { return value != gap; });
            ASSERT_EQ(wrong, 0)
                << m << " x " << n << " x " << k << ", layouts " << layoutA
                << " " << layoutB << ", alpha " << alpha << ", beta " << beta;
            ASSERT_EQ(gaps, 0) << "written between the elements of C";
          }
      }
  EXPECT_EQ(counters().liveBlocks, 0);
}

TYPED_TEST(DenseProduct, SameBitsForAnyThreadCount) {
  using T = TypeParam;
  struct Shape {
    int64_t m, n, k;
  };
  // The last ones are cut along k.
  constexpr Shape shapes[] = {{671, 906, 8},  {906, 8, 271},  {8, 906, 271},
                              {300, 310, 32}, {1, 2000, 500}, {2000, 1, 500},
                              {5, 7, 20011},  {1, 1, 100003}, {20, 33, 9000}};
  std::mt19937 engine(2);
  for (const Shape &shape : shapes) {
    int64_t m = shape.m, n = shape.n, k = shape.k;
    std::vector<T> a = randomMatrix<T>(engine, m, k);
    std::vector<T> b = randomMatrix<T>(engine, k, n);
    Reference<T> reference(a, b, m, n, k);
    std::vector<T> expected;
    for (int32_t threads : {1, 2, 3, 4}) {
      ThreadCount setting(threads);
      std::vector<T> c(m * n, T(0.5));
      ASSERT_EQ(runEntry([&] {
                  gemm(m, n, k, T(1), a.data(), k, 1, b.data(), n, 1, T(1),
                       c.data(), n, 1);
                }),
                SPARSE_AUTOGRAD_SUCCESS);
      if (threads == 1) {
        expected = c;
        for (int64_t i = 0; i < m * n; ++i)
          ASSERT_TRUE(reference.accepts(i, T(1), T(1), T(0.5), c[i]))
              << m << " x " << n << " x " << k << " at " << i;
      }
      EXPECT_EQ(std::memcmp(c.data(), expected.data(), sizeof(T) * m * n), 0)
          << m << " x " << n << " x " << k << " on " << threads << " threads";
    }
  }
}

TYPED_TEST(DenseProduct, ZeroAndNegativeStrides) {
  using T = TypeParam;
  constexpr int64_t m = 5, n = 6, k = 4;
  // A: one row, repeated. B: a matrix read backwards.
  std::vector<T> row = {1, 2, 3, 4};
  std::vector<T> b(k * n);
  for (int64_t i = 0; i < k * n; ++i)
    b[i] = static_cast<T>(i);
  std::vector<T> c(m * n);
  ASSERT_EQ(runEntry([&] {
              gemm(m, n, k, T(1), row.data(), 0, 1, b.data() + k * n - 1, -n,
                   -1, T(0), c.data(), n, 1);
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T expected = 0;
      for (int64_t p = 0; p < k; ++p)
        expected += row[p] * b[k * n - 1 - p * n - j];
      EXPECT_EQ(c[i * n + j], expected);
    }
}

TYPED_TEST(DenseProduct, UnreadOperandsMayBeNaN) {
  using T = TypeParam;
  T nan = std::numeric_limits<T>::quiet_NaN();
  for (int64_t m : sizes)
    for (int64_t n : sizes) {
      // alpha = 0: A and B are not read; beta = 0: C is not read.
      std::vector<T> a(m * 3, nan), b(3 * n, nan), c(m * n, nan);
      ASSERT_EQ(runEntry([&] {
                  gemm(m, n, 3, T(0), a.data(), 3, 1, b.data(), n, 1, T(0),
                       c.data(), n, 1);
                }),
                SPARSE_AUTOGRAD_SUCCESS);
      EXPECT_EQ(std::count(c.begin(), c.end(), T(0)), m * n);
      // k = 0 likewise.
      std::fill(c.begin(), c.end(), nan);
      ASSERT_EQ(runEntry([&] {
                  gemm(m, n, 0, T(1), a.data(), 0, 1, b.data(), n, 1, T(0),
                       c.data(), n, 1);
                }),
                SPARSE_AUTOGRAD_SUCCESS);
      EXPECT_EQ(std::count(c.begin(), c.end(), T(0)), m * n);
    }
}

TYPED_TEST(DenseProduct, NaNAndInfOfOperandsArrive) {
  using T = TypeParam;
  T nan = std::numeric_limits<T>::quiet_NaN();
  for (int64_t n : {1, 2, 8, 33}) {
    std::vector<T> a(n * n, T(1)), b(n * n, T(0)), c(n * n, T(0));
    a[0] = nan;
    ASSERT_EQ(runEntry([&] {
                gemm(n, n, n, T(1), a.data(), n, 1, b.data(), n, 1, T(0),
                     c.data(), n, 1);
              }),
              SPARSE_AUTOGRAD_SUCCESS);
    for (int64_t j = 0; j < n; ++j)
      EXPECT_TRUE(std::isnan(c[j])) << n << " " << j;
    for (int64_t i = n; i < n * n; ++i)
      EXPECT_EQ(c[i], T(0));
  }
}

TYPED_TEST(DenseProduct, NegativeExtent) {
  using T = TypeParam;
  T value = 0;
  EXPECT_EQ(runEntry([&] {
              gemm(2, -3, 4, T(1), &value, 1, 1, &value, 1, 1, T(0), &value, 1,
                   1);
            }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "a product of matrices of 2 x 4 and 4 x -3 elements");
}

TYPED_TEST(DenseProduct, NoMemoryForACopy) {
  using T = TypeParam;
  constexpr int64_t n = 100;
  std::vector<T> a(2 * n * n), b(2 * n * n), c(n * n, T(7));
  sparseAutogradTrimPool();
  // Enough for the copy of A, not for that of B.
  sparseAutogradSetMemoryLimit(n * n * sizeof(T) * 3 / 2);
  EXPECT_EQ(runEntry([&] {
              gemm(n, n, n, T(1), a.data(), 2 * n, 2, b.data(), 2 * n, 2, T(0),
                   c.data(), n, 1);
            }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  sparseAutogradSetMemoryLimit(-1);
  EXPECT_EQ(counters().liveBlocks, 0);
  EXPECT_EQ(std::count(c.begin(), c.end(), T(7)), n * n);
}

TYPED_TEST(DenseProduct, LoopKernel) {
  using T = TypeParam;
  T nan = std::numeric_limits<T>::quiet_NaN();
  std::mt19937 engine(3);
  int64_t variant = 0;
  constexpr int64_t extents[] = {1, 2, 3, 7, 8, 31, 32, 33, 129, 257, 600};
  for (int64_t m : extents)
    for (int64_t n : extents)
      for (int64_t k : extents) {
        if (m * n * k > 200000)
          continue;
        ++variant;
        bool aTransposed = variant & 1, bTransposed = variant & 2;
        T alpha = T(0.5), beta = T(variant % 3) - 1;
        std::vector<T> a = randomMatrix<T>(engine, m, k);
        std::vector<T> b = randomMatrix<T>(engine, k, n);
        Reference<T> reference(a, b, m, n, k);
        int layout = Laid<T>::padded, transposed = Laid<T>::paddedColumnMajor;
        Laid<T> laidA(aTransposed ? transposed : layout, m, k, nan);
        Laid<T> laidB(bTransposed ? transposed : layout, k, n, nan);
        laidA.fill(a);
        laidB.fill(b);
        std::vector<T> c(m * n, beta == 0 ? nan : T(0.25));
        sparse_autograd::runtime::KernelArguments<T> arguments = {};
        arguments.m = m, arguments.n = n, arguments.k = k;
        arguments.alpha = alpha, arguments.beta = beta;
        arguments.a = laidA.storage.data();
        arguments.aLeading = aTransposed ? m + 5 : k + 3;
        arguments.aTransposed = aTransposed;
        arguments.b = laidB.storage.data();
        arguments.bLeading = bTransposed ? k + 5 : n + 3;
        arguments.bTransposed = bTransposed;
        arguments.c = c.data();
        arguments.cLeading = n;
        sparse_autograd::runtime::multiplyByLoops(arguments);
        for (int64_t i = 0; i < m * n; ++i)
          ASSERT_TRUE(reference.accepts(i, alpha, beta, T(0.25), c[i]))
              << m << " x " << n << " x " << k << " at " << i;
      }
}

TEST(DenseProductKernel, IsChosenBeforeTheFirstProduct) {
  float a = 2, b = 3, c = 0;
  sparseAutogradGemmF32(1, 1, 1, 1, &a, 1, 1, &b, 1, 1, 0, &c, 1, 1);
  const char *file;
  int32_t state = sparseAutogradGetBlas(&file);
  EXPECT_NE(state, SPARSE_AUTOGRAD_BLAS_UNUSED);
  EXPECT_EQ(file != nullptr, state == SPARSE_AUTOGRAD_BLAS_LOADED);
  EXPECT_EQ(sparseAutogradGetBlas(nullptr), state);
  EXPECT_EQ(sparseAutogradSetBlas("libopenblas.so.0"),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

#if defined(__x86_64__)
/// An OpenBLAS that is older than the processor takes kernels of 2004 for it,
/// if nobody tells it better.
TEST(DenseProductKernel, SuitsTheProcessor) {
  if (!__builtin_cpu_supports("avx2") || getenv("OPENBLAS_CORETYPE"))
    GTEST_SKIP() << "whatever OpenBLAS takes";
  float a = 2, b = 3, c = 0;
  sparseAutogradGemmF32(1, 1, 1, 1, &a, 1, 1, &b, 1, 1, 0, &c, 1, 1);
  EXPECT_EQ(c, 6);
  const char *file;
  if (sparseAutogradGetBlas(&file) != SPARSE_AUTOGRAD_BLAS_LOADED)
    GTEST_SKIP() << "built without OpenBLAS";
  void *library = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_TRUE(library);
  auto getCoreName = reinterpret_cast<const char *(*)()>(
      dlsym(library, "openblas_get_corename"));
  ASSERT_TRUE(getCoreName);
  EXPECT_STRNE(getCoreName(), "Prescott");
  // The environment is as it was.
  EXPECT_EQ(getenv("OPENBLAS_CORETYPE"), nullptr);
}
#endif
