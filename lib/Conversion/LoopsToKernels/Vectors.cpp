//===- Vectors.cpp - neighbouring iterations of a thread ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"

#include "../KernelOps.h"
#include "DenseProducts.h"
#include "KernelNest.h"
#include "LaneLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "UnrollAndJam.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// What one instruction accesses at most, in bytes, and in how many elements: a
/// thread has registers for each.
static constexpr int64_t mostBytes = 16, mostElements = 4;

/// What a thread has to do for each iteration, at most, so that several have
/// place in its registers.
static constexpr unsigned mostOps = 64, mostAccesses = 8;

bool sparse_autograd::isSideBySide(Value index, Value variable) {
  if (index == variable)
    return true;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return sum && (sum.getLhs() == variable || sum.getRhs() == variable);
}

/// The bytes of an element in memory.
static int64_t getBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// The constants of which `length` is to be a divisor, or nothing.
static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// How many neighbouring values of `variable`, from `lower` to `upper`, what
/// `op` accesses can be accessed of together: all of it that lies side by side
/// begins at a multiple of their bytes. 1 if nothing does, or if it accesses
/// something at other strides.
static int64_t getLength(Operation *op, Value variable, Value lower,
                         Value upper) {
  std::optional<int64_t> from = getConstant(lower), to = getConstant(upper);
  if (!from || !to || *to <= *from)
    return 1;
  // What the number has to divide: the least bit of any of these.
  int64_t multiple = *from | *to;
  int64_t bytes = 0;
  for (const Access &access : getAccesses(op)) {
    if (access.indices.empty())
      return 1;
    if (llvm::is_contained(access.indices.drop_back(), variable))
      return 1;
    if (!isSideBySide(access.indices.back(), variable))
      continue;
    auto type = cast<MemRefType>(access.memref.getType());
    if (access.indices.back() != variable || !type.getLayout().isIdentity())
      return 1;
    if (type.getRank() > 1) {
      if (type.isDynamicDim(type.getRank() - 1))
        return 1;
      multiple |= type.getShape().back();
    }
    bytes = std::max(bytes, getBytes(type.getElementType()));
  }
  if (bytes == 0)
    return 1;
  int64_t length =
      std::min(mostElements, std::max<int64_t>(mostBytes / bytes, 1));
  while (multiple % length != 0)
    length /= 2;
  return length;
}

static void setLength(Operation *loop, int64_t length) {
  if (length > 1)
    loop->setAttr(SparseAutogradDialect::getVectorAttrName(),
                  Builder(loop->getContext()).getIndexAttr(length));
}

/// Marks a loop that lanes share, if there is enough for eight of them.
static void markShared(scf::ForOp loop) {
  UnrollAndJam iterations(*loop.getBody(), loop.getInductionVar());
  if (!matchPattern(loop.getStep(), m_One()) ||
      iterations.countOps() > mostOps ||
      iterations.countAccesses() > mostAccesses)
    return;
  constexpr int64_t leastLanes = 8;
  int64_t length = getLength(loop, loop.getInductionVar(), loop.getLowerBound(),
                             loop.getUpperBound());
  std::optional<APInt> trips = loop.getStaticTripCount();
  while (length > 1 && trips->getSExtValue() / length < leastLanes)
    length /= 2;
  setLength(loop, length);
}

static void markNest(const KernelNest &nest) {
  if (DenseProduct::match(nest))
    return;
  UnrollAndJam iterations(*nest.getBody(), nest.getVariables().back());
  if (!matchPattern(nest.getSteps().back(), m_One()) ||
      !iterations.isPossible() || iterations.countOps() > mostOps ||
      iterations.countAccesses() > mostAccesses)
    return;
  Operation *innermost = nest.getInnermost();
  setLength(innermost, getLength(innermost, nest.getVariables().back(),
                                 nest.getLowerBounds().back(),
                                 nest.getUpperBounds().back()));
}

void sparse_autograd::markVectors(Operation *root) {
  root->walk<WalkOrder::PreOrder>([](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && isShared(loop)) {
      markShared(loop);
      return WalkResult::skip();
    }
    if (isParallelLoop(op) && !containsShared(op)) {
      markNest(KernelNest(op));
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
}

int64_t sparse_autograd::getVectorLength(Operation *loop) {
  auto length = loop->getAttrOfType<IntegerAttr>(
      SparseAutogradDialect::getVectorAttrName());
  return length ? length.getInt() : 1;
}

bool sparse_autograd::containsVector(Operation *op) {
  WalkResult found = op->walk([](Operation *nested) {
    return getVectorLength(nested) > 1 ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return found.wasInterrupted();
}

void sparse_autograd::assumeAlignment(RewriterBase &rewriter,
                                      gpu::LaunchOp kernel) {
  llvm::SetVector<Value> buffers;
  Region &body = kernel.getBody();
  for (Access &access : getAccesses(kernel)) {
    auto type = dyn_cast<MemRefType>(access.memref.getType());
    if (type && type.getLayout().isIdentity() &&
        !body.isAncestor(access.memref.getParentRegion()))
      buffers.insert(access.memref);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&body.front());
  for (Value buffer : buffers) {
    Value aligned = memref::AssumeAlignmentOp::create(rewriter, kernel.getLoc(),
                                                      buffer, mostBytes);
    rewriter.replaceUsesWithIf(buffer, aligned, [&](OpOperand &use) {
      return body.isAncestor(use.getOwner()->getParentRegion()) &&
             use.getOwner() != aligned.getDefiningOp();
    });
  }
}

void sparse_autograd::repeatIteration(RewriterBase &rewriter, scf::ForOp loop,
                                      ArrayRef<Operation *> ops, Value first,
                                      int64_t length) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> carried(yield.getOperands());
  for (int64_t number = 1; number < length; ++number) {
    Location loc = loop.getLoc();
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, number);
    IRMapping mapping;
    mapping.map(first, arith::AddIOp::create(rewriter, loc, first, offset));
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation *op : ops)
      rewriter.clone(*op, mapping);
    for (auto [value, next] : llvm::zip_equal(carried, yield.getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(carried); });
}
