//===- EntryAttributes.h - what passes tell of entries ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discardable attributes of the dialect by which passes tell the one that
// records the manifest what functions are to their callers. Programs do not
// have them (OperationAttributes.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_ENTRYATTRIBUTES_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_ENTRYATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace sparse_autograd {

/// Of the two functions that a `split_vjp` defines: a dictionary of the names
/// `primal`, `forward` and `backward`, the numbers `wrt` of the arguments that
/// have gradients, the numbers `cotangents` of the results that have
/// cotangents, and how many `residuals` there are.
inline constexpr llvm::StringLiteral splitAttributeName =
    "sparse_autograd.split";

/// Of a public function that returns gradients of its own arguments: the number
/// of such a result and that of the argument, for one after the other.
inline constexpr llvm::StringLiteral gradientsAttributeName =
    "sparse_autograd.gradients";

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_ENTRYATTRIBUTES_H
