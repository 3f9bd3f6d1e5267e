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
#include "SparseAutograd/Runtime/DeviceABI.h"

#include <limits>

namespace sparse_autograd {
namespace runtime {
namespace cusparse {

int getIndexType(int32_t index) {
  return index == SPARSE_AUTOGRAD_TENSOR_I32 ? indices32 : indices64;
}

bool fitsIndex(int32_t index, int64_t number) {
  return index == SPARSE_AUTOGRAD_TENSOR_I64 ||
         (index == SPARSE_AUTOGRAD_TENSOR_I32 &&
          number <= std::numeric_limits<int32_t>::max());
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
  cuda::FunctionFinder finder(file.handle);
#define SPARSE_AUTOGRAD_CUSPARSE_FUNCTION(result, name, symbol, parameters)    \
  finder.find(#symbol, library.name);
  SPARSE_AUTOGRAD_CUSPARSE_FUNCTIONS(SPARSE_AUTOGRAD_CUSPARSE_FUNCTION)
#undef SPARSE_AUTOGRAD_CUSPARSE_FUNCTION
  if (const char *missing = finder.getMissing())
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
