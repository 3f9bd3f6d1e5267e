//===- OpsOnComponents.cpp - ops without loops ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpsOnComponents.h"
#include "../Assertions.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseStorage.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A pattern or zeros: other values at the same places.
template <typename OpTy>
struct LowerConstantValues : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpTy op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    SparseStorage storage(cast<RankedTensorType>(op->getOperand(0).getType()),
                          adaptor.getOperands().front());
    Type element = type.getElementType();
    TypedAttr value = std::is_same_v<OpTy, PatternOp>
                          ? TypedAttr(rewriter.getBoolAttr(true))
                          : rewriter.getZeroAttr(element);
    Value constant = arith::ConstantOp::create(rewriter, loc, value);
    Value empty = tensor::EmptyOp::create(
        rewriter, loc,
        tensor::getMixedSizes(rewriter, loc, storage.getValues()), element);
    Value values =
        linalg::FillOp::create(rewriter, loc, constant, empty).getResult(0);
    rewriter.replaceOpWithMultiple(
        op, {storage.withValues(rewriter, loc, values, type)});
    return success();
  }
};

struct LowerStoredValues : OpConversionPattern<StoredValuesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(StoredValuesOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SparseStorage storage(cast<RankedTensorType>(op.getInput().getType()),
                          adaptor.getInput());
    Value values = storage.getValues();
    if (values.getType() != op.getType())
      values =
          tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), values);
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

/// The coordinates of a level that has them in bits, as a list of indices. Such
/// a level is the last one: it has an element for each value.
static Value unpackCoordinates(OpBuilder &builder, Location loc,
                               const SparseStorage &storage, unsigned level) {
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, storage.getValues()),
      builder.getIndexType());
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty, identity,
      utils::IteratorType::parallel,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        Value element = linalg::IndexOp::create(nested, loc, 0);
        linalg::YieldOp::create(
            nested, loc, storage.getCoordinate(nested, loc, level, element));
      });
  return generic.getResult(0);
}

namespace {
struct LowerStoredCoordinates : OpConversionPattern<StoredCoordinatesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(StoredCoordinatesOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SparseStorage storage(cast<RankedTensorType>(op.getInput().getType()),
                          adaptor.getInput());
    unsigned level = op.getLevel().getZExtValue();
    Value list = storage.getCoordinates(level);
    Type index = rewriter.getIndexType();
    if (storage.getFormat(level).isPacked())
      list = unpackCoordinates(rewriter, loc, storage, level);
    else if (getElementTypeOrSelf(list) != index)
      list = createElementwise(
          rewriter, loc, list, list, index,
          [&](OpBuilder &nested, Location loc, ValueRange number) -> Value {
            return arith::IndexCastUIOp::create(nested, loc, index, number[0]);
          });
    if (list.getType() != op.getType())
      list = tensor::CastOp::create(rewriter, loc, op.getType(), list);
    rewriter.replaceOp(op, list);
    return success();
  }
};

struct LowerWithValues : OpConversionPattern<WithValuesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(WithValuesOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SparseStorage storage(cast<RankedTensorType>(op.getPattern().getType()),
                          adaptor.getPattern());
    Value values = adaptor.getValues().front();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value isEqual = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq,
        tensor::DimOp::create(rewriter, loc, values, zero),
        tensor::DimOp::create(rewriter, loc, storage.getValues(), zero));
    cf::AssertOp::create(
        rewriter, loc, isEqual,
        makeAssertionMessage(op, "there must be as many values as the "
                                 "pattern stores"));
    auto list = RankedTensorType::get({ShapedType::kDynamic},
                                      getElementTypeOrSelf(values.getType()));
    if (values.getType() != list)
      values = tensor::CastOp::create(rewriter, loc, list, values);
    rewriter.replaceOpWithMultiple(
        op, {storage.withValues(rewriter, loc, values,
                                cast<RankedTensorType>(op.getType()))});
    return success();
  }
};

/// A cast between shapes of one encoding.
struct LowerCast : OpConversionPattern<tensor::CastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::CastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getSource().getType());
    auto to = cast<RankedTensorType>(op.getType());
    SparseStorage storage(from, adaptor.getSource());
    rewriter.replaceOpWithMultiple(
        op,
        {storage.withValues(rewriter, op.getLoc(), storage.getValues(), to)});
    return success();
  }
};

struct LowerDim : OpConversionPattern<tensor::DimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<int64_t> dim = op.getConstantIndex();
    SparseStorage storage(cast<RankedTensorType>(op.getSource().getType()),
                          adaptor.getSource());
    rewriter.replaceOp(op, storage.getExtent(rewriter, op.getLoc(), *dim));
    return success();
  }
};

/// An empty tensor stores nothing where it can, and zeros where it must.
struct LowerEmpty : OpConversionPattern<tensor::EmptyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::EmptyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto fill = [&](Value count, TypedAttr element) -> Value {
      Value empty = tensor::EmptyOp::create(
          rewriter, loc, ArrayRef<OpFoldResult>{count}, element.getType());
      Value value = arith::ConstantOp::create(rewriter, loc, element);
      return linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
    };
    auto zeros = [&](Value count, Type element) {
      return fill(count, rewriter.getZeroAttr(element));
    };
    sparse_tensor::SparseTensorType type(op.getType());
    SmallVector<Value> extents = llvm::map_to_vector(
        op.getMixedSizes(), [&](OpFoldResult extent) -> Value {
          return getValueOrCreateConstantIndexOp(rewriter, loc, extent);
        });
    SmallVector<Value> levelExtents =
        getLevelExtents(rewriter, loc, op.getType(), extents);
    SmallVector<Value> components;
    Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
    Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
    for (auto [levelType, extent] :
         llvm::zip_equal(type.getLvlTypes(), levelExtents)) {
      const LevelFormatInfo &format = getFormat(levelType);
      if (format.storesAll()) {
        count = arith::MulIOp::create(rewriter, loc, count, extent);
        continue;
      }
      if (format.hasPositions())
        components.push_back(zeros(countPositions(rewriter, loc, format, count),
                                   type.getPosType()));
      if (format.isPacked()) {
        Value ofParent =
            arith::ConstantIndexOp::create(rewriter, loc, format.elements);
        count = arith::MulIOp::create(rewriter, loc, count, ofParent);
        Value bytes = countCoordinates(rewriter, loc, format, count);
        components.push_back(
            fill(bytes, rewriter.getI8IntegerAttr(
                            static_cast<int8_t>(format.getUnusedByte()))));
        continue;
      }
      components.push_back(zeros(none, type.getCrdType()));
      count = none;
    }
    components.push_back(zeros(count, op.getType().getElementType()));
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (op.getType().isDynamicDim(dim))
        components.push_back(extent);
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

struct LowerSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<ShapedType>(op.getCondition().getType()))
      return failure();
    SmallVector<Value> components;
    for (auto [a, b] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      components.push_back(arith::SelectOp::create(
          rewriter, op.getLoc(), adaptor.getCondition().front(), a, b));
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

/// Keeps what is computed again apart, component by component.
struct LowerBarrier : OpConversionPattern<BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> all;
    for (ValueRange components : adaptor.getInputs())
      llvm::append_range(all, components);
    auto barrier = BarrierOp::create(rewriter, op.getLoc(), all);
    SmallVector<SmallVector<Value>> results;
    auto next = barrier->result_begin();
    for (ValueRange components : adaptor.getInputs())
      for (results.emplace_back(); results.back().size() < components.size();)
        results.back().push_back(*next++);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void sparse_autograd::populateOpsOnComponentsPatterns(
    const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerConstantValues<PatternOp>, LowerConstantValues<ZerosOp>,
               LowerStoredValues, LowerStoredCoordinates, LowerWithValues,
               LowerCast, LowerDim, LowerEmpty, LowerSelect, LowerBarrier>(
      types, patterns.getContext());
}
