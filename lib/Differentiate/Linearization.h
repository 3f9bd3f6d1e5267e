//===- Linearization.h - the tangent of a program ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_LINEARIZATION_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_LINEARIZATION_H

#include "Activity.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

/// Linearizes the blocks of a function, guided by its activity.
class ProgramLinearizer : public Linearizer {
public:
  ProgramLinearizer(mlir::MLIRContext *context, bool reverse,
                    const ActivityAnalysis &activity)
      : Linearizer(context, reverse), activity(activity) {}

  bool isActive(mlir::Value value) const override;
  llvm::LogicalResult linearizeBlock(mlir::Block &block) override;
  llvm::LogicalResult linearizeBlock(mlir::Block &block,
                                     mlir::Block &tangents) override;
  /// The same, with `held` as constants.
  llvm::LogicalResult linearizeBlock(mlir::Block &block, mlir::ValueRange held);
  void noteClones(const mlir::IRMapping &clones) override;
  mlir::Value originOf(mlir::Value value) const override;
  void forget(mlir::Value argument) override;

  /// Uses `replacement` in the place of the tangent `tangent`.
  void replaceTangent(mlir::Value tangent, mlir::Value replacement);

private:
  llvm::LogicalResult linearizeOp(mlir::Operation *op);
  llvm::LogicalResult reportMissingRule(mlir::Operation *op,
                                        mlir::Value operand);
  /// Checks that `op` takes the tangents of what it reads in their formats.
  llvm::LogicalResult checkFormats(mlir::Operation *op);
  /// Notes how `value` comes from an input.
  void attachPath(mlir::InFlightDiagnostic &diagnostic, mlir::Value value);
  /// An op in `op` that writes a value that depends on an input to memory, or
  /// hands it to an effect that no rule knows: the derivative would lose it.
  mlir::Operation *findLostWrite(mlir::Operation *op) const;
  const ActivityAnalysis &activity;
  llvm::DenseMap<mlir::Value, mlir::Value> origins;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_LINEARIZATION_H
