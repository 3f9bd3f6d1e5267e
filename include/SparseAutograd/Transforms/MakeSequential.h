//===- MakeSequential.h - parallel loops as nested ones ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_MAKESEQUENTIAL_H
#define SPARSEAUTOGRAD_TRANSFORMS_MAKESEQUENTIAL_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// Replaces `loop` by nested scf.for; its reductions are carried by them.
void makeSequential(mlir::RewriterBase &rewriter, mlir::scf::ParallelOp loop);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_MAKESEQUENTIAL_H
