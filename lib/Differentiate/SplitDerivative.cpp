//===- SplitDerivative.cpp - a derivative in two functions ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitDerivative.h"

#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Analysis/ResidualCost.h"
#include "SparseAutograd/Analysis/ResidualPlan.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A joint derivative, as the graph of what its backward part needs.
class DerivativeSplitter {
public:
  DerivativeSplitter(func::FuncOp joint, unsigned numArguments,
                     unsigned numResults);

  /// Decides what is kept.
  void choose(std::optional<int64_t> budget);

  void buildForward(func::FuncOp forward);
  void buildBackward(func::FuncOp backward);
  SmallVector<Type> getResidualTypes() const {
    return llvm::to_vector(ValueRange(residuals).getTypes());
  }

private:
  bool isLate(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == &body &&
             argument.getArgNumber() >= numArguments;
    return late.contains(value.getDefiningOp());
  }

  func::FuncOp joint;
  Block &body;
  unsigned numArguments, numResults;
  /// The ops that depend on a cotangent, and the others.
  llvm::DenseSet<Operation *> late;
  SmallVector<Operation *> early;
  ResidualPlan plan;
  SmallVector<Value> residuals;
};

} // namespace

DerivativeSplitter::DerivativeSplitter(func::FuncOp joint,
                                       unsigned numArguments,
                                       unsigned numResults)
    : joint(joint), body(joint.getBody().front()), numArguments(numArguments),
      numResults(numResults), plan(&joint.getBody()) {
  auto getSize = [](Value value) { return estimateBytes(value.getType()); };
  for (BlockArgument argument : body.getArguments().take_front(numArguments))
    plan.addInput(argument, getSize(argument));
  auto need = [&](Value value) { plan.need(value); };
  for (Operation &op : body.without_terminator()) {
    llvm::SetVector<Value> used = getReadValues(&op);
    if (llvm::any_of(used, [&](Value value) { return isLate(value); })) {
      late.insert(&op);
      llvm::for_each(used, need);
    } else {
      early.push_back(&op);
      plan.addOperation(&op, getSize);
    }
  }
  llvm::for_each(body.getTerminator()->getOperands().drop_front(numResults),
                 need);
}

void DerivativeSplitter::choose(std::optional<int64_t> budget) {
  // A byte that costs more is kept less often. At 2^20 nothing is kept for its
  // cost.
  int64_t weight = costOfKeptByte;
  plan.choose(weight);
  for (int doubling = 0; budget && plan.getSize() > *budget && doubling < 20;
       ++doubling) {
    weight *= 2;
    plan.choose(weight);
  }
  if (budget && plan.getSize() > *budget)
    emitWarning(joint.getLoc())
        << "the residuals of '" << joint.getSymName() << "' take "
        << plan.getSize() << " bytes at least, more than the budget of "
        << *budget << "; put what need not be kept into a "
        << CheckpointOp::getOperationName();
  residuals = plan.getKept();
  plan.remark(joint.getSymName());
}

/// Sets the type of a declaration and gives it a body.
static Block *define(func::FuncOp function, TypeRange inputs, TypeRange results,
                     Location loc) {
  function.setType(FunctionType::get(function.getContext(), inputs, results));
  Block *block = function.addEntryBlock();
  for (BlockArgument argument : block->getArguments())
    argument.setLoc(loc);
  return block;
}

void DerivativeSplitter::buildForward(func::FuncOp forward) {
  ValueRange results =
      body.getTerminator()->getOperands().take_front(numResults);
  SmallVector<Value> returned(results);
  llvm::append_range(returned, residuals);
  Block *block = define(
      forward, TypeRange(body.getArgumentTypes()).take_front(numArguments),
      TypeRange(ValueRange(returned)), joint.getLoc());
  IRMapping mapping;
  mapping.map(body.getArguments().take_front(numArguments),
              block->getArguments());
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  for (Operation *op : early)
    builder.clone(*op, mapping);
  func::ReturnOp::create(builder, joint.getLoc(),
                         llvm::map_to_vector(returned, [&](Value value) {
                           return mapping.lookup(value);
                         }));
}

void DerivativeSplitter::buildBackward(func::FuncOp backward) {
  SmallVector<Type> inputs = getResidualTypes();
  llvm::append_range(
      inputs, TypeRange(body.getArgumentTypes()).drop_front(numArguments));
  ValueRange gradients =
      body.getTerminator()->getOperands().drop_front(numResults);
  Block *block = define(backward, inputs, gradients.getTypes(), joint.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  ValueRange arguments = block->getArguments();
  // Where both parts come to stand in one function, what is computed again
  // stays apart.
  SmallVector<Operation *> recomputed = plan.getRecomputed();
  bool computesAgain = llvm::any_of(
      recomputed, [](Operation *op) { return estimateCost(op) != 0; });
  if (computesAgain)
    arguments =
        BarrierOp::create(builder, joint.getLoc(), arguments).getResults();
  IRMapping mapping;
  mapping.map(residuals, arguments.take_front(residuals.size()));
  mapping.map(body.getArguments().drop_front(numArguments),
              arguments.drop_front(residuals.size()));
  for (Operation *op : recomputed)
    builder.clone(*op, mapping);
  for (Operation &op : body.without_terminator())
    if (late.contains(&op))
      builder.clone(op, mapping);
  func::ReturnOp::create(builder, joint.getLoc(),
                         llvm::map_to_vector(gradients, [&](Value value) {
                           return mapping.lookup(value);
                         }));
}

SmallVector<Type>
sparse_autograd::splitDerivative(func::FuncOp joint, unsigned numArguments,
                                 unsigned numResults,
                                 std::optional<int64_t> budget,
                                 func::FuncOp forward, func::FuncOp backward) {
  DerivativeSplitter splitter(joint, numArguments, numResults);
  splitter.choose(budget);
  splitter.buildForward(forward);
  splitter.buildBackward(backward);
  return splitter.getResidualTypes();
}
