//===- CuSparse.cpp - cuSPARSE, loaded at run time --------------*- C++ -*-===//
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

#include "CuSparse.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <dlfcn.h>

namespace sparse_autograd {
namespace runtime {
namespace cusparse {

/// Finds all functions of the library; the name of the first that it lacks is
/// returned, or null.
static const char *findFunctions(void *handle, Library &library) {
  const char *missing = nullptr;
#define SPARSE_AUTOGRAD_CUSPARSE_FUNCTION(result, name, symbol, parameters)    \
  library.name =                                                               \
      reinterpret_cast<decltype(library.name)>(dlsym(handle, #symbol));        \
  if (!library.name && !missing)                                               \
    missing = #symbol;
  SPARSE_AUTOGRAD_CUSPARSE_FUNCTIONS(SPARSE_AUTOGRAD_CUSPARSE_FUNCTION)
#undef SPARSE_AUTOGRAD_CUSPARSE_FUNCTION
  return missing;
}

int32_t loadLibrary(Library &library, bool &isPresent) {
  cuda::LibraryFile file = {"cuSPARSE",
                            "SPARSE_AUTOGRAD_CUSPARSE",
                            {"libcusparse.so.12", nullptr, nullptr},
                            nullptr,
                            nullptr};
  int32_t status = cuda::openLibrary(file);
  isPresent = file.handle != nullptr;
  if (!isPresent)
    return status;
  if (const char *missing = findFunctions(file.handle, library))
    return cuda::failIncomplete(file, missing);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static const char *getRemedy(Status code) {
  switch (code) {
  case notInitialized:
    return ": the driver may be older than the library; "
           "SPARSE_AUTOGRAD_CUSPARSE=none goes without";
  case allocationFailed:
  case insufficientResources:
    return "";
  case architectureMismatch:
    return ": the library has no code for this GPU: take a later one";
  case executionFailed:
    return ": if a kernel launched before has failed, CUDA_LAUNCH_BLOCKING=1 "
           "shows which";
  default:
    return ": SPARSE_AUTOGRAD_CUSPARSE=none has kernels of the program compute "
           "products";
  }
}

cuda::LibraryError describe(const Library &library, Status code,
                            const char *function) {
  return {code == allocationFailed || code == insufficientResources, function,
          library.getErrorName(code), library.getErrorString(code),
          getRemedy(code)};
}

} // namespace cusparse
} // namespace runtime
} // namespace sparse_autograd
