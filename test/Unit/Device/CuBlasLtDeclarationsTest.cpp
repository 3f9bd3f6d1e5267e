//===- CuBlasLtDeclarationsTest.cpp - Ours and those of cublasLt.h --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As DeclarationsTest.cpp, for cuBLASLt.
//
//===----------------------------------------------------------------------===//

#include "CUDA/CuBlasLt.h"
#include "SameFunction.h"

#include <gtest/gtest.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

#if defined(CUBLAS_VERSION) && CUBLAS_VERSION >= 120000

namespace cublaslt = sparse_autograd::runtime::cublaslt;

#define SPARSE_AUTOGRAD_CHECK(result, name, symbol, parameters)                \
  static_assert(IsSameFunction<decltype(cublaslt::Library::name),              \
                               decltype(&(symbol))>(),                         \
                #symbol);
SPARSE_AUTOGRAD_CUBLASLT_FUNCTIONS(SPARSE_AUTOGRAD_CHECK)
#undef SPARSE_AUTOGRAD_CHECK

#define SPARSE_AUTOGRAD_CHECK(ours, theirs)                                    \
  static_assert(static_cast<int>(cublaslt::ours) == static_cast<int>(theirs),  \
                #theirs)
SPARSE_AUTOGRAD_CHECK(success, CUBLAS_STATUS_SUCCESS);
SPARSE_AUTOGRAD_CHECK(notInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SPARSE_AUTOGRAD_CHECK(allocationFailed, CUBLAS_STATUS_ALLOC_FAILED);
SPARSE_AUTOGRAD_CHECK(architectureMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SPARSE_AUTOGRAD_CHECK(executionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SPARSE_AUTOGRAD_CHECK(notSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SPARSE_AUTOGRAD_CHECK(typeF32, CUDA_R_32F);
SPARSE_AUTOGRAD_CHECK(typeF64, CUDA_R_64F);
SPARSE_AUTOGRAD_CHECK(typeF16, CUDA_R_16F);
SPARSE_AUTOGRAD_CHECK(typeBF16, CUDA_R_16BF);
SPARSE_AUTOGRAD_CHECK(computeF32, CUBLAS_COMPUTE_32F);
SPARSE_AUTOGRAD_CHECK(computeF64, CUBLAS_COMPUTE_64F);
SPARSE_AUTOGRAD_CHECK(operationNone, CUBLAS_OP_N);
SPARSE_AUTOGRAD_CHECK(operationTranspose, CUBLAS_OP_T);
SPARSE_AUTOGRAD_CHECK(descriptionTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SPARSE_AUTOGRAD_CHECK(descriptionTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SPARSE_AUTOGRAD_CHECK(layoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SPARSE_AUTOGRAD_CHECK(layoutBatchStride,
                      CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SPARSE_AUTOGRAD_CHECK(preferenceWorkspaceBytes,
                      CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SPARSE_AUTOGRAD_CHECK(preferenceReductions,
                      CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SPARSE_AUTOGRAD_CHECK(preferenceAlignmentA,
                      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SPARSE_AUTOGRAD_CHECK(preferenceAlignmentA + 1,
                      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SPARSE_AUTOGRAD_CHECK(preferenceAlignmentA + 2,
                      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SPARSE_AUTOGRAD_CHECK(preferenceAlignmentA + 3,
                      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SPARSE_AUTOGRAD_CHECK(reductionInComputeType,
                      CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
#undef SPARSE_AUTOGRAD_CHECK

static_assert(sizeof(cublaslt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
using Ours = cublaslt::Heuristic;
using Theirs = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(Ours) == sizeof(Theirs));
static_assert(offsetof(Ours, workspaceBytes) ==
              offsetof(Theirs, workspaceSize));
static_assert(offsetof(Ours, state) == offsetof(Theirs, state));
static_assert(offsetof(Ours, waves) == offsetof(Theirs, wavesCount));

TEST(CuBlasLtDeclarations, AreThoseOfCuBlasLt) { SUCCEED() << "compiled"; }

#else

TEST(CuBlasLtDeclarations, AreThoseOfCuBlasLt) {
  GTEST_SKIP() << "there is no cublasLt.h of CUDA 12.0 or later";
}

#endif
