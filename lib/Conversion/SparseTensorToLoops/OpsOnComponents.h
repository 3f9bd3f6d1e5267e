//===- OpsOnComponents.h - ops without loops --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_OPSONCOMPONENTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_OPSONCOMPONENTS_H

#include "mlir/Transforms/DialectConversion.h"

namespace sparse_autograd {

/// Lowers the ops that take sparse tensors apart, put them together or hand
/// them on: what they do is done to components as they are.
void populateOpsOnComponentsPatterns(const mlir::TypeConverter &types,
                                     mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_OPSONCOMPONENTS_H
