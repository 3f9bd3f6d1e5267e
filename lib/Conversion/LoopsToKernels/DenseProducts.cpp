//===- DenseProducts.cpp - products of dense matrices in tiles ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseProducts.h"

#include "../KernelOps.h"
#include "IndexBuilder.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "StructuredProducts.h"
#include "TensorCoreProducts.h"
#include "Unroll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Threads of a block, in each direction, and the terms that are in shared
/// memory at a time.
static constexpr int64_t blockWidth = 16, stripLength = 16;

/// How many sums a thread has in each direction: as many as fit its registers.
static int64_t getSumsOfThread(Type type) {
  return type.getIntOrFloatBitWidth() > 32 ? 2 : 4;
}

//===----------------------------------------------------------------------===//
// What is a product
//===----------------------------------------------------------------------===//

/// The number of the variable of the nest that `index` is.
std::optional<unsigned> DenseProduct::getNumber(Value index) const {
  ArrayRef<Value> variables = nest.getVariables();
  const Value *found = llvm::find(variables, index);
  if (found == variables.end())
    return std::nullopt;
  return found - variables.begin();
}

bool DenseProduct::matchFactor(Value memref, ValueRange indices, unsigned dim,
                               Factor &factor) const {
  factor.memref = memref;
  factor.indices = llvm::to_vector(indices);
  factor.sumDim = dim;
  return nest.isOutside(memref) && llvm::all_of(indices, [&](Value index) {
           return nest.isOutside(index) || getNumber(index);
         });
}

/// Chooses rows and columns: of the variables that only one factor has, the one
/// of the largest extent, and of the two the one that runs faster for columns,
/// so that neighbouring threads write neighbours.
bool DenseProduct::chooseDims() {
  auto getExtent = [&](unsigned number) {
    APInt extent;
    return matchPattern(nest.getUpperBounds()[number], m_ConstantInt(&extent))
               ? extent.getSExtValue()
               : std::numeric_limits<int64_t>::max();
  };
  auto chooseOwn = [&](Factor &factor,
                       const Factor &other) -> std::optional<unsigned> {
    std::optional<unsigned> own;
    for (auto [number, variable] : llvm::enumerate(nest.getVariables())) {
      if (llvm::count(factor.indices, variable) != 1 ||
          llvm::is_contained(other.indices, variable) ||
          (own && getExtent(number) < getExtent(*own)))
        continue;
      own = number;
    }
    if (own) {
      unsigned place = llvm::find(factor.indices, nest.getVariables()[*own]) -
                       factor.indices.begin();
      factor.ownDim = place < factor.sumDim ? place : place + 1;
    }
    return own;
  };
  std::optional<unsigned> ofLeft = chooseOwn(left, right);
  std::optional<unsigned> ofRight = chooseOwn(right, left);
  if (!ofLeft || !ofRight)
    return false;
  row = *ofLeft;
  column = *ofRight;
  if (row > column) {
    std::swap(row, column);
    std::swap(left, right);
  }
  for (unsigned number = 0; number < nest.getVariables().size(); ++number)
    if (number != row && number != column)
      outer.push_back(number);
  return true;
}

std::optional<DenseProduct> DenseProduct::match(const KernelNest &nest) {
  DenseProduct product(nest);
  auto isOne = [](Value step) { return matchPattern(step, m_One()); };
  auto isZero = [](Value bound) { return matchPattern(bound, m_Zero()); };
  if (!llvm::all_of(nest.getSteps(), isOne) ||
      !llvm::all_of(nest.getLowerBounds(), isZero))
    return std::nullopt;
  // Reads between the loops would belong to rows.
  for (scf::ForOp loop : nest.getLoops())
    if (loop.getBody() != nest.getBody() &&
        loop.getBody()->getOperations().size() != 2)
      return std::nullopt;
  bool storesBefore = false;
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (isa<InnerProductOp>(op) && !product.sum)
      product.sum = &op;
    else if (op.getNumRegions() == 0 && isa<memref::StoreOp>(op))
      storesBefore |= !product.sum;
    else if (op.getNumRegions() != 0 ||
             !(isa<memref::LoadOp>(op) || isPure(&op)))
      return std::nullopt;
  }
  auto sum = dyn_cast_or_null<InnerProductOp>(product.sum);
  if (!sum || !nest.isOutside(sum.getLength()) ||
      !product.matchFactor(sum.getLeft(), sum.getLeftIndices(),
                           sum.getLeftDim(), product.left) ||
      !product.matchFactor(sum.getRight(), sum.getRightIndices(),
                           sum.getRightDim(), product.right))
    return std::nullopt;
  product.left.coordinates = sum.getCoordinates();
  if (!product.chooseDims())
    return std::nullopt;
  // What is done before the sum is done after it, which other iterations would
  // not see either; twice where it has to be known what the sum begins with.
  if (storesBefore && product.readsInitFirst())
    return std::nullopt;
  return product;
}

bool DenseProduct::readsInitFirst() const {
  return getFactorType() == getSumType() && !nest.isOutside(getInit());
}

Value DenseProduct::getTerms() const {
  return cast<InnerProductOp>(sum).getLength();
}

Value DenseProduct::getInit() const {
  return cast<InnerProductOp>(sum).getInit();
}

Value DenseProduct::createIsLarge(OpBuilder &builder) const {
  Location loc = getLoc();
  Value least = arith::ConstantIndexOp::create(builder, loc, leastTileExtent);
  Value isLarge;
  for (Value extent : {getRows(), getColumns(), getTerms()}) {
    Value isEnough = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::sge, extent, least);
    isLarge = isLarge
                  ? builder.createOrFold<arith::AndIOp>(loc, isLarge, isEnough)
                  : isEnough;
  }
  return isLarge;
}

/// The terms of a product in a loop: the number of the element of the left
/// factor, and the term that it is of.
static std::pair<Value, Value>
getStoredTerm(OpBuilder &builder, InnerProductOp product, Value variable) {
  Value coordinates = product.getCoordinates();
  if (!coordinates)
    return {variable, variable};
  Location loc = product.getLoc();
  IndexBuilder index = {builder, loc};
  Value left = product.getLeft();
  auto type = cast<MemRefType>(left.getType());
  // All elements that are stored before this one, in the order of the list.
  Value number = index.constant(0);
  for (auto [dim, place] : llvm::enumerate(product.getLeftIndices())) {
    Value extent = builder.createOrFold<memref::DimOp>(
        loc, left, static_cast<int64_t>(dim));
    number = builder.createOrFold<arith::AddIOp>(
        loc, builder.createOrFold<arith::MulIOp>(loc, number, extent), place);
  }
  Value extent =
      builder.createOrFold<memref::DimOp>(loc, left, type.getRank() - 1);
  number = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, number, extent),
      variable);
  // Two bits for each, four of them in a byte.
  Value byte = memref::LoadOp::create(builder, loc, coordinates,
                                      ValueRange(index.div(number, 4)));
  Value shift = index.mul(index.rem(number, 4), 2);
  Value shifted = arith::ShRUIOp::create(
      builder, loc,
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), byte),
      shift);
  Value coordinate =
      arith::AndIOp::create(builder, loc, shifted, index.constant(3));
  return {variable,
          index.add(index.mul(index.div(variable, 2), 4), coordinate)};
}

void sparse_autograd::expandInnerProduct(RewriterBase &rewriter, Operation *op,
                                         Operation *outside) {
  auto product = cast<InnerProductOp>(op);
  bool isStructured = product.getCoordinates() != nullptr;
  Location loc = product.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(outside);
  IndexBuilder index = {rewriter, loc};
  Value zero = index.constant(0), one = index.constant(1);
  // A group stores two elements.
  Value length = product.getLength();
  if (isStructured)
    length = index.mul(index.ceilDiv(length, 4), 2);
  rewriter.setInsertionPoint(product);
  auto loop =
      scf::ForOp::create(rewriter, loc, zero, length, one, product.getInit());
  rewriter.setInsertionPointToStart(loop.getBody());
  auto [stored, term] =
      getStoredTerm(rewriter, product, loop.getInductionVar());
  // Of the last group of a row, which pads it.
  scf::IfOp branch;
  if (isStructured) {
    branch = scf::IfOp::create(rewriter, loc, product.getInit().getType(),
                               index.isLess(term, product.getLength()),
                               /*withElseRegion=*/true);
    scf::YieldOp::create(rewriter, loc, branch.getResults());
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, loop.getRegionIterArgs());
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  Type type = product.getResult().getType();
  auto load = [&](Value memref, ValueRange indices, unsigned dim,
                  Value place) -> Value {
    SmallVector<Value> all(indices);
    all.insert(all.begin() + dim, place);
    Value element = memref::LoadOp::create(rewriter, loc, memref, all);
    return element.getType() == type
               ? element
               : arith::ExtFOp::create(rewriter, loc, type, element);
  };
  Value left = load(product.getLeft(), product.getLeftIndices(),
                    product.getLeftDim(), stored);
  Value right = load(product.getRight(), product.getRightIndices(),
                     product.getRightDim(), term);
  Value multiplied = arith::MulFOp::create(rewriter, loc, left, right);
  Value total =
      arith::AddFOp::create(rewriter, loc, loop.getRegionIterArg(0), multiplied,
                            arith::FastMathFlags::reassoc);
  scf::YieldOp::create(rewriter, loc, total);
  rewriter.replaceOp(product, loop.getResults());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value DenseProduct::countTiles(OpBuilder &builder, Value down,
                               Value across) const {
  Value count = builder.createOrFold<arith::MulIOp>(getLoc(), across, down);
  for (unsigned number : outer)
    count = builder.createOrFold<arith::MulIOp>(getLoc(), count,
                                                nest.getUpperBounds()[number]);
  return count;
}

DenseProduct::Tile DenseProduct::getTile(OpBuilder &builder, Value number,
                                         Value down, Value across) const {
  IndexBuilder index = {builder, getLoc()};
  Tile tile;
  tile.matrix.resize(outer.size());
  if (!outer.empty()) {
    Value ofMatrix =
        builder.createOrFold<arith::MulIOp>(getLoc(), across, down);
    Value matrix;
    std::tie(matrix, number) = index.getPlace(number, ofMatrix);
    for (size_t i = outer.size(); i-- > 1;)
      std::tie(matrix, tile.matrix[i]) =
          index.getPlace(matrix, nest.getUpperBounds()[outer[i]]);
    tile.matrix.front() = matrix;
  }
  std::tie(tile.row, tile.column) = index.getPlace(number, across);
  return tile;
}

SmallVector<Value> DenseProduct::getIndices(const Factor &factor,
                                            const Tile &tile, Value own,
                                            Value term) const {
  SmallVector<Value> indices;
  for (Value index : factor.indices) {
    std::optional<unsigned> number = getNumber(index);
    if (!number)
      indices.push_back(index);
    else if (*number == row || *number == column)
      indices.push_back(own);
    else
      indices.push_back(
          tile.matrix[llvm::find(outer, *number) - outer.begin()]);
  }
  indices.insert(indices.begin() + factor.sumDim, term);
  return indices;
}

void DenseProduct::cloneBody(
    OpBuilder &builder, const Tile &tile, Value ofRow, Value ofColumn,
    function_ref<Value(Value init)> createTotal) const {
  IRMapping mapping;
  ArrayRef<Value> variables = nest.getVariables();
  mapping.map(variables[row], ofRow);
  mapping.map(variables[column], ofColumn);
  for (auto [number, place] : llvm::zip_equal(outer, tile.matrix))
    mapping.map(variables[number], place);
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (&op != sum) {
      builder.clone(op, mapping);
      continue;
    }
    Value total = createTotal(mapping.lookupOrDefault(getInit()));
    if (!total)
      return;
    mapping.map(sum->getResult(0), total);
  }
}

void DenseProduct::createTiles(RewriterBase &rewriter) const {
  if (isStructured())
    createStructuredTiles(rewriter, *this);
  else if (getFactorType() == getSumType())
    createFmaTiles(rewriter);
  else
    createTensorCoreTiles(rewriter, *this);
}

/// A block computes a square of the result; it has a strip of both factors in
/// shared memory at a time, and each thread a square of sums in registers (the
/// scheme of Volkov and Demmel, SC 2008). The terms of a sum are added in their
/// order.
void DenseProduct::createFmaTiles(RewriterBase &rewriter) const {
  Location loc = getLoc();
  Type type = getSumType();
  int64_t sums = getSumsOfThread(type), tile = sums * blockWidth;
  IndexBuilder index = {rewriter, loc};
  Value rows = getRows(), columns = getColumns(), terms = getTerms();
  Value across = index.ceilDiv(columns, tile);
  Value down = index.ceilDiv(rows, tile);
  Value blocks = countTiles(rewriter, down, across);
  // Some columns more than a strip has, so that threads that write terms of one
  // row use several banks, and each term begins at a multiple of 16 bytes.
  int64_t padding = 16 / llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  auto strip = MemRefType::get(
      {stripLength, tile + padding}, type, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                 gpu::AddressSpace::Workgroup));
  Value one = index.constant(1), width = index.constant(blockWidth);
  auto launch =
      gpu::LaunchOp::create(rewriter, loc, blocks, one, one, width, width, one,
                            /*dynamicSharedMemorySize=*/nullptr,
                            /*asyncTokenType=*/nullptr,
                            /*asyncDependencies=*/{}, TypeRange{strip, strip});
  constexpr int32_t blocksAtOnce = 2;
  setBlocksAtOnce(launch, blocksAtOnce);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());

  Tile own = getTile(rewriter, launch.getBlockIds().x, down, across);
  Value firstRow = index.mul(own.row, tile);
  Value firstColumn = index.mul(own.column, tile);
  Value x = launch.getThreadIds().x, y = launch.getThreadIds().y;
  Value thread = index.add(index.mul(y, blockWidth), x);
  // The rows of a thread are side by side: it reads their terms by one
  // instruction, as do the others that have these rows. Its columns are as far
  // apart as a block is wide, so that neighbouring threads write neighbours.
  SmallVector<Value> rowsInTile, columnsInTile, ownRows, ownColumns;
  for (int64_t i = 0; i < sums; ++i) {
    rowsInTile.push_back(index.add(index.mul(y, sums), index.constant(i)));
    columnsInTile.push_back(index.add(x, index.constant(i * blockWidth)));
    ownRows.push_back(index.add(firstRow, rowsInTile.back()));
    ownColumns.push_back(index.add(firstColumn, columnsInTile.back()));
  }
  // Calls `visit` for the elements of a thread that are in the matrix.
  auto forEachElement =
      [&](llvm::function_ref<SmallVector<Value>(int64_t, Value, Value)> visit,
          TypeRange types) {
        SmallVector<Value> results;
        for (int64_t i = 0; i < sums * sums; ++i) {
          Value ofRow = ownRows[i / sums], ofColumn = ownColumns[i % sums];
          Value isInside =
              arith::AndIOp::create(rewriter, loc, index.isLess(ofRow, rows),
                                    index.isLess(ofColumn, columns));
          auto branch = scf::IfOp::create(rewriter, loc, types, isInside,
                                          /*withElseRegion=*/!types.empty());
          OpBuilder::InsertionGuard inBranch(rewriter);
          rewriter.setInsertionPointToStart(branch.thenBlock());
          SmallVector<Value> values = visit(i, ofRow, ofColumn);
          if (types.empty())
            continue;
          scf::YieldOp::create(rewriter, loc, values);
          rewriter.setInsertionPointToStart(branch.elseBlock());
          Value zero = arith::ConstantOp::create(rewriter, loc,
                                                 rewriter.getZeroAttr(type));
          scf::YieldOp::create(rewriter, loc, zero);
          llvm::append_range(results, branch.getResults());
        }
        return results;
      };
  Value init = getInit();
  SmallVector<Value> totals(sums * sums, init);
  if (readsInitFirst())
    totals = forEachElement(
        [&](int64_t, Value ofRow, Value ofColumn) -> SmallVector<Value> {
          Value first;
          cloneBody(rewriter, own, ofRow, ofColumn, [&](Value ofElement) {
            first = ofElement;
            return Value();
          });
          return {first};
        },
        type);

  ArrayRef<BlockArgument> shared = launch.getWorkgroupAttributions();
  Value zero = index.constant(0), step = index.constant(stripLength);
  auto strips = scf::ForOp::create(rewriter, loc, zero, terms, step, totals);
  // A thread has many sums: more than a few terms do not fit its registers.
  limitUnrolling(strips, 1);
  rewriter.setInsertionPointToStart(strips.getBody());
  Value firstTerm = strips.getInductionVar();
  // Fills a strip with elements of a factor, and zeros outside of it. Threads
  // that are neighbours read neighbours.
  auto fill = [&](const Factor &factor, Value to, Value first, Value count) {
    int64_t threads = blockWidth * blockWidth;
    for (int64_t i = 0; i < stripLength * tile / threads; ++i) {
      Value number = index.add(thread, index.constant(i * threads));
      Value term, lane;
      if (factor.isSumLast()) {
        term = index.rem(number, stripLength);
        lane = index.div(number, stripLength);
      } else {
        term = index.div(number, tile);
        lane = index.rem(number, tile);
      }
      Value k = index.add(firstTerm, term), other = index.add(first, lane);
      Value isInside = arith::AndIOp::create(
          rewriter, loc, index.isLess(k, terms), index.isLess(other, count));
      auto branch = scf::IfOp::create(rewriter, loc, type, isInside,
                                      /*withElseRegion=*/true);
      {
        OpBuilder::InsertionGuard inBranch(rewriter);
        rewriter.setInsertionPointToStart(branch.thenBlock());
        Value element = memref::LoadOp::create(
            rewriter, loc, factor.memref, getIndices(factor, own, other, k));
        scf::YieldOp::create(rewriter, loc, element);
        rewriter.setInsertionPointToStart(branch.elseBlock());
        Value none = arith::ConstantOp::create(rewriter, loc,
                                               rewriter.getZeroAttr(type));
        scf::YieldOp::create(rewriter, loc, none);
      }
      memref::StoreOp::create(rewriter, loc, branch.getResult(0), to,
                              ValueRange{term, lane});
    }
  };
  fill(left, shared[0], firstRow, rows);
  fill(right, shared[1], firstColumn, columns);
  gpu::BarrierOp::create(rewriter, loc);
  auto inner = scf::ForOp::create(rewriter, loc, zero, step, one,
                                  strips.getRegionIterArgs());
  limitUnrolling(inner, 4);
  gpu::BarrierOp::create(rewriter, loc);
  scf::YieldOp::create(rewriter, loc, inner.getResults());
  rewriter.setInsertionPointToStart(inner.getBody());
  auto loadOwn = [&](Value from, ArrayRef<Value> places) {
    return llvm::map_to_vector(places, [&](Value place) -> Value {
      return memref::LoadOp::create(rewriter, loc, from,
                                    ValueRange{inner.getInductionVar(), place});
    });
  };
  SmallVector<Value> ofRows = loadOwn(shared[0], rowsInTile);
  SmallVector<Value> ofColumns = loadOwn(shared[1], columnsInTile);
  SmallVector<Value> next;
  for (int64_t i = 0; i < sums * sums; ++i)
    next.push_back(math::FmaOp::create(rewriter, loc, ofRows[i / sums],
                                       ofColumns[i % sums],
                                       inner.getRegionIterArg(i)));
  scf::YieldOp::create(rewriter, loc, next);
  rewriter.setInsertionPointAfter(strips);
  forEachElement(
      [&](int64_t i, Value ofRow, Value ofColumn) -> SmallVector<Value> {
        cloneBody(rewriter, own, ofRow, ofColumn,
                  [&](Value) { return strips.getResult(i); });
        return {};
      },
      TypeRange());
}
