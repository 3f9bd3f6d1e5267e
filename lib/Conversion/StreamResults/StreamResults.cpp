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
// runtime sends that on.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/StreamResults/StreamResults.h"

#include "../RuntimeCalls.h"
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

/// The elements of a piece of a row: 4 KiB of f32.
static constexpr int64_t pieceLength = 1024;

namespace {
/// A result of a function, and the operation that writes a part of it in a loop
/// over blocks of rows.
struct Target {
  Value result;
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

/// How `result` is written, if that is in one loop over blocks of rows and
/// nobody else has to do with it; nothing otherwise, and if it is small.
static std::optional<Target> findTarget(Value result, int64_t minimalBytes) {
  auto alloc = result.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return std::nullopt;
  MemRefType type = alloc.getType();
  if (type.getRank() == 0 || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8 || !type.getLayout().isIdentity() ||
      (type.hasStaticShape() &&
       type.getNumElements() * type.getElementTypeBitWidth() / 8 <
           minimalBytes))
    return std::nullopt;
  memref::SubViewOp block;
  for (Operation *user : result.getUsers()) {
    if (isa<memref::DimOp, func::ReturnOp>(user))
      continue;
    if (block || !isa<memref::SubViewOp>(user))
      return std::nullopt;
    block = cast<memref::SubViewOp>(user);
  }
  if (!block || !isa<scf::ForallOp>(block->getParentOp()) ||
      block.getType().getRank() != type.getRank() || !block->hasOneUse())
    return std::nullopt;
  auto writer = dyn_cast<linalg::GenericOp>(*block->user_begin());
  if (!writer || !writesRows(writer) ||
      writer->getBlock() != block->getBlock() ||
      writer.getDpsInits().front() != block)
    return std::nullopt;
  return Target{result, writer};
}

static func::FuncOp getStream(ModuleOp module, SymbolTable &symbols) {
  Type i64 = IntegerType::get(module.getContext(), 64);
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  return declareRuntimeFunction(symbols, "sparseAutogradStream",
                                {pointer, pointer, i64, i64});
}

/// The address of the first element of `view`.
static Value getPointer(OpBuilder &builder, Location loc, Value view) {
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, view);
  return getElementPointer(builder, loc, view, metadata.getOffset());
}

/// The bytes of `count` elements of `type`.
static Value getBytes(OpBuilder &builder, Location loc, Value count,
                      MemRefType type) {
  Value size = arith::ConstantIndexOp::create(
      builder, loc, type.getElementTypeBitWidth() / 8);
  return toI64(builder, loc, arith::MulIOp::create(builder, loc, count, size));
}

/// The bytes of `result`.
static Value getTotal(OpBuilder &builder, Location loc, Value result) {
  auto type = cast<MemRefType>(result.getType());
  Value elements = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    elements =
        arith::MulIOp::create(builder, loc, elements,
                              memref::DimOp::create(builder, loc, result, dim));
  return getBytes(builder, loc, elements, type);
}

/// Sends the row `source` to `destination`.
static void createStream(OpBuilder &builder, Location loc, func::FuncOp stream,
                         Value destination, Value source, Value total) {
  auto type = cast<MemRefType>(source.getType());
  Value length =
      memref::DimOp::create(builder, loc, source, type.getRank() - 1);
  func::CallOp::create(builder, loc, stream,
                       ValueRange{getPointer(builder, loc, destination),
                                  getPointer(builder, loc, source),
                                  getBytes(builder, loc, length, type), total});
}

/// The writer writes piece by piece.
static LogicalResult streamPieces(IRRewriter &rewriter,
                                  linalg::GenericOp writer, func::FuncOp stream,
                                  Value total) {
  Location loc = writer.getLoc();
  int64_t rank = writer.getNumLoops();
  SmallVector<int64_t> tileSizes(rank, 1);
  tileSizes.back() = pieceLength;
  rewriter.setInsertionPoint(writer);
  Value piece = memref::AllocOp::create(
      rewriter, loc,
      MemRefType::get(tileSizes, getElementTypeOrSelf(
                                     writer.getDpsInits().front().getType())),
      rewriter.getI64IntegerAttr(64));
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
  createStream(rewriter, loc, stream, row, part, total);
  rewriter.eraseOp(writer);
  return success();
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
          if (std::optional<Target> target = findTarget(result, minimalBytes))
            targets.push_back(*target);
    });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (auto [result, writer] : targets) {
      rewriter.setInsertionPoint(writer->getParentOp());
      Value total = getTotal(rewriter, writer->getLoc(), result);
      if (failed(streamPieces(rewriter, writer,
                              getStream(getOperation(), symbols), total)))
        return signalPassFailure();
    }
  }
};
} // namespace
