//===- RowBlocks.h - rows cut into blocks -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FUSION_ROWBLOCKS_H
#define SPARSEAUTOGRAD_FUSION_ROWBLOCKS_H

#include "ExtentArithmetic.h"
#include "SparseAutograd/Fusion/Fusion.h"

namespace sparse_autograd {

/// How the loop cuts one dimension of the rows.
struct RowDimension {
  mlir::OpFoldResult extent;
  /// Rows in a block, but for the last one, which may have fewer.
  mlir::OpFoldResult tile;
  /// A static bound on `tile`.
  int64_t tileBound = 1;
  mlir::OpFoldResult numBlocks;
  /// Inside the loop: where the block starts and how many rows it has.
  mlir::OpFoldResult offset;
  mlir::OpFoldResult size;
};

/// The blocks that a loop over the rows of a group runs over.
struct RowBlocks {
  /// One for each dimension of the rows.
  llvm::SmallVector<RowDimension> rows;
  mlir::OpFoldResult count;

  /// Computes, in the loop, where the block number `block` is.
  void enter(ExtentArithmetic &arith, mlir::Value block);
};

/// Cuts the rows of `group` into blocks of about `blockElements` elements of
/// the widest operand, whole rows at a time. Where the rows are the contiguous
/// dimension of an operand (a reduction of columns) a block has at least a few
/// vectors of them: fewer would use a part of each cache line, and fetch it
/// again. The blocks depend on the extents only.
RowBlocks cutRows(ExtentArithmetic &arith, const RowGroup &group,
                  int64_t blockElements);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_FUSION_ROWBLOCKS_H
