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

/// Where an element comes from: a tensor and a map, or a scalar and no map.
using Source = std::pair<mlir::Value, mlir::AffineMap>;
Source getSource(mlir::Value scalar);

/// A factor of a product.
struct Factor {
  /// Where it is read: by a multiplication, by what divides it, or as a whole.
  mlir::OpOperand *use;
  /// The loops of the body that reads it, from those of the product; null if
  /// it is no element of a tensor.
  mlir::AffineMap map;
  /// What the program's own values are multiplied to before anything else is,
  /// if it is one of those; itself otherwise.
  mlir::Value partial;

  /// Where it comes from, in the loops of the product.
  Source getSource() const;
  /// Whether it is read as often as the product is computed.
  bool isFull() const { return !map || map.isPermutation(); }
  bool isCotangent() const;
  /// The operand of a multiplication that it is, or its negation; null if it is
  /// none.
  mlir::OpOperand *getMultiplied() const;
};

/// An op of a body that computes a part of a product, with the loops of the
/// body as in a factor: it multiplies, negates, divides, or adds something to
/// itself.
struct Step {
  mlir::Operation *op;
  mlir::AffineMap map;
};

/// A term of a cotangent: plus or minus a product of scalars, each a value of
/// the block of the term or of the body of an elementwise op before it.
///
/// Products of f32 and f64 are wide: their factors are looked for in what is
/// broadcast, behind divisions and doublings, and in products of values of the
/// program that nothing else reads. Those of f16 and bf16 are rounded as they
/// are.
struct Product {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<Step> steps;
  mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::fast;
  bool isWide = false;

  bool isNegated() const;
};

/// Whether `value` is a cotangent for nothing but one reader, which is no
/// deeper in loops.
bool isForOneReader(mlir::Value value);

/// The factors of `term`, a cotangent: a scalar for one reader, or a tensor
/// that an elementwise op computes. What else reads is a factor, and so is what
/// the program computes. Empty if nothing is known of `term`.
Product getProduct(mlir::Value term);

/// The op of `tensor` if it computes each element by itself, at the place that
/// it is stored at, of dense tensors alone; null otherwise.
mlir::linalg::GenericOp getElementwise(mlir::Value tensor);

/// The elementwise op that computes what `scalar`, an argument of a body,
/// stands for, if that is a cotangent for this one reader; null otherwise.
mlir::linalg::GenericOp getElementwiseForReader(mlir::Value scalar);

/// The element that the one result of `op` gets.
mlir::Value getYielded(mlir::linalg::GenericOp op);

/// Erases `op` if nothing uses it, and then what it alone used.
void eraseIfDead(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTTERMS_H
