//===- CuSparse.h - cuSPARSE, loaded at run time ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls of libcusparse.so.12, which is that of CUDA 12 and 13,
// with declarations of its own, as Driver.h has them of the driver. Internal to
// the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUSPARSE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUSPARSE_H

#include "Driver.h"
#include "Libraries.h"

namespace sparse_autograd {
namespace runtime {
namespace cusparse {

using Status = int; // cusparseStatus_t
using Handle = struct HandleOfLibrary *;
using SparseMatrix = struct SparseMatrixOfLibrary *; // cusparseSpMatDescr_t
using DenseMatrix = struct DenseMatrixOfLibrary *;   // cusparseDnMatDescr_t
using PairProduct = struct PairProductOfLibrary *;   // cusparseSpGEMMDescr_t

/// Of cusparseStatus_t, what the runtime tells apart.
enum : Status {
  success = 0,
  notInitialized = 1,
  allocationFailed = 2,
  architectureMismatch = 4,
  executionFailed = 6,
  notSupported = 10,
  insufficientResources = 11
};

/// Of cudaDataType.
enum : int { typeF32 = 0, typeF64 = 1 };

constexpr int indices32 = 2;          // CUSPARSE_INDEX_32I
constexpr int indices64 = 3;          // CUSPARSE_INDEX_64I
constexpr int indicesFromZero = 0;    // CUSPARSE_INDEX_BASE_ZERO
constexpr int orderOfRows = 2;        // CUSPARSE_ORDER_ROW
constexpr int operationNone = 0;      // CUSPARSE_OPERATION_NON_TRANSPOSE
constexpr int operationTranspose = 1; // CUSPARSE_OPERATION_TRANSPOSE
/// CUSPARSE_SPMM_CSR_ALG3: the one for CSR whose sums are in the same order
/// each time.
constexpr int multiplyInOrder = 12;
constexpr int sampleDefault = 0; // CUSPARSE_SDDMM_ALG_DEFAULT
/// CUSPARSE_SPGEMM_ALG1, the default: the one that takes the memory it needs at
/// once.
constexpr int multiplyPair = 3;

/// FUNCTION(type of the result, name of ours, name in the library, parameters).
#define SPARSE_AUTOGRAD_CUSPARSE_FUNCTIONS(FUNCTION)                           \
  FUNCTION(const char *, getErrorName, cusparseGetErrorName, (Status status))  \
  FUNCTION(const char *, getErrorString, cusparseGetErrorString,               \
           (Status status))                                                    \
  FUNCTION(Status, create, cusparseCreate, (Handle * handle))                  \
  FUNCTION(Status, destroy, cusparseDestroy, (Handle handle))                  \
  FUNCTION(Status, setStream, cusparseSetStream,                               \
           (Handle handle, cuda::StreamHandle stream))                         \
  FUNCTION(Status, createCsr, cusparseCreateCsr,                               \
           (SparseMatrix * matrix, int64_t rows, int64_t columns,              \
            int64_t stored, void *positions, void *coordinates, void *values,  \
            int positionType, int coordinateType, int base, int type))         \
  FUNCTION(Status, destroySparse, cusparseDestroySpMat, (SparseMatrix matrix)) \
  FUNCTION(Status, createDense, cusparseCreateDnMat,                           \
           (DenseMatrix * matrix, int64_t rows, int64_t columns,               \
            int64_t leading, void *values, int type, int order))               \
  FUNCTION(Status, destroyDense, cusparseDestroyDnMat, (DenseMatrix matrix))   \
  FUNCTION(Status, multiplyBytes, cusparseSpMM_bufferSize,                     \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            SparseMatrix a, DenseMatrix b, const void *beta, DenseMatrix c,    \
            int type, int algorithm, size_t *bytes))                           \
  FUNCTION(Status, multiply, cusparseSpMM,                                     \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            SparseMatrix a, DenseMatrix b, const void *beta, DenseMatrix c,    \
            int type, int algorithm, void *workspace))                         \
  FUNCTION(Status, sampleBytes, cusparseSDDMM_bufferSize,                      \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            DenseMatrix a, DenseMatrix b, const void *beta, SparseMatrix c,    \
            int type, int algorithm, size_t *bytes))                           \
  FUNCTION(Status, sample, cusparseSDDMM,                                      \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            DenseMatrix a, DenseMatrix b, const void *beta, SparseMatrix c,    \
            int type, int algorithm, void *workspace))                         \
  FUNCTION(Status, createPairProduct, cusparseSpGEMM_createDescr,              \
           (PairProduct * product))                                            \
  FUNCTION(Status, destroyPairProduct, cusparseSpGEMM_destroyDescr,            \
           (PairProduct product))                                              \
  FUNCTION(Status, estimatePairProduct, cusparseSpGEMM_workEstimation,         \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            SparseMatrix a, SparseMatrix b, const void *beta, SparseMatrix c,  \
            int type, int algorithm, PairProduct product, size_t *bytes,       \
            void *workspace))                                                  \
  FUNCTION(Status, computePairProduct, cusparseSpGEMM_compute,                 \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            SparseMatrix a, SparseMatrix b, const void *beta, SparseMatrix c,  \
            int type, int algorithm, PairProduct product, size_t *bytes,       \
            void *workspace))                                                  \
  FUNCTION(Status, copyPairProduct, cusparseSpGEMM_copy,                       \
           (Handle handle, int aOperation, int bOperation, const void *alpha,  \
            SparseMatrix a, SparseMatrix b, const void *beta, SparseMatrix c,  \
            int type, int algorithm, PairProduct product))                     \
  FUNCTION(                                                                    \
      Status, getSize, cusparseSpMatGetSize,                                   \
      (SparseMatrix matrix, int64_t *rows, int64_t *columns, int64_t *stored)) \
  FUNCTION(                                                                    \
      Status, setLists, cusparseCsrSetPointers,                                \
      (SparseMatrix matrix, void *positions, void *coordinates, void *values))

/// The functions of the library.
struct Library {
#define SPARSE_AUTOGRAD_CUSPARSE_FUNCTION(result, name, symbol, parameters)    \
  result(*name) parameters;
  SPARSE_AUTOGRAD_CUSPARSE_FUNCTIONS(SPARSE_AUTOGRAD_CUSPARSE_FUNCTION)
#undef SPARSE_AUTOGRAD_CUSPARSE_FUNCTION
};

/// The library's index of a SparseAutogradTensorElement, one of I32 and I64.
int getIndexType(int32_t index);

/// Whether `number` is one of the library in indices of that kind: ours of 32
/// bits have no sign, the library's have one.
bool fitsIndex(int32_t index, int64_t number);

/// Loads the library; it stays loaded. That there is none, or none is wanted,
/// is no failure: `isPresent` is false then. Fails as Failure.h says.
int32_t loadLibrary(Library &library, bool &isPresent);

/// What the library's function `function` has said, returning `code`.
cuda::LibraryError describe(const Library &library, Status code,
                            const char *function);

} // namespace cusparse
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUSPARSE_H
