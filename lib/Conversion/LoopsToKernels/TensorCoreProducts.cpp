//===- TensorCoreProducts.cpp - dense products by tensor cores ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes a tile of the result. It has strips of both factors in
// shared memory, stored as they are in global memory: one that it multiplies,
// and one that is on its way meanwhile. A warp loads fragments of them
// (ldmatrix, which transposes where a factor is stored the other way round) and
// multiplies these (mma.sync.m16n8k16), with the sums in its registers. In the
// end the sums go through shared memory, 16 rows of a warp at a time, so that
// what is done of an element is done by neighbouring threads for neighbouring
// elements.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreProducts.h"

#include "../KernelOps.h"
#include "IndexBuilder.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "Unroll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// The extents of one product of fragments.
static constexpr int64_t fragmentRows = 16, fragmentColumns = 8,
                         fragmentTerms = 16;

/// The terms of a strip.
static constexpr int64_t stripLength = 32;

/// Elements that one instruction copies to shared memory, and loads of a row of
/// a fragment. Rows of a strip have as many more than they need: they begin in
/// other banks.
static constexpr int64_t groupLength = 8;

namespace {
/// How a block of warps cuts its tile.
struct TileShape {
  int64_t warpsDown, warpsAcross;
  /// Fragments of sums of a warp.
  int64_t fragmentsDown, fragmentsAcross;
  /// Strips of each factor in shared memory.
  int64_t stages;
  /// Blocks of a multiprocessor that have place in its registers.
  int32_t blocksAtOnce;

  constexpr int64_t getRowsOfWarp() const {
    return fragmentsDown * fragmentRows;
  }
  constexpr int64_t getColumnsOfWarp() const {
    return fragmentsAcross * fragmentColumns;
  }
  constexpr int64_t getRows() const { return warpsDown * getRowsOfWarp(); }
  constexpr int64_t getColumns() const {
    return warpsAcross * getColumnsOfWarp();
  }
  constexpr int64_t getWarps() const { return warpsDown * warpsAcross; }
  constexpr int64_t getThreads() const { return getWarps() * warpSize; }
};
} // namespace

/// 128 x 128 elements, which read the factors less often, and 64 x 64, of which
/// there are more blocks. A block has 48 KiB of shared memory unless its launch
/// asks for more. What is done of an element has a lane for each column of a
/// warp.
static constexpr TileShape largeTile = {2, 4, 4, 4, 2, 2};
static constexpr TileShape smallTile = {2, 2, 2, 4, 4, 4};
static_assert(largeTile.getColumnsOfWarp() == warpSize &&
                  smallTile.getColumnsOfWarp() == warpSize,
              "a lane for each column");

/// As many large tiles keep a device busy, which has about so many
/// multiprocessors.
static constexpr int64_t leastLargeTiles = genericGPU.multiprocessors;

namespace {
class TileBuilder {
public:
  TileBuilder(RewriterBase &rewriter, const DenseProduct &product,
              const TileShape &shape)
      : rewriter(rewriter), product(product), shape(shape),
        loc(product.getLoc()), index{rewriter, loc},
        type(product.getFactorType()), rows(product.getRows()),
        columns(product.getColumns()), terms(product.getTerms()) {}

  void create();

private:
  /// A factor, what a block has of it, and what its lanes do with it.
  struct Strips {
    DenseProduct::Factor factor;
    /// How many rows or columns of the product, and how many of them a tile
    /// has.
    Value count;
    int64_t inTile;
    /// Whether groups of elements lie where one instruction copies them: a
    /// value of the host.
    Value hasGroups;
    /// Of the tile, and those of all stages in shared memory.
    Value first, memory;
    /// Where the lane's row of the first fragment of its warp is in a strip.
    Value row, column;
  };

  Strips createStrips(const DenseProduct::Factor &factor, Value count,
                      int64_t inTile);
  Value createHasGroups(const Strips &strips);
  MemRefType getStripsType(const Strips &strips);
  MemRefType getSharedType(ArrayRef<int64_t> shape, Type element);
  void placeFragments(Strips &strips, Value firstOfWarp, Value other,
                      Value term);
  void fill(const Strips &strips, Value stage, Value firstTerm);
  void copyGroup(const Strips &strips, ArrayRef<Value> from, ArrayRef<Value> to,
                 Value isInside, Value length);
  Value loadFragments(const Strips &strips, Value stage, int64_t offset,
                      int64_t term);
  SmallVector<Value> multiply(Value stage, ValueRange sums);
  void finishElements(ValueRange sums, Value memory);
  Value isAnd(Value a, Value b) {
    return rewriter.createOrFold<arith::AndIOp>(loc, a, b);
  }

  RewriterBase &rewriter;
  const DenseProduct &product;
  const TileShape &shape;
  Location loc;
  IndexBuilder index;
  Type type;
  Value rows, columns, terms;
  /// In the kernel.
  DenseProduct::Tile tile;
  Value thread, lane, warp, firstRow, firstColumn;
  Strips left, right;
};
} // namespace

//===----------------------------------------------------------------------===//
// Strips of the factors
//===----------------------------------------------------------------------===//

MemRefType TileBuilder::getSharedType(ArrayRef<int64_t> extents, Type element) {
  return MemRefType::get(
      extents, element, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                 gpu::AddressSpace::Workgroup));
}

MemRefType TileBuilder::getStripsType(const Strips &strips) {
  int64_t extents[] = {shape.stages, strips.inTile, stripLength + groupLength};
  if (!strips.factor.isSumLast()) {
    extents[1] = stripLength;
    extents[2] = strips.inTile + groupLength;
  }
  return getSharedType(extents, type);
}

/// Groups begin at multiples of 16 bytes, as do buffers, if they divide both
/// the rows in memory and what is used of them.
Value TileBuilder::createHasGroups(const Strips &strips) {
  Value memref = strips.factor.memref;
  auto memrefType = cast<MemRefType>(memref.getType());
  if (!memrefType.getLayout().isIdentity() || !strips.factor.isSideBySide())
    return arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  Value used = strips.factor.isSumLast() ? terms : strips.count;
  Value length = rewriter.createOrFold<memref::DimOp>(loc, memref,
                                                      memrefType.getRank() - 1);
  Value zero = index.constant(0), group = index.constant(groupLength);
  Value hasGroups;
  for (Value extent : {length, used}) {
    Value rest = rewriter.createOrFold<arith::RemUIOp>(loc, extent, group);
    Value isNone = rewriter.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, rest, zero);
    hasGroups = hasGroups ? isAnd(hasGroups, isNone) : isNone;
  }
  return hasGroups;
}

TileBuilder::Strips
TileBuilder::createStrips(const DenseProduct::Factor &factor, Value count,
                          int64_t inTile) {
  Strips strips = {factor, count, inTile, {}, {}, {}, {}, {}};
  strips.hasGroups = createHasGroups(strips);
  return strips;
}

/// Copies a group of neighbours `from` global memory, the places of the first
/// in the order in which a factor lies, of a row of which `length` elements are
/// used, and zeros instead of those that are not there.
void TileBuilder::copyGroup(const Strips &strips, ArrayRef<Value> from,
                            ArrayRef<Value> to, Value isInside, Value length) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value memref = strips.factor.memref;
  auto getIndices = [&](Value place) {
    bool isSumLast = strips.factor.isSumLast();
    return product.getIndices(strips.factor, tile, isSumLast ? from[0] : place,
                              isSumLast ? place : from[0]);
  };
  auto copyAtOnce = [&] {
    Value isThere = isAnd(isInside, index.isLess(from[1], length));
    Value read = arith::SelectOp::create(
        rewriter, loc, isThere, index.constant(groupLength), index.constant(0));
    nvgpu::DeviceAsyncCopyOp::create(
        rewriter, loc, nvgpu::DeviceAsyncTokenType::get(rewriter.getContext()),
        strips.memory, to, memref, getIndices(from[1]),
        rewriter.getIndexAttr(groupLength), read,
        /*bypassL1=*/rewriter.getUnitAttr());
  };
  auto copyEach = [&] {
    SmallVector<Value> elements;
    // All are read before the first one is written.
    for (int64_t i = 0; i < groupLength; ++i) {
      Value place = index.add(from[1], index.constant(i));
      Value isThere = isAnd(isInside, index.isLess(place, length));
      auto branch = scf::IfOp::create(rewriter, loc, type, isThere,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard inBranch(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      Value element =
          memref::LoadOp::create(rewriter, loc, memref, getIndices(place));
      scf::YieldOp::create(rewriter, loc, element);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      Value zero =
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
      scf::YieldOp::create(rewriter, loc, zero);
      elements.push_back(branch.getResult(0));
    }
    for (auto [i, element] : llvm::enumerate(elements)) {
      Value column = index.add(to.back(), index.constant(i));
      memref::StoreOp::create(rewriter, loc, element, strips.memory,
                              ValueRange{to[0], to[1], column});
    }
  };
  if (matchPattern(strips.hasGroups, m_One()))
    return copyAtOnce();
  if (matchPattern(strips.hasGroups, m_Zero()))
    return copyEach();
  auto branch = scf::IfOp::create(rewriter, loc, strips.hasGroups,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  copyAtOnce();
  rewriter.setInsertionPointToStart(branch.elseBlock());
  copyEach();
}

/// Has the block fill a stage with the terms from `firstTerm` on. Threads that
/// are neighbours read neighbours.
void TileBuilder::fill(const Strips &strips, Value stage, Value firstTerm) {
  bool isSumLast = strips.factor.isSumLast();
  int64_t length = isSumLast ? stripLength : strips.inTile;
  int64_t groupsOfRow = length / groupLength;
  int64_t groups = strips.inTile * stripLength / groupLength;
  for (int64_t i = 0; i < groups / shape.getThreads(); ++i) {
    Value number = index.add(thread, index.constant(i * shape.getThreads()));
    Value row = index.div(number, groupsOfRow);
    Value column = index.mul(index.rem(number, groupsOfRow), groupLength);
    Value from[] = {index.add(isSumLast ? strips.first : firstTerm, row),
                    index.add(isSumLast ? firstTerm : strips.first, column)};
    Value isInside = index.isLess(from[0], isSumLast ? strips.count : terms);
    copyGroup(strips, from, {stage, row, column}, isInside,
              isSumLast ? terms : strips.count);
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Where a lane finds the row that it passes to ldmatrix: `other` rows or
/// columns of the product behind those of its warp, and `term` terms behind the
/// first.
void TileBuilder::placeFragments(Strips &strips, Value firstOfWarp, Value other,
                                 Value term) {
  // Lanes have the rows of a matrix of 8 x 8, whatever these are.
  Value row = index.rem(lane, groupLength);
  Value first = index.add(firstOfWarp, other);
  if (strips.factor.isSumLast()) {
    strips.row = index.add(first, row);
    strips.column = term;
  } else {
    strips.row = index.add(term, row);
    strips.column = first;
  }
}

/// 16 rows or columns of the product and 16 terms: `offset` behind the first of
/// the warp, and `term` behind the first of the strip.
Value TileBuilder::loadFragments(const Strips &strips, Value stage,
                                 int64_t offset, int64_t term) {
  bool isSumLast = strips.factor.isSumLast();
  Value row = index.add(strips.row, index.constant(isSumLast ? offset : term));
  Value column =
      index.add(strips.column, index.constant(isSumLast ? term : offset));
  return nvgpu::LdMatrixOp::create(
      rewriter, loc, VectorType::get({4, 2}, type), strips.memory,
      ValueRange{stage, row, column}, /*transpose=*/!isSumLast,
      /*numTiles=*/4);
}

/// Adds the products of a strip to the sums of a warp.
SmallVector<Value> TileBuilder::multiply(Value stage, ValueRange before) {
  SmallVector<Value> sums(before);
  for (int64_t term = 0; term < stripLength; term += fragmentTerms) {
    SmallVector<Value> ofRows, ofColumns;
    for (int64_t i = 0; i < shape.fragmentsDown; ++i)
      ofRows.push_back(loadFragments(left, stage, i * fragmentRows, term));
    // Two fragments have 16 columns.
    for (int64_t j = 0; j < shape.fragmentsAcross; j += 2) {
      Value pair = loadFragments(right, stage, j * fragmentColumns, term);
      for (int64_t k : {0, 2})
        ofColumns.push_back(vector::ExtractStridedSliceOp::create(
            rewriter, loc, pair, ArrayRef<int64_t>{k}, ArrayRef<int64_t>{2},
            ArrayRef<int64_t>{1}));
    }
    for (auto [number, sum] : llvm::enumerate(sums))
      sum = nvgpu::MmaSyncOp::create(
          rewriter, loc, ofRows[number / shape.fragmentsAcross],
          ofColumns[number % shape.fragmentsAcross], sum,
          ArrayRef<int64_t>{fragmentRows, fragmentColumns, fragmentTerms});
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Does what is done of each element with its sum.
void TileBuilder::finishElements(ValueRange sums, Value memory) {
  Type f32 = rewriter.getF32Type();
  // Rows that lanes write at once begin in other banks.
  auto places = getSharedType(
      {shape.getWarps(), fragmentRows, shape.getColumnsOfWarp() + groupLength},
      f32);
  Value zero = index.constant(0), one = index.constant(1);
  Value staged =
      memref::ViewOp::create(rewriter, loc, places, memory, zero, ValueRange());
  Value warpRow =
      index.mul(index.div(warp, shape.warpsAcross), shape.getRowsOfWarp());
  Value warpColumn =
      index.mul(index.rem(warp, shape.warpsAcross), shape.getColumnsOfWarp());
  Value column = index.add(firstColumn, index.add(warpColumn, lane));
  Value isColumn = index.isLess(column, columns);
  Value wholeWarp =
      arith::ConstantIntOp::create(rewriter, loc, -1, /*width=*/32);
  // The rows of a fragment that a lane has elements of, and the columns.
  Value row = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  for (int64_t i = 0; i < shape.fragmentsDown; ++i) {
    for (int64_t j = 0; j < shape.fragmentsAcross; ++j)
      for (int64_t k = 0; k < 4; ++k) {
        Value element = vector::ExtractOp::create(
            rewriter, loc, sums[i * shape.fragmentsAcross + j],
            ArrayRef<int64_t>{k / 2, k % 2});
        memref::StoreOp::create(
            rewriter, loc, element, staged,
            ValueRange{
                warp, index.add(row, index.constant(k / 2 * fragmentRows / 2)),
                index.add(pair, index.constant(j * fragmentColumns + k % 2))});
      }
    NVVM::SyncWarpOp::create(rewriter, loc, wholeWarp);
    Value first = index.add(
        firstRow, index.add(warpRow, index.constant(i * fragmentRows)));
    auto loop = scf::ForOp::create(rewriter, loc, zero,
                                   index.constant(fragmentRows), one);
    limitUnrolling(loop, 4);
    NVVM::SyncWarpOp::create(rewriter, loc, wholeWarp);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value place = index.add(first, loop.getInductionVar());
    auto branch = scf::IfOp::create(rewriter, loc,
                                    isAnd(isColumn, index.isLess(place, rows)));
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value total = memref::LoadOp::create(
        rewriter, loc, staged, ValueRange{warp, loop.getInductionVar(), lane});
    product.cloneBody(rewriter, tile, place, column, [&](Value init) -> Value {
      if (matchPattern(init, m_PosZeroFloat()))
        return total;
      return arith::AddFOp::create(rewriter, loc, init, total);
    });
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void TileBuilder::create() {
  left = createStrips(product.getLeft(), rows, shape.getRows());
  right = createStrips(product.getRight(), columns, shape.getColumns());
  Value across = index.ceilDiv(columns, shape.getColumns());
  Value down = index.ceilDiv(rows, shape.getRows());
  Value blocks = product.countTiles(rewriter, down, across);
  // The sums of the warps use the memory of the strips in the end.
  MemRefType leftType = getStripsType(left), rightType = getStripsType(right);
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  int64_t leftBytes = leftType.getNumElements() * elementBytes;
  auto bytes =
      getSharedType(leftBytes + rightType.getNumElements() * elementBytes,
                    rewriter.getI8Type());
  Value one = index.constant(1), width = index.constant(shape.getThreads());
  auto launch =
      gpu::LaunchOp::create(rewriter, loc, blocks, one, one, width, one, one,
                            /*dynamicSharedMemorySize=*/nullptr,
                            /*asyncTokenType=*/nullptr,
                            /*asyncDependencies=*/{}, TypeRange{bytes});
  setBlocksAtOnce(launch, shape.blocksAtOnce);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());

  tile = product.getTile(rewriter, launch.getBlockIds().x, down, across);
  firstRow = index.mul(tile.row, shape.getRows());
  firstColumn = index.mul(tile.column, shape.getColumns());
  thread = launch.getThreadIds().x;
  lane = index.rem(thread, warpSize);
  warp = index.div(thread, warpSize);
  Value memory = launch.getWorkgroupAttributions().front();
  Value zero = index.constant(0);
  left.first = firstRow;
  right.first = firstColumn;
  left.memory = memref::ViewOp::create(rewriter, loc, leftType, memory, zero,
                                       ValueRange());
  right.memory =
      memref::ViewOp::create(rewriter, loc, rightType, memory,
                             index.constant(leftBytes), ValueRange());
  // Of the four matrices of 8 x 8 that a warp loads at once the second one is
  // behind the first in the rows of the product, or, of the right factor, in
  // the terms.
  Value matrix = index.div(lane, groupLength);
  Value low = index.mul(index.rem(matrix, 2), groupLength);
  Value high = index.mul(index.div(matrix, 2), groupLength);
  placeFragments(
      left,
      index.mul(index.div(warp, shape.warpsAcross), shape.getRowsOfWarp()), low,
      high);
  placeFragments(
      right,
      index.mul(index.rem(warp, shape.warpsAcross), shape.getColumnsOfWarp()),
      high, low);

  Value step = index.constant(stripLength);
  auto fillStage = [&](Value stage, Value firstTerm) {
    auto isThere =
        scf::IfOp::create(rewriter, loc, index.isLess(firstTerm, terms));
    // A group for each stage, also without copies: they are counted.
    NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
    OpBuilder::InsertionGuard inBranch(rewriter);
    rewriter.setInsertionPointToStart(isThere.thenBlock());
    fill(left, stage, firstTerm);
    fill(right, stage, firstTerm);
  };
  int64_t ahead = shape.stages - 1;
  auto before =
      scf::ForOp::create(rewriter, loc, zero, index.constant(ahead), one);
  limitUnrolling(before, 1);
  {
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(before.getBody());
    Value stage = before.getInductionVar();
    fillStage(stage, index.mul(stage, stripLength));
  }
  auto sumType = VectorType::get({2, 2}, rewriter.getF32Type());
  Value none =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(sumType));
  SmallVector<Value> sums(shape.fragmentsDown * shape.fragmentsAcross, none);
  auto strips = scf::ForOp::create(rewriter, loc, zero, terms, step, sums);
  limitUnrolling(strips, 1);
  {
    OpBuilder::InsertionGuard inStrip(rewriter);
    rewriter.setInsertionPointToStart(strips.getBody());
    Value firstTerm = strips.getInductionVar();
    Value strip = index.div(firstTerm, stripLength);
    // All have copied this strip, and used the one before, whose place is free.
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, ahead - 1);
    gpu::BarrierOp::create(rewriter, loc);
    fillStage(index.rem(index.add(strip, index.constant(ahead)), shape.stages),
              index.add(firstTerm, index.constant(ahead * stripLength)));
    SmallVector<Value> added =
        multiply(index.rem(strip, shape.stages), strips.getRegionIterArgs());
    scf::YieldOp::create(rewriter, loc, added);
  }
  gpu::BarrierOp::create(rewriter, loc);
  finishElements(strips.getResults(), memory);
}

void sparse_autograd::createTensorCoreTiles(RewriterBase &rewriter,
                                            const DenseProduct &product) {
  Location loc = product.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  auto countTiles = [&](Value extent, int64_t size) {
    return rewriter.createOrFold<arith::CeilDivUIOp>(
        loc, extent,
        arith::ConstantIndexOp::create(rewriter, loc, size).getResult());
  };
  Value down = countTiles(product.getRows(), largeTile.getRows());
  Value across = countTiles(product.getColumns(), largeTile.getColumns());
  Value tiles = product.countTiles(rewriter, down, across);
  Value isMany = rewriter.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::uge, tiles,
      arith::ConstantIndexOp::create(rewriter, loc, leastLargeTiles)
          .getResult());
  if (matchPattern(isMany, m_One()))
    return TileBuilder(rewriter, product, largeTile).create();
  if (matchPattern(isMany, m_Zero()))
    return TileBuilder(rewriter, product, smallTile).create();
  auto branch =
      scf::IfOp::create(rewriter, loc, isMany, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  TileBuilder(rewriter, product, largeTile).create();
  rewriter.setInsertionPointToStart(branch.elseBlock());
  TileBuilder(rewriter, product, smallTile).create();
}
