//===- VectorizeEntries.h - entries of rows in vectors ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_VECTORIZEENTRIES_VECTORIZEENTRIES_H
#define SPARSEAUTOGRAD_CONVERSION_VECTORIZEENTRIES_VECTORIZEENTRIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_VECTORIZEENTRIES
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_VECTORIZEENTRIES_VECTORIZEENTRIES_H
