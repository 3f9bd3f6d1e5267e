//===- StreamResults.cpp - write large results past the caches ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store to a line that is in no cache reads the line first. Of a result that
// is larger than the caches this is a third of what an operation moves that
// reads one tensor and writes another. Stores that go past the caches do not
// read, but LLVM makes none of a loop that it vectorizes, since it does not
// know how the rows lie: the loop writes a piece of a row to the stack, and the
// runtime sends that on. What an iteration reads again, such as the
// exponentials of a softmax, is in a buffer of its own until the iteration
// ends.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/StreamResults/StreamResults.h"

#include "../CachedBlocks.h"
#include "../RuntimeCalls.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_STREAMRESULTS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The elements of a piece of a row: of f32, an eighth of the first cache.
static constexpr int64_t pieceLength =
    genericCPU.firstCacheBytes / 8 / sizeof(float);

namespace {
/// A result of a function, and its part that an iteration of a loop over blocks
/// of rows writes.
struct Target {
  memref::AllocOp result;
  memref::SubViewOp block;
  /// The only operation that has to do with the block, if there is one and it
  /// reads nothing of it.
  linalg::GenericOp writer;
};
} // namespace

/// Whether `op` writes every element of a part of its output once, a row after
/// the other, and reads none.
static bool writesRows(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumLoops() == 0 || op.getNumReductionLoops() != 0)
    return false;
  OpOperand &output = op.getDpsInitsMutable()[0];
  auto type = dyn_cast<MemRefType>(output.get().getType());
  auto [strides, offset] = type ? type.getStridesAndOffset()
                                : std::pair<SmallVector<int64_t>, int64_t>();
  return type && !type.getMemorySpace() &&
         type.getElementType().isIntOrFloat() &&
         type.getElementTypeBitWidth() >= 8 && strides.back() == 1 &&
         op.getMatchingIndexingMap(&output).isIdentity() &&
         !op.payloadUsesValueFromOperand(&output);
}

/// Whether an operation reads `block` that does not write it. What is written,
/// and then changed in place, stays where it is: its lines are on their way
/// while the first values are computed, and a copy would have to wait for them.
static bool isReadAgain(memref::SubViewOp block) {
  return llvm::any_of(block->getUsers(), [&](Operation *user) {
    return !llvm::is_contained(cast<linalg::LinalgOp>(user).getDpsInits(),
                               block.getResult());
  });
}

/// How `block`, a part of `result`, is written, if that is by operations of an
/// iteration; nothing otherwise.
static std::optional<Target> findTarget(memref::AllocOp result,
                                        memref::SubViewOp block) {
  auto loop = dyn_cast<scf::ForallOp>(block->getParentOp());
  if (!loop || block.getType().getRank() != result.getType().getRank() ||
      !llvm::all_of(block->getUsers(), [&](Operation *user) {
        auto op = dyn_cast<linalg::LinalgOp>(user);
        return op && op.hasPureBufferSemantics() &&
               op->getBlock() == block->getBlock();
      }))
    return std::nullopt;
  if (block->hasOneUse())
    if (auto writer = dyn_cast<linalg::GenericOp>(*block->user_begin()))
      if (writesRows(writer) && writer.getDpsInits().front() == block)
        return Target{result, block, writer};
  if (!isReadAgain(block) || !block.hasUnitStride() ||
      !llvm::all_of(block.getMixedSizes(), [&](OpFoldResult size) {
        return getBoundBefore(loop, size);
      }))
    return std::nullopt;
  return Target{result, block, nullptr};
}

/// Whether `blocks` are one, or those of two loops of which one runs.
static bool areAlternatives(ArrayRef<memref::SubViewOp> blocks) {
  if (blocks.size() != 2)
    return blocks.size() == 1;
  Region *regions[] = {blocks[0]->getParentOp()->getParentRegion(),
                       blocks[1]->getParentOp()->getParentRegion()};
  return regions[0] != regions[1] &&
         isa<scf::IfOp>(regions[0]->getParentOp()) &&
         regions[0]->getParentOp() == regions[1]->getParentOp();
}

/// Adds how `result` is written, if that is in one loop over blocks of rows, or
/// in one of two, and nobody else has to do with it; nothing otherwise, and if
/// it is small.
static void findTargets(Value result, int64_t minimalBytes,
                        SmallVectorImpl<Target> &targets) {
  auto alloc = result.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return;
  MemRefType type = alloc.getType();
  if (type.getRank() == 0 || type.getMemorySpace() ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8 || !type.getLayout().isIdentity() ||
      (type.hasStaticShape() &&
       type.getNumElements() * type.getElementTypeBitWidth() / 8 <
           minimalBytes))
    return;
  SmallVector<memref::SubViewOp> blocks;
  for (Operation *user : result.getUsers()) {
    if (isa<memref::DimOp, func::ReturnOp>(user))
      continue;
    auto block = dyn_cast<memref::SubViewOp>(user);
    if (!block)
      return;
    blocks.push_back(block);
  }
  if (!areAlternatives(blocks))
    return;
  for (memref::SubViewOp block : blocks)
    if (std::optional<Target> target = findTarget(alloc, block))
      targets.push_back(*target);
}

/// The bytes of `array`, as the runtime takes them.
static Value getBytes(OpBuilder &builder, Location loc, Value array) {
  return toI64(builder, loc, createByteCount(builder, loc, array));
}

/// Sends `source` to `destination`, of the same extents and both contiguous.
static void createStream(RewriterBase &rewriter, SymbolTable &symbols,
                         Value destination, Value source, Value total) {
  RuntimeCallBuilder calls(&*rewriter.getInsertionPoint(), symbols);
  calls.call("sparseAutogradStream",
             {calls.pointer(destination), calls.pointer(source),
              getBytes(calls.builder, calls.loc, source), total});
}

/// The writer writes piece by piece.
static LogicalResult streamPieces(IRRewriter &rewriter,
                                  linalg::GenericOp writer,
                                  SymbolTable &symbols, Value total) {
  Location loc = writer.getLoc();
  int64_t rank = writer.getNumLoops();
  SmallVector<int64_t> tileSizes(rank, 1);
  tileSizes.back() = pieceLength;
  rewriter.setInsertionPoint(writer);
  Value piece = memref::AllocOp::create(
      rewriter, loc,
      MemRefType::get(tileSizes, getElementTypeOrSelf(
                                     writer.getDpsInits().front().getType())),
      rewriter.getI64IntegerAttr(genericCPU.lineBytes));
  FailureOr<linalg::TiledLinalgOp> tiled = linalg::tileLinalgOp(
      rewriter, writer, linalg::LinalgTilingOptions().setTileSizes(tileSizes));
  if (failed(tiled))
    return writer.emitError("cannot be cut into pieces of rows");
  OpOperand &output = tiled->op.getDpsInitsMutable()[0];
  Value row = output.get();
  rewriter.setInsertionPoint(tiled->op);
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, rewriter.getIndexAttr(1));
  Value part = memref::SubViewOp::create(
      rewriter, loc, piece, offsets, memref::getMixedSizes(rewriter, loc, row),
      strides);
  output.set(part);
  rewriter.setInsertionPointAfter(tiled->op);
  createStream(rewriter, symbols, row, part, total);
  rewriter.eraseOp(writer);
  return success();
}

/// The first dimension from which on `block` has all of `result`'s extents, but
/// for that one's own: from there on it is contiguous.
static int64_t getFirstContiguous(memref::AllocOp result,
                                  memref::SubViewOp block) {
  SmallVector<OpFoldResult> extents = result.getMixedSizes();
  SmallVector<OpFoldResult> sizes = block.getMixedSizes();
  int64_t first = block.getType().getRank() - 1;
  while (first > 0 && sizes[first] == extents[first])
    --first;
  return first;
}

/// The sizes of a buffer for the block of any iteration.
static SmallVector<OpFoldResult> getBufferSizes(memref::SubViewOp block) {
  auto loop = cast<scf::ForallOp>(block->getParentOp());
  SmallVector<OpFoldResult> sizes;
  for (OpFoldResult size : block.getMixedSizes())
    sizes.push_back(getBoundBefore(loop, size));
  return sizes;
}

/// Whether a buffer for blocks of `result` pays, before the loop: it does not
/// for what the caches hold anyway, nor if they do not hold the buffer.
static Value createIsWorthwhile(OpBuilder &builder, memref::AllocOp result,
                                memref::SubViewOp block, int64_t minimalBytes) {
  Location loc = block.getLoc();
  Value isLarge = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge,
      createByteCount(builder, loc, result),
      arith::ConstantIndexOp::create(builder, loc, minimalBytes));
  Value bytes = createByteCount(builder, loc, getBufferSizes(block),
                                block.getType().getElementType());
  return arith::AndIOp::create(builder, loc, isLarge,
                               createFitsInCache(builder, loc, bytes));
}

/// An iteration has the block in a buffer, and sends that on when it ends.
static void streamBlock(IRRewriter &rewriter, memref::AllocOp result,
                        memref::SubViewOp block, SymbolTable &symbols,
                        Value total) {
  Location loc = block.getLoc();
  auto loop = cast<scf::ForallOp>(block->getParentOp());
  MemRefType type = block.getType();
  int64_t rank = type.getRank();
  // Of a size that all iterations have, so that they can share it.
  auto [shape, dynamicSizes] = decomposeMixedValues(getBufferSizes(block));
  SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
  rewriter.setInsertionPointAfter(block);
  Value buffer = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(shape, type.getElementType()),
      dynamicSizes, rewriter.getI64IntegerAttr(genericCPU.lineBytes));
  Value part = memref::SubViewOp::create(rewriter, loc, buffer, zeros,
                                         block.getMixedSizes(), ones);
  rewriter.replaceAllUsesWith(block, part);

  // The part of `array`, a block, that is contiguous in both.
  int64_t first = getFirstContiguous(result, block);
  SmallVector<OpFoldResult> partOffsets = zeros, partSizes = ones;
  for (int64_t dim = first; dim < rank; ++dim)
    partSizes[dim] = block.getMixedSizes()[dim];
  auto slice = [&](Value array) -> Value {
    return memref::SubViewOp::create(rewriter, loc, array, partOffsets,
                                     partSizes, ones);
  };
  rewriter.setInsertionPoint(loop.getTerminator());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (int64_t dim = 0; dim < first; ++dim) {
    Value size = getValueOrCreateConstantIndexOp(rewriter, loc,
                                                 block.getMixedSizes()[dim]);
    auto rows = scf::ForOp::create(rewriter, loc, zero, size, one);
    partOffsets[dim] = rows.getInductionVar();
    rewriter.setInsertionPointToStart(rows.getBody());
  }
  createStream(rewriter, symbols, slice(block), slice(part), total);
}

namespace {
struct StreamResultsPass
    : sparse_autograd::impl::StreamResultsBase<StreamResultsPass> {
  using StreamResultsBase::StreamResultsBase;

  void runOnOperation() override {
    // What is written in place was to be inserted where it is.
    RewritePatternSet patterns(&getContext());
    memref::CopyOp::getCanonicalizationPatterns(patterns, &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    SmallVector<Target> targets;
    llvm::DenseSet<Value> seen;
    getOperation()->walk([&](func::ReturnOp op) {
      for (Value result : op.getOperands())
        if (seen.insert(result).second)
          findTargets(result, minimalBytes, targets);
    });
    for (const Target &target : targets)
      remarkChosen(
          memref::SubViewOp(target.block).getLoc(), getOperation(), "streamed",
          "blocks of a result of " +
              describeExtents(
                  memref::AllocOp(target.result).getType().getShape()) +
              " elements are written past the caches, if it has " +
              Twine(minimalBytes) + " bytes");
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    llvm::SmallDenseSet<Operation *> versioned;
    for (auto [result, block, writer] : targets) {
      auto loop = cast<scf::ForallOp>(block->getParentOp());
      if (writer || !versioned.insert(loop).second)
        continue;
      rewriter.setInsertionPoint(loop);
      versionLoop(rewriter, loop,
                  createIsWorthwhile(rewriter, result, block, minimalBytes));
    }
    for (auto [result, block, writer] : targets) {
      rewriter.setInsertionPoint(block->getParentOp());
      Value total = getBytes(rewriter, block.getLoc(), result);
      if (!writer)
        streamBlock(rewriter, result, block, symbols, total);
      else if (failed(streamPieces(rewriter, writer, symbols, total)))
        return signalPassFailure();
    }
  }
};
} // namespace
