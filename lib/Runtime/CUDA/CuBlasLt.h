//===- CuBlasLt.h - cuBLASLt, loaded at run time ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls of libcublasLt.so, with declarations of its own, as
// Driver.h has them of the driver. Names, numbers and layouts are those of
// cuBLAS 12 and 13. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUBLASLT_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "Driver.h"
#include "Libraries.h"

namespace sparse_autograd {
namespace runtime {
namespace cublaslt {

using Status = int; // cublasStatus_t
using Handle = struct HandleOfLibrary *;
using Description = struct DescriptionOfLibrary *; // cublasLtMatmulDesc_t
using Layout = struct LayoutOfLibrary *;           // cublasLtMatrixLayout_t
using Preference = struct PreferenceOfLibrary *;   // cublasLtMatmulPreference_t

/// cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96,
              "layout of cublasLtMatmulHeuristicResult_t");

/// Of cublasStatus_t, what the runtime tells apart.
enum : Status {
  success = 0,
  notInitialized = 1,
  allocationFailed = 3,
  architectureMismatch = 8,
  executionFailed = 13,
  notSupported = 15
};

/// Of cudaDataType_t.
enum : int { typeF32 = 0, typeF64 = 1, typeF16 = 2, typeBF16 = 14 };

/// Of cublasComputeType_t: sums and factors are rounded to no less than the
/// type says, so that f32 is never TF32.
enum : int { computeF32 = 68, computeF64 = 70 };

/// Of cublasOperation_t.
enum : int { operationNone = 0, operationTranspose = 1 };

/// Of cublasLtMatmulDescAttributes_t.
enum : int { descriptionTransposeA = 3, descriptionTransposeB = 4 };

/// Of cublasLtMatrixLayoutAttribute_t.
enum : int { layoutBatchCount = 5, layoutBatchStride = 6 };

/// Of cublasLtMatmulPreferenceAttributes_t.
enum : int {
  preferenceWorkspaceBytes = 1,
  preferenceReductions = 3,
  preferenceAlignmentA = 5, ///< then B, C and D
};

/// Of cublasLtReductionScheme_t: pieces of a sum are kept as they are computed,
/// and added in a step of its own.
enum : uint32_t { reductionInComputeType = 2 };

/// FUNCTION(type of the result, name of ours, name in the library, parameters).
#define SPARSE_AUTOGRAD_CUBLASLT_FUNCTIONS(FUNCTION)                           \
  FUNCTION(const char *, getStatusName, cublasLtGetStatusName,                 \
           (Status status))                                                    \
  FUNCTION(const char *, getStatusString, cublasLtGetStatusString,             \
           (Status status))                                                    \
  FUNCTION(Status, create, cublasLtCreate, (Handle * handle))                  \
  FUNCTION(Status, destroy, cublasLtDestroy, (Handle handle))                  \
  FUNCTION(Status, descriptionCreate, cublasLtMatmulDescCreate,                \
           (Description * description, int computeType, int scaleType))        \
  FUNCTION(Status, descriptionDestroy, cublasLtMatmulDescDestroy,              \
           (Description description))                                          \
  FUNCTION(Status, descriptionSet, cublasLtMatmulDescSetAttribute,             \
           (Description description, int attribute, const void *value,         \
            size_t bytes))                                                     \
  FUNCTION(Status, layoutCreate, cublasLtMatrixLayoutCreate,                   \
           (Layout * layout, int type, uint64_t rows, uint64_t columns,        \
            int64_t leading))                                                  \
  FUNCTION(Status, layoutDestroy, cublasLtMatrixLayoutDestroy,                 \
           (Layout layout))                                                    \
  FUNCTION(Status, layoutSet, cublasLtMatrixLayoutSetAttribute,                \
           (Layout layout, int attribute, const void *value, size_t bytes))    \
  FUNCTION(Status, preferenceCreate, cublasLtMatmulPreferenceCreate,           \
           (Preference * preference))                                          \
  FUNCTION(Status, preferenceDestroy, cublasLtMatmulPreferenceDestroy,         \
           (Preference preference))                                            \
  FUNCTION(                                                                    \
      Status, preferenceSet, cublasLtMatmulPreferenceSetAttribute,             \
      (Preference preference, int attribute, const void *value, size_t bytes)) \
  FUNCTION(Status, getHeuristic, cublasLtMatmulAlgoGetHeuristic,               \
           (Handle handle, Description description, Layout a, Layout b,        \
            Layout c, Layout d, Preference preference, int wanted,             \
            Heuristic *results, int *found))                                   \
  FUNCTION(Status, matmul, cublasLtMatmul,                                     \
           (Handle handle, Description description, const void *alpha,         \
            const void *a, Layout aLayout, const void *b, Layout bLayout,      \
            const void *beta, const void *c, Layout cLayout, void *d,          \
            Layout dLayout, const Algorithm *algorithm, void *workspace,       \
            size_t workspaceBytes, cuda::StreamHandle stream))

/// The functions of the library.
struct Library {
#define SPARSE_AUTOGRAD_CUBLASLT_FUNCTION(result, name, symbol, parameters)    \
  result(*name) parameters;
  SPARSE_AUTOGRAD_CUBLASLT_FUNCTIONS(SPARSE_AUTOGRAD_CUBLASLT_FUNCTION)
#undef SPARSE_AUTOGRAD_CUBLASLT_FUNCTION
};

/// Loads the library that fits a driver of this version; it stays loaded. That
/// there is none, or none is wanted, is no failure: `isPresent` is false then.
/// Fails as Failure.h says.
int32_t loadLibrary(int driverVersion, Library &library, bool &isPresent);

/// What the library's function `function` has said, returning `code`.
cuda::LibraryError describe(const Library &library, Status code,
                            const char *function);

} // namespace cublaslt
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUBLASLT_H
