//===- ShortenDims.cpp - extents at their origin --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ShortenDims.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// The first tensors of chains of tensors of one shape.
class Origins {
public:
  Value get(Value value) {
    SmallVector<Value> chain;
    while (true) {
      if (Value known = origins.lookup(value)) {
        value = known;
        break;
      }
      chain.push_back(value);
      Value next = getOperandOfSameShape(value);
      if (!next)
        break;
      value = next;
    }
    for (Value link : chain)
      origins[link] = value;
    return value;
  }

private:
  llvm::DenseMap<Value, Value> origins;
};
} // namespace

/// The index of `dim`, if it is one that the type leaves open.
static std::optional<int64_t> getOpenIndex(tensor::DimOp dim) {
  auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!type || !index || *index < 0 || *index >= type.getRank() ||
      !type.isDynamicDim(*index))
    return std::nullopt;
  return index;
}

/// The operand of the tensor.empty `origin` that is its extent `index`, or null
/// if it is another op.
static Value getExtentOfEmpty(Value origin, int64_t index) {
  auto empty = origin.getDefiningOp<tensor::EmptyOp>();
  return empty && empty.getType().isDynamicDim(index)
             ? empty.getDynamicSize(index)
             : Value();
}

void sparse_autograd::shortenDims(Operation *root) {
  Origins origins;
  SmallVector<tensor::DimOp> dims;
  root->walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    // What the type says is known already.
    std::optional<int64_t> index = getOpenIndex(dim);
    if (!index)
      continue;
    Value origin = origins.get(dim.getSource());
    Value extent = getExtentOfEmpty(origin, *index);
    if (!extent) {
      dim.getSourceMutable().assign(origin);
      continue;
    }
    dim.getResult().replaceAllUsesWith(extent);
    dim.erase();
  }
}

namespace {
struct ShortenDim : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp dim,
                                PatternRewriter &rewriter) const override {
    std::optional<int64_t> index = getOpenIndex(dim);
    if (!index)
      return failure();
    Value origin = dim.getSource();
    while (Value next = getOperandOfSameShape(origin))
      origin = next;
    if (Value extent = getExtentOfEmpty(origin, *index)) {
      rewriter.replaceOp(dim, extent);
      return success();
    }
    if (origin == dim.getSource())
      return failure();
    rewriter.modifyOpInPlace(dim,
                             [&] { dim.getSourceMutable().assign(origin); });
    return success();
  }
};
} // namespace

void sparse_autograd::populateShortenDimsPatterns(RewritePatternSet &patterns) {
  patterns.add<ShortenDim>(patterns.getContext(), /*benefit=*/2);
}
