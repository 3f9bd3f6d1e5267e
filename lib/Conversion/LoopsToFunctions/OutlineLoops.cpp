//===- OutlineLoops.cpp - loops of large functions to functions -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToFunctions/LoopsToFunctions.h"

#include "../FunctionCaptures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// How many ops there are in each op that has regions, itself included.
static llvm::DenseMap<Operation *, int64_t> countOps(func::FuncOp function) {
  llvm::DenseMap<Operation *, int64_t> sizes;
  function->walk<WalkOrder::PostOrder>([&](Operation *op) {
    int64_t size = op->getNumRegions() == 0 ? 1 : ++sizes[op];
    if (op != function)
      sizes[op->getParentOp()] += size;
  });
  return sizes;
}

/// Appends the outermost loops in `op` with no more than `limit` ops.
static void collectLoops(Operation *op, int64_t limit,
                         const llvm::DenseMap<Operation *, int64_t> &sizes,
                         SmallVectorImpl<LoopLikeOpInterface> &loops) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (inner.getNumRegions() == 0)
        continue;
      auto loop = dyn_cast<LoopLikeOpInterface>(inner);
      if (loop && sizes.lookup(&inner) <= limit)
        loops.push_back(loop);
      else
        collectLoops(&inner, limit, sizes, loops);
    }
}

/// Moves `loop` to a function called like `name`, which a call replaces.
static void outline(Operation *loop, const Twine &name, SymbolTable &symbols,
                    AliasAnalysis &aliases) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  used.insert(loop->operand_begin(), loop->operand_end());
  Location loc = loop->getLoc();
  OpBuilder builder(loop);
  // A constant is made anew inside, where it tells more than an argument.
  SmallVector<Operation *> constants;
  FunctionCaptures captures(builder, loop);
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && matchPattern(op, m_Constant()))
      constants.push_back(op);
    else
      captures.add(value);
  }

  auto parent = loop->getParentOfType<func::FuncOp>();
  auto function = func::FuncOp::create(
      loc, name.str(),
      builder.getFunctionType(captures.getOperands().getTypes(),
                              loop->getResultTypes()));
  function.setPrivate();
  // Together again they would be what they were.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  captures.describeBuffers(function, /*firstArgument=*/0, aliases);
  symbols.insert(function, std::next(parent->getIterator()));
  loop->replaceAllUsesWith(
      func::CallOp::create(builder, loc, function, captures.getOperands()));

  Block *block = function.addEntryBlock();
  loop->moveBefore(block, block->end());
  builder.setInsertionPointToStart(block);
  IRMapping inside;
  captures.rebuild(builder, block->getArguments(), inside);
  for (Operation *constant : constants)
    builder.clone(*constant, inside);
  // By the operands in the loop: constants have uses everywhere.
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = inside.lookupOrNull(operand.get()))
        operand.set(value);
  });
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, loc, loop->getResults());
}

namespace {
struct OutlineLoopsPass
    : sparse_autograd::impl::OutlineLoopsBase<OutlineLoopsPass> {
  using OutlineLoopsBase::OutlineLoopsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      llvm::DenseMap<Operation *, int64_t> sizes = countOps(function);
      if (sizes.lookup(function) <= limit)
        continue;
      SmallVector<LoopLikeOpInterface> loops;
      collectLoops(function, limit, sizes, loops);
      AliasAnalysis aliases(function);
      for (auto [index, loop] : llvm::enumerate(loops))
        outline(loop, function.getName() + ".loop." + Twine(index), symbols,
                aliases);
    }
  }
};
} // namespace
