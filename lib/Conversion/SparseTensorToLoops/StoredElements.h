//===- StoredElements.h - loops over what one tensor stores -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STOREDELEMENTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STOREDELEMENTS_H

#include "SparseStorage.h"

namespace sparse_autograd {

/// The coordinates `offset + i * stride` of a dimension, for i below `size`.
struct Window {
  mlir::Value offset, size;
  int64_t stride = 1;
};

/// Elements that a tensor stores.
struct StoredElements {
  SparseStorage storage;
  /// One for each dimension, or none for all elements.
  llvm::SmallVector<Window> windows = {};
  /// Whether the elements are those outside of the windows.
  bool isOutside = false;
};

/// Builds what is done with the element at `coordinates`, at `position` among
/// the values, in the innermost loop. Returns what is carried on.
using ElementBuilder = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &builder, mlir::ValueRange coordinates,
    mlir::Value position, mlir::ValueRange carried)>;

/// Visits `elements` in the order in which they are stored. The loop over a
/// dense level, or over the first one, is one over the window; in others, a
/// dimension is compared with its window as soon as its coordinate is known.
/// Returns what is carried in the end.
llvm::SmallVector<mlir::Value>
visitStoredElements(mlir::OpBuilder &builder, mlir::Location loc,
                    const StoredElements &elements, mlir::ValueRange carried,
                    ElementBuilder visit);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STOREDELEMENTS_H
