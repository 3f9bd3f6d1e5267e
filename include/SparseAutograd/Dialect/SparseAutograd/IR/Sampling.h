//===- Sampling.h - elements that are asked for at a pattern ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SAMPLING_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SAMPLING_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd {

/// The op that computes `input`, of dense operands, and could compute elements
/// at a pattern instead. Null if there is none.
mlir::linalg::LinalgOp getSampledProducer(mlir::Value input);

/// Whether `op` copies the elements of a tensor to a pattern, as a `sample`
/// does.
bool isCopyToPattern(SampledGenericOp op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SAMPLING_H
