//===- KeptValues.h - what regions keep for their transposes ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_KEPTVALUES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_KEPTVALUES_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

class SparsePatterns;

/// A value of a primal region, and what the tangent of the region has of it
/// until it is handed what was kept: another value, which computes it again, or
/// the value itself.
struct KeptValue {
  mlir::Value primal, counterpart;
};

/// What a loop carries: an argument of its body, its counterpart, and what is
/// yielded for it, which can be kept with it at no cost.
struct CarriedValue {
  mlir::Value argument, counterpart, yielded;
};

/// Whether `value`, which a region of `op` computes, can be kept: a number, a
/// tensor of extents that are known before `op`, or a sparse tensor of a
/// pattern that is.
bool canBeKept(mlir::Operation *op, mlir::Value value,
               SparsePatterns &patterns);

/// A value from outside of `op` with the pattern of the sparse `value`, which a
/// region of `op` computes; null if there is none. What is kept of `value` is
/// the list of its values.
mlir::Value getOuterPattern(mlir::Operation *op, mlir::Value value,
                            SparsePatterns &patterns);

/// The values of the sparse tensor `value` as a list.
mlir::Value createStoredValues(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value value);

/// What the block `primal` keeps for the transpose of its tangent `tangent`:
/// the cheapest choice (ResidualPlan). `tangent` is a block that computes all
/// values of `primal` again or, if `readsPrimal`, reads them where they are.
/// Linear are in it the values `inputs` and the tangents that it reads from
/// outside.
llvm::SmallVector<KeptValue>
chooseKeptValues(mlir::Block &primal, mlir::Block &tangent,
                 mlir::ValueRange inputs, llvm::ArrayRef<CarriedValue> carried,
                 const Linearizer &linearizer, bool readsPrimal);

/// Separates `tangent`, a block that reads values of the block `primal`, from
/// it: what `kept` maps to other values is read from those, and the rest is
/// computed again at `builder`, in `tangent` before what reads it.
void separate(mlir::Block &primal, mlir::Block &tangent, mlir::IRMapping kept,
              mlir::OpBuilder &builder, Linearizer &linearizer);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_KEPTVALUES_H
