//===- LoopNest.h - the loops of one linalg op ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPNEST_H
#define SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// Emits a linalg op on memrefs as a nest of scf.for.
class LoopNest {
public:
  /// The loops in `order`, outermost first, over the op's whole domain, whose
  /// extents are computed at the builder's insertion point. With
  /// `isForVectors` what is carried in registers has forms that vectorize.
  LoopNest(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> order,
           mlir::OpBuilder &builder, bool isForVectors);

  /// Restricts loop `dimension` to [begin, end).
  void setRange(unsigned dimension, mlir::Value begin, mlir::Value end);

  /// Leaves loop `dimension` out: it is at `index`.
  void setIndex(unsigned dimension, mlir::Value index);

  /// Marks loop `dimension` as parallel: each of its iterations writes to
  /// places of its own, and no loop around it carries anything.
  void setParallel(unsigned dimension);

  /// Writes output `output` to `buffer`, which is of the same shape.
  void setOutput(unsigned output, mlir::Value buffer);

  /// The number of iterations of loop `dimension`.
  mlir::OpFoldResult getExtent(unsigned dimension) const {
    return extents[dimension];
  }

  /// The loops, outermost first.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }

  /// Emits the loops at the builder's insertion point.
  void emit(mlir::OpBuilder &builder);

  /// How an output is kept in a register while loops run that do not index it.
  enum class Form {
    Plain, ///< as it is
    Key,   ///< a maximum or minimum of floats: as an integer (OrderedKey.h)
    Count  ///< an i64 that counts: in the innermost loop as an i32, of which a
           ///< vector holds as many as of floats
  };

  struct Operand {
    mlir::Value buffer;
    mlir::AffineMap map;
    mlir::BlockArgument argument;
    /// How many of the outer loops index it.
    unsigned depth = 0;
    /// Its element, where one is in a register.
    mlir::Value element;
    Form form = Form::Plain;
    /// For another form than the plain one: the op that combines the element
    /// and what it combines it with.
    mlir::Operation *combiner = nullptr;
    mlir::Value combined;
  };

private:
  mlir::SmallVector<mlir::Value> getIndices(const Operand &operand,
                                            mlir::OpBuilder &builder);
  void loadElement(Operand &operand, mlir::OpBuilder &builder);
  void emitLoop(unsigned level, mlir::OpBuilder &builder);
  void emitRange(unsigned level, mlir::Value begin, mlir::Value end,
                 llvm::ArrayRef<Operand *> carried, mlir::OpBuilder &builder);
  void emitCountingLoop(mlir::Value begin, mlir::Value end,
                        llvm::ArrayRef<Operand *> carried,
                        mlir::OpBuilder &builder);
  void chooseForm(Operand &output, unsigned number);
  void emitBody(mlir::OpBuilder &builder);
  unsigned getDepth(mlir::AffineMap map) const;

  mlir::linalg::LinalgOp op;
  llvm::SmallVector<unsigned> order;
  llvm::SmallVector<mlir::OpFoldResult> extents;
  llvm::SmallVector<mlir::OpFoldResult> begins, ends;
  llvm::SmallVector<mlir::Value> inductionVariables;
  /// Of loops that are left out.
  llvm::SmallVector<mlir::Value> fixedIndices;
  llvm::SmallVector<Operand> inputs, outputs;
  std::optional<unsigned> parallelDimension;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_LOOPNEST_H
