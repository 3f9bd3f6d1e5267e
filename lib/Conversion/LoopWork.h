//===- LoopWork.h - what the iterations of a loop cost ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of a loop nest on buffers, computed before it runs. Used by the
// passes that divide loops among threads (ChunkLoops, DistributeScatter).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPWORK_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPWORK_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {

struct LoopWork {
  /// What all iterations cost, in the unit of getCostBesideMemory, an index.
  mlir::Value work;
  /// Whether the entries of rows of a sparse tensor are among them.
  bool visitsEntries;
};

/// Builds the estimate for `loop` where `builder` stands, before it. How many
/// entries the rows have altogether is read from their positions; of what is
/// not known, iterations are alike.
LoopWork computeWork(mlir::ImplicitLocOpBuilder &builder,
                     mlir::scf::ForOp loop);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPWORK_H
