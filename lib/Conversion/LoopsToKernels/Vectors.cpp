//===- Vectors.cpp - neighbouring iterations of a thread ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vectors.h"

#include "../Accesses.h"
#include "../KernelOps.h"
#include "DenseProducts.h"
#include "KernelNest.h"
#include "LaneLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "Unroll.h"
#include "UnrollAndJam.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// What one instruction accesses at most, in bytes, and in how many elements: a
/// thread has registers for each.
static constexpr int64_t mostBytes = genericGPU.accessBytes, mostElements = 4;

/// The bytes of an element in memory.
static int64_t getBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

namespace {
/// A loop of which a thread may do several iterations at once.
struct Candidate {
  Operation *loop;
  int64_t length;
  /// What the program has to find out: `length` is to be a divisor of these
  /// extents, which are to be `least` at least, and of the dimensions of these
  /// buffers.
  SmallVector<Value> extents;
  llvm::SmallSetVector<std::pair<Value, int64_t>, 4> rowsOf;
  int64_t least;
};
} // namespace

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// How many neighbouring iterations of `loop`, which counts `variable` from
/// `lower` to `upper`, can be done together: all that they access side by side
/// begins at a multiple of their bytes. Nothing if they access nothing so, or
/// something at other strides.
static std::optional<Candidate> match(const KernelNest &nest, Operation *loop,
                                      Value variable, Value lower,
                                      Value upper) {
  std::optional<int64_t> from = getConstant(lower), to = getConstant(upper);
  if (!from || *from < 0 || (!to && !nest.isOutside(upper)))
    return std::nullopt;
  Candidate candidate = {loop, 1, {}, {}, 0};
  // The number divides these all if it divides the least bit of any of them.
  int64_t multiple = *from;
  if (to)
    multiple |= *to;
  else
    candidate.extents.push_back(upper);
  int64_t bytes = 0;
  for (const Access &access : getAccesses(loop)) {
    if (isa<memref::CopyOp>(access.op))
      return std::nullopt;
    if (access.indices.empty())
      continue;
    if (llvm::is_contained(access.indices.drop_back(), variable))
      return std::nullopt;
    if (!isSideBySide(access.indices.back(), variable))
      continue;
    auto type = cast<MemRefType>(access.memref.getType());
    if (access.indices.back() != variable || !type.getLayout().isIdentity() ||
        !type.getElementType().isIntOrIndexOrFloat())
      return std::nullopt;
    bytes = std::max(bytes, getBytes(type.getElementType()));
    int64_t last = type.getRank() - 1;
    if (last == 0)
      continue;
    if (!type.isDynamicDim(last))
      multiple |= type.getDimSize(last);
    else if (nest.isOutside(access.memref))
      candidate.rowsOf.insert({access.memref, last});
    else
      return std::nullopt;
  }
  if (bytes == 0)
    return std::nullopt;
  candidate.length = std::clamp<int64_t>(mostBytes / bytes, 1, mostElements);
  while (multiple % candidate.length != 0)
    candidate.length /= 2;
  return candidate;
}

/// Of a loop that lanes share, if there is enough for eight of them.
static std::optional<Candidate> matchShared(const KernelNest &nest,
                                            scf::ForOp loop) {
  UnrollAndJam iterations(*loop.getBody(), loop.getInductionVar());
  if (!matchPattern(loop.getStep(), m_One()) ||
      iterations.countOps() > mostOps ||
      iterations.countAccesses() > mostAccesses)
    return std::nullopt;
  std::optional<Candidate> candidate =
      match(nest, loop, loop.getInductionVar(), loop.getLowerBound(),
            loop.getUpperBound());
  if (!candidate)
    return std::nullopt;
  constexpr int64_t leastLanes = 8;
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    while (candidate->length > 1 &&
           trips->getSExtValue() / candidate->length < leastLanes)
      candidate->length /= 2;
  candidate->least = leastLanes * candidate->length;
  return candidate;
}

/// Of the last loop of a nest. What its body does for itself in each iteration
/// is too little for a second kernel.
static std::optional<Candidate> matchInnermost(const KernelNest &nest) {
  if (DenseProduct::match(nest) ||
      !matchPattern(nest.getSteps().back(), m_One()))
    return std::nullopt;
  UnrollAndJam iterations(*nest.getBody(), nest.getVariables().back());
  if (!iterations.isPossible() || iterations.countOps() > mostOps ||
      iterations.countAccesses() > mostAccesses)
    return std::nullopt;
  std::optional<Candidate> candidate =
      match(nest, nest.getInnermost(), nest.getVariables().back(),
            nest.getLowerBounds().back(), nest.getUpperBounds().back());
  bool hasLoops = llvm::any_of(*nest.getBody(), [](Operation &op) {
    return isa<LoopLikeOpInterface>(op);
  });
  if (candidate && !hasLoops &&
      !(candidate->extents.empty() && candidate->rowsOf.empty()))
    return std::nullopt;
  return candidate;
}

void sparse_autograd::setVectorLength(Operation *loop, int64_t length) {
  Schedule schedule = getSchedule(loop);
  schedule.vector = length;
  setSchedule(loop, schedule);
}

/// Whether the lengths of `candidates` divide what they must, and there is
/// enough to do.
static Value createFits(OpBuilder &builder, Location loc,
                        ArrayRef<Candidate> candidates) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value fits;
  auto require = [&](arith::CmpIPredicate predicate, Value one, Value other) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, one, other);
    fits = fits ? arith::AndIOp::create(builder, loc, fits, holds) : holds;
  };
  for (const Candidate &candidate : candidates) {
    Value length =
        arith::ConstantIndexOp::create(builder, loc, candidate.length);
    Value least = arith::ConstantIndexOp::create(builder, loc, candidate.least);
    for (Value extent : candidate.extents) {
      require(arith::CmpIPredicate::eq,
              arith::RemUIOp::create(builder, loc, extent, length), zero);
      require(arith::CmpIPredicate::sge, extent, least);
    }
    for (auto [buffer, dim] : candidate.rowsOf) {
      Value row = memref::DimOp::create(builder, loc, buffer, dim);
      require(arith::CmpIPredicate::eq,
              arith::RemUIOp::create(builder, loc, row, length), zero);
    }
  }
  return fits;
}

/// Marks the loops, or, if the program has to find out whether that is right,
/// those of a copy of `kernel`, which is done then.
static void markLoops(RewriterBase &rewriter, Operation *kernel,
                      ArrayRef<Candidate> candidates) {
  SmallVector<Candidate> unknown;
  for (const Candidate &candidate : candidates) {
    if (candidate.length == 1)
      continue;
    if (candidate.extents.empty() && candidate.rowsOf.empty())
      setVectorLength(candidate.loop, candidate.length);
    else
      unknown.push_back(candidate);
  }
  if (unknown.empty())
    return;
  Location loc = kernel->getLoc();
  rewriter.setInsertionPoint(kernel);
  auto branch =
      scf::IfOp::create(rewriter, loc, createFits(rewriter, loc, unknown),
                        /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  rewriter.clone(*kernel, mapping);
  for (const Candidate &candidate : unknown)
    setVectorLength(mapping.lookup(candidate.loop), candidate.length);
  rewriter.moveOpBefore(kernel, branch.elseBlock()->getTerminator());
}

void sparse_autograd::markVectors(RewriterBase &rewriter, Operation *root) {
  SmallVector<Operation *> kernels;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isParallelLoop(op))
      return WalkResult::advance();
    kernels.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *kernel : kernels) {
    KernelNest nest(kernel);
    SmallVector<Candidate> candidates;
    auto add = [&](std::optional<Candidate> candidate) {
      if (candidate)
        candidates.push_back(*candidate);
    };
    if (!containsShared(kernel))
      add(matchInnermost(nest));
    kernel->walk([&](scf::ForOp loop) {
      if (isShared(loop))
        add(matchShared(nest, loop));
    });
    markLoops(rewriter, kernel, candidates);
  }
}

int64_t sparse_autograd::getVectorLength(Operation *loop) {
  return getSchedule(loop).vector;
}

/// The variable of the last dimension of a loop.
static Value getVariable(Operation *loop) {
  return loop->getRegion(0).front().getArgument(
      isa<scf::ForOp>(loop) ? 0 : loop->getRegion(0).getNumArguments() - 1);
}

VectorBuffers sparse_autograd::getVectorBuffers(Operation *kernel) {
  VectorBuffers buffers;
  kernel->walk([&](Operation *loop) {
    int64_t length = getVectorLength(loop);
    if (length == 1)
      return;
    for (Access &access : getAccesses(loop))
      if (!access.indices.empty() &&
          access.indices.back() == getVariable(loop)) {
        int64_t &longest = buffers[access.memref];
        longest = std::max(longest, length);
      }
  });
  return buffers;
}

void sparse_autograd::assumeAlignment(RewriterBase &rewriter,
                                      gpu::LaunchOp kernel,
                                      const VectorBuffers &buffers) {
  OpBuilder::InsertionGuard guard(rewriter);
  Region &body = kernel.getBody();
  rewriter.setInsertionPointToStart(&body.front());
  Location loc = kernel.getLoc();
  for (auto [buffer, length] : buffers) {
    if (body.isAncestor(buffer.getParentRegion()))
      continue;
    Value aligned =
        memref::AssumeAlignmentOp::create(rewriter, loc, buffer, mostBytes);
    rewriter.replaceUsesWithIf(buffer, aligned, [&](OpOperand &use) {
      return body.isAncestor(use.getOwner()->getParentRegion()) &&
             use.getOwner() != aligned.getDefiningOp();
    });
    // What the host has found out of the lengths of rows.
    auto [strides, offset] =
        cast<MemRefType>(buffer.getType()).getStridesAndOffset();
    if (!ShapedType::isDynamicShape(strides))
      continue;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, aligned);
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      if (!ShapedType::isDynamic(stride))
        continue;
      Value rest = arith::RemUIOp::create(
          rewriter, loc, metadata.getStrides()[dim],
          arith::ConstantIndexOp::create(rewriter, loc, length));
      Value isNone = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, rest,
          arith::ConstantIndexOp::create(rewriter, loc, 0));
      LLVM::AssumeOp::create(rewriter, loc, isNone);
    }
  }
}

void sparse_autograd::repeatIteration(RewriterBase &rewriter, scf::ForOp loop,
                                      ArrayRef<Operation *> ops, Value first,
                                      int64_t length) {
  if (length == 1)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = loop.getLoc();
  rewriter.setInsertionPointAfterValue(first);
  SmallVector<Value> variables = {first};
  for (int64_t number = 1; number < length; ++number)
    variables.push_back(arith::AddIOp::create(
        rewriter, loc, first,
        arith::ConstantIndexOp::create(rewriter, loc, number)));
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.setInsertionPoint(yield);
  // Reads of several come before the writes of any.
  UnrollAndJam together(ops, first);
  if (loop.getNumResults() == 0 && together.isPossible()) {
    together.createIterations(rewriter, variables);
    for (Operation *op : llvm::reverse(ops))
      rewriter.eraseOp(op);
    return;
  }
  SmallVector<Value> carried(yield.getOperands());
  for (Value variable : ArrayRef(variables).drop_front()) {
    IRMapping mapping;
    mapping.map(first, variable);
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation *op : ops)
      rewriter.clone(*op, mapping);
    for (auto [value, next] : llvm::zip_equal(carried, yield.getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(carried); });
}
