//===- PackedLists.h - the lists of 2:4 tensors to make ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What packing by the runtime, by the compiler and by kernels has in common.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKEDLISTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKEDLISTS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "mlir/Transforms/DialectConversion.h"

namespace sparse_autograd {

/// The components of one tensor to make.
struct PackedLists {
  PackedLists(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::RankedTensorType type, mlir::ArrayRef<mlir::Value> extents);
  /// Those of the result of `op`.
  static PackedLists of(mlir::OpBuilder &builder, Compress24Op op);

  /// All components, of which the first two are `values` and `coordinates`.
  mlir::SmallVector<mlir::Value> getComponents(mlir::Value coordinates,
                                               mlir::Value values) const;

  mlir::RankedTensorType type;
  mlir::SmallVector<mlir::Value> extents;
  /// Groups of a row, and of all rows.
  mlir::Value rowGroups, groups;
  /// Not filled.
  mlir::Value values, coordinates;
};

/// For each set of the elements of a group that are kept, as four bits, the
/// nibble of the metadata, all in one number.
uint64_t getNibbleTable();

/// `op`, and the one after it that stores the same elements in the other order,
/// if there is one: they are packed together.
mlir::SmallVector<Compress24Op> getBothOrders(Compress24Op op);

/// The lowering of compress_24 on a device: by blocks, or by elements.
void populateDevicePacking24Patterns(const mlir::TypeConverter &types,
                                     mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKEDLISTS_H
