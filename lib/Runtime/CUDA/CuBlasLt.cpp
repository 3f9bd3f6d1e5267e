//===- CuBlasLt.cpp - cuBLASLt, loaded at run time --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the library, and knows its errors.
//
//===----------------------------------------------------------------------===//

#include "CuBlasLt.h"
#include "Device/Failure.h"
#include "SparseAutograd/Runtime/Runtime.h"

namespace sparse_autograd {
namespace runtime {
namespace cublaslt {

int32_t loadLibrary(int driverVersion, Library &library, bool &isPresent) {
  cuda::LibraryFile file = {"cuBLASLt",
                            "SPARSE_AUTOGRAD_CUBLASLT",
                            {"libcublasLt.so.13", "libcublasLt.so.12", nullptr},
                            nullptr,
                            nullptr};
  // A library needs a driver of its own major version, or a later one.
  constexpr int versionOfFirst = 13000;
  if (driverVersion < versionOfFirst) {
    file.fileNames[0] = file.fileNames[1];
    file.fileNames[1] = nullptr;
  }
  int32_t status = cuda::openLibrary(file);
  isPresent = file.handle != nullptr;
  if (!isPresent)
    return status;
  cuda::FunctionFinder finder(file.handle);
#define SPARSE_AUTOGRAD_CUBLASLT_FUNCTION(result, name, symbol, parameters)    \
  finder.find(#symbol, library.name);
  SPARSE_AUTOGRAD_CUBLASLT_FUNCTIONS(SPARSE_AUTOGRAD_CUBLASLT_FUNCTION)
#undef SPARSE_AUTOGRAD_CUBLASLT_FUNCTION
  if (const char *missing = finder.getMissing())
    return cuda::failIncomplete(file, missing);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static const char *getRemedy(Status code) {
  switch (code) {
  case notInitialized:
    return ": the driver may be older than the library; "
           "SPARSE_AUTOGRAD_CUBLASLT=none goes without";
  case allocationFailed:
    return "";
  case architectureMismatch:
    return ": the library has no code for this GPU: take a later one";
  case executionFailed:
    return ": if a kernel launched before has failed, CUDA_LAUNCH_BLOCKING=1 "
           "shows which";
  default:
    return ": SPARSE_AUTOGRAD_CUBLASLT=none has kernels of the program compute "
           "products";
  }
}

cuda::LibraryError describe(const Library &library, Status code,
                            const char *function) {
  return {code == allocationFailed, function, library.getStatusName(code),
          library.getStatusString(code), getRemedy(code)};
}

} // namespace cublaslt
} // namespace runtime
} // namespace sparse_autograd
