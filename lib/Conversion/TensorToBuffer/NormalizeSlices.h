//===- NormalizeSlices.h - slices that buffers can be made of ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_NORMALIZESLICES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_NORMALIZESLICES_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Brings tensor.extract_slice and tensor.insert_slice to forms whose views
/// MLIR (22.1) can lower: a dimension of size 1 has the stride 1, and what
/// drops dimensions has no other strides. A tensor.pad of nothing, which would
/// become a slice, becomes a tensor.generate.
void populateNormalizeSlicesPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_NORMALIZESLICES_H
