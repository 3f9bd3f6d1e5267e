//===- TransposeInlining.cpp - transposes in a linear program -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransposeInlining.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `use` reads elements, and not only extents or a pattern.
static bool readsElements(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp, ZerosOp, PatternOp>(user))
    return false;
  auto op = dyn_cast<linalg::LinalgOp>(user);
  return !op || !op.isDpsInit(&use) || op.payloadUsesValueFromOperand(&use);
}

namespace {

/// The values that are computed from elements of some values.
class DependentValues {
public:
  void add(Value value) { changed |= dependent.insert(value).second; }
  bool contains(Value value) const { return dependent.contains(value); }

  /// Follows the data flow through `region` until nothing is added.
  void propagate(Region &region) {
    do {
      changed = false;
      region.walk([&](Operation *op) { visit(op); });
    } while (changed);
  }

private:
  void visit(Operation *op) {
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
      return visitBranch(branch);
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    if (isa<BarrierOp>(op)) {
      for (auto [input, result] :
           llvm::zip_equal(op->getOperands(), op->getResults()))
        if (contains(input))
          add(result);
      return;
    }
    WalkResult reads = op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (contains(operand.get()) && readsElements(operand))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (reads.wasInterrupted())
      llvm::for_each(op->getResults(), [&](Value result) { add(result); });
  }

  /// What decides where control flows decides all that comes out.
  void visitBranch(RegionBranchOpInterface op) {
    RegionBranchSuccessorMapping forwarded;
    op.getSuccessorOperandInputMapping(forwarded);
    for (auto &[operand, inputs] : forwarded)
      if (contains(operand->get()))
        llvm::for_each(inputs, [&](Value input) { add(input); });
    auto decides = [&](OpOperand &operand) {
      return contains(operand.get()) && !forwarded.contains(&operand);
    };
    bool isDecided = llvm::any_of(op->getOpOperands(), decides);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        isDecided |=
            llvm::any_of(block.getTerminator()->getOpOperands(), decides);
    if (isDecided)
      llvm::for_each(op->getResults(), [&](Value result) { add(result); });
  }

  llvm::DenseSet<Value> dependent;
  bool changed = false;
};

} // namespace

bool sparse_autograd::isTransposeOfLinear(func::FuncOp transposed,
                                          ArrayRef<int64_t> wrt) {
  DependentValues dependent;
  for (int64_t index : wrt)
    dependent.add(transposed.getArgument(index));
  dependent.propagate(transposed.getBody());
  return llvm::none_of(
      transposed.getBody().front().getTerminator()->getOperands(),
      [&](Value result) { return dependent.contains(result); });
}

/// Puts the body of `transposed` in the place of `op`, linearized.
static LogicalResult inlineTranspose(LinearTransposeOp op,
                                     func::FuncOp transposed,
                                     ProgramLinearizer &linearizer) {
  OpBuilder &builder = linearizer.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  // The ops are linearized as a block of their own.
  auto region = scf::ExecuteRegionOp::create(builder, loc, op.getResultTypes(),
                                             /*no_inline=*/true);
  Block *block = builder.createBlock(&region.getRegion());
  IRMapping mapping;
  auto arguments = transposed.getArguments();
  unsigned numArguments = op.getArguments().size();
  mapping.map(arguments.take_front(numArguments), op.getArguments());
  // A linear function has the same tangent everywhere: at zero as well.
  for (auto [argument, tangent] : llvm::zip_equal(
           arguments.drop_front(numArguments), op.getCotangents())) {
    Value shape = linearizer.shapeOf(tangent);
    Value zero = createZero(builder, loc, shape ? shape : tangent);
    linearizer.setTangent(zero, tangent);
    mapping.map(argument, zero);
  }
  Block &body = transposed.getBody().front();
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  SmallVector<Value> results = llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
  auto yield = scf::YieldOp::create(builder, loc, results);
  if (failed(linearizer.linearizeBlock(*block, op.getArguments())))
    return failure();
  builder.setInsertionPoint(yield);
  // Linearization may have put other ops in the place of those that were there.
  SmallVector<Value> tangents =
      llvm::map_to_vector(yield->getOperands(), [&](Value value) {
        return tangentOrZero(linearizer, value, loc);
      });
  for (auto [old, tangent] : llvm::zip_equal(op.getResults(), tangents))
    linearizer.replaceTangent(old, tangent);
  yield->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op),
                                         block->getOperations());
  region.erase();
  linearizer.retire(op);
  return success();
}

LogicalResult
sparse_autograd::inlineTransposes(Block &body, ProgramLinearizer &linearizer,
                                  TransposeProvider getTranspose) {
  SmallVector<LinearTransposeOp> ops;
  body.walk([&](LinearTransposeOp op) { ops.push_back(op); });
  for (LinearTransposeOp op : ops)
    if (func::FuncOp transposed = getTranspose(op))
      if (failed(inlineTranspose(op, transposed, linearizer)))
        return failure();
  return success();
}
