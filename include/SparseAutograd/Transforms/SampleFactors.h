//===- SampleFactors.h - factors of what is stored --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_SAMPLEFACTORS_H
#define SPARSEAUTOGRAD_TRANSFORMS_SAMPLEFACTORS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// A product of dense tensors, or what is computed of one element by element,
/// that ops read only where a sparse tensor stores something is sampled there:
/// as X Y in A * (X Y), which becomes a sampled product. Where A stores nothing
/// its zero annihilates what it meets (semantics G1), so nobody misses the
/// rest, which would be dense.
void populateSampleFactorsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_SAMPLEFACTORS_H
