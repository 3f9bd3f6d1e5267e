//===- CotangentTerms.h - cotangents as products ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What transposition has made, told by its marks, read as products of scalars.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTTERMS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTTERMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A term of a cotangent: plus or minus a product of scalars, each a value of
/// the block of the term or of the body of an elementwise op before it.
struct Product {
  llvm::SmallVector<mlir::Value> factors;
  bool isNegated = false;
  mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::fast;
};

/// The factors of `term`, a cotangent: a scalar, or a tensor that an
/// elementwise op computes for its one reader. What else reads is a factor, and
/// so is what the program computes. Empty if nothing is known of `term`.
Product getProduct(mlir::Value term);

/// Where an element comes from: a tensor and a map, or a scalar and no map.
using Source = std::pair<mlir::Value, mlir::AffineMap>;
Source getSource(mlir::Value scalar);

/// The op of `tensor` if it computes each element by itself, at the place that
/// it is stored at, of dense tensors alone; null otherwise.
mlir::linalg::GenericOp getElementwise(mlir::Value tensor);

/// The element that the one result of `op` gets.
mlir::Value getYielded(mlir::linalg::GenericOp op);

/// Erases `op` if nothing uses it, and then what it alone used.
void eraseIfDead(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTTERMS_H
