//===- Libraries.h - Libraries of CUDA, loaded at run time ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the driver and the libraries that the runtime uses have in common.
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_LIBRARIES_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_LIBRARIES_H

#include <cstdint>

namespace sparse_autograd {
namespace runtime {
namespace cuda {

/// A library, and where it is looked for.
struct LibraryFile {
  const char *name;     ///< in messages
  const char *variable; ///< of the environment: a path, or "none"
  /// File names, the one to be preferred first; null at the end.
  const char *fileNames[3];
  const char *path; ///< of the file that was opened
  void *handle;     ///< null: there is none, or none is wanted
};

/// Opens the file; it stays open. Fails, as Failure.h says, if the environment
/// names one that cannot be opened.
int32_t openLibrary(LibraryFile &file);

/// Finds functions of a library that was opened.
class FunctionFinder {
public:
  explicit FunctionFinder(void *handle) : handle(handle) {}

  /// Null if there is none of that name.
  template <typename Function>
  void find(const char *name, Function *&function) {
    function = reinterpret_cast<Function *>(find(name));
  }

  /// The first that was not found, or null.
  const char *getMissing() const { return missing; }

private:
  void *find(const char *name);

  void *handle;
  const char *missing = nullptr;
};

/// Fails because the file lacks a function.
int32_t failIncomplete(const LibraryFile &file, const char *function);

/// What a library has said about a call.
struct LibraryError {
  bool isMemory; ///< there is none
  const char *function;
  const char *name; ///< of the error; may be null, as the text
  const char *text;
  const char *remedy; ///< ": do this", or ""
};

/// Fails because of that. What was tried is a text as of printf.
[[gnu::format(printf, 2, 3)]] int32_t failLibraryCall(const LibraryError &error,
                                                      const char *format, ...);

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_LIBRARIES_H
