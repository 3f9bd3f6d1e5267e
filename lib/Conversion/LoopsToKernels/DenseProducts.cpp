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

/// Below that most of a tile would be outside of the matrix.
static constexpr int64_t leastExtent = 32;

/// How many sums a thread has in each direction: as many as fit its registers.
static int64_t getSumsOfThread(Type type) {
  return type.getIntOrFloatBitWidth() > 32 ? 2 : 4;
}

//===----------------------------------------------------------------------===//
// What is a product
//===----------------------------------------------------------------------===//

bool DenseProduct::matchFactor(Value value, Value outer, Factor &factor) const {
  auto load = value.getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().size() != 2 || !load->hasOneUse() ||
      !nest.isOutside(load.getMemref()))
    return false;
  Value variable = sum.getInductionVar();
  Value first = load.getIndices()[0], second = load.getIndices()[1];
  factor = {load, second == variable};
  return (first == outer && second == variable) ||
         (first == variable && second == outer);
}

/// What `value` is an extension of, if it is one and nothing else uses it, and
/// `value` otherwise.
static Value skipExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension && extension->hasOneUse() ? extension.getIn() : value;
}

/// Whether a term of the sum is a product of two factors of one type. Of f16
/// and bf16 the factors may be extended, or their product is: that it is
/// rounded before is not asked for (G11).
bool DenseProduct::matchFactors(Value term) {
  auto multiply = skipExtension(term).getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return false;
  Value factors[] = {skipExtension(multiply.getLhs()),
                     skipExtension(multiply.getRhs())};
  Type type = factors[0].getType();
  bool isNarrow = type.isF16() || type.isBF16();
  if (type != factors[1].getType() || (isNarrow && !term.getType().isF32()) ||
      (!isNarrow && type != term.getType()))
    return false;
  Value row = nest.getVariables()[0], column = nest.getVariables()[1];
  for (int swapped = 0; swapped < 2; ++swapped)
    if (matchFactor(factors[swapped], row, left) &&
        matchFactor(factors[1 - swapped], column, right))
      return true;
  return false;
}

std::optional<DenseProduct> DenseProduct::match(const KernelNest &nest) {
  DenseProduct product(nest);
  auto isOne = [](Value step) { return matchPattern(step, m_One()); };
  auto isZero = [](Value bound) { return matchPattern(bound, m_Zero()); };
  if (nest.getVariables().size() != 2 ||
      !llvm::all_of(nest.getSteps(), isOne) ||
      !llvm::all_of(nest.getLowerBounds(), isZero))
    return std::nullopt;
  // Reads between the two loops would belong to rows.
  for (scf::ForOp loop : nest.getLoops())
    if (loop.getBody() != nest.getBody() &&
        loop.getBody()->getOperations().size() != 2)
      return std::nullopt;
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !product.sum)
      product.sum = loop;
    else if (op.getNumRegions() != 0 ||
             !(isa<memref::LoadOp>(op) || isPure(&op) ||
               (isa<memref::StoreOp>(op) && product.sum)))
      return std::nullopt;
  }
  scf::ForOp sum = product.sum;
  if (!sum || sum.getNumResults() != 1 || !isZero(sum.getLowerBound()) ||
      !isOne(sum.getStep()) || !nest.isOutside(sum.getUpperBound()))
    return std::nullopt;
  Type type = sum.getResult(0).getType();
  auto add = sum.getYieldedValues()[0].getDefiningOp<arith::AddFOp>();
  if (!(type.isF32() || type.isF64()) || !add)
    return std::nullopt;
  Value carried = sum.getRegionIterArg(0);
  bool isFirst = add.getLhs() == carried;
  if (!isFirst && add.getRhs() != carried)
    return std::nullopt;
  if (!product.matchFactors(isFirst ? add.getRhs() : add.getLhs()))
    return std::nullopt;
  // Two loads, the product, the sum and the end, and extensions.
  constexpr size_t opsOfSum = 5;
  auto isExtension = [](Operation &op) { return isa<arith::ExtFOp>(op); };
  if (llvm::count_if(*sum.getBody(), std::not_fn(isExtension)) != opsOfSum)
    return std::nullopt;
  // Tensor cores add in an order of their own.
  if (product.getFactorType() != type &&
      !bitEnumContainsAny(add.getFastmath(), arith::FastMathFlags::reassoc))
    return std::nullopt;
  return product;
}

Value DenseProduct::createIsLarge(OpBuilder &builder) const {
  Location loc = sum.getLoc();
  Value least = arith::ConstantIndexOp::create(builder, loc, leastExtent);
  Value isLarge;
  for (Value extent : {nest.getUpperBounds()[0], nest.getUpperBounds()[1],
                       sum.getUpperBound()}) {
    Value isEnough = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::sge, extent, least);
    isLarge = isLarge
                  ? builder.createOrFold<arith::AndIOp>(loc, isLarge, isEnough)
                  : isEnough;
  }
  return isLarge;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void DenseProduct::cloneBody(
    OpBuilder &builder, ArrayRef<Value> place,
    function_ref<Value(Value init)> createTotal) const {
  IRMapping mapping;
  mapping.map(nest.getVariables(), place);
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (&op != sum) {
      builder.clone(op, mapping);
      continue;
    }
    Value total = createTotal(mapping.lookupOrDefault(sum.getInitArgs()[0]));
    if (!total)
      return;
    mapping.map(sum.getResult(0), total);
  }
}

void DenseProduct::createTiles(RewriterBase &rewriter) const {
  if (getFactorType() == getSum().getResult(0).getType())
    createFmaTiles(rewriter);
  else
    createTensorCoreTiles(rewriter, *this);
}

/// A block computes a square of the result; it has a strip of both factors in
/// shared memory at a time, and each thread a square of sums in registers (the
/// scheme of Volkov and Demmel, SC 2008). The terms of a sum are added in their
/// order.
void DenseProduct::createFmaTiles(RewriterBase &rewriter) const {
  Location loc = sum.getLoc();
  scf::ForOp sumLoop = sum;
  Type type = sumLoop.getResult(0).getType();
  int64_t sums = getSumsOfThread(type), tile = sums * blockWidth;
  IndexBuilder index = {rewriter, loc};
  Value rows = nest.getUpperBounds()[0], columns = nest.getUpperBounds()[1];
  Value terms = sumLoop.getUpperBound();
  Value across = index.ceilDiv(columns, tile);
  Value blocks =
      arith::MulIOp::create(rewriter, loc, across, index.ceilDiv(rows, tile));
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
  launch->setAttr(smallBlocksAttrName,
                  rewriter.getI32IntegerAttr(blocksAtOnce));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());

  auto [tileRow, tileColumn] = index.getPlace(launch.getBlockIds().x, across);
  Value firstRow = index.mul(tileRow, tile);
  Value firstColumn = index.mul(tileColumn, tile);
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
      [&](llvm::function_ref<SmallVector<Value>(int64_t, ArrayRef<Value>)>
              visit,
          TypeRange types) {
        SmallVector<Value> results;
        for (int64_t i = 0; i < sums * sums; ++i) {
          Value place[] = {ownRows[i / sums], ownColumns[i % sums]};
          Value isInside =
              arith::AndIOp::create(rewriter, loc, index.isLess(place[0], rows),
                                    index.isLess(place[1], columns));
          auto branch = scf::IfOp::create(rewriter, loc, types, isInside,
                                          /*withElseRegion=*/!types.empty());
          OpBuilder::InsertionGuard inBranch(rewriter);
          rewriter.setInsertionPointToStart(branch.thenBlock());
          SmallVector<Value> values = visit(i, place);
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
  Value init = sumLoop.getInitArgs()[0];
  SmallVector<Value> totals(sums * sums, init);
  if (!nest.isOutside(init))
    totals = forEachElement(
        [&](int64_t, ArrayRef<Value> place) -> SmallVector<Value> {
          Value first;
          cloneBody(rewriter, place, [&](Value ofElement) {
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
    memref::LoadOp load = factor.load;
    int64_t threads = blockWidth * blockWidth;
    for (int64_t i = 0; i < stripLength * tile / threads; ++i) {
      Value number = index.add(thread, index.constant(i * threads));
      Value term, lane;
      if (factor.isSumLast) {
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
            rewriter, loc, load.getMemref(),
            factor.isSumLast ? ValueRange{other, k} : ValueRange{k, other});
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
      [&](int64_t i, ArrayRef<Value> place) -> SmallVector<Value> {
        cloneBody(rewriter, place, [&](Value) { return strips.getResult(i); });
        return {};
      },
      TypeRange());
}
