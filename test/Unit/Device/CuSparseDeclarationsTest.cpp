//===- CuSparseDeclarationsTest.cpp - Ours and those of cusparse.h --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As DeclarationsTest.cpp, for cuSPARSE.
//
//===----------------------------------------------------------------------===//

#include "CUDA/CuSparse.h"
#include "SameFunction.h"

#include <gtest/gtest.h>

#if __has_include(<cusparse.h>)
#include <cusparse.h>
#endif

#if defined(CUSPARSE_VERSION) && CUSPARSE_VERSION >= 12000

namespace cusparse = sparse_autograd::runtime::cusparse;

#define SPARSE_AUTOGRAD_CHECK(result, name, symbol, parameters)                \
  static_assert(IsSameFunction<decltype(cusparse::Library::name),              \
                               decltype(&(symbol))>(),                         \
                #symbol);
SPARSE_AUTOGRAD_CUSPARSE_FUNCTIONS(SPARSE_AUTOGRAD_CHECK)
#undef SPARSE_AUTOGRAD_CHECK

#define SPARSE_AUTOGRAD_CHECK(ours, theirs)                                    \
  static_assert(static_cast<int>(cusparse::ours) == static_cast<int>(theirs),  \
                #theirs)
SPARSE_AUTOGRAD_CHECK(success, CUSPARSE_STATUS_SUCCESS);
SPARSE_AUTOGRAD_CHECK(notInitialized, CUSPARSE_STATUS_NOT_INITIALIZED);
SPARSE_AUTOGRAD_CHECK(allocationFailed, CUSPARSE_STATUS_ALLOC_FAILED);
SPARSE_AUTOGRAD_CHECK(architectureMismatch, CUSPARSE_STATUS_ARCH_MISMATCH);
SPARSE_AUTOGRAD_CHECK(executionFailed, CUSPARSE_STATUS_EXECUTION_FAILED);
SPARSE_AUTOGRAD_CHECK(notSupported, CUSPARSE_STATUS_NOT_SUPPORTED);
SPARSE_AUTOGRAD_CHECK(insufficientResources,
                      CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
SPARSE_AUTOGRAD_CHECK(typeF32, CUDA_R_32F);
SPARSE_AUTOGRAD_CHECK(typeF64, CUDA_R_64F);
SPARSE_AUTOGRAD_CHECK(indices32, CUSPARSE_INDEX_32I);
SPARSE_AUTOGRAD_CHECK(indices64, CUSPARSE_INDEX_64I);
SPARSE_AUTOGRAD_CHECK(indicesFromZero, CUSPARSE_INDEX_BASE_ZERO);
SPARSE_AUTOGRAD_CHECK(orderOfRows, CUSPARSE_ORDER_ROW);
SPARSE_AUTOGRAD_CHECK(operationNone, CUSPARSE_OPERATION_NON_TRANSPOSE);
SPARSE_AUTOGRAD_CHECK(operationTranspose, CUSPARSE_OPERATION_TRANSPOSE);
SPARSE_AUTOGRAD_CHECK(multiplyInOrder, CUSPARSE_SPMM_CSR_ALG3);
SPARSE_AUTOGRAD_CHECK(sampleDefault, CUSPARSE_SDDMM_ALG_DEFAULT);
SPARSE_AUTOGRAD_CHECK(multiplyPair, CUSPARSE_SPGEMM_ALG1);
#undef SPARSE_AUTOGRAD_CHECK

TEST(CuSparseDeclarations, AreThoseOfCuSparse) { SUCCEED() << "compiled"; }

#else

TEST(CuSparseDeclarations, AreThoseOfCuSparse) {
  GTEST_SKIP() << "there is no cusparse.h of CUDA 12.0 or later";
}

#endif
