//===- PrefetchBlocks.cpp - ask for the next block of rows ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over blocks of rows goes through each block several times: first it
// waits for memory, then, with the block in a cache, it computes, and memory
// waits. The hardware does not know where the next block is; the loop does.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/PrefetchBlocks/PrefetchBlocks.h"

#include "../CachedBlocks.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PREFETCHBLOCKS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// What an operation costs for each element, in additions, that leaves time to
/// ask for another: an elementary function.
static constexpr int64_t expensive = elementaryFunctionCost;

/// How many elements are computed between asking and asking again: the
/// processor has room for about as many lines on their way as they have.
static constexpr int64_t stride = 256;

static constexpr int64_t lineBytes = genericCPU.lineBytes;

namespace {
/// A loop over blocks of rows whose next blocks are worth asking for.
struct Candidate {
  scf::ForallOp loop;
  /// The operation that computes most, on what is in a cache.
  linalg::GenericOp carrier;
  /// What the loop reads, of the shape of the carrier's loops.
  SmallVector<memref::SubViewOp> blocks;
};
} // namespace

static bool hasIdentityOperand(linalg::LinalgOp op, Value buffer) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return operand->get() == buffer &&
           op.getMatchingIndexingMap(operand).isIdentity();
  });
}

/// Whether no operation writes `view`, or a part of it.
static bool isOnlyRead(Value view) {
  return llvm::all_of(view.getUses(), [](OpOperand &use) {
    if (auto part = dyn_cast<memref::SubViewOp>(use.getOwner()))
      return isOnlyRead(part);
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && !op.isDpsInit(&use);
  });
}

/// Whether `value` is computed from the variable of `loop` and from what there
/// is before it, so that its value in any iteration can be.
static bool isComputed(scf::ForallOp loop, Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar(0))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isComputed(loop, operand); });
}

/// `value`, of which isComputed is true, in the iteration that `mapping` has
/// for the loop's variable.
static Value recompute(OpBuilder &builder, scf::ForallOp loop, Value value,
                       IRMapping &mapping) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, recompute(builder, loop, operand, mapping));
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The blocks that `loop` reads along the loops of `carrier`.
static SmallVector<memref::SubViewOp> findBlocks(scf::ForallOp loop,
                                                 linalg::GenericOp carrier) {
  SmallVector<memref::SubViewOp> blocks;
  for (auto view : loop.getBody()->getOps<memref::SubViewOp>()) {
    MemRefType type = view.getType();
    if (loop.isDefinedOutsideOfLoop(view.getSource()) && view.hasUnitStride() &&
        type.getRank() == carrier.getNumLoops() &&
        type.getElementType().isIntOrFloat() &&
        type.getStridesAndOffset().first.back() == 1 &&
        isComputed(loop, view) && isOnlyRead(view) &&
        llvm::any_of(view->getUsers(), [&](Operation *user) {
          auto op = dyn_cast<linalg::LinalgOp>(user);
          return op && op->getBlock() == view->getBlock() &&
                 hasIdentityOperand(op, view);
        }))
      blocks.push_back(view);
  }
  return blocks;
}

static std::optional<Candidate> findCandidate(scf::ForallOp loop) {
  if (loop.getRank() != 1 || !loop.isNormalized())
    return std::nullopt;
  linalg::GenericOp carrier;
  for (auto op : loop.getBody()->getOps<linalg::GenericOp>())
    if (op.hasPureBufferSemantics() && op.getNumLoops() >= 2 &&
        (!carrier || getBodyCost(op) > getBodyCost(carrier)))
      carrier = op;
  if (!carrier || getBodyCost(carrier) < expensive)
    return std::nullopt;
  SmallVector<memref::SubViewOp> blocks = findBlocks(loop, carrier);
  // Along what the carrier goes through itself, row after row.
  if (llvm::none_of(blocks, [&](memref::SubViewOp view) {
        return hasIdentityOperand(carrier, view);
      }))
    return std::nullopt;
  return Candidate{loop, carrier, std::move(blocks)};
}

/// The bytes of `arrays` together.
static Value createBytes(OpBuilder &builder, Location loc, ValueRange arrays) {
  Value total = arith::ConstantIndexOp::create(builder, loc, 0);
  for (Value array : arrays)
    total = arith::AddIOp::create(builder, loc, total,
                                  createByteCount(builder, loc, array));
  return total;
}

/// Whether what the loop reads has `minimalBytes`, before the loop.
static Value createIsLarge(OpBuilder &builder, Candidate &candidate,
                           int64_t minimalBytes) {
  Location loc = candidate.loop.getLoc();
  SmallVector<Value> sources;
  for (memref::SubViewOp block : candidate.blocks)
    sources.push_back(block.getSource());
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge,
      createBytes(builder, loc, sources),
      arith::ConstantIndexOp::create(builder, loc, minimalBytes));
}

/// The blocks of the next iteration, or of this one if it is the last.
static SmallVector<Value> createNextBlocks(OpBuilder &builder,
                                           Candidate &candidate) {
  scf::ForallOp loop = candidate.loop;
  Location loc = loop.getLoc();
  Value variable = loop.getInductionVar(0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, loop.getMixedUpperBound().front());
  Value last = arith::SubIOp::create(builder, loc, count, one);
  Value next = arith::MinUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, variable, one), last);
  IRMapping mapping;
  mapping.map(variable, next);
  SmallVector<Value> blocks;
  for (memref::SubViewOp block : candidate.blocks)
    blocks.push_back(recompute(builder, loop, block, mapping));
  return blocks;
}

/// Asks for the elements of `block` in the row `row`, up to `stride` of them
/// from `column` on.
static void createPrefetches(OpBuilder &builder, Location loc, Value block,
                             ValueRange row, Value column) {
  auto type = cast<MemRefType>(block.getType());
  Value elements = arith::ConstantIndexOp::create(
      builder, loc,
      lineBytes / llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  auto createLines = [&](OpBuilder &nested, Value end) {
    scf::ForOp::create(nested, loc, column, end, elements, ValueRange(),
                       [&](OpBuilder &body, Location, Value line, ValueRange) {
                         SmallVector<Value> indices(row);
                         indices.push_back(line);
                         memref::PrefetchOp::create(body, loc, block, indices,
                                                    /*isWrite=*/false,
                                                    /*localityHint=*/2,
                                                    /*isDataCache=*/true);
                         scf::YieldOp::create(body, loc);
                       });
  };
  Value end = arith::AddIOp::create(
      builder, loc, column,
      arith::ConstantIndexOp::create(builder, loc, stride));
  Value extent = memref::DimOp::create(builder, loc, block, type.getRank() - 1);
  // A number of lines that is known is no loop in the end.
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        end, extent);
  scf::IfOp::create(
      builder, loc, isWhole,
      [&](OpBuilder &nested, Location) {
        createLines(nested, end);
        scf::YieldOp::create(nested, loc);
      },
      [&](OpBuilder &nested, Location) {
        createLines(nested, extent);
        scf::YieldOp::create(nested, loc);
      });
}

/// Where there is much to read, the carrier asks for the next blocks.
static LogicalResult prefetchBlocks(IRRewriter &rewriter, Candidate &candidate,
                                    int64_t minimalBytes) {
  linalg::GenericOp carrier = candidate.carrier;
  Location loc = carrier.getLoc();
  rewriter.setInsertionPoint(candidate.loop);
  Value isLarge = createIsLarge(rewriter, candidate, minimalBytes);
  rewriter.setInsertionPoint(carrier);
  SmallVector<Value> next = createNextBlocks(rewriter, candidate);
  Value fits =
      createFitsInCache(rewriter, loc, createBytes(rewriter, loc, next));
  Value isWorthwhile = arith::AndIOp::create(rewriter, loc, isLarge, fits);
  SmallVector<int64_t> tileSizes(carrier.getNumLoops(), 1);
  tileSizes.back() = stride;
  FailureOr<linalg::TiledLinalgOp> tiled = linalg::tileLinalgOp(
      rewriter, carrier, linalg::LinalgTilingOptions().setTileSizes(tileSizes));
  if (failed(tiled))
    return carrier.emitError("cannot be cut into pieces of rows");
  SmallVector<Value> variables;
  for (Operation *loop : tiled->loops)
    variables.push_back(cast<scf::ForOp>(loop).getInductionVar());
  rewriter.setInsertionPointToStart(tiled->op->getBlock());
  auto choice = scf::IfOp::create(rewriter, loc, isWorthwhile);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  for (Value block : next)
    createPrefetches(rewriter, loc, block, ArrayRef(variables).drop_back(),
                     variables.back());
  rewriter.eraseOp(carrier);
  return success();
}

namespace {
struct PrefetchBlocksPass
    : sparse_autograd::impl::PrefetchBlocksBase<PrefetchBlocksPass> {
  using PrefetchBlocksBase::PrefetchBlocksBase;

  void runOnOperation() override {
    SmallVector<Candidate> candidates;
    getOperation().walk([&](scf::ForallOp loop) {
      if (std::optional<Candidate> candidate = findCandidate(loop))
        candidates.push_back(std::move(*candidate));
    });
    IRRewriter rewriter(&getContext());
    for (Candidate &candidate : candidates) {
      remarkChosen(candidate.loop.getLoc(), candidate.loop, "prefetched",
                   "blocks of " + Twine(candidate.blocks.size()) +
                       " tensors are fetched while the one before is computed, "
                       "if they have " +
                       Twine(minimalBytes) + " bytes");
      if (failed(prefetchBlocks(rewriter, candidate, minimalBytes)))
        return signalPassFailure();
    }
  }
};
} // namespace
