//===- SelectionOps.cpp - 2:4 selection -----------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// What the ops share
//===----------------------------------------------------------------------===//

/// Checks that two of four elements can be selected from `type`.
static LogicalResult verifySelectable(Operation *op, RankedTensorType type) {
  if (isSparse(type))
    return op->emitOpError("selects from a dense tensor, not from ")
           << type << "; make it dense with sparse_tensor.convert";
  if (type.getRank() < 2)
    return op->emitOpError("selects from a tensor of rank 2 or more, not from ")
           << type << "; give a vector a dimension of extent 1 with "
           << "tensor.expand_shape";
  return success();
}

/// Checks that `type`, of a result, is `expected`.
static LogicalResult verifyResult(Operation *op, RankedTensorType type,
                                  RankedTensorType expected) {
  if (type == expected)
    return success();
  if (isSparse(type))
    return op->emitOpError("has a dense result, not one of type ")
           << type << "; give it the type " << expected;
  return op->emitOpError("has a result of type ")
         << type << "; from its operands it is " << expected;
}

/// Checks the type of a result that may store what is selected, with the
/// gradient `gradient`.
static LogicalResult verifySelected(Operation *op, RankedTensorType type,
                                    RankedTensorType expected,
                                    SelectionGradient gradient) {
  if (!isSparse(type))
    return verifyResult(op, type, expected);
  if (!isPacked24(type))
    return op->emitOpError("stores what is selected as ")
           << type
           << "; the encoding of a result is structured[2, 4] along the "
           << "last dimension, below dense levels in the order of dimensions";
  if (type.getShape() != expected.getShape() ||
      type.getElementType() != expected.getElementType())
    return op->emitOpError("has a result of type ")
           << type << "; shape and elements are those of " << expected;
  if (gradient != SelectionGradient::Dense &&
      gradient != SelectionGradient::Sparse)
    return op->emitOpError("has a gradient ")
           << stringifySelectionGradient(gradient)
           << " of what is pruned, for which a result of type " << type
           << " has no cotangents; select with gradient = dense or sparse, or "
           << "give the result a dense type";
  return success();
}

/// Checks the factors of a `scaled` gradient.
static LogicalResult verifyScales(Operation *op, SelectionGradient gradient,
                                  std::optional<ArrayRef<double>> scales) {
  if (gradient != SelectionGradient::Scaled)
    return scales ? op->emitOpError("'gradient_scales' is for scaled, not for ")
                        << stringifySelectionGradient(gradient)
                  : LogicalResult(success());
  if (!scales || scales->size() != 2 ||
      !llvm::all_of(*scales, [](double scale) { return std::isfinite(scale); }))
    return op->emitOpError("a scaled gradient has two finite factors, "
                           "scaled<kept, pruned>");
  return success();
}

namespace {
/// The gradient of a selection, and its factors.
struct Gradient {
  template <typename OpTy>
  explicit Gradient(OpTy op)
      : kind(op.getGradient()), scales(op.getGradientScales()) {}

  bool passes() const { return kind == SelectionGradient::StraightThrough; }
  bool selects() const {
    return kind == SelectionGradient::Dense ||
           kind == SelectionGradient::Sparse;
  }
  bool prunes() const {
    return selects() ||
           (kind == SelectionGradient::Scaled && (*scales)[1] == 0.0);
  }

  SelectionGradient kind;
  std::optional<ArrayRef<double>> scales;
};
} // namespace

/// Whether a cotangent that passes the gradient `outer` and then `inner`, of
/// the same choice, is what `inner` alone makes of it.
static bool isAbsorbed(const Gradient &outer, const Gradient &inner) {
  return outer.passes() || (outer.selects() && inner.prunes());
}

static LogicalResult reifyAs(OpBuilder &builder, Location loc, Value like,
                             ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, loc, like));
  return success();
}

//===----------------------------------------------------------------------===//
// Sparsify24Op
//===----------------------------------------------------------------------===//

LogicalResult Sparsify24Op::verify() {
  RankedTensorType type = getInput().getType();
  if (failed(verifySelectable(*this, type)) ||
      failed(verifyScales(*this, getGradient(), getGradientScales())) ||
      failed(verifySelected(*this, getResult().getType(), type, getGradient())))
    return failure();
  if (!getTransposed())
    return success();
  if (getSelect() == Selection24::RowWise)
    return emitOpError("the transpose of a row_wise selection is not 2:4; "
                       "select = greedy, optimal and causal1122 have one");
  return verifySelected(*this,
                        cast<RankedTensorType>(getTransposed().getType()),
                        getTransposedType(type), getGradient());
}

LogicalResult
Sparsify24Op::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  (void)reifyAs(builder, getLoc(), getInput(), shapes);
  if (getTransposed()) {
    SmallVector<OpFoldResult> transposed = shapes.front();
    std::swap(transposed.end()[-2], transposed.end()[-1]);
    shapes.push_back(std::move(transposed));
  }
  return success();
}

/// The elements of a constant that ops may select from; null for any other
/// value, and for one number repeated so often that what is selected of it
/// would be a large table.
static DenseElementsAttr getSelectableConstant(Attribute constant) {
  constexpr int64_t maxRepeated = 1024;
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!elements ||
      (elements.isSplat() && elements.getNumElements() > maxRepeated))
    return {};
  return elements;
}

/// `elements` where `choices`, of their tiles, keep them, and zeros elsewhere;
/// of each matrix or, `isTransposed`, of its transpose.
static DenseElementsAttr selectElements(DenseElementsAttr elements,
                                        ArrayRef<uint16_t> choices,
                                        bool isTransposed) {
  auto type = cast<RankedTensorType>(elements.getType());
  int64_t numRows = type.getShape().end()[-2];
  int64_t numColumns = type.getShape().back();
  int64_t tilesPerRow = llvm::divideCeil(numColumns, tileExtent);
  int64_t tilesPerColumn = llvm::divideCeil(numRows, tileExtent);
  auto values = elements.getValues<APFloat>();
  APFloat zero = APFloat::getZero(
      cast<FloatType>(type.getElementType()).getFloatSemantics());
  SmallVector<APFloat> selected(type.getNumElements(), zero);
  for (int64_t number = 0; number < type.getNumElements(); ++number) {
    int64_t column = number % numColumns;
    int64_t row = number / numColumns % numRows;
    int64_t matrix = number / (numColumns * numRows);
    uint16_t choice =
        choices[(matrix * tilesPerColumn + row / tileExtent) * tilesPerRow +
                column / tileExtent];
    if (((choice >> getTileBit(row % tileExtent, column % tileExtent)) & 1) ==
        0)
      continue;
    int64_t place =
        isTransposed ? (matrix * numColumns + column) * numRows + row : number;
    selected[place] = values[number];
  }
  return DenseElementsAttr::get(isTransposed ? getTransposedType(type) : type,
                                selected);
}

LogicalResult Sparsify24Op::fold(FoldAdaptor adaptor,
                                 SmallVectorImpl<OpFoldResult> &results) {
  DenseElementsAttr elements = getSelectableConstant(adaptor.getInput());
  if (!elements || llvm::any_of((*this)->getResultTypes(), isSparse))
    return failure();
  SmallVector<uint16_t> choices = chooseOfConstant(getSelect(), elements);
  results.push_back(selectElements(elements, choices, /*isTransposed=*/false));
  if (getTransposed())
    results.push_back(selectElements(elements, choices, /*isTransposed=*/true));
  return success();
}

namespace {

/// What has been selected is selected again: the same elements are kept.
struct MergeSelections : OpRewritePattern<Sparsify24Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Sparsify24Op op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<Sparsify24Op>();
    if (!inner || op.getInput() != inner.getResult() ||
        inner.getSelect() != op.getSelect() ||
        !isAbsorbed(Gradient(op), Gradient(inner)))
      return failure();
    // Stored otherwise, it is made of the same tensor by the same choice.
    if (op->getNumResults() > inner->getNumResults() ||
        TypeRange(op->getResultTypes()) !=
            TypeRange(inner->getResultTypes())
                .take_front(op->getNumResults())) {
      if (!Gradient(inner).selects())
        return failure();
      rewriter.modifyOpInPlace(
          op, [&] { op.getInputMutable().assign(inner.getInput()); });
      return success();
    }
    rewriter.replaceOp(op, inner->getResults().take_front(op->getNumResults()));
    return success();
  }
};

/// What is stored of a constant is stored by a choice that is one.
struct ChooseOfConstant : OpRewritePattern<Sparsify24Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Sparsify24Op op,
                                PatternRewriter &rewriter) const override {
    Attribute constant;
    if (llvm::none_of(op->getResultTypes(), isSparse) ||
        !matchPattern(op.getInput(), m_Constant(&constant)))
      return failure();
    DenseElementsAttr elements = getSelectableConstant(constant);
    if (!elements)
      return failure();
    Location loc = op.getLoc();
    SmallVector<uint16_t> choices = chooseOfConstant(op.getSelect(), elements);
    Value choice = arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(
            Choose24Op::getChoiceType(op.getInput().getType()),
            ArrayRef<uint16_t>(choices)));
    bool hasBothOrders = op.getSelect() != Selection24::RowWise;
    SmallVector<Value> stored;
    for (auto [isTransposed, type] : llvm::enumerate(op->getResultTypes()))
      if (isSparse(type))
        stored.push_back(Compress24Op::create(
            rewriter, loc, type, op.getInput(), choice,
            /*transposed=*/isTransposed != 0, hasBothOrders));
      else
        stored.push_back(arith::ConstantOp::create(
            rewriter, loc,
            selectElements(elements, choices, isTransposed != 0)));
    rewriter.replaceOp(op, stored);
    return success();
  }
};

/// The choice of a selected tensor is that of the tensor it was selected from.
struct ReadOriginalChoice : OpRewritePattern<Sparsify24LikeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Sparsify24LikeOp op,
                                PatternRewriter &rewriter) const override {
    auto selection = op.getOther().getDefiningOp<Sparsify24Op>();
    if (!selection || op.getOther() != selection.getResult() ||
        selection.getSelect() != op.getSelect())
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getOtherMutable().assign(selection.getInput()); });
    return success();
  }
};

} // namespace

void Sparsify24Op::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<MergeSelections, ChooseOfConstant>(context);
}

//===----------------------------------------------------------------------===//
// Sparsify24LikeOp
//===----------------------------------------------------------------------===//

LogicalResult Sparsify24LikeOp::verify() {
  RankedTensorType type = getInput().getType();
  RankedTensorType other = getOther().getType();
  if (failed(verifySelectable(*this, type)) ||
      failed(verifySelectable(*this, other)) ||
      failed(verifyScales(*this, getGradient(), getGradientScales())) ||
      failed(verifySelected(*this, getType(), type, getGradient())))
    return failure();
  if (failed(verifyCompatibleShape(type, other)))
    return emitOpError("selects from ") << type << " what is kept of " << other
                                        << "; both must have one shape";
  return success();
}

LogicalResult
Sparsify24LikeOp::reifyResultShapes(OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(builder, getLoc(), getInput(), shapes);
}

void Sparsify24LikeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<ReadOriginalChoice>(context);
}

//===----------------------------------------------------------------------===//
// Choose24Op
//===----------------------------------------------------------------------===//

RankedTensorType Choose24Op::getChoiceType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &extent : MutableArrayRef(shape).take_back(2))
    if (!ShapedType::isDynamic(extent))
      extent = llvm::divideCeil(extent, tileExtent);
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 16));
}

void Choose24Op::build(OpBuilder &builder, OperationState &state, Value input,
                       Selection24 select) {
  build(builder, state, getChoiceType(cast<RankedTensorType>(input.getType())),
        input, select);
}

LogicalResult Choose24Op::verify() {
  RankedTensorType type = getInput().getType();
  if (failed(verifySelectable(*this, type)))
    return failure();
  return verifyResult(*this, getType(), getChoiceType(type));
}

LogicalResult
Choose24Op::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  (void)reifyAs(builder, getLoc(), getInput(), shapes);
  AffineExpr tiles = getAffineDimExpr(0, getContext()).ceilDiv(tileExtent);
  for (OpFoldResult &extent : MutableArrayRef(shapes.front()).take_back(2))
    extent =
        affine::makeComposedFoldedAffineApply(builder, getLoc(), tiles, extent);
  return success();
}

OpFoldResult Choose24Op::fold(FoldAdaptor adaptor) {
  DenseElementsAttr elements = getSelectableConstant(adaptor.getInput());
  if (!elements)
    return {};
  return DenseElementsAttr::get(
      getType(), ArrayRef<uint16_t>(chooseOfConstant(getSelect(), elements)));
}

//===----------------------------------------------------------------------===//
// Mask24Op
//===----------------------------------------------------------------------===//

LogicalResult Mask24Op::verify() {
  RankedTensorType type = getType(), choice = getChoice().getType();
  if (isSparse(type) || isSparse(choice) || type.getRank() < 2)
    return emitOpError("makes a dense tensor of rank 2 or more of a dense "
                       "choice, not ")
           << type << " of " << choice;
  if (getExtents().size() != static_cast<size_t>(type.getNumDynamicDims()))
    return emitOpError("has ")
           << getExtents().size() << " extents for the "
           << type.getNumDynamicDims() << " dynamic dimensions of " << type;
  RankedTensorType expected = Choose24Op::getChoiceType(type);
  if (failed(verifyCompatibleShape(choice, expected)))
    return emitOpError("has a choice of type ")
           << choice << "; that of " << type << " is " << expected;
  return success();
}

LogicalResult Mask24Op::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(getMixedValues(getType().getShape(), getExtents(), builder));
  return success();
}
