//===- Canonicalize.h - MLIR's canonicalizations that hold ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_CANONICALIZE_H
#define SPARSEAUTOGRAD_TRANSFORMS_CANONICALIZE_H

#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace sparse_autograd {

/// Freezes `patterns`, canonicalizations of MLIR among them, without those with
/// a label of `disabled` and those that change what a program computes, which
/// sound ones replace (`sparse-autograd-canonicalize`), and without the
/// propagation of conditions, for which there is `propagateConditions`. Whoever
/// applies canonicalizations to ops on tensors gets them from here.
mlir::FrozenRewritePatternSet
freezeCanonicalizations(mlir::RewritePatternSet &&patterns,
                        llvm::ArrayRef<std::string> disabled = {});

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_CANONICALIZE_H
