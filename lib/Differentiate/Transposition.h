//===- Transposition.h - the transpose of a linear program ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSITION_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSITION_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "llvm/ADT/SetVector.h"

namespace sparse_autograd {

/// Transposes the linear ops of one block.
class BlockTransposer : public Transposer {
public:
  /// A transposer for the linear ops that stand in `block` now, with linear
  /// inputs `inputs`. It builds at `builder`, in the same block.
  BlockTransposer(mlir::OpBuilder builder, mlir::Block &block,
                  mlir::ValueRange inputs, const Linearizer &linearizer);

  bool isLinear(mlir::Value value) const override;
  mlir::Value primal(mlir::Value value) const override;
  mlir::Value cotangent(mlir::Value value) override;
  mlir::Value unroundedCotangent(mlir::Value value) override;
  Support support(mlir::Value value) const override;
  void accumulate(mlir::Value value, mlir::Value contribution,
                  const Support &support = {},
                  bool isSelected = false) override;
  void startFrom(mlir::Value value, mlir::Value start,
                 const Support &support) override;
  mlir::Value current(mlir::Value value) override;
  Support currentSupport(mlir::Value value) const override;
  void replaceCurrent(mlir::Value value, mlir::Value cotangent,
                      const Support &support) override;
  mlir::Value shapeOf(mlir::Value value) override;
  std::unique_ptr<Transposer> createNested(mlir::OpBuilder builder,
                                           mlir::Block &block,
                                           mlir::ValueRange inputs,
                                           mlir::IRMapping mapping) override;
  llvm::LogicalResult run() override;

  /// The linear ops of the block, in order.
  llvm::ArrayRef<mlir::Operation *> getLinearOps() const { return linearOps; }

private:
  /// A cotangent as it stands: until `isSelected`, `value` may hold anything
  /// outside `support`.
  struct Cotangent {
    mlir::Value value;
    Support support;
    bool isSelected = true;
    /// `value` in the type of what it is the cotangent of, once that was asked
    /// for.
    mlir::Value rounded = {};
  };

  BlockTransposer(mlir::OpBuilder builder, mlir::Block &block,
                  mlir::ValueRange inputs, mlir::IRMapping mapping,
                  const BlockTransposer &parent);
  void findLinearOps(mlir::Block &block, mlir::ValueRange inputs);
  bool isLinearOp(mlir::Operation *op) const;
  void cloneNonlinearOp(mlir::Operation *op);
  mlir::Value selected(Cotangent &cotangent);
  /// The sum of two cotangents of the linear value `value`.
  mlir::Value sum(mlir::Value value, mlir::Value a, mlir::Value b);

  const Linearizer &linearizer;
  const BlockTransposer *parent = nullptr;
  mlir::IRMapping mapping;
  llvm::DenseSet<mlir::Value> linear;
  llvm::SmallVector<mlir::Operation *> linearOps;
  llvm::DenseMap<mlir::Value, Cotangent> cotangents;
  /// What cotangents start from, of values that have none yet.
  llvm::DenseMap<mlir::Value, Cotangent> starts;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSITION_H
