//===- StructuredProducts.h - 2:4 products by tensor cores ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_STRUCTUREDPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_STRUCTUREDPRODUCTS_H

#include "DenseProducts.h"

namespace sparse_autograd {

/// Builds kernels of tiles in place of the nest of a product of f16 or bf16 one
/// factor of which stores two of each four terms, which is left as it is.
/// Tensor cores add the stored ones of 32 terms at a time, otherwise as those
/// of dense products do (`createTensorCoreTiles`).
void createStructuredTiles(mlir::RewriterBase &rewriter,
                           const DenseProduct &product);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_STRUCTUREDPRODUCTS_H
