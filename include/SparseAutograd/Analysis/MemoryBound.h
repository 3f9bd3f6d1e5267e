//===- MemoryBound.h - memory that a function takes at most -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The peak of the buffers of a function that are in use together, as sums of
// products of what its arguments store and of their extents. It is asked when
// buffers are allocated and released where they will be, loops are fused and
// storage ops are still ops (--sparse-autograd-bound-memory).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H
#define SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H

#include "SparseAutograd/Analysis/SizeBound.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace sparse_autograd {

/// Bounds the bytes that a call of a function has allocated at one time, its
/// results among them, if the call succeeds.
class MemoryBound {
public:
  /// `arguments` says what the arguments of `function` are, one by one.
  MemoryBound(mlir::func::FuncOp function,
              llvm::ArrayRef<EntryArgument> arguments)
      : function(function), arguments(arguments), sizes(function, arguments) {}

  /// The bound: a sum of products of numbers, of `nnz(k)`, the elements that
  /// the sparse argument k stores, `pattern(k)`, the bytes of its positions and
  /// coordinates, and `dim(k, d)`, extents of argument k; or `max(...)` of
  /// several such sums. Nothing if a size is not known, if a loop keeps what it
  /// allocates, or if a function is called that may allocate.
  /// When the function has ended, `copied` are copied for the caller.
  std::optional<std::string> compute(mlir::ValueRange copied = {});

private:
  /// Follows what is in use through a block, and notes its peaks.
  bool visit(mlir::Block &block, bool isParallel);
  bool visit(mlir::Operation &op, bool isParallel);
  bool visitRegions(mlir::Operation &op, bool isParallel);
  /// Notes that so much more is in use for as long as an op runs.
  bool notePeak(std::optional<SizeBound> more = SizeBound(0));
  void addPeak(SizeBound peak);
  SizeBound replaceLists(const SizeBound &peak);

  mlir::func::FuncOp function;
  llvm::ArrayRef<EntryArgument> arguments;
  SizeBounds sizes;
  SizeBound live;
  /// None of them is at most another.
  llvm::SmallVector<SizeBound> peaks;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H
