//===- DefaultArguments.h - numbers that a caller may leave out -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_DEFAULTARGUMENTS_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_DEFAULTARGUMENTS_H

#include "llvm/ADT/StringRef.h"

namespace sparse_autograd {

/// The attribute of an argument that is a number: its value where tools are
/// given none. The manifest records it; entries themselves take all arguments.
inline constexpr llvm::StringLiteral defaultAttrName =
    "sparse_autograd.default";

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_DEFAULTARGUMENTS_H
