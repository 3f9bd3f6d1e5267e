//===- ColumnHalves.h - loops on half of the columns ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clones of a loop whose vectors are columns of rows, for half of the lanes of
// each vector. Two threads that run one clone each share no place that is
// written, and read no coordinate that they do not need. Used by
// DistributeScatter.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_COLUMNHALVES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_COLUMNHALVES_H

#include "Scatter.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {

/// Whether the columns of `scatter` have halves: strips, or vectors without
/// masks, each lane of which is computed from the same lane of others and from
/// scalars, and half of which is worth a pass over the entries.
bool hasColumnHalves(const Scatter &scatter);

/// Clones the loop of `scatter` where `builder` stands for one half of the
/// columns: the first if the index `half` is 0, the second if it is 1. Half of
/// the lanes of each vector, or every other strip where vectors are short.
void cloneColumnHalf(mlir::ImplicitLocOpBuilder &builder,
                     const Scatter &scatter, mlir::Value half);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_COLUMNHALVES_H
