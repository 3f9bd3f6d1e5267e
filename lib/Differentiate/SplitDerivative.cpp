//===- SplitDerivative.cpp - a derivative in two functions ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitDerivative.h"

#include "ResidualCost.h"
#include "ResidualGraph.h"
#include "SparseAutograd/Analysis/ComparedValues.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/Remarks.h"
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
  void remark();

  func::FuncOp joint;
  Block &body;
  unsigned numArguments, numResults;
  /// The ops that depend on a cotangent.
  llvm::DenseSet<Operation *> late;
  ResidualGraph graph;
  /// The values and the ops of the graph, by their numbers.
  SmallVector<Value> values;
  SmallVector<Operation *> operations;
  /// What an op costs; nothing if it must be computed once.
  std::optional<int64_t> getCost(Operation *op) const {
    return compared.isOnce(op) ? std::nullopt : estimateCost(op);
  }
  ComparedValues compared;
  ResidualGraph::Plan plan;
  SmallVector<Value> residuals;
};

} // namespace

DerivativeSplitter::DerivativeSplitter(func::FuncOp joint,
                                       unsigned numArguments,
                                       unsigned numResults)
    : joint(joint), body(joint.getBody().front()), numArguments(numArguments),
      numResults(numResults), compared(joint) {
  llvm::DenseMap<Value, ResidualGraph::Index> numbers;
  for (BlockArgument argument : body.getArguments().take_front(numArguments)) {
    numbers[argument] = graph.addInput(estimateBytes(argument.getType()));
    values.push_back(argument);
  }
  auto need = [&](Value value) {
    if (!isLate(value))
      graph.need(numbers.lookup(value));
  };
  for (Operation &op : body.without_terminator()) {
    llvm::SetVector<Value> used = getReadValues(&op);
    if (llvm::any_of(used, [&](Value value) { return isLate(value); })) {
      late.insert(&op);
      llvm::for_each(used, need);
      continue;
    }
    SmallVector<ResidualGraph::Index> operands = llvm::map_to_vector(
        used, [&](Value value) { return numbers.lookup(value); });
    ResidualGraph::Index number = graph.addOperation(getCost(&op), operands);
    operations.push_back(&op);
    for (Value result : op.getResults()) {
      numbers[result] =
          graph.addResult(number, estimateBytes(result.getType()));
      values.push_back(result);
    }
  }
  llvm::for_each(body.getTerminator()->getOperands().drop_front(numResults),
                 need);
}

void DerivativeSplitter::choose(std::optional<int64_t> budget) {
  // A byte that costs more is kept less often. At 2^20 nothing is kept for its
  // cost.
  int64_t weight = costOfKeptByte;
  plan = graph.findPlan(weight);
  for (int doubling = 0;
       budget && graph.getSize(plan) > *budget && doubling < 20; ++doubling) {
    weight *= 2;
    plan = graph.findPlan(weight);
  }
  if (budget && graph.getSize(plan) > *budget)
    emitWarning(joint.getLoc())
        << "the residuals of '" << joint.getSymName() << "' take "
        << graph.getSize(plan) << " bytes at least, more than the budget of "
        << *budget << "; put what need not be kept into a "
        << CheckpointOp::getOperationName();
  for (unsigned index : plan.kept.set_bits())
    residuals.push_back(values[index]);
  remark();
}

void DerivativeSplitter::remark() {
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category(residualRemarkCategory)
        .function(joint.getSymName());
  };
  auto describe = [](Operation *op) -> std::string {
    return op ? ("the result of '" + op->getName().getStringRef() + "'").str()
              : "an argument";
  };
  for (Value value : residuals) {
    Operation *op = value.getDefiningOp();
    std::string reason;
    if (!op)
      reason = "nothing computes it";
    else if (getCost(op))
      reason = "computing it again, and what that needs, costs more";
    else
      reason = "it must not be computed twice";
    remark::passed(value.getLoc(), options("kept"))
        << describe(op) + " is kept: " + reason
        << remark::metric("Bytes", estimateBytes(value.getType()));
  }
  for (unsigned index : plan.recomputed.set_bits()) {
    Operation *op = operations[index];
    std::optional<int64_t> cost = getCost(op);
    // What costs nothing is not worth a word.
    if (cost && *cost != 0)
      remark::passed(op->getLoc(), options("recomputed"))
          << describe(op) + " is computed again: keeping it costs more"
          << remark::metric("Cost", *cost);
  }
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
  for (Operation *op : operations)
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
  bool computesAgain =
      llvm::any_of(plan.recomputed.set_bits(), [&](unsigned index) {
        return estimateCost(operations[index]) != 0;
      });
  if (computesAgain)
    arguments =
        BarrierOp::create(builder, joint.getLoc(), arguments).getResults();
  IRMapping mapping;
  mapping.map(residuals, arguments.take_front(residuals.size()));
  mapping.map(body.getArguments().drop_front(numArguments),
              arguments.drop_front(residuals.size()));
  for (unsigned index : plan.recomputed.set_bits())
    builder.clone(*operations[index], mapping);
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
