//===- LoopReductions.cpp - what loops add up -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopReductions.h"

#include "NeutralElement.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether parts of a sum, or whatever else `op` combines, may be computed on
/// their own.
static bool isSeparable(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !getNeutralElement(op))
    return false;
  if (!isa<arith::AddFOp, arith::MulFOp>(op))
    return true;
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  return bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::reassoc);
}

namespace {
/// Follows a value back to the accumulator that it is made of.
class Tracer {
public:
  /// Whether `value` is `accumulator`, combined with others or not.
  bool trace(OpOperand &use, Value accumulator);

  /// Whether the accumulator and what becomes of it is used in no other way.
  bool isUsedElsewhere() const {
    return llvm::any_of(traced, [&](Value value) {
      return llvm::any_of(value.getUses(),
                          [&](OpOperand &use) { return !uses.contains(&use); });
    });
  }
  Operation *getCombiner() const { return combiner; }

private:
  bool traceDefinition(Value value, Value accumulator);

  Operation *combiner = nullptr;
  llvm::SmallPtrSet<OpOperand *, 8> uses;
  llvm::SmallDenseSet<Value> traced;
};
} // namespace

bool Tracer::trace(OpOperand &use, Value accumulator) {
  if (use.get() != accumulator && !traceDefinition(use.get(), accumulator))
    return false;
  uses.insert(&use);
  traced.insert(use.get());
  return true;
}

bool Tracer::traceDefinition(Value value, Value accumulator) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  unsigned number = result.getResultNumber();
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return branch.elseBlock() &&
           trace(branch.thenYield()->getOpOperand(number), accumulator) &&
           trace(branch.elseYield()->getOpOperand(number), accumulator);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    BlockArgument carried = loop.getRegionIterArg(number);
    return trace(loop.getInitArgsMutable()[number], accumulator) &&
           trace((*loop.getYieldedValuesMutable())[number], carried);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return trace(select.getTrueValueMutable(), accumulator) &&
           trace(select.getFalseValueMutable(), accumulator);
  if (!isSeparable(op) || (combiner && combiner->getName() != op->getName()))
    return false;
  combiner = op;
  // What a way that leads elsewhere has met is no part of the way.
  Tracer before = *this;
  if (trace(op->getOpOperand(0), accumulator))
    return true;
  *this = std::move(before);
  return trace(op->getOpOperand(1), accumulator);
}

Operation *sparse_autograd::getCombiner(scf::ForOp loop, unsigned number) {
  Tracer tracer;
  BlockArgument accumulator = loop.getRegionIterArg(number);
  OpOperand &yielded = (*loop.getYieldedValuesMutable())[number];
  if (!tracer.trace(yielded, accumulator) || tracer.isUsedElsewhere())
    return nullptr;
  return tracer.getCombiner();
}

bool sparse_autograd::isReorderable(scf::ForOp loop) {
  for (unsigned number = 0; number < loop.getInitArgs().size(); ++number)
    if (!getCombiner(loop, number))
      return false;
  if (getSchedule(loop).isParallel)
    return true;
  if (loop.getInitArgs().empty())
    return false;
  WalkResult writes = loop.getBody()->walk([](Operation *op) -> WalkResult {
    return success(isa<memref::LoadOp, cf::AssertOp>(op) ||
                   op->hasTrait<OpTrait::IsTerminator>() ||
                   op->getNumRegions() != 0 || isPure(op));
  });
  return !writes.wasInterrupted();
}
