//===- Libraries.cpp - Libraries of CUDA, loaded at run time ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens a library, and reports what it says.
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"
#include "Device/Failure.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace sparse_autograd {
namespace runtime {
namespace cuda {

int32_t openLibrary(LibraryFile &file) {
  file.handle = nullptr;
  // Never closed: what it has started of CUDA would be left behind.
  file.path = std::getenv(file.variable);
  if (!file.path || !*file.path) {
    for (const char *const *name = file.fileNames; *name && !file.handle;
         ++name)
      file.handle = dlopen(file.path = *name, RTLD_NOW | RTLD_LOCAL);
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  if (std::strcmp(file.path, "none") == 0)
    return SPARSE_AUTOGRAD_SUCCESS;
  file.handle = dlopen(file.path, RTLD_NOW | RTLD_LOCAL);
  if (file.handle)
    return SPARSE_AUTOGRAD_SUCCESS;
  return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "%s cannot be loaded: %s: %s says where it is; unset, it is "
              "looked for, and 'none' goes without",
              file.name, dlerror(), file.variable);
}

void *FunctionFinder::find(const char *name) {
  void *function = dlsym(handle, name);
  if (!function && !missing)
    missing = name;
  return function;
}

int32_t failIncomplete(const LibraryFile &file, const char *function) {
  return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "%s (%s) has no function %s: is it the library of CUDA 12 or 13? "
              "%s=none goes without",
              file.name, file.path, function, file.variable);
}

int32_t failLibraryCall(const LibraryError &error, const char *format, ...) {
  char tried[384];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(tried, sizeof(tried), format, arguments);
  va_end(arguments);
  return fail(error.isMemory ? SPARSE_AUTOGRAD_OUT_OF_MEMORY
                             : SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "%s: %s: %s (%s)%s", tried, error.function,
              error.name ? error.name : "?", error.text ? error.text : "?",
              error.remedy);
}

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd
