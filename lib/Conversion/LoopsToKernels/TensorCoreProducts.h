//===- TensorCoreProducts.h - dense products by tensor cores ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCOREPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCOREPRODUCTS_H

#include "DenseProducts.h"

namespace sparse_autograd {

/// Builds kernels of tiles in place of the nest of a product of f16 or bf16,
/// which is left as it is. Tensor cores add its terms in f32, 16 at a time, in
/// an order and with a rounding that are theirs; what the sum begins with is
/// added last. There are two sizes of tiles, of which the host chooses one.
void createTensorCoreTiles(mlir::RewriterBase &rewriter,
                           const DenseProduct &product);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCOREPRODUCTS_H
