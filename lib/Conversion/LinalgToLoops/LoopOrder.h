//===- LoopOrder.h - the order of a nest's loops ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPORDER_H
#define SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPORDER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// The loops of `op`, on memrefs, outermost first: by the cache lines that a
/// loop would touch as the innermost one, most first (the loop cost of Carr,
/// McKinley and Tseng: Compiler optimizations for improving data locality,
/// ASPLOS 1994). Loops of equal cost keep their order, with reductions inside.
llvm::SmallVector<unsigned> chooseLoopOrder(mlir::linalg::LinalgOp op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPORDER_H
