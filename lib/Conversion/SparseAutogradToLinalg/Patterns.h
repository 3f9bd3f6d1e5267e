//===- Patterns.h - what the files of this conversion share -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_PATTERNS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

void populateMaskedReducePatterns(mlir::RewritePatternSet &patterns);
void populateMaskedSoftmaxPatterns(mlir::RewritePatternSet &patterns);
/// Sums and products of f16 and bf16 by linalg run in f32 and are rounded once.
void populateNarrowSumsPatterns(mlir::RewritePatternSet &patterns);
void populateRandomPatterns(mlir::RewritePatternSet &patterns);
/// 2:4 selections become choices, masks of them and selects of elements;
/// choices and masks become loops.
void populateExpandSelectionPatterns(mlir::RewritePatternSet &patterns);
void populateSelectionPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_PATTERNS_H
