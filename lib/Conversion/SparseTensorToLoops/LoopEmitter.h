//===- LoopEmitter.h - the loops of one plan --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the steps of a LoopPlan as scf loops around what a LoopBody does. Used
// by SparseLoops alone.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPEMITTER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPEMITTER_H

#include "LoopPlan.h"
#include "SparseLoops.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// What differs between the iterations of `step`, if it is the outermost.
OutermostLoop describeOutermost(const SparseLoops &loops, const LoopStep &step,
                                mlir::MLIRContext *context);

/// Builds the loops of one plan.
class LoopEmitter {
public:
  LoopEmitter(mlir::OpBuilder &builder, mlir::Location loc,
              const SparseLoops &loops, const LoopPlan &plan,
              llvm::ArrayRef<unsigned> missing, LoopBody &body)
      : builder(builder), loc(loc), loops(loops), steps(plan.getSteps()),
        vectorForm(plan.getVectorForm()), missing(missing), body(body) {}

  llvm::SmallVector<mlir::Value> emit(unsigned step, VisitedElement element,
                                      mlir::ValueRange carried);

  /// Whether a loop that has been emitted is parallel.
  bool hasParallelLoop() const { return hasParallel; }

private:
  llvm::SmallVector<mlir::Value>
  emitIterate(unsigned step, VisitedElement element, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value>
  emitLocate(unsigned step, VisitedElement element, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> emitBind(unsigned step, VisitedElement element,
                                          mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> emitCompare(unsigned step,
                                             const VisitedElement &element,
                                             mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value>
  emitDense(unsigned step, VisitedElement element, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value>
  emitVector(unsigned step, VisitedElement element, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> visit(const VisitedElement &element,
                                       unsigned nextMissing,
                                       mlir::ValueRange carried);
  using Inside = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value>
  emitLoop(const VisitedElement &element, unsigned step, mlir::Value begin,
           mlir::Value end, mlir::ValueRange carried, Inside inside);
  llvm::SmallVector<mlir::Value> emitCondition(mlir::Value condition,
                                               unsigned next,
                                               const VisitedElement &element,
                                               mlir::ValueRange carried);
  bool visitsAllEntries(const LoopStep &step) const;
  bool waitsForSums(const VisitedElement &element, const LoopStep &step,
                    mlir::ValueRange carried) const;
  mlir::scf::ForOp emitFor(mlir::Value begin, mlir::Value end,
                           mlir::ValueRange carried, Inside inside,
                           int64_t step = 1);
  mlir::scf::ForOp emitPairs(mlir::Value begin, mlir::Value end,
                             mlir::ValueRange carried, Inside inside);
  mlir::Value apply(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> dims) {
    return mlir::affine::expandAffineExpr(builder, loc, expr, dims, {});
  }
  /// The coordinate of a dimension whose levels are all behind.
  mlir::Value getDimCoordinate(const VisitedElement &element,
                               const LoopStep &step);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const SparseLoops &loops;
  llvm::ArrayRef<LoopStep> steps;
  const VectorForm &vectorForm;
  llvm::ArrayRef<unsigned> missing;
  LoopBody &body;
  bool isInLoop = false;
  bool isInParallelLoop = false;
  bool hasParallel = false;
  bool isInCondition = false;
  /// The coordinates of the levels of each operand that are behind.
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Value>> levelCoordinates;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPEMITTER_H
