//===- MaskedSpace.cpp - loops over the selected elements -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedSpace.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

MaskedSpace::MaskedSpace(PatternRewriter &rewriter, MaskOpInterface op,
                         ArrayRef<int64_t> dims, arith::FastMathFlags flags)
    : rewriter(rewriter), loc(op.getLoc()), input(op.getMaskedOperand()),
      mask(op.getMaskOperand()), type(cast<RankedTensorType>(input.getType())),
      accumulationType(cast<FloatType>(type.getElementType())), flags(flags) {
  if (accumulationType.getWidth() < 32)
    accumulationType = rewriter.getF32Type();

  SmallVector<AffineExpr> sliceExprs, maskExprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isReduced = llvm::is_contained(dims, dim);
    iterators.push_back(isReduced ? utils::IteratorType::reduction
                                  : utils::IteratorType::parallel);
    if (!isReduced)
      sliceExprs.push_back(rewriter.getAffineDimExpr(dim));
  }
  if (mask)
    for (int64_t dim : op.getMaskDimensions())
      maskExprs.push_back(rewriter.getAffineDimExpr(dim));
  MLIRContext *context = rewriter.getContext();
  elementMap = rewriter.getMultiDimIdentityMap(type.getRank());
  sliceMap = AffineMap::get(type.getRank(), 0, sliceExprs, context);
  maskMap = AffineMap::get(type.getRank(), 0, maskExprs, context);
}

SmallVector<OpFoldResult> MaskedSpace::getSliceExtents() {
  SmallVector<OpFoldResult> extents;
  for (auto [dim, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::parallel)
      extents.push_back(tensor::getMixedSize(rewriter, loc, input, dim));
  return extents;
}

void MaskedSpace::getInputs(ValueRange slices, SmallVectorImpl<Value> &inputs,
                            SmallVectorImpl<AffineMap> &maps) {
  inputs.push_back(input);
  maps.push_back(elementMap);
  if (mask) {
    inputs.push_back(mask);
    maps.push_back(maskMap);
  }
  llvm::append_range(inputs, slices);
  maps.append(slices.size(), sliceMap);
}

MaskedSpace::Element MaskedSpace::getElement(ScalarBuilder &scalars,
                                             ValueRange arguments,
                                             size_t numSlices) {
  size_t numElements = mask ? 2 : 1;
  return {scalars.convert(arguments[0], accumulationType),
          mask ? arguments[1] : Value(),
          arguments.slice(numElements, numSlices),
          arguments.drop_front(numElements + numSlices)};
}

SmallVector<Value> MaskedSpace::reduce(ValueRange slices,
                                       ArrayRef<TypedAttr> identities,
                                       ElementBody body) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  getInputs(slices, inputs, maps);
  SmallVector<OpFoldResult> extents = getSliceExtents();
  for (TypedAttr identity : identities) {
    Value value = arith::ConstantOp::create(rewriter, loc, identity);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, extents, identity.getType());
    inits.push_back(
        linalg::FillOp::create(rewriter, loc, value, empty).getResult(0));
    maps.push_back(sliceMap);
  }
  auto generic = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(), inputs, inits, maps,
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ScalarBuilder scalars(builder, loc, flags);
        linalg::YieldOp::create(
            builder, loc,
            body(scalars, getElement(scalars, arguments, slices.size())));
      });
  return llvm::to_vector_of<Value>(generic.getResults());
}

Value MaskedSpace::mapSlices(ValueRange slices, Type elementType,
                             SliceBody body) {
  SmallVector<OpFoldResult> extents = getSliceExtents();
  Value empty = tensor::EmptyOp::create(rewriter, loc, extents, elementType);
  SmallVector<AffineMap> maps(slices.size() + 1,
                              rewriter.getMultiDimIdentityMap(extents.size()));
  SmallVector<utils::IteratorType> parallel(extents.size(),
                                            utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), slices, empty, maps, parallel,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ScalarBuilder scalars(builder, loc, flags);
        Value value = body(scalars, arguments.drop_back());
        linalg::YieldOp::create(builder, loc,
                                scalars.convert(value, elementType));
      });
  return generic.getResult(0);
}

MaskedSpace MaskedSpace::withInput(Value other) const {
  MaskedSpace space(*this);
  space.input = other;
  space.type = cast<RankedTensorType>(other.getType());
  return space;
}

Value MaskedSpace::mapElements(ValueRange slices, Type elementType,
                               ElementBody body) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  getInputs(slices, inputs, maps);
  maps.push_back(elementMap);
  Value empty = createEmptyLike(rewriter, loc, input, elementType);
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  linalg::LinalgOp generic = createStructured(
      rewriter, loc, inputs, empty, maps, parallel,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ScalarBuilder scalars(builder, loc, flags);
        Element element =
            getElement(scalars, arguments.drop_back(), slices.size());
        Value value = body(scalars, element).front();
        linalg::YieldOp::create(builder, loc,
                                scalars.convert(value, elementType));
      });
  return generic->getResult(0);
}

Value MaskedSpace::getSliceSize() {
  ScalarBuilder scalars(rewriter, loc);
  int64_t staticSize = 1;
  Value size;
  for (auto [dim, iterator] : llvm::enumerate(iterators)) {
    if (iterator != utils::IteratorType::reduction)
      continue;
    if (!type.isDynamicDim(dim)) {
      staticSize *= type.getDimSize(dim);
      continue;
    }
    Value extent = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getI64Type(),
        tensor::DimOp::create(rewriter, loc, input, dim));
    size = size ? arith::MulIOp::create(rewriter, loc, size, extent) : extent;
  }
  if (!size)
    return scalars.i64(staticSize);
  if (staticSize == 1)
    return size;
  return arith::MulIOp::create(rewriter, loc, size, scalars.i64(staticSize));
}
