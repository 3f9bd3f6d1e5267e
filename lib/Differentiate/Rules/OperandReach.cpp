//===- OperandReach.cpp - the elements that a structured op reads ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandReach.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// Static extents are enumerated up to this many iterations of the loops of one
/// dimension of an operand; beyond, the elements are found at run time.
static constexpr int64_t maximalEnumeration = 1 << 16;

SmallVector<unsigned> sparse_autograd::getLoopsOfOwnDimension(AffineMap map) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop) {
    unsigned mentions = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
      return expr.isFunctionOfDim(loop);
    });
    if (mentions == 1 &&
        llvm::is_contained(map.getResults(),
                           getAffineDimExpr(loop, map.getContext())))
      loops.push_back(loop);
  }
  return loops;
}

/// The dimensions of an operand that are not the range of a loop of their own.
static SmallVector<unsigned> getIrregularDims(AffineMap map) {
  SmallVector<unsigned> own = getLoopsOfOwnDimension(map);
  SmallVector<unsigned> irregular;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || !llvm::is_contained(own, loop.getPosition()))
      irregular.push_back(dim);
  }
  return irregular;
}

static SmallVector<unsigned> getLoopsOf(AffineExpr expr, unsigned numLoops) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (expr.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

/// Whether `expr`, over loops of static `extents`, takes every value from 0 to
/// `extent` - 1. False if that would take long to find out.
static bool takesAllValues(AffineExpr expr, ArrayRef<int64_t> extents,
                           int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return false;
  SmallVector<unsigned> loops = getLoopsOf(expr, extents.size());
  int64_t count = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(extents[loop]) ||
        llvm::MulOverflow(count, extents[loop], count) ||
        count > maximalEnumeration)
      return false;
  }
  // Each iteration takes one value at most.
  if (extent > count)
    return false;
  AffineMap map = AffineMap::get(extents.size(), 0, expr);
  llvm::BitVector taken(extent);
  Builder builder(expr.getContext());
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    SmallVector<Attribute> at(extents.size(), builder.getIndexAttr(0));
    int64_t rest = iteration;
    for (unsigned loop : loops) {
      at[loop] = builder.getIndexAttr(rest % extents[loop]);
      rest /= extents[loop];
    }
    SmallVector<Attribute> value;
    if (failed(map.constantFold(at, value)))
      return false;
    int64_t index = cast<IntegerAttr>(value.front()).getInt();
    if (index >= 0 && index < extent)
      taken.set(index);
  }
  return taken.all();
}

bool sparse_autograd::isReachedInWhole(linalg::LinalgOp op,
                                       OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  llvm::SmallDenseSet<unsigned> seen;
  for (unsigned dim : getIrregularDims(map)) {
    AffineExpr expr = map.getResult(dim);
    // Dimensions that share a loop depend on each other.
    for (unsigned loop : getLoopsOf(expr, op.getNumLoops()))
      if (!seen.insert(loop).second)
        return false;
    if (!takesAllValues(expr, extents, type.getDimSize(dim)))
      return false;
  }
  return true;
}

/// An operand that is one loop's range in a dimension: where its extent is.
static std::pair<Value, int64_t> findExtent(linalg::LinalgOp op,
                                            unsigned loop) {
  AffineExpr expr = getAffineDimExpr(loop, op.getContext());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, result] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (result == expr)
        return {operand.get(), static_cast<int64_t>(dim)};
  llvm_unreachable("every loop has an extent");
}

Support sparse_autograd::createReach(OpBuilder &builder, linalg::LinalgOp op,
                                     OpOperand &operand, Value shape,
                                     function_ref<Value(Value)> counterpart) {
  Location loc = op.getLoc();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<unsigned> dims = getIrregularDims(map);

  // A nest of the loops that these dimensions depend on writes a mask of these
  // dimensions. An empty tensor that nothing reads gives the extents.
  SmallVector<AffineExpr> replacements(
      op.getNumLoops(), getAffineConstantExpr(0, op.getContext()));
  SmallVector<AffineExpr> loops;
  SmallVector<OpFoldResult> extents;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (llvm::none_of(dims, [&](unsigned dim) {
          return map.getResult(dim).isFunctionOfDim(loop);
        }))
      continue;
    AffineExpr own = builder.getAffineDimExpr(loops.size());
    replacements[loop] = own;
    loops.push_back(own);
    auto [value, dim] = findExtent(op, loop);
    extents.push_back(
        tensor::getMixedSize(builder, loc, counterpart(value), dim));
  }
  SmallVector<AffineExpr> results;
  SmallVector<OpFoldResult> maskShape;
  SmallVector<int64_t> maskDims;
  for (unsigned dim : dims) {
    results.push_back(map.getResult(dim).replaceDims(replacements));
    maskShape.push_back(tensor::getMixedSize(builder, loc, shape, dim));
    maskDims.push_back(dim);
  }
  // Counted rather than set: what does not read its init is taken to write all
  // of it.
  Type integer = builder.getI32Type();
  Value empty = tensor::EmptyOp::create(builder, loc, maskShape, integer);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  Value space = tensor::EmptyOp::create(builder, loc, extents, integer);
  SmallVector<utils::IteratorType> iterators(loops.size(),
                                             utils::IteratorType::reduction);
  unsigned numLoops = loops.size();
  MLIRContext *context = op.getContext();
  Value counts =
      linalg::GenericOp::create(
          builder, loc, init.getType(), space, init,
          ArrayRef<AffineMap>{AffineMap::get(numLoops, 0, loops, context),
                              AffineMap::get(numLoops, 0, results, context)},
          iterators,
          [](OpBuilder &nested, Location loc, ValueRange args) {
            Value one = arith::ConstantOp::create(nested, loc,
                                                  nested.getI32IntegerAttr(1));
            Value next = arith::AddIOp::create(nested, loc, args[1], one);
            linalg::YieldOp::create(nested, loc, next);
          })
          .getResult(0);
  Value mask = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     counts, init);
  return Support::of(mask, map.getNumResults(), maskDims);
}
