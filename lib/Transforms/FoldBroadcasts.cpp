//===- FoldBroadcasts.cpp - read what is broadcast where it is ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/FoldBroadcasts.h"

#include "SparseAutograd/Analysis/Contraction.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// What is broadcast, and the map to it from the dimensions of the result.
struct Broadcast {
  Value source;
  AffineMap map;
  /// A tensor of the shape of the result.
  Value shape;
};
} // namespace

static std::optional<Broadcast> matchBroadcast(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return std::nullopt;
  OpOperand *input = op.getDpsInputOperand(0);
  AffineMap from = op.getMatchingIndexingMap(input);
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  if (yielded != op.getMatchingBlockArgument(input) || !to.isPermutation() ||
      !from.isProjectedPermutation() ||
      from.getNumResults() == op.getNumLoops())
    return std::nullopt;
  return Broadcast{input->get(), from.compose(inversePermutation(to)),
                   op.getDpsInits().front()};
}

/// Reads what is broadcast to inputs of a structured op where it is.
static LogicalResult foldInputs(linalg::LinalgOp op,
                                PatternRewriter &rewriter) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<std::pair<OpOperand *, Value>> sources;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Broadcast> broadcast = matchBroadcast(input->get());
    if (!broadcast)
      continue;
    AffineMap &map = maps[input->getOperandNumber()];
    AffineMap before = map;
    map = broadcast->map.compose(before);
    // The extents of the loops have to be known from the other operands.
    if (inversePermutation(concatAffineMaps(maps, op.getContext())))
      sources.emplace_back(input, broadcast->source);
    else
      map = before;
  }
  if (sources.empty())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    for (auto [input, source] : sources)
      input->set(source);
    op->setAttr("indexing_maps", rewriter.getAffineMapArrayAttr(maps));
  });
  return success();
}

namespace {

struct FoldIntoGeneric : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || isContraction(op))
      return failure();
    return foldInputs(op, rewriter);
  }
};

/// Into structured ops on sparse tensors, which become loops over what is
/// stored. Packed ones are operands of kernels that take matrices.
struct FoldIntoSparse : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<linalg::GenericOp, SampledGenericOp>(op) ||
        !op.hasPureTensorSemantics())
      return failure();
    bool isOfSparse = false;
    for (Type type : op->getOperandTypes()) {
      if (!sparse_tensor::getSparseTensorEncoding(type))
        continue;
      isOfSparse = true;
      if (isPacked24(cast<RankedTensorType>(type)))
        return failure();
    }
    return isOfSparse ? foldInputs(op, rewriter) : failure();
  }
};

struct FoldIntoElementwise : RewritePattern {
  explicit FoldIntoElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(op))
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return failure();
    MLIRContext *context = rewriter.getContext();
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    Value init;
    for (Value operand : op->getOperands()) {
      std::optional<Broadcast> broadcast = matchBroadcast(operand);
      if (broadcast &&
          getElementTypeOrSelf(broadcast->shape) == type.getElementType())
        init = broadcast->shape;
      bool isTensor = isa<RankedTensorType>(operand.getType());
      inputs.push_back(broadcast ? broadcast->source : operand);
      maps.push_back(broadcast  ? broadcast->map
                     : isTensor ? identity
                                : AffineMap::get(type.getRank(), 0, context));
    }
    if (!init || init.getType() != type)
      return failure();
    maps.push_back(identity);
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, inputs, init, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          OperationState state(loc, op->getName(), arguments.drop_back(),
                               type.getElementType(), op->getAttrs());
          Operation *scalar = builder.create(state);
          linalg::YieldOp::create(builder, loc, scalar->getResults());
        });
    return success();
  }
};

} // namespace

void sparse_autograd::populateFoldBroadcastsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<FoldIntoGeneric, FoldIntoElementwise>(patterns.getContext());
}

void sparse_autograd::populateFoldBroadcastsIntoSparsePatterns(
    RewritePatternSet &patterns) {
  patterns.add<FoldIntoSparse>(patterns.getContext());
}
