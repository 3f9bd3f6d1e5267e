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

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace sparse_autograd {
namespace runtime {
namespace cublaslt {

static constexpr const char *variable = "SPARSE_AUTOGRAD_CUBLASLT";

/// Finds all functions of the library; the name of the first that it lacks is
/// returned, or null.
static const char *findFunctions(void *handle, Library &library) {
  const char *missing = nullptr;
#define SPARSE_AUTOGRAD_CUBLASLT_FUNCTION(result, name, symbol, parameters)    \
  library.name =                                                               \
      reinterpret_cast<decltype(library.name)>(dlsym(handle, #symbol));        \
  if (!library.name && !missing)                                               \
    missing = #symbol;
  SPARSE_AUTOGRAD_CUBLASLT_FUNCTIONS(SPARSE_AUTOGRAD_CUBLASLT_FUNCTION)
#undef SPARSE_AUTOGRAD_CUBLASLT_FUNCTION
  return missing;
}

int32_t loadLibrary(int driverVersion, Library &library, bool &isPresent) {
  isPresent = false;
  const char *path = std::getenv(variable);
  // Never unloaded: what it has started of CUDA would be left behind.
  void *handle = nullptr;
  if (path && *path) {
    if (std::strcmp(path, "none") == 0)
      return SPARSE_AUTOGRAD_SUCCESS;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                  "cuBLASLt cannot be loaded: %s: %s says where it is; unset, "
                  "it is looked for, and 'none' goes without",
                  dlerror(), variable);
  } else {
    // A library needs a driver of its own major version, or a later one.
    constexpr const char *names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    constexpr int versionOfFirst = 13000;
    for (int i = driverVersion < versionOfFirst ? 1 : 0; i < 2 && !handle; ++i)
      handle = dlopen(path = names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return SPARSE_AUTOGRAD_SUCCESS;
  }
  library = {};
  if (const char *missing = findFunctions(handle, library))
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "cuBLASLt (%s) has no function %s: is it the library of CUDA "
                "12 or 13? %s=none goes without",
                path, missing, variable);
  isPresent = true;
  return SPARSE_AUTOGRAD_SUCCESS;
}

static const char *getRemedy(Status code) {
  switch (code) {
  case notInitialized:
    return ": does the driver support the CUDA version of the library?";
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

int32_t failCall(const Library &library, Status code, const char *function,
                 const char *format, ...) {
  char tried[384];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(tried, sizeof(tried), format, arguments);
  va_end(arguments);
  const char *name = library.getStatusName(code);
  const char *text = library.getStatusString(code);
  return fail(code == allocationFailed ? SPARSE_AUTOGRAD_OUT_OF_MEMORY
                                       : SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "%s: %s: %s (%s)%s", tried, function, name ? name : "?",
              text ? text : "?", getRemedy(code));
}

} // namespace cublaslt
} // namespace runtime
} // namespace sparse_autograd
