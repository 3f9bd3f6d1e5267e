//===- Builders.h - tensors that derivative rules build -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What derivative rules build again and again: zeros, elementwise results, and
// selections by the support of a cotangent.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_BUILDERS_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_BUILDERS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

/// The sum of two floats or tensors of floats; two sparse tensors have the same
/// pattern.
mlir::Value createSum(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value a, mlir::Value b);

/// `value` where `support` selects, zero elsewhere; `value` itself for the
/// support that is everywhere. `value` is a float or a tensor of floats. Its
/// extents are read from `like`, which is `value` unless given: a rule that
/// selects a tangent gives the primal.
mlir::Value selectUnder(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, const Support &support,
                        mlir::Value like = {});

/// The conjunction of two supports of `value`, materialised if both restrict.
Support intersectSupports(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, const Support &a,
                          const Support &b);

/// The union of two supports of `value`; everywhere if one of them is.
Support uniteSupports(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, const Support &a, const Support &b);

/// A mask of the shape of `like` (an i1, or a tensor of i1) that selects all of
/// it or nothing.
mlir::Value createMask(mlir::OpBuilder &builder, mlir::Location loc,
                       bool selects, mlir::Value like);

/// Whether `mask`, a tensor of i1, selects anything along its dimensions
/// `dims`, for each position in the others: a tensor of i1 over these, in their
/// order.
mlir::Value createAny(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value mask, llvm::ArrayRef<int64_t> dims);

/// `support` as a mask of the shape of `value`, which it is a support of.
mlir::Value materializeMask(mlir::OpBuilder &builder, mlir::Location loc,
                            const Support &support, mlir::Value value);

/// A zero of the type of `like` (a float, or a ranked tensor of floats); its
/// dynamic extents, and its pattern, are those of `like`.
mlir::Value createZero(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value like);

/// Likewise, with elements of `elementType`.
mlir::Value createZero(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value like, mlir::Type elementType);

/// The tangent of `primal`, built as a zero where there is none.
mlir::Value tangentOrZero(Linearizer &linearizer, mlir::Value primal,
                          mlir::Location loc);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_BUILDERS_H
