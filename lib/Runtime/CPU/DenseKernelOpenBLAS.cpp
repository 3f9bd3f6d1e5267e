//===- DenseKernelOpenBLAS.cpp - Blocks by OpenBLAS -------------*- C++ -*-===//
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of a dense product where OpenBLAS is present.
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"

#include <cblas.h>

namespace sparse_autograd {
namespace runtime {

void prepareKernel() {
  // The threads are ours. The setting is OpenBLAS's for the process, and
  // another user of the library may have changed it since the last product.
  if (openblas_get_num_threads() != 1)
    openblas_set_num_threads(1);
}

static void gemm(CBLAS_TRANSPOSE aTranspose, CBLAS_TRANSPOSE bTranspose,
                 const KernelArguments<float> &x) {
  cblas_sgemm(CblasRowMajor, aTranspose, bTranspose, x.m, x.n, x.k, x.alpha,
              x.a, x.aLeading, x.b, x.bLeading, x.beta, x.c, x.cLeading);
}

static void gemm(CBLAS_TRANSPOSE aTranspose, CBLAS_TRANSPOSE bTranspose,
                 const KernelArguments<double> &x) {
  cblas_dgemm(CblasRowMajor, aTranspose, bTranspose, x.m, x.n, x.k, x.alpha,
              x.a, x.aLeading, x.b, x.bLeading, x.beta, x.c, x.cLeading);
}

static void gemv(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t columns,
                 float alpha, const float *matrix, int64_t leading,
                 const float *x, int64_t xStride, float beta, float *y,
                 int64_t yStride) {
  cblas_sgemv(CblasRowMajor, transpose, rows, columns, alpha, matrix, leading,
              x, xStride, beta, y, yStride);
}

static void gemv(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t columns,
                 double alpha, const double *matrix, int64_t leading,
                 const double *x, int64_t xStride, double beta, double *y,
                 int64_t yStride) {
  cblas_dgemv(CblasRowMajor, transpose, rows, columns, alpha, matrix, leading,
              x, xStride, beta, y, yStride);
}

/// y = beta y + alpha op(matrix) x, for the products of which one side is a
/// vector: gemm would copy the matrix to read it once.
template <typename T>
static void multiplyVector(bool transposed, int64_t rows, int64_t columns,
                           T alpha, const T *matrix, int64_t leading,
                           const T *x, int64_t xStride, T beta, T *y,
                           int64_t yStride) {
  if (beta == T(0)) {
    // Not every gemv of OpenBLAS leaves y unread: some scale it by zero.
    for (int64_t i = 0, e = transposed ? columns : rows; i < e; ++i)
      y[i * yStride] = T(0);
    beta = T(1);
  }
  gemv(transposed ? CblasTrans : CblasNoTrans, rows, columns, alpha, matrix,
       leading, x, xStride, beta, y, yStride);
}

template <typename T>
static void multiply(const KernelArguments<T> &x) {
  if (x.n == 1)
    return multiplyVector<T>(x.aTransposed, x.aTransposed ? x.k : x.m,
                             x.aTransposed ? x.m : x.k, x.alpha, x.a,
                             x.aLeading, x.b, x.bTransposed ? 1 : x.bLeading,
                             x.beta, x.c, x.cLeading);
  // C^T = B^T A^T.
  if (x.m == 1)
    return multiplyVector<T>(!x.bTransposed, x.bTransposed ? x.n : x.k,
                             x.bTransposed ? x.k : x.n, x.alpha, x.b,
                             x.bLeading, x.a, x.aTransposed ? x.aLeading : 1,
                             x.beta, x.c, 1);
  gemm(x.aTransposed ? CblasTrans : CblasNoTrans,
       x.bTransposed ? CblasTrans : CblasNoTrans, x);
}

void multiplyBlock(const KernelArguments<float> &arguments) {
  multiply(arguments);
}

void multiplyBlock(const KernelArguments<double> &arguments) {
  multiply(arguments);
}

} // namespace runtime
} // namespace sparse_autograd
