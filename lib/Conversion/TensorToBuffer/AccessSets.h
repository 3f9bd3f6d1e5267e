//===- AccessSets.h - accesses that one-shot analysis compares --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's one-shot analysis compares every access of a buffer with every write
// to it, for each access: it takes time cubic in the accesses of a buffer, and
// quadratic in those of one that is read only. What many layers share would
// make that the time of the whole program. So the accesses of one buffer are
// made those of several before, where they cannot conflict.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_ACCESSSETS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_ACCESSSETS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Has no empty tensor be the destination of many ops, in the order of the
/// program.
void repeatEmpties(mlir::func::FuncOp function);

/// Has no argument of a public function, which is never written, be read by
/// many structured ops and slices: they read several tensors, whose buffer is
/// the same.
void splitArguments(mlir::func::FuncOp function);

/// Gives each long chain of updates of a tensor its buffer, and has every few
/// updates hand it to the next through that buffer.
///
/// A chain starts from an empty tensor or a constant; each of its values but
/// the last has one use, as the destination of an op in the same block: a
/// gradient to which the uses of a parameter add one by one, or into which
/// those of slices are inserted.
mlir::LogicalResult
cutUpdateChains(mlir::func::FuncOp function,
                const mlir::bufferization::BufferizationOptions &options);

/// Remarks how many accesses of one buffer the analysis of `module` has
/// compared with each other, at most.
void remarkLargestAccessSet(
    mlir::ModuleOp module,
    const mlir::bufferization::OneShotAnalysisState &state);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_ACCESSSETS_H
