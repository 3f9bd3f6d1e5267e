//===- DeviceProducts.h - contractions for tiles of a device ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LINALGTOLOOPS_DEVICEPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LINALGTOLOOPS_DEVICEPRODUCTS_H

#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Makes the terms of a contraction of buffers one dimension, if they lie so in
/// both factors: those of the gradient of the weights of a layer are the
/// elements of a batch and of a sequence. Returns the contraction that replaces
/// it, or the same one.
Contraction collapseTerms(mlir::RewriterBase &rewriter,
                          const Contraction &contraction);

/// The strategy of tiles that computes a contraction, if one does: of buffers
/// on the device, outside of kernels. Null otherwise; why, and why others do
/// not, is added to `declined`.
const ContractionStrategy *chooseTiles(const Contraction &contraction,
                                       std::string &declined);

/// Emits a contraction before itself as a parallel loop over the elements of
/// its result, each of which is one `inner_product`; the loops of these come in
/// `order`. A fill of the result with zero that nothing else sees is what the
/// sum begins with, and is erased.
void emitInnerProducts(mlir::RewriterBase &rewriter,
                       const Contraction &contraction,
                       mlir::ArrayRef<unsigned> order);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LINALGTOLOOPS_DEVICEPRODUCTS_H
