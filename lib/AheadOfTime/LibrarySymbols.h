//===- LibrarySymbols.h - what a library shows and does by itself -*- C++ -*-=//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_AHEADOFTIME_LIBRARYSYMBOLS_H
#define SPARSEAUTOGRAD_LIB_AHEADOFTIME_LIBRARYSYMBOLS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace sparse_autograd {

/// `text` with `_` in place of all that an identifier of C cannot have.
std::string makeIdentifier(llvm::StringRef text);

/// Gives the entries of `module`, which is in the LLVM dialect, names that C
/// can call: `<library>_<function>`, with a number where two would be the same.
/// They are the only symbols of the entries, so that programs with equal
/// functions can be linked together. The manifest of the code is changed to
/// say so, and returned.
llvm::Expected<llvm::json::Object> nameEntries(mlir::ModuleOp module,
                                               llvm::StringRef library);

/// Has the images of `module`, if there are any, unloaded when its code is.
void unloadImagesAtEnd(mlir::ModuleOp module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_AHEADOFTIME_LIBRARYSYMBOLS_H
