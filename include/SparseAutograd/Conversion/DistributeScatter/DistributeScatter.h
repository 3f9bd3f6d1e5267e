//===- DistributeScatter.h - scatters on several threads --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_DISTRIBUTESCATTER_DISTRIBUTESCATTER_H
#define SPARSEAUTOGRAD_CONVERSION_DISTRIBUTESCATTER_DISTRIBUTESCATTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_DISTRIBUTESCATTER
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_DISTRIBUTESCATTER_DISTRIBUTESCATTER_H
