//===- DenseKernelOpenBLAS.cpp - Blocks by OpenBLAS -------------*- C++ -*-===//
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of a dense product where OpenBLAS is present. It is loaded with
// the first product, not with the program: then it can be told which processor
// this is. A release that is older than the processor does not know it, and
// takes the kernels of 2004, a quarter as fast. Which library that is may be
// chosen before.
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"
#include "ThreadState.h"

#include <atomic>
#include <cblas.h>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <type_traits>

namespace sparse_autograd {
namespace runtime {

namespace {
/// What is called of the library; null if it could not be loaded.
struct OpenBlas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_sgemv) sgemv;
  decltype(&cblas_dgemv) dgemv;
  decltype(&openblas_get_num_threads) getNumThreads;
  decltype(&openblas_set_num_threads) setNumThreads;
};
} // namespace

/// OpenBLAS's name for kernels that this processor can run; null if it is
/// better left to OpenBLAS.
static const char *getCoreType() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return "HASWELL";
#endif
  return nullptr;
}

namespace {
/// The choice of the process, and what became of it.
struct Choice {
  std::mutex mutex;
  char path[PATH_MAX] = "";
  std::atomic<int32_t> state{SPARSE_AUTOGRAD_BLAS_UNUSED};
  /// The name that the loader has for it, as long as it is loaded.
  const char *file = nullptr;
};
} // namespace

static Choice &getChoice() {
  static Choice choice;
  return choice;
}

/// The functions of `library`, whose names begin with `prefix`; without sgemm
/// if one is missing.
static OpenBlas findFunctions(void *library, const char *prefix) {
  OpenBlas result = {};
  auto find = [&](auto &function, const char *name) {
    char symbol[64];
    std::snprintf(symbol, sizeof(symbol), "%s%s", prefix, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, symbol));
    return function != nullptr;
  };
  if (find(result.sgemm, "cblas_sgemm") && find(result.dgemm, "cblas_dgemm") &&
      find(result.sgemv, "cblas_sgemv") && find(result.dgemv, "cblas_dgemv") &&
      find(result.getNumThreads, "openblas_get_num_threads") &&
      find(result.setNumThreads, "openblas_set_num_threads"))
    return result;
  return {};
}

/// The first library that can be loaded and has the functions.
static OpenBlas findLibrary(const char *chosen) {
  for (const char *name :
       {chosen, SPARSE_AUTOGRAD_OPENBLAS_LIBRARY, "libopenblas.so.0"}) {
    void *library = *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library)
      continue;
    for (const char *prefix : {"", "scipy_"})
      if (OpenBlas found = findFunctions(library, prefix); found.sgemm)
        return found;
    dlclose(library);
  }
  return {};
}

static OpenBlas loadOpenBlas() {
  Choice &choice = getChoice();
  std::lock_guard<std::mutex> lock(choice.mutex);
  constexpr const char *variable = "OPENBLAS_CORETYPE";
  const char *coreType = getenv(variable) ? nullptr : getCoreType();
  // The library reads it while it is loaded. What is loaded already has been
  // set up by somebody else.
  if (coreType)
    setenv(variable, coreType, /*overwrite=*/0);
  OpenBlas result = findLibrary(choice.path);
  if (coreType)
    unsetenv(variable);
  Dl_info info;
  if (result.sgemm &&
      dladdr(reinterpret_cast<const void *>(result.sgemm), &info))
    choice.file = info.dli_fname;
  choice.state =
      result.sgemm ? SPARSE_AUTOGRAD_BLAS_LOADED : SPARSE_AUTOGRAD_BLAS_MISSING;
  return result;
}

static const OpenBlas &getOpenBlas() {
  static const OpenBlas openBlas = loadOpenBlas();
  return openBlas;
}

void prepareKernel() {
  const OpenBlas &blas = getOpenBlas();
  // The threads are ours. The setting is OpenBLAS's for the process, and
  // another user of the library may have changed it since the last product.
  if (blas.sgemm && blas.getNumThreads() != 1)
    blas.setNumThreads(1);
}

static void gemm(CBLAS_TRANSPOSE aTranspose, CBLAS_TRANSPOSE bTranspose,
                 const KernelArguments<float> &x) {
  getOpenBlas().sgemm(CblasRowMajor, aTranspose, bTranspose, x.m, x.n, x.k,
                      x.alpha, x.a, x.aLeading, x.b, x.bLeading, x.beta, x.c,
                      x.cLeading);
}

static void gemm(CBLAS_TRANSPOSE aTranspose, CBLAS_TRANSPOSE bTranspose,
                 const KernelArguments<double> &x) {
  getOpenBlas().dgemm(CblasRowMajor, aTranspose, bTranspose, x.m, x.n, x.k,
                      x.alpha, x.a, x.aLeading, x.b, x.bLeading, x.beta, x.c,
                      x.cLeading);
}

static void gemv(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t columns,
                 float alpha, const float *matrix, int64_t leading,
                 const float *x, int64_t xStride, float beta, float *y,
                 int64_t yStride) {
  getOpenBlas().sgemv(CblasRowMajor, transpose, rows, columns, alpha, matrix,
                      leading, x, xStride, beta, y, yStride);
}

static void gemv(CBLAS_TRANSPOSE transpose, int64_t rows, int64_t columns,
                 double alpha, const double *matrix, int64_t leading,
                 const double *x, int64_t xStride, double beta, double *y,
                 int64_t yStride) {
  getOpenBlas().dgemv(CblasRowMajor, transpose, rows, columns, alpha, matrix,
                      leading, x, xStride, beta, y, yStride);
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
  if (getOpenBlas().sgemm)
    multiply(arguments);
  else
    multiplyByLoops(arguments);
}

void multiplyBlock(const KernelArguments<double> &arguments) {
  if (getOpenBlas().sgemm)
    multiply(arguments);
  else
    multiplyByLoops(arguments);
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

int32_t sparseAutogradSetBlas(const char *path) {
  Choice &choice = getChoice();
  std::lock_guard<std::mutex> lock(choice.mutex);
  if (choice.state != SPARSE_AUTOGRAD_BLAS_UNUSED) {
    setLastError(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                 "the BLAS is chosen before the first product of matrices");
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  }
  size_t length = path ? std::strlen(path) : 0;
  if (length >= sizeof(choice.path)) {
    setLastError(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                 "the path of the BLAS is too long");
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  }
  std::memcpy(choice.path, path ? path : "", length + 1);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t sparseAutogradGetBlas(const char **file) {
  const Choice &choice = getChoice();
  int32_t state = choice.state;
  if (file)
    *file = state == SPARSE_AUTOGRAD_BLAS_LOADED ? choice.file : nullptr;
  return state;
}
