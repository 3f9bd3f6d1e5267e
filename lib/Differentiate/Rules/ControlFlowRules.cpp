//===- ControlFlowRules.cpp - derivatives of loops and branches -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward mode carries tangents beside the primal values. For reverse mode the
// tangent of an op with regions is an op of its own, which computes the primal
// regions again; its transpose runs them backward.
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

SmallVector<Operation *> sparse_autograd::getPrimalOps(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() != 0 || isMemoryEffectFree(&op))
      ops.push_back(&op);
  return ops;
}

SmallVector<unsigned>
sparse_autograd::getActiveResults(Operation *op, const Linearizer &linearizer) {
  SmallVector<unsigned> active;
  for (OpResult result : op->getResults())
    if (linearizer.isActive(result))
      active.push_back(result.getResultNumber());
  return active;
}

SmallVector<Value>
sparse_autograd::capturedLinearValues(MutableArrayRef<Region> regions,
                                      const Transposer &transposer) {
  llvm::SetVector<Value> captured = getCapturedValues(regions);
  return llvm::to_vector(llvm::make_filter_range(
      captured, [&](Value value) { return transposer.isLinear(value); }));
}

SmallVector<Value>
sparse_autograd::createForwardedTangents(Block &block, unsigned firstOperand,
                                         ArrayRef<unsigned> active,
                                         Linearizer &linearizer) {
  OpBuilder::InsertionGuard guard(linearizer.builder);
  Operation *terminator = block.getTerminator();
  linearizer.builder.setInsertionPoint(terminator);
  return llvm::map_to_vector(active, [&](unsigned index) {
    return tangentOrZero(linearizer,
                         terminator->getOperand(firstOperand + index),
                         terminator->getLoc());
  });
}

bool sparse_autograd::isProgramInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

Reach sparse_autograd::currentReachOf(Transposer &transposer, Value value) {
  if (!transposer.current(value))
    return Reach::Nowhere;
  return !isProgramInput(value) && transposer.currentSupport(value)
             ? Reach::Part
             : Reach::Whole;
}

Reach sparse_autograd::reachOf(Transposer &transposer, Value value) {
  return transposer.unroundedCotangent(value)
             ? currentReachOf(transposer, value)
             : Reach::Nowhere;
}

void sparse_autograd::registerControlFlowDerivativeRules(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachExecuteRegionRule(*context);
    attachForRule(*context);
    attachIfRule(*context);
    attachWhileRule(*context);
  });
}
