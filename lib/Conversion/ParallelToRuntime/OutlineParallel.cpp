//===- OutlineParallel.cpp - parallel bodies to functions -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ParallelToRuntime/ParallelToRuntime.h"

#include "../FunctionCaptures.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Transforms/MakeSequential.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The buffer that `deallocation` releases, if that is taken in the same block
/// and released nowhere else.
static memref::AllocOp getOnlyAllocation(memref::DeallocOp deallocation) {
  auto allocation = deallocation.getMemref().getDefiningOp<memref::AllocOp>();
  if (!allocation || allocation->getBlock() != deallocation->getBlock() ||
      llvm::count_if(allocation->getUsers(),
                     llvm::IsaPred<memref::DeallocOp>) != 1)
    return nullptr;
  return allocation;
}

/// Buffers that every iteration of `range` takes anew, of one size, are one for
/// all of them: they run one after the other, and each has it to itself.
static void shareBuffers(scf::ForOp range, IRRewriter &rewriter) {
  for (auto deallocation :
       llvm::to_vector(range.getBody()->getOps<memref::DeallocOp>())) {
    memref::AllocOp allocation = getOnlyAllocation(deallocation);
    if (!allocation ||
        !llvm::all_of(allocation->getOperands(), [&](Value size) {
          return range.isDefinedOutsideOfLoop(size);
        }))
      continue;
    rewriter.moveOpBefore(allocation, range);
    rewriter.moveOpAfter(deallocation, range);
  }
}

/// What the buffers of a body may take of a thread's stack, in bytes.
static constexpr int64_t stackLimit = 256 * 1024;

/// Buffers of a static size that live within one iteration go to the stack: an
/// iteration should not meet the others at the allocator. (A slot in a loop is
/// one for all its iterations once the code is LLVM's.)
static void promoteToStack(Block &body, IRRewriter &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  int64_t total = 0;
  SmallVector<memref::DeallocOp> deallocations;
  body.walk([&](memref::DeallocOp op) { deallocations.push_back(op); });
  for (memref::DeallocOp deallocation : deallocations) {
    memref::AllocOp allocation = getOnlyAllocation(deallocation);
    if (!allocation)
      continue;
    MemRefType type = allocation.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      continue;
    int64_t bytes = type.getElementType().isIndex()
                        ? 8
                        : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    for (int64_t extent : type.getShape())
      if (llvm::MulOverflow(bytes, extent, bytes))
        bytes = stackLimit + 1;
    if (bytes > stackLimit || total + bytes > stackLimit)
      continue;
    total += bytes;
    rewriter.setInsertionPoint(allocation);
    rewriter.replaceOpWithNewOp<memref::AllocaOp>(
        allocation, type, rewriter.getI64IntegerAttr(64));
    rewriter.eraseOp(deallocation);
  }
}

/// Moves the body of `loop`, one loop without reductions, to a function.
static void outline(scf::ParallelOp loop, StringRef name, IRRewriter &rewriter,
                    AliasAnalysis &aliases) {
  Location loc = loop.getLoc();
  promoteToStack(*loop.getBody(), rewriter);
  // A constant is made anew inside, where it tells more than an argument.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getRegion(), captured);
  SmallVector<Operation *> constants;
  llvm::SetVector<Value> values;
  auto capture = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && matchPattern(op, m_Constant())) {
      if (!llvm::is_contained(constants, op))
        constants.push_back(op);
    } else {
      values.insert(value);
    }
  };
  for (Value value : captured)
    capture(value);
  Value lower = loop.getLowerBound().front();
  Value upper = loop.getUpperBound().front();
  Value step = loop.getStep().front();
  capture(lower);
  capture(step);

  auto parent = loop->getParentOfType<func::FuncOp>();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  FunctionCaptures captures(rewriter, loop);
  for (Value value : values)
    captures.add(value);
  rewriter.setInsertionPointAfter(parent);
  // The first and the last iteration come first.
  constexpr unsigned numBounds = 2;
  Type index = rewriter.getIndexType();
  SmallVector<Type> types(numBounds, index);
  llvm::append_range(types, captures.getOperands().getTypes());
  auto function = func::FuncOp::create(rewriter, loc, name,
                                       rewriter.getFunctionType(types, {}));
  function.setPrivate();
  captures.describeBuffers(function, numBounds, aliases);
  Block *block = function.addEntryBlock();
  rewriter.setInsertionPointToStart(block);
  IRMapping mapping;
  captures.rebuild(rewriter, block->getArguments().drop_front(numBounds),
                   mapping);
  for (Operation *op : constants)
    rewriter.clone(*op, mapping);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto range = scf::ForOp::create(rewriter, loc, block->getArgument(0),
                                  block->getArgument(1), one);
  func::ReturnOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(range.getBody());
  Value variable = arith::MulIOp::create(rewriter, loc, range.getInductionVar(),
                                         mapping.lookupOrDefault(step));
  variable = arith::AddIOp::create(rewriter, loc, variable,
                                   mapping.lookupOrDefault(lower));
  mapping.map(loop.getInductionVars().front(), variable);
  for (Operation &op : loop.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  shareBuffers(range, rewriter);

  rewriter.setInsertionPoint(loop);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value extent = arith::SubIOp::create(rewriter, loc, upper, lower);
  Value count = arith::CeilDivSIOp::create(rewriter, loc, extent, step);
  count = arith::MaxSIOp::create(rewriter, loc, count, zero);
  SmallVector<Value> operands = {zero, count};
  llvm::append_range(operands, captures.getOperands());
  auto call = func::CallOp::create(rewriter, loc, function, operands);
  setParallel(call);
  rewriter.eraseOp(loop);
}

namespace {
struct OutlineParallelPass
    : sparse_autograd::impl::OutlineParallelBase<OutlineParallelPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      SmallVector<scf::ParallelOp> outer, inner;
      function.walk([&](scf::ParallelOp loop) {
        bool isInner = loop->getParentOfType<scf::ParallelOp>() ||
                       loop.getNumLoops() != 1 || !loop.getInitVals().empty();
        (isInner ? inner : outer).push_back(loop);
      });
      // The walk is post-order: an inner loop comes before the one around it.
      for (scf::ParallelOp loop : inner)
        makeSequential(rewriter, loop);
      AliasAnalysis aliases(function);
      unsigned counter = 0;
      for (scf::ParallelOp loop : outer) {
        std::string name;
        do
          name = (function.getName() + ".parallel." + Twine(counter++)).str();
        while (symbols.lookup(name));
        outline(loop, name, rewriter, aliases);
      }
    }
  }
};
} // namespace
