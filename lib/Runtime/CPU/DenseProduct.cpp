//===- DenseProduct.cpp - Products of dense matrices ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sparseAutogradGemmF32 and F64: brings the operands into a form that a kernel
// takes, cuts C into blocks and hands them to the threads.
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"
#include "SparseAutograd/Runtime/CompilerABI.h"

#include <algorithm>

using namespace sparse_autograd::runtime;

namespace {

/// A matrix by strides; Matrix<const T> is an operand.
template <typename T>
struct Matrix {
  T *data;
  int64_t rows, columns;
  int64_t rowStride, columnStride;

  T &at(int64_t i, int64_t j) const {
    return data[i * rowStride + j * columnStride];
  }
  Matrix transpose() const {
    return {data, columns, rows, columnStride, rowStride};
  }
};

/// A matrix as a kernel takes it.
template <typename T>
struct Operand {
  const T *data;
  int64_t leading;
  bool transposed;
  T *copy; ///< to be released, or null

  /// Element (i, j) of the matrix.
  const T *at(int64_t i, int64_t j) const {
    return transposed ? data + j * leading + i : data + i * leading + j;
  }
};

/// How C is cut: blocks of rows x columns, and slices of the reduction.
struct Blocking {
  int64_t rows, columns, depth;
  int64_t rowBlocks, columnBlocks, slices;
};

/// A product and its blocks, the environment of the loop over them.
template <typename T>
struct Product {
  T alpha, beta;
  Operand<T> a, b;
  Matrix<T> c;
  int64_t k;
  Blocking blocking;
  T *partials; ///< one C a slice, if there are several
};

} // namespace

/// Rows that one chunk of a copy or of a scaling covers.
static constexpr int64_t elementwiseGrain = 16384;

static int64_t divideUp(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Multiply-adds that a block should have at least, so that starting it, and
/// copying its piece of B again, costs little, and that it may be cut down to
/// where blocks are few.
constexpr int64_t blockWork = int64_t(1) << 22;
/// Blocks that a product is cut into if its size allows.
constexpr int64_t wantedBlocks = 16;
constexpr int64_t minimalBlockExtent = 32;
/// A reduction is cut where C alone gives few blocks: the product of two tall
/// matrices, as in the gradient of a weight over a large batch.
constexpr int64_t minimalSliceDepth = 4096;
/// What a kernel can take of the reduction at once.
constexpr int64_t maximalSliceDepth = int64_t(1) << 30;

/// Depends on the extents alone: the order of every summation follows from it.
static Blocking chooseBlocking(int64_t m, int64_t n, int64_t k) {
  Blocking result = {};
  // Rows of 512 columns: long enough for the kernel to work on, and the pieces
  // of B that blocks of the same columns copy again stay small.
  int64_t rows = std::min<int64_t>(m, 256);
  int64_t columns = std::min<int64_t>(n, 512);
  auto work = [&] {
    return static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(k);
  };
  auto blocks = [&] { return divideUp(m, rows) * divideUp(n, columns); };
  while (work() < blockWork && (rows < m || columns < n)) {
    if (columns < n)
      columns = std::min(n, 2 * columns);
    else
      rows = std::min(m, 2 * rows);
  }
  while (blocks() < wantedBlocks && work() > 2 * blockWork &&
         std::max(rows, columns) > minimalBlockExtent) {
    if (rows >= columns)
      rows = divideUp(rows, 2);
    else
      columns = divideUp(columns, 2);
  }
  int64_t slices = 1;
  if (blocks() < wantedBlocks)
    slices = std::min(divideUp(wantedBlocks, blocks()),
                      std::max<int64_t>(1, k / minimalSliceDepth));
  slices = std::max(slices, divideUp(k, maximalSliceDepth));
  result.rows = rows;
  result.columns = columns;
  result.depth = divideUp(k, slices);
  result.rowBlocks = divideUp(m, rows);
  result.columnBlocks = divideUp(n, columns);
  result.slices = divideUp(k, result.depth);
  return result;
}

//===----------------------------------------------------------------------===//
// Elementwise steps
//===----------------------------------------------------------------------===//

/// Chunks of whole rows, of about elementwiseGrain elements.
static int64_t rowGrain(int64_t columns) {
  return std::max<int64_t>(1, elementwiseGrain / std::max<int64_t>(1, columns));
}

/// C = beta C.
template <typename T>
static void scale(T beta, Matrix<T> c) {
  struct Environment {
    T beta;
    Matrix<T> c;
  } environment = {beta, c};
  if (beta == T(1))
    return;
  sparseAutogradParallelFor(
      c.rows, rowGrain(c.columns),
      [](void *opaque, int64_t begin, int64_t end) {
        const Environment &env = *static_cast<Environment *>(opaque);
        for (int64_t i = begin; i < end; ++i)
          for (int64_t j = 0; j < env.c.columns; ++j)
            env.c.at(i, j) =
                env.beta == T(0) ? T(0) : env.beta * env.c.at(i, j);
      },
      &environment);
}

/// C = beta C + sum over the slices, in their order.
template <typename T>
static void addSlices(T beta, Matrix<T> c, const T *slices, int64_t count) {
  struct Environment {
    T beta;
    Matrix<T> c;
    const T *slices;
    int64_t count;
  } environment = {beta, c, slices, count};
  sparseAutogradParallelFor(
      c.rows, rowGrain(c.columns * count),
      [](void *opaque, int64_t begin, int64_t end) {
        const Environment &env = *static_cast<Environment *>(opaque);
        int64_t size = env.c.rows * env.c.columns;
        for (int64_t i = begin; i < end; ++i)
          for (int64_t j = 0; j < env.c.columns; ++j) {
            const T *partial = env.slices + i * env.c.columns + j;
            T sum = partial[0];
            for (int64_t slice = 1; slice < env.count; ++slice)
              sum += partial[slice * size];
            if (env.beta != T(0))
              sum += env.beta * env.c.at(i, j);
            env.c.at(i, j) = sum;
          }
      },
      &environment);
}

/// A row-major copy. Raises if there is no memory for it.
template <typename T>
static T *copyMatrix(Matrix<const T> matrix) {
  struct Environment {
    Matrix<const T> from;
    T *to;
  } environment = {matrix, nullptr};
  int64_t bytes = 0;
  if (__builtin_mul_overflow(matrix.rows, matrix.columns, &bytes) ||
      __builtin_mul_overflow(bytes, int64_t(sizeof(T)), &bytes))
    bytes = INT64_MAX;
  environment.to = static_cast<T *>(sparseAutogradAllocate(bytes));
  sparseAutogradParallelFor(
      matrix.rows, rowGrain(matrix.columns),
      [](void *opaque, int64_t begin, int64_t end) {
        const Environment &env = *static_cast<Environment *>(opaque);
        for (int64_t i = begin; i < end; ++i)
          for (int64_t j = 0; j < env.from.columns; ++j)
            env.to[i * env.from.columns + j] = env.from.at(i, j);
      },
      &environment);
  return environment.to;
}

/// Whether a kernel takes the matrix as it is. The stride along an extent of 1
/// has no meaning.
template <typename T>
static bool isRowMajor(Matrix<T> matrix) {
  return (matrix.columns == 1 || matrix.columnStride == 1) &&
         (matrix.rows == 1 || (matrix.rowStride >= matrix.columns &&
                               matrix.rowStride <= largestKernelExtent));
}

template <typename T>
static int64_t leadingDimension(Matrix<T> matrix) {
  // Of a single row no kernel uses it, but a BLAS checks it.
  return matrix.rows == 1 ? std::min(matrix.columns, largestKernelExtent)
                          : matrix.rowStride;
}

template <typename T>
static Operand<T> prepareOperand(Matrix<const T> matrix) {
  if (isRowMajor(matrix))
    return {matrix.data, leadingDimension(matrix), false, nullptr};
  if (isRowMajor(matrix.transpose()))
    return {matrix.data, leadingDimension(matrix.transpose()), true, nullptr};
  // The rows of the copy are the shorter side where the other is too long.
  bool transposed = matrix.columns > largestKernelExtent;
  Matrix<const T> source = transposed ? matrix.transpose() : matrix;
  T *copy = copyMatrix(source);
  return {copy, source.columns, transposed, copy};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

template <typename T>
static void runBlocks(void *opaque, int64_t begin, int64_t end) {
  const Product<T> &product = *static_cast<Product<T> *>(opaque);
  const Blocking &blocking = product.blocking;
  int64_t blocks = blocking.rowBlocks * blocking.columnBlocks;
  for (int64_t index = begin; index < end; ++index) {
    int64_t slice = index / blocks;
    int64_t i = index % blocks / blocking.columnBlocks * blocking.rows;
    int64_t j = index % blocks % blocking.columnBlocks * blocking.columns;
    int64_t p = slice * blocking.depth;
    KernelArguments<T> arguments = {};
    arguments.m = std::min(blocking.rows, product.c.rows - i);
    arguments.n = std::min(blocking.columns, product.c.columns - j);
    arguments.k = std::min(blocking.depth, product.k - p);
    arguments.alpha = product.alpha;
    arguments.a = product.a.at(i, p);
    arguments.aLeading = product.a.leading;
    arguments.aTransposed = product.a.transposed;
    arguments.b = product.b.at(p, j);
    arguments.bLeading = product.b.leading;
    arguments.bTransposed = product.b.transposed;
    if (product.partials) {
      int64_t size = product.c.rows * product.c.columns;
      arguments.beta = T(0);
      arguments.c = product.partials + slice * size + i * product.c.columns + j;
      arguments.cLeading = product.c.columns;
    } else {
      arguments.beta = product.beta;
      arguments.c = &product.c.at(i, j);
      arguments.cLeading = leadingDimension(product.c);
    }
    multiplyBlock(arguments);
  }
}

/// The product, none of whose extents is 0.
template <typename T>
static void multiply(T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                     Matrix<T> c) {
  if (!isRowMajor(c) && isRowMajor(c.transpose())) {
    // C^T = B^T A^T.
    Matrix<const T> transposedB = b.transpose();
    b = a.transpose();
    a = transposedB;
    c = c.transpose();
  }
  prepareKernel();
  Product<T> product = {};
  product.alpha = alpha;
  product.beta = beta;
  product.a = prepareOperand(a);
  product.b = prepareOperand(b);
  product.c = c;
  product.k = a.columns;
  product.blocking = chooseBlocking(c.rows, c.columns, a.columns);
  const Blocking &blocking = product.blocking;
  // A C that no kernel can write to is a sum of one slice.
  if (blocking.slices > 1 || !isRowMajor(c)) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(c.rows, c.columns, &bytes) ||
        __builtin_mul_overflow(bytes, blocking.slices * int64_t(sizeof(T)),
                               &bytes))
      bytes = INT64_MAX;
    product.partials = static_cast<T *>(sparseAutogradAllocate(bytes));
  }
  sparseAutogradParallelFor(blocking.rowBlocks * blocking.columnBlocks *
                                blocking.slices,
                            1, runBlocks<T>, &product);
  if (product.partials)
    addSlices<T>(beta, c, product.partials, blocking.slices);
  sparseAutogradDeallocate(product.partials);
  sparseAutogradDeallocate(product.b.copy);
  sparseAutogradDeallocate(product.a.copy);
}

template <typename T>
static void checkAndMultiply(T alpha, Matrix<const T> a, Matrix<const T> b,
                             T beta, Matrix<T> c) {
  if (c.rows < 0 || c.columns < 0 || a.columns < 0) {
    int64_t values[] = {c.rows, a.columns, a.columns, c.columns};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "a product of matrices of {} x {} and {} x {} elements", 4, values);
  }
  if (c.rows == 0 || c.columns == 0)
    return;
  if (a.columns == 0 || alpha == T(0))
    return scale(beta, c);
  multiply(alpha, a, b, beta, c);
}

void sparseAutogradGemmF32(int64_t m, int64_t n, int64_t k, float alpha,
                           const float *a, int64_t aRowStride,
                           int64_t aColumnStride, const float *b,
                           int64_t bRowStride, int64_t bColumnStride,
                           float beta, float *c, int64_t cRowStride,
                           int64_t cColumnStride) {
  checkAndMultiply<float>(alpha, {a, m, k, aRowStride, aColumnStride},
                          {b, k, n, bRowStride, bColumnStride}, beta,
                          {c, m, n, cRowStride, cColumnStride});
}

void sparseAutogradGemmF64(int64_t m, int64_t n, int64_t k, double alpha,
                           const double *a, int64_t aRowStride,
                           int64_t aColumnStride, const double *b,
                           int64_t bRowStride, int64_t bColumnStride,
                           double beta, double *c, int64_t cRowStride,
                           int64_t cColumnStride) {
  checkAndMultiply<double>(alpha, {a, m, k, aRowStride, aColumnStride},
                           {b, k, n, bRowStride, bColumnStride}, beta,
                           {c, m, n, cRowStride, cColumnStride});
}
