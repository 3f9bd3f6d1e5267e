//===- Header.h - the functions of a library, declared in C -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_AHEADOFTIME_HEADER_H
#define SPARSEAUTOGRAD_LIB_AHEADOFTIME_HEADER_H

#include "SparseAutograd/Pipelines/Pipelines.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace sparse_autograd {

/// What the header is about, beside the manifest.
struct HeaderOptions {
  llvm::StringRef source;  ///< the file that was compiled
  llvm::StringRef library; ///< the name without an extension
  TargetKind target;
};

/// A header for C11 and C++ that declares what `manifest` lists, each with its
/// arguments and results. It includes the runtime's header and no other.
llvm::Expected<std::string> makeHeader(const llvm::json::Object &manifest,
                                       const HeaderOptions &options);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_AHEADOFTIME_HEADER_H
