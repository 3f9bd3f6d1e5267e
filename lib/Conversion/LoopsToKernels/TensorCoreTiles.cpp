//===- TensorCoreTiles.cpp - tiles that tensor cores multiply -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCoreTiles.h"

#include "Unroll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sparse_autograd;

TensorCoreTiles::TensorCoreTiles(RewriterBase &rewriter,
                                 const DenseProduct &product,
                                 const TileShape &shape, bool isExchanged)
    : rewriter(rewriter), product(product), shape(shape),
      isExchanged(isExchanged), loc(product.getLoc()), index{rewriter, loc},
      type(product.getFactorType()), terms(product.getTerms()) {}

Value TensorCoreTiles::isAnd(Value a, Value b) {
  return rewriter.createOrFold<arith::AndIOp>(loc, a, b);
}

Value TensorCoreTiles::countTiles() {
  auto count = [&](Value extent, int64_t size) {
    return rewriter.createOrFold<arith::CeilDivUIOp>(loc, extent,
                                                     index.constant(size));
  };
  int64_t extents[] = {shape.getRows(), shape.getColumns()};
  Value down = count(product.getRows(), extents[isExchanged]);
  Value across = count(product.getColumns(), extents[!isExchanged]);
  return product.countTiles(rewriter, down, across);
}

//===----------------------------------------------------------------------===//
// Strips of the factors
//===----------------------------------------------------------------------===//

MemRefType TensorCoreTiles::getSharedType(ArrayRef<int64_t> extents,
                                          Type element) {
  return MemRefType::get(
      extents, element, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                 gpu::AddressSpace::Workgroup));
}

MemRefType TensorCoreTiles::getStripsType(const Strips &strips) {
  int64_t extents[] = {shape.stages, strips.inTile,
                       strips.inStrip + groupLength};
  if (!strips.factor.isSumLast()) {
    extents[1] = strips.inStrip;
    extents[2] = strips.inTile + groupLength;
  }
  return getSharedType(extents, type);
}

/// Groups begin at multiples of 16 bytes, as do buffers, if they divide both
/// the rows in memory and what is used of them.
Value TensorCoreTiles::createHasGroups(const Strips &strips) {
  Value memref = strips.factor.memref;
  auto memrefType = cast<MemRefType>(memref.getType());
  if (!memrefType.getLayout().isIdentity() || !strips.factor.isSideBySide())
    return arith::ConstantIntOp::create(rewriter, loc, 0, 1);
  Value used = strips.factor.isSumLast() ? strips.length : strips.count;
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

TensorCoreTiles::Strips
TensorCoreTiles::createStrips(const DenseProduct::Factor &factor, Value count,
                              int64_t inTile) {
  // A structured factor stores half of its terms, and whole groups.
  bool isHalf = factor.coordinates != nullptr;
  Value length = terms;
  if (isHalf)
    length = rewriter.createOrFold<memref::DimOp>(
        loc, factor.memref, static_cast<int64_t>(factor.sumDim));
  Strips strips = {factor,
                   count,
                   inTile,
                   length,
                   isHalf ? shape.stripLength / 2 : shape.stripLength,
                   {},
                   {},
                   {},
                   {},
                   {}};
  strips.hasGroups = createHasGroups(strips);
  return strips;
}

/// Copies a group of neighbours `from` global memory, the places of the first
/// in the order in which a factor lies, and zeros instead of those that are not
/// there.
void TensorCoreTiles::copyGroup(const Strips &strips, ArrayRef<Value> from,
                                ArrayRef<Value> to, Value isInside) {
  Value length = strips.factor.isSumLast() ? strips.length : strips.count;
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

/// Has the block fill a stage with the terms from `firstTerm` on, among those
/// that the factor has. Threads that are neighbours read neighbours.
void TensorCoreTiles::fill(const Strips &strips, Value stage, Value firstTerm) {
  bool isSumLast = strips.factor.isSumLast();
  int64_t length = isSumLast ? strips.inStrip : strips.inTile;
  int64_t groupsOfRow = length / groupLength;
  int64_t groups = strips.inTile * strips.inStrip / groupLength;
  for (int64_t i = 0; i < groups / shape.getThreads(); ++i) {
    Value number = index.add(thread, index.constant(i * shape.getThreads()));
    Value row = index.div(number, groupsOfRow);
    Value column = index.mul(index.rem(number, groupsOfRow), groupLength);
    Value from[] = {index.add(isSumLast ? strips.first : firstTerm, row),
                    index.add(isSumLast ? firstTerm : strips.first, column)};
    Value isInside =
        index.isLess(from[0], isSumLast ? strips.count : strips.length);
    copyGroup(strips, from, {stage, row, column}, isInside);
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Where a lane finds the row that it passes to ldmatrix: `other` rows or
/// columns of the product behind those of its warp, and `term` terms behind the
/// first.
void TensorCoreTiles::placeFragments(Strips &strips, Value firstOfWarp,
                                     Value other, Value term) {
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

Value TensorCoreTiles::loadFragments(const Strips &strips, Value stage,
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

std::pair<Value, Value>
TensorCoreTiles::loadColumns(Value stage, int64_t offset, int64_t term) {
  Value both = loadFragments(right, stage, offset, term);
  auto extract = [&](int64_t first) -> Value {
    return vector::ExtractStridedSliceOp::create(
        rewriter, loc, both, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{2},
        ArrayRef<int64_t>{1});
  };
  Value first = extract(0);
  return {first, extract(2)};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value TensorCoreTiles::getFirstRowOfWarp() {
  return index.mul(index.div(warp, shape.warpsAcross), shape.getRowsOfWarp());
}

/// Does what is done of each element with its sum: for 16 rows of the result of
/// 32 elements of a warp at a time.
void TensorCoreTiles::finishElements(ValueRange sums, Value memory) {
  Type f32 = rewriter.getF32Type();
  constexpr int64_t rowsAtOnce = 16;
  // The fragments of these: one, or two if their columns are rows, by as many
  // as have a lane for each column.
  int64_t down = isExchanged ? warpSize / fragmentRows : 1;
  int64_t across =
      isExchanged ? rowsAtOnce / fragmentColumns : warpSize / fragmentColumns;
  // Rows that lanes write at once begin in other banks.
  int64_t padding = isExchanged ? groupLength / 2 : groupLength;
  auto places =
      getSharedType({shape.getWarps(), rowsAtOnce, warpSize + padding}, f32);
  Value zero = index.constant(0), one = index.constant(1);
  Value staged =
      memref::ViewOp::create(rewriter, loc, places, memory, zero, ValueRange());
  Value ofRows = index.add(left.first, getFirstRowOfWarp());
  Value ofColumns =
      index.add(right.first, index.mul(index.rem(warp, shape.warpsAcross),
                                       shape.getColumnsOfWarp()));
  Value wholeWarp =
      arith::ConstantIntOp::create(rewriter, loc, -1, /*width=*/32);
  // The rows of a fragment that a lane has elements of, and the columns.
  Value row = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  for (int64_t i = 0; i < shape.fragmentsDown; i += down)
    for (int64_t j = 0; j < shape.fragmentsAcross; j += across) {
      for (int64_t fragment = 0; fragment < down * across; ++fragment)
        for (int64_t k = 0; k < 4; ++k) {
          int64_t ofDown = fragment / across, ofAcross = fragment % across;
          Value element = vector::ExtractOp::create(
              rewriter, loc,
              sums[(i + ofDown) * shape.fragmentsAcross + j + ofAcross],
              ArrayRef<int64_t>{k / 2, k % 2});
          Value inRows =
              index.add(row, index.constant(ofDown * fragmentRows +
                                            k / 2 * fragmentRows / 2));
          Value inColumns = index.add(
              pair, index.constant(ofAcross * fragmentColumns + k % 2));
          SmallVector<Value> place = {warp, inRows, inColumns};
          if (isExchanged)
            std::swap(place[1], place[2]);
          memref::StoreOp::create(rewriter, loc, element, staged, place);
        }
      NVVM::SyncWarpOp::create(rewriter, loc, wholeWarp);
      Value firstRow = index.add(ofRows, index.constant(i * fragmentRows));
      Value firstColumn =
          index.add(ofColumns, index.constant(j * fragmentColumns));
      if (isExchanged)
        std::swap(firstRow, firstColumn);
      Value column = index.add(firstColumn, lane);
      Value isColumn = index.isLess(column, product.getColumns());
      auto loop = scf::ForOp::create(rewriter, loc, zero,
                                     index.constant(rowsAtOnce), one);
      limitUnrolling(loop, 4);
      NVVM::SyncWarpOp::create(rewriter, loc, wholeWarp);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value place = index.add(firstRow, loop.getInductionVar());
      auto branch = scf::IfOp::create(
          rewriter, loc,
          isAnd(isColumn, index.isLess(place, product.getRows())));
      rewriter.setInsertionPointToStart(branch.thenBlock());
      Value total = memref::LoadOp::create(
          rewriter, loc, staged,
          ValueRange{warp, loop.getInductionVar(), lane});
      product.cloneBody(
          rewriter, tile, place, column, [&](Value init) -> Value {
            if (matchPattern(init, m_PosZeroFloat()))
              return total;
            return arith::AddFOp::create(rewriter, loc, init, total);
          });
    }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Bytes of shared memory: those that a block has without asking, or as many as
/// its launch asks for.
Value TensorCoreTiles::createMemory(gpu::LaunchOp launch) {
  if (!launch.getWorkgroupAttributions().empty())
    return launch.getWorkgroupAttributions().front();
  return gpu::DynamicSharedMemoryOp::create(
      rewriter, loc, getSharedType(ShapedType::kDynamic, rewriter.getI8Type()));
}

void TensorCoreTiles::prepare() {
  if (left.count)
    return;
  DenseProduct::Factor ofRows = product.getLeft(),
                       ofColumns = product.getRight();
  Value rows = product.getRows(), columns = product.getColumns();
  if (isExchanged) {
    std::swap(ofRows, ofColumns);
    std::swap(rows, columns);
  }
  left = createStrips(ofRows, rows, shape.getRows());
  right = createStrips(ofColumns, columns, shape.getColumns());
  prepareFurther();
}

Value TensorCoreTiles::createHasGroups() {
  prepare();
  return isAnd(left.hasGroups, right.hasGroups);
}

void TensorCoreTiles::copyGroupsAlone() {
  prepare();
  left.hasGroups = right.hasGroups =
      arith::ConstantIntOp::create(rewriter, loc, 1, 1);
}

void TensorCoreTiles::create() {
  prepare();
  Value rows = left.count, columns = right.count;
  Value across = index.ceilDiv(columns, shape.getColumns());
  Value down = index.ceilDiv(rows, shape.getRows());
  if (isExchanged)
    std::swap(across, down);
  Value blocks = product.countTiles(rewriter, down, across);
  // The sums of the warps use the memory of the strips in the end.
  MemRefType leftType = getStripsType(left), rightType = getStripsType(right);
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  int64_t leftBytes = leftType.getNumElements() * elementBytes;
  int64_t factorBytes = leftBytes + rightType.getNumElements() * elementBytes;
  int64_t bytes = factorBytes + getFurtherBytes();
  Value one = index.constant(1), width = index.constant(shape.getThreads());
  Value asked;
  SmallVector<Type> attributions;
  if (bytes > genericGPU.staticSharedBytes)
    asked = arith::ConstantIntOp::create(rewriter, loc, bytes, /*width=*/32);
  else
    attributions.push_back(getSharedType(bytes, rewriter.getI8Type()));
  auto launch =
      gpu::LaunchOp::create(rewriter, loc, blocks, one, one, width, one, one,
                            asked, /*asyncTokenType=*/nullptr,
                            /*asyncDependencies=*/{}, attributions);
  setBlocksAtOnce(launch, shape.blocksAtOnce);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());

  tile = product.getTile(rewriter, launch.getBlockIds().x, down, across);
  left.first = index.mul(isExchanged ? tile.column : tile.row, shape.getRows());
  right.first =
      index.mul(isExchanged ? tile.row : tile.column, shape.getColumns());
  thread = launch.getThreadIds().x;
  lane = index.rem(thread, warpSize);
  warp = index.div(thread, warpSize);
  Value memory = createMemory(launch);
  Value zero = index.constant(0);
  left.memory = memref::ViewOp::create(rewriter, loc, leftType, memory, zero,
                                       ValueRange());
  right.memory =
      memref::ViewOp::create(rewriter, loc, rightType, memory,
                             index.constant(leftBytes), ValueRange());
  placeFurther(memory, factorBytes);
  // Of the four matrices of 8 x 8 that a warp loads at once the second one is
  // behind the first in the rows of the product, or, of the right factor, in
  // the terms.
  Value matrix = index.div(lane, groupLength);
  Value low = index.mul(index.rem(matrix, 2), groupLength);
  Value high = index.mul(index.div(matrix, 2), groupLength);
  placeFragments(left, getFirstRowOfWarp(), low, high);
  placeFragments(
      right,
      index.mul(index.rem(warp, shape.warpsAcross), shape.getColumnsOfWarp()),
      high, low);

  Value step = index.constant(shape.stripLength);
  auto fillStage = [&](Value stage, Value firstTerm) {
    auto isThere =
        scf::IfOp::create(rewriter, loc, index.isLess(firstTerm, terms));
    // A group for each stage, also without copies: they are counted.
    NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
    OpBuilder::InsertionGuard inBranch(rewriter);
    rewriter.setInsertionPointToStart(isThere.thenBlock());
    for (const Strips *strips : {&left, &right})
      fill(*strips, stage,
           strips->factor.coordinates ? index.div(firstTerm, 2) : firstTerm);
    fillFurther(stage, firstTerm);
  };
  int64_t ahead = shape.stages - 1;
  auto before =
      scf::ForOp::create(rewriter, loc, zero, index.constant(ahead), one);
  limitUnrolling(before, 1);
  {
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(before.getBody());
    Value stage = before.getInductionVar();
    fillStage(stage, index.mul(stage, shape.stripLength));
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
    Value strip = index.div(firstTerm, shape.stripLength);
    // All have copied this strip, and used the one before, whose place is free.
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, ahead - 1);
    gpu::BarrierOp::create(rewriter, loc);
    fillStage(index.rem(index.add(strip, index.constant(ahead)), shape.stages),
              index.add(firstTerm, index.constant(ahead * shape.stripLength)));
    SmallVector<Value> added =
        multiply(index.rem(strip, shape.stages), strips.getRegionIterArgs());
    scf::YieldOp::create(rewriter, loc, added);
  }
  gpu::BarrierOp::create(rewriter, loc);
  finishElements(strips.getResults(), memory);
}
