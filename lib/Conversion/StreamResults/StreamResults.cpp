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

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_STREAMRESULTS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The elements of a piece of a row: 4 KiB of f32.
static constexpr int64_t pieceLength = 1024;

namespace {
/// A result of a function that a loop over blocks of rows writes.
struct Target {
  Value result;
  /// The part of it that belongs to a block.
  memref::SubViewOp block;
  /// The operation that writes the block.
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
  Target target = {result, nullptr, nullptr};
  for (Operation *user : result.getUsers()) {
    if (isa<memref::DimOp, func::ReturnOp>(user))
      continue;
    auto block = dyn_cast<memref::SubViewOp>(user);
    if (!block || target.block || !isa<scf::ForallOp>(block->getParentOp()) ||
        block.getType().getRank() != type.getRank())
      return std::nullopt;
    target.block = block;
  }
  if (!target.block)
    return std::nullopt;
  if (!target.block->hasOneUse())
    return std::nullopt;
  target.writer = dyn_cast<linalg::GenericOp>(*target.block->user_begin());
  if (!target.writer || !writesRows(target.writer) ||
      target.writer->getBlock() != target.block->getBlock() ||
      target.writer.getDpsInits().front() != target.block)
    return std::nullopt;
  return target;
}

static func::FuncOp getStream(ModuleOp module) {
  StringRef name = "sparseAutogradStream";
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto function = func::FuncOp::create(
      builder, module.getLoc(), name,
      builder.getFunctionType({pointer, pointer, i64, i64}, {}));
  function.setPrivate();
  return function;
}

static Value toI64(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

/// The address of the first element of `view`, whose rows are contiguous.
static Value getPointer(OpBuilder &builder, Location loc, Value view) {
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, view);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value base = LLVM::IntToPtrOp::create(
      builder, loc, pointer,
      toI64(
          builder, loc,
          memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, view)));
  return LLVM::GEPOp::create(
      builder, loc, pointer, cast<MemRefType>(view.getType()).getElementType(),
      base, ArrayRef<LLVM::GEPArg>{toI64(builder, loc, metadata.getOffset())});
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
    getOperation()->walk([](memref::CopyOp op) {
      if (op.getSource() == op.getTarget())
        op.erase();
    });
    SmallVector<Target> targets;
    llvm::DenseSet<Value> seen;
    getOperation()->walk([&](func::ReturnOp op) {
      for (Value result : op.getOperands())
        if (seen.insert(result).second)
          if (std::optional<Target> target = findTarget(result, minimalBytes))
            targets.push_back(*target);
    });
    IRRewriter rewriter(&getContext());
    for (const Target &target : targets) {
      func::FuncOp stream = getStream(getOperation());
      memref::SubViewOp block = target.block;
      rewriter.setInsertionPoint(block->getParentOp());
      Value total = getTotal(rewriter, block.getLoc(), target.result);
      if (failed(streamPieces(rewriter, target.writer, stream, total)))
        return signalPassFailure();
    }
  }
};
} // namespace
