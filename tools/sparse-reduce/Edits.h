//===- Edits.h - ways to make a program smaller -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_EDITS_H
#define SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_EDITS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

namespace sparse_autograd {

/// An edit of a module, in units that are numbered: what can be removed.
/// Whether the module is valid afterwards, nobody looks at here.
struct Edit {
  /// What the units are: "operations".
  llvm::StringRef name;
  /// How many there are in a module.
  size_t (*count)(mlir::ModuleOp module);
  /// Removes units [begin, end); false if that is impossible.
  bool (*remove)(mlir::ModuleOp module, size_t begin, size_t end);
};

/// All of them, those that remove most first.
llvm::ArrayRef<Edit> getEdits();

/// How large a module is: less is better. Operations that are no constants, all
/// operations, characters.
std::tuple<size_t, size_t, size_t> getSize(mlir::ModuleOp module);
/// The module as text.
std::string print(mlir::ModuleOp module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_EDITS_H
