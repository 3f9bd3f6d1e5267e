//===- UnrollAndJam.cpp - iterations of a loop done together --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnrollAndJam.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// What differs between iterations
//===----------------------------------------------------------------------===//

UnrollAndJam::UnrollAndJam(ArrayRef<Operation *> ops, Value variable)
    : ops(ops), variable(variable) {
  analyze();
}

UnrollAndJam::UnrollAndJam(Block &body, Value variable)
    : ops(llvm::make_pointer_range(body.without_terminator())),
      variable(variable) {
  analyze();
}

void UnrollAndJam::analyze() {
  varying.insert(variable);
  size_t before;
  // What a loop carries may differ because of what it has computed of it.
  do {
    before = varying.size();
    ownOps = ownAccesses = 0;
    for (Operation *op : ops)
      analyze(op);
  } while (possible && varying.size() != before);
}

bool UnrollAndJam::areVarying(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value value) { return varying.contains(value); });
}

void UnrollAndJam::setVarying(Value value) { varying.insert(value); }

/// Has each of `values` differ that has one of `like` that does.
void UnrollAndJam::setVarying(ValueRange values, ValueRange like) {
  for (auto [value, other] : llvm::zip_equal(values, like))
    if (varying.contains(other))
      varying.insert(value);
}

void UnrollAndJam::analyze(Block &block) {
  for (Operation &op : block.without_terminator())
    analyze(&op);
}

void UnrollAndJam::analyze(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return analyze(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return analyze(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return analyze(branch);
  bool isAccess = isa<memref::LoadOp, memref::StoreOp>(op);
  if (op->getNumRegions() != 0 ||
      !(isAccess || isa<cf::AssertOp>(op) || isPure(op)))
    possible = false;
  if (!areVarying(op))
    return;
  ++ownOps;
  ownAccesses += isAccess;
  for (Value result : op->getResults())
    setVarying(result);
}

void UnrollAndJam::analyze(scf::ForOp loop) {
  if (varying.contains(loop.getLowerBound()) ||
      varying.contains(loop.getUpperBound()) ||
      varying.contains(loop.getStep()))
    possible = false;
  setVarying(loop.getRegionIterArgs(), loop.getInitArgs());
  setVarying(loop.getRegionIterArgs(), loop.getYieldedValues());
  setVarying(loop.getResults(), loop.getRegionIterArgs());
  analyze(*loop.getBody());
}

void UnrollAndJam::analyze(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  if (varying.contains(condition.getCondition()))
    possible = false;
  setVarying(loop.getBeforeArguments(), loop.getInits());
  setVarying(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
  setVarying(loop.getAfterArguments(), condition.getArgs());
  setVarying(loop.getResults(), condition.getArgs());
  analyze(*loop.getBeforeBody());
  analyze(*loop.getAfterBody());
}

void UnrollAndJam::analyze(scf::IfOp branch) {
  if (varying.contains(branch.getCondition())) {
    for (Value result : branch.getResults())
      setVarying(result);
    branch->walk([&](Operation *op) {
      bool isAccess = isa<memref::LoadOp, memref::StoreOp>(op);
      if (!isa<scf::IfOp, scf::YieldOp, cf::AssertOp>(op) && !isAccess &&
          !(isPure(op) && op->getNumRegions() == 0))
        possible = false;
      ++ownOps;
      ownAccesses += isAccess;
    });
    return;
  }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    setVarying(branch.getResults(),
               region.front().getTerminator()->getOperands());
    analyze(region.front());
  }
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

/// The copies of `values`: one of each, or one for each iteration of those
/// whose value in `like` differs.
SmallVector<Value> UnrollAndJam::getCopies(ValueRange values,
                                           ValueRange like) const {
  SmallVector<Value> all;
  for (auto [value, other] : llvm::zip_equal(values, like)) {
    if (!varying.contains(other)) {
      all.push_back(getCopy(value));
      continue;
    }
    for (const IRMapping &copy : copies)
      all.push_back(copy.lookupOrDefault(value));
  }
  return all;
}

/// The types of the copies of `values`.
SmallVector<Type> UnrollAndJam::getTypes(ValueRange values) const {
  SmallVector<Type> types;
  for (Value value : values)
    types.append(varying.contains(value) ? copies.size() : 1, value.getType());
  return types;
}

/// Has `results`, in the order of `getCopies`, be the copies of `values`.
void UnrollAndJam::setCopies(ValueRange values, ValueRange results) {
  auto next = results.begin();
  auto take = [&]() -> Value { return *next++; };
  for (Value value : values) {
    bool isOwn = varying.contains(value);
    Value shared = isOwn ? Value() : take();
    for (IRMapping &copy : copies)
      copy.map(value, isOwn ? take() : shared);
  }
}

void UnrollAndJam::createIterations(RewriterBase &rewriter,
                                    ValueRange variables) {
  OpBuilder::InsertionGuard guard(rewriter);
  copies.assign(variables.size(), IRMapping());
  setCopies(variable, variables);
  for (Operation *op : ops)
    cloneOp(rewriter, op);
}

void UnrollAndJam::cloneBlock(RewriterBase &rewriter, Block &block) {
  for (Operation &op : block.without_terminator())
    cloneOp(rewriter, &op);
}

void UnrollAndJam::cloneOp(RewriterBase &rewriter, Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return cloneLoop(rewriter, loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return cloneLoop(rewriter, loop);
  auto branch = dyn_cast<scf::IfOp>(op);
  if (branch && !varying.contains(branch.getCondition()))
    return cloneBranch(rewriter, branch);
  if (areVarying(op)) {
    for (IRMapping &copy : copies)
      rewriter.clone(*op, copy);
    return;
  }
  Operation *shared = rewriter.clone(*op, copies.front());
  setCopies(op->getResults(), shared->getResults());
}

void UnrollAndJam::cloneLoop(RewriterBase &rewriter, scf::ForOp loop) {
  ValueRange carried = loop.getRegionIterArgs();
  auto jammed = scf::ForOp::create(
      rewriter, loop.getLoc(), getCopy(loop.getLowerBound()),
      getCopy(loop.getUpperBound()), getCopy(loop.getStep()),
      getCopies(loop.getInitArgs(), carried),
      [&](OpBuilder &, Location loc, Value index, ValueRange arguments) {
        setCopies(loop.getInductionVar(), index);
        setCopies(carried, arguments);
        cloneBlock(rewriter, *loop.getBody());
        scf::YieldOp::create(rewriter, loc,
                             getCopies(loop.getYieldedValues(), carried));
      },
      loop.getUnsignedCmp());
  takeAttributes(jammed, loop);
  setCopies(loop.getResults(), jammed.getResults());
}

void UnrollAndJam::cloneLoop(RewriterBase &rewriter, scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  ValueRange before = loop.getBeforeArguments();
  ValueRange after = loop.getAfterArguments();
  auto jammed = scf::WhileOp::create(
      rewriter, loop.getLoc(), getTypes(after),
      getCopies(loop.getInits(), before),
      [&](OpBuilder &, Location loc, ValueRange arguments) {
        setCopies(before, arguments);
        cloneBlock(rewriter, *loop.getBeforeBody());
        scf::ConditionOp::create(rewriter, loc,
                                 getCopy(condition.getCondition()),
                                 getCopies(condition.getArgs(), after));
      },
      [&](OpBuilder &, Location loc, ValueRange arguments) {
        setCopies(after, arguments);
        cloneBlock(rewriter, *loop.getAfterBody());
        scf::YieldOp::create(
            rewriter, loc, getCopies(loop.getYieldOp().getOperands(), before));
      });
  takeAttributes(jammed, loop);
  setCopies(loop.getResults(), jammed.getResults());
}

void UnrollAndJam::cloneBranch(RewriterBase &rewriter, scf::IfOp branch) {
  SmallVector<Type> types = getTypes(branch.getResults());
  auto jammed = scf::IfOp::create(
      rewriter, branch.getLoc(), types, getCopy(branch.getCondition()),
      /*addThenBlock=*/true, !branch.getElseRegion().empty());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), jammed->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&to.front());
    cloneBlock(rewriter, from.front());
    scf::YieldOp::create(rewriter, branch.getLoc(),
                         getCopies(from.front().getTerminator()->getOperands(),
                                   branch.getResults()));
  }
  setCopies(branch.getResults(), jammed.getResults());
}
