//===- SparseAutogradToLinalg.h - sparse_autograd to linalg -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_SPARSEAUTOGRADTOLINALG_SPARSEAUTOGRADTOLINALG_H
#define SPARSEAUTOGRAD_CONVERSION_SPARSEAUTOGRADTOLINALG_SPARSEAUTOGRADTOLINALG_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_CONVERTSPARSEAUTOGRADTOLINALG
#define GEN_PASS_DECL_REMOVEBARRIERS
#include "SparseAutograd/Conversion/Passes.h.inc"

/// Adds the patterns that replace masked_reduce, masked_softmax,
/// masked_log_softmax, random, choose_24, mask_24, grad_mask and stop_gradient,
/// on dense tensors, by ops of arith, math, linalg and tensor. Derivatives must
/// be code by then: grad_mask and stop_gradient become identities.
///
/// The reductions are linalg.generic ops whose combiner applies directly to the
/// accumulator, and which have the input and the mask as operands: a fully
/// masked slice keeps the identity it starts from.
void populateSparseAutogradToLinalgPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_SPARSEAUTOGRADTOLINALG_SPARSEAUTOGRADTOLINALG_H
