//===- ExpandAccumulate.h - sums of several formats -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_EXPANDACCUMULATE_H
#define SPARSEAUTOGRAD_TRANSFORMS_EXPANDACCUMULATE_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Replaces `sparse_autograd.accumulate` by one `linalg.generic` over all of
/// its operands, whose destination is the first dense one, if there is one.
void populateExpandAccumulatePatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_EXPANDACCUMULATE_H
