//===- ExpandMath.h - math ops without a counterpart ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_EXPANDMATH_H
#define SPARSEAUTOGRAD_TRANSFORMS_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Replaces the ops of the math dialect that neither LLVM nor libdevice has and
/// that upstream expands wrongly or not at all by arithmetic: clampf, isinf and
/// isnormal.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_EXPANDMATH_H
