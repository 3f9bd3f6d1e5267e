//===- AheadOfTime.h - a file to a library for C ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a file of MLIR to a shared object, or an object file, and a header that
// declares its functions for C and C++. What is made needs the runtime library
// and the C library: libc, libm, and libmvec where a loop calls an elementary
// function (CompileOptions::vectorLibrary); nothing of LLVM or MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_AHEADOFTIME_AHEADOFTIME_H
#define SPARSEAUTOGRAD_AHEADOFTIME_AHEADOFTIME_H

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "llvm/Support/Error.h"
#include <string>

namespace sparse_autograd {

/// What is written beside the header.
enum class OutputKind {
  SharedObject, ///< NAME.so
  Object        ///< NAME.o
};

/// What to compile, and how.
struct LibraryOptions {
  std::string file;
  /// The path of what is written, without the extension; its last component
  /// begins the names of the functions in C.
  std::string name;
  OutputKind kind = OutputKind::SharedObject;
  PipelineOptions pipeline;
  /// The processor and its features are those of the pipeline.
  CompileOptions compile;
  /// The C compiler that links: a path, or a name that is looked up in PATH;
  /// empty: the one that was found when this library was configured.
  std::string linker;
  /// Where to write the program and the passes if one of them fails or crashes;
  /// empty: nowhere.
  std::string crashReproducer;
};

/// Compiles the file and writes NAME.so or NAME.o, and NAME.h. Both files
/// appear whole, or neither does. Diagnostics of the compiler go to the
/// standard error stream; the error is then a `DiagnosedError`.
///
/// What is unloaded (dlclose) has its kernels unloaded from all devices. A
/// shared object looks for the runtime beside itself, then where this process
/// has it.
llvm::Error compileLibrary(const LibraryOptions &options);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_AHEADOFTIME_AHEADOFTIME_H
