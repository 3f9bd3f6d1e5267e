//===- FloatsToF64.h - the f64 form of a program ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_FLOATSTOF64_FLOATSTOF64_H
#define SPARSEAUTOGRAD_CONVERSION_FLOATSTOF64_FLOATSTOF64_H

#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_FLOATSTOF64
#include "SparseAutograd/Conversion/Passes.h.inc"

/// The unit roundoff of the narrowest float that a value below `root` has:
/// 2^-53 if that is f64, or if there is none.
double getLargestRoundoff(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_FLOATSTOF64_FLOATSTOF64_H
