//===- LoopWork.cpp - what the iterations of a loop cost ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopWork.h"

#include "Segments.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Builds the estimate for one loop.
class WorkOfLoop {
public:
  WorkOfLoop(ImplicitLocOpBuilder &builder, scf::ForOp loop)
      : builder(builder), outermost(loop) {}

  LoopWork compute();

private:
  /// The iterations of a loop, those of all its executions together.
  struct Iterations {
    Value count;
    /// The first one and the end, if each number in between is one of them.
    Value begin, end;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value getLength(Value begin, Value end);
  Iterations getIterations(scf::ForOp loop, Value outer,
                           const Iterations &around);
  void add(Value count, int64_t cost);
  void addBlock(Block &block, Value variable, const Iterations &iterations);
  int64_t addOps(Block &block, Value variable, const Iterations &iterations);

  ImplicitLocOpBuilder &builder;
  scf::ForOp outermost;
  Value work;
  bool hasEntries = false;
};
} // namespace

Value WorkOfLoop::getLength(Value begin, Value end) {
  Value length = builder.createOrFold<arith::SubIOp>(end, begin);
  return builder.createOrFold<arith::MaxSIOp>(length, constant(0));
}

void WorkOfLoop::add(Value count, int64_t cost) {
  Value product = builder.createOrFold<arith::MulIOp>(count, constant(cost));
  work = work ? builder.createOrFold<arith::AddIOp>(work, product) : product;
}

/// Those of `loop` in the iterations `around` of the loop whose variable is
/// `outer`. The segments of neighbouring rows in a list are neighbours.
WorkOfLoop::Iterations WorkOfLoop::getIterations(scf::ForOp loop, Value outer,
                                                 const Iterations &around) {
  Value list = getPositions(loop.getInductionVar(), outer);
  if (list && around.begin && outermost.isDefinedOutsideOfLoop(list)) {
    hasEntries = true;
    Positions positions{builder, builder.getLoc(), list};
    Value begin = positions.at(around.begin), end = positions.at(around.end);
    return {getLength(begin, end), begin, end};
  }
  Value length = constant(estimates.rowEntries);
  if (outermost.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
      outermost.isDefinedOutsideOfLoop(loop.getUpperBound()))
    length = getLength(loop.getLowerBound(), loop.getUpperBound());
  return {builder.createOrFold<arith::MulIOp>(around.count, length), {}, {}};
}

/// Adds the loops of `block`, and returns the cost of the rest.
int64_t WorkOfLoop::addOps(Block &block, Value variable,
                           const Iterations &iterations) {
  int64_t cost = 0;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      addBlock(*loop.getBody(), loop.getInductionVar(),
               getIterations(loop, variable, iterations));
      continue;
    }
    cost += getCostBesideMemory(op);
    // A search, or a merge of two rows.
    int64_t times = isa<scf::WhileOp>(op) ? estimates.rowEntries : 1;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        cost += times * (1 + addOps(nested, variable, iterations));
  }
  return cost;
}

void WorkOfLoop::addBlock(Block &block, Value variable,
                          const Iterations &iterations) {
  int64_t cost = addOps(block, variable, iterations);
  add(iterations.count, 1 + cost);
}

LoopWork WorkOfLoop::compute() {
  Value begin = outermost.getLowerBound(), end = outermost.getUpperBound();
  addBlock(*outermost.getBody(), outermost.getInductionVar(),
           {getLength(begin, end), begin, end});
  return {work, hasEntries};
}

LoopWork sparse_autograd::computeWork(ImplicitLocOpBuilder &builder,
                                      scf::ForOp loop) {
  return WorkOfLoop(builder, loop).compute();
}
