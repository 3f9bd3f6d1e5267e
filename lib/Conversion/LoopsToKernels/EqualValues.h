//===- EqualValues.h - values that assertions say are equal -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_EQUALVALUES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_EQUALVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"

namespace sparse_autograd {

/// What the assertions that the host makes in a function say of integers that
/// nothing else shows to be equal, as the extents of two arguments.
class EqualValues {
public:
  explicit EqualValues(mlir::func::FuncOp function);

  /// Whether two values are one, or whenever `op` is done, assertions before it
  /// have found them to be equal.
  bool areEqual(mlir::Value one, mlir::Value other, mlir::Operation *op,
                const mlir::DominanceInfo &dominance) const;

private:
  struct Equality {
    mlir::Value other;
    mlir::Operation *assertion;
  };

  llvm::DenseMap<mlir::Value, llvm::SmallVector<Equality>> equalities;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_EQUALVALUES_H
