//===- Selection.cpp - 2:4 selection to linalg ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A choice is a loop over tiles. Tiles that are there as a whole are read
// through a tensor of rank + 2 dimensions, in which the position in a tile is a
// constant: consecutive tiles of a row lie side by side. Those at the edges, if
// there are any, are loops of their own, whose reads stay inside of the tensor.
//
//===----------------------------------------------------------------------===//

#include "ChooseTile.h"
#include "Patterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// sparsify_24 and sparsify_24_like, once gradients are code.
template <typename OpTy>
struct ExpandSelection : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value from = op.getInput();
    if constexpr (std::is_same_v<OpTy, Sparsify24LikeOp>)
      from = op.getOther();
    Location loc = op.getLoc();
    Value choice = Choose24Op::create(rewriter, loc, from, op.getSelect());
    Value mask = createChoiceMask(rewriter, loc, choice, from);
    rewriter.replaceOp(op, createSelections(rewriter, loc, op.getSelect(),
                                            op.getInput(), choice, mask,
                                            op->getResultTypes()));
    return success();
  }
};

/// Tiles of a tensor, and their choices.
class TileLoops {
public:
  TileLoops(Choose24Op op, PatternRewriter &rewriter)
      : op(op), b(rewriter), loc(op.getLoc()), input(op.getInput()),
        rank(op.getType().getRank()),
        extents(tensor::getMixedSizes(rewriter, loc, input)) {
    for (int64_t dim = 0; dim < rank; ++dim) {
      full.push_back(dim < rank - 2 ? extents[dim] : divide(extents[dim]));
      tiles.push_back(dim < rank - 2 ? extents[dim]
                                     : divide(extents[dim], /*up=*/true));
    }
  }

  Value build();

private:
  OpFoldResult divide(OpFoldResult extent, bool up = false) {
    AffineExpr dim = b.getAffineDimExpr(0);
    return apply(up ? dim.ceilDiv(tileExtent) : dim.floorDiv(tileExtent),
                 extent);
  }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  }
  Value toValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  SmallVector<utils::IteratorType> parallel() {
    return SmallVector<utils::IteratorType>(rank,
                                            utils::IteratorType::parallel);
  }
  Value chooseFull(Value init);
  Value chooseEdge(Value init, ArrayRef<OpFoldResult> offsets);
  /// `choices` with what `choose` makes of its part at `offsets` of `sizes`.
  Value replace(Value choices, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes,
                llvm::function_ref<Value(Value)> choose);

  Choose24Op op;
  PatternRewriter &b;
  Location loc;
  Value input;
  int64_t rank;
  /// Of the tensor; of the tiles that are there as a whole; of all tiles.
  SmallVector<OpFoldResult> extents, full, tiles;
};

struct LowerChoice : OpRewritePattern<Choose24Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Choose24Op op,
                                PatternRewriter &rewriter) const override {
    Value choices = TileLoops(op, rewriter).build();
    if (choices.getType() != op.getType())
      choices =
          tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), choices);
    rewriter.replaceOp(op, choices);
    return success();
  }
};

/// The bit of an element, from the tile that it is in.
struct LowerMask : OpRewritePattern<Mask24Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Mask24Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    int64_t rank = type.getRank();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type, op.getExtents());
    AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<AffineExpr> tile(identity.getResults());
    for (AffineExpr &expr : MutableArrayRef(tile).take_back(2))
      expr = expr.floorDiv(tileExtent);
    SmallVector<utils::IteratorType> parallel(rank,
                                              utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, op.getChoice(), empty,
        ArrayRef<AffineMap>{
            AffineMap::get(rank, 0, tile, rewriter.getContext()), identity},
        parallel, [&](OpBuilder &builder, Location loc, ValueRange elements) {
          Type bits = builder.getIntegerType(16);
          auto constant = [&](int64_t number) -> Value {
            return arith::ConstantOp::create(
                builder, loc, builder.getIntegerAttr(bits, number));
          };
          auto inTile = [&](int64_t dim) -> Value {
            Value index = arith::IndexCastOp::create(
                builder, loc, bits, linalg::IndexOp::create(builder, loc, dim));
            return arith::AndIOp::create(builder, loc, index,
                                         constant(tileExtent - 1));
          };
          Value row = arith::ShLIOp::create(builder, loc, inTile(rank - 2),
                                            constant(2));
          Value bit = arith::OrIOp::create(builder, loc, row, inTile(rank - 1));
          Value shifted =
              arith::ShRUIOp::create(builder, loc, elements[0], bit);
          Value isKept = arith::TruncIOp::create(builder, loc,
                                                 builder.getI1Type(), shifted);
          linalg::YieldOp::create(builder, loc, isKept);
        });
    return success();
  }
};

} // namespace

/// The tiles that are there as a whole, as a loop over them.
Value TileLoops::chooseFull(Value init) {
  SmallVector<OpFoldResult> zeros(rank, b.getIndexAttr(0)),
      ones(rank, b.getIndexAttr(1)), sizes(extents), split;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim) {
    groups.push_back({static_cast<int64_t>(split.size())});
    split.push_back(full[dim]);
    if (dim < rank - 2)
      continue;
    sizes[dim] = apply(b.getAffineDimExpr(0) * tileExtent, full[dim]);
    groups.back().push_back(split.size());
    split.push_back(b.getIndexAttr(tileExtent));
  }
  Value whole = input;
  if (sizes != extents)
    whole = tensor::ExtractSliceOp::create(b, loc, whole, zeros, sizes, ones);
  auto type = RankedTensorType::get(decomposeMixedValues(split).first,
                                    getElementTypeOrSelf(input.getType()));
  Value inTiles =
      tensor::ExpandShapeOp::create(b, loc, type, whole, groups, split);

  SmallVector<AffineMap> maps;
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  for (int64_t row = 0; row < tileExtent; ++row)
    for (int64_t column = 0; column < tileExtent; ++column) {
      SmallVector<AffineExpr> place(identity.getResults());
      place.insert(place.end() - 1, b.getAffineConstantExpr(row));
      place.push_back(b.getAffineConstantExpr(column));
      maps.push_back(AffineMap::get(rank, 0, place, b.getContext()));
    }
  SmallVector<Value> elements(maps.size(), inTiles);
  maps.push_back(identity);
  return linalg::GenericOp::create(
             b, loc, init.getType(), elements, init, maps, parallel(),
             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
               SmallVector<Value> tile(arguments.drop_back());
               linalg::YieldOp::create(
                   nested, loc, chooseTile(nested, loc, op.getSelect(), tile));
             })
      .getResult(0);
}

/// Tiles from `offsets` on of which a part is there; what is not is read as the
/// last row or column.
Value TileLoops::chooseEdge(Value init, ArrayRef<OpFoldResult> offsets) {
  Value numRows = toValue(extents[rank - 2]);
  Value numColumns = toValue(extents[rank - 1]);
  Value firstRow = toValue(offsets[rank - 2]);
  Value firstColumn = toValue(offsets[rank - 1]);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange(), init,
             b.getMultiDimIdentityMap(rank), parallel(),
             [&](OpBuilder &nested, Location loc, ValueRange) {
               auto constant = [&](int64_t number) -> Value {
                 return arith::ConstantIndexOp::create(nested, loc, number);
               };
               SmallVector<Value> place;
               for (int64_t dim = 0; dim < rank; ++dim)
                 place.push_back(linalg::IndexOp::create(nested, loc, dim));
               // Where the tile begins, which of its rows or columns there are,
               // where they are, and how many.
               auto getPlaces = [&](Value tile, Value first, Value extent,
                                    SmallVectorImpl<Value> &isPresent,
                                    SmallVectorImpl<Value> &places) -> Value {
                 tile = arith::AddIOp::create(nested, loc, tile, first);
                 Value begin = arith::MulIOp::create(nested, loc, tile,
                                                     constant(tileExtent));
                 Value last =
                     arith::SubIOp::create(nested, loc, extent, constant(1));
                 for (int64_t i = 0; i < tileExtent; ++i) {
                   Value at =
                       arith::AddIOp::create(nested, loc, begin, constant(i));
                   isPresent.push_back(arith::CmpIOp::create(
                       nested, loc, arith::CmpIPredicate::slt, at, extent));
                   places.push_back(
                       arith::MinSIOp::create(nested, loc, at, last));
                 }
                 return arith::MinSIOp::create(
                     nested, loc,
                     arith::SubIOp::create(nested, loc, extent, begin),
                     constant(tileExtent));
               };
               SmallVector<Value> hasRow, rows, hasColumn, columns;
               Value rowCount =
                   getPlaces(place[rank - 2], firstRow, numRows, hasRow, rows);
               Value columnCount = getPlaces(place[rank - 1], firstColumn,
                                             numColumns, hasColumn, columns);
               SmallVector<Value> elements, isPresent;
               for (int64_t row = 0; row < tileExtent; ++row)
                 for (int64_t column = 0; column < tileExtent; ++column) {
                   place[rank - 2] = rows[row];
                   place[rank - 1] = columns[column];
                   elements.push_back(
                       tensor::ExtractOp::create(nested, loc, input, place));
                   isPresent.push_back(arith::AndIOp::create(
                       nested, loc, hasRow[row], hasColumn[column]));
                 }
               TileEdge edge{isPresent, rowCount, columnCount};
               linalg::YieldOp::create(
                   nested, loc,
                   chooseTile(nested, loc, op.getSelect(), elements, &edge));
             })
      .getResult(0);
}

Value TileLoops::replace(Value choices, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         llvm::function_ref<Value(Value)> choose) {
  if (llvm::is_contained(sizes, OpFoldResult(b.getIndexAttr(0))))
    return choices;
  if (sizes == ArrayRef<OpFoldResult>(tiles))
    return choose(choices);
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  Value part =
      tensor::ExtractSliceOp::create(b, loc, choices, offsets, sizes, ones);
  return tensor::InsertSliceOp::create(b, loc, choose(part), choices, offsets,
                                       sizes, ones);
}

Value TileLoops::build() {
  Value choices =
      tensor::EmptyOp::create(b, loc, tiles, op.getType().getElementType());
  SmallVector<OpFoldResult> origin(rank, b.getIndexAttr(0));
  choices = replace(choices, origin, full,
                    [&](Value part) { return chooseFull(part); });
  // The last columns of tiles beside the full ones, then the last rows.
  AffineExpr difference = b.getAffineDimExpr(0) - b.getAffineDimExpr(1);
  for (int64_t dim : {rank - 1, rank - 2}) {
    SmallVector<OpFoldResult> offsets(origin), sizes(tiles);
    offsets[dim] = full[dim];
    sizes[dim] = apply(difference, {tiles[dim], full[dim]});
    if (dim == rank - 1)
      sizes[rank - 2] = full[rank - 2];
    choices = replace(choices, offsets, sizes,
                      [&](Value part) { return chooseEdge(part, offsets); });
  }
  return choices;
}

void sparse_autograd::populateExpandSelectionPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<ExpandSelection<Sparsify24Op>, ExpandSelection<Sparsify24LikeOp>>(
          patterns.getContext());
}

void sparse_autograd::populateSelectionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerChoice, LowerMask>(patterns.getContext());
}
