//===- Sampling.cpp - elements that are asked for at a pattern ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Sampling.h"
#include "Canonicalization.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

static bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
                  matchPattern(fill.getInputs().front(), m_Zero()));
}

bool sparse_autograd::isCopyToPattern(SampledGenericOp op) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  return op.getInit().getDefiningOp<ZerosOp>() && op.getInputs().size() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0) &&
         llvm::all_of(structured.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

/// Whether `op` asks for the elements of a tensor at a pattern alone.
static bool isSample(Operation *op) {
  auto sampled = dyn_cast<SampledGenericOp>(op);
  return isa<SampleOp>(op) || (sampled && isCopyToPattern(sampled));
}

linalg::LinalgOp sparse_autograd::getSampledProducer(Value input) {
  auto producer = input.getDefiningOp<linalg::LinalgOp>();
  if (!producer || producer->getNumResults() != 1 || isSparse(input.getType()))
    return {};
  // A sample stores numbers. What is made of a sparse mask stays a mask.
  if (!isa<FloatType>(getElementTypeOrSelf(input.getType())) &&
      llvm::any_of(producer->getOperandTypes(), isSparse))
    return {};
  AffineMap map =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  return map.isProjectedPermutation() &&
                 producer.getNumParallelLoops() == map.getNumResults()
             ? producer
             : linalg::LinalgOp();
}

/// Whether `producer` goes on from what its init holds.
static bool readsInit(linalg::LinalgOp producer) {
  OpOperand *init = producer.getDpsInitOperand(0);
  return producer.payloadUsesValueFromOperand(init) && !isZeros(init->get());
}

/// Whether `value`, which `reader` reads, is better sampled before it. Of
/// numbers samples may stay; those of masks must be replaced by what computes
/// them.
static bool isSampledFirst(Value value, linalg::LinalgOp reader) {
  if (!value.getDefiningOp<linalg::LinalgOp>())
    return false;
  // `reader` may have it as a destination, too, which it does not read. Who
  // asks for an extent reads no element, and is to be answered otherwise.
  if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return user == reader || isSample(user) || isa<tensor::DimOp>(user);
    });
  linalg::LinalgOp producer = getSampledProducer(value);
  return value.hasOneUse() && reader->hasOneUse() && producer &&
         !readsInit(producer);
}

/// Whether `op` reads elements of a tensor of floats at positions that it
/// computes. The transpose of that adds to these positions, one after the
/// other, for each element of a dense result.
static bool gathers(linalg::LinalgOp op) {
  return llvm::any_of(
      op.getBlock()->getOps<tensor::ExtractOp>(),
      [](tensor::ExtractOp op) { return isa<FloatType>(op.getType()); });
}

/// Replaces `op`, the elements of `input` at `pattern`: what a structured op
/// computes for it, or for samples at several patterns, is computed at the
/// pattern, from samples of what it reads at the same element.
static LogicalResult sampleProducer(PatternRewriter &rewriter, Operation *op,
                                    Value input, Value pattern) {
  linalg::LinalgOp producer = getSampledProducer(input);
  if (!producer || !llvm::all_of(producer->getUsers(), isSample) ||
      gathers(producer))
    return failure();
  OpOperand *init = producer.getDpsInitOperand(0);
  AffineMap map = producer.getMatchingIndexingMap(init);
  Location loc = producer.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value start;
  if (readsInit(producer))
    start = SampleOp::create(rewriter, loc, type, init->get(), pattern);
  else
    start = ZerosOp::create(rewriter, loc, type, pattern);
  SmallVector<Value> inputs;
  for (OpOperand *operand : producer.getDpsInputOperands()) {
    Value value = operand->get();
    if (producer.getMatchingIndexingMap(operand) == map &&
        isSampledFirst(value, producer))
      value = SampleOp::create(
          rewriter, loc, type.clone(getElementTypeOrSelf(value.getType())),
          value, pattern);
    inputs.push_back(value);
  }
  auto sampled = SampledGenericOp::create(rewriter, loc, inputs, start,
                                          producer.getIndexingMapsArray(),
                                          producer.getIteratorTypesArray());
  rewriter.cloneRegionBefore(producer->getRegion(0), sampled.getRegion(),
                             sampled.getRegion().begin());
  rewriter.replaceOp(op, sampled);
  // What it read alone can be sampled next.
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  return success();
}

namespace {
struct SampleOfStructured : OpRewritePattern<SampleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SampleOp op,
                                PatternRewriter &rewriter) const override {
    return sampleProducer(rewriter, op, op.getInput(), op.getPattern());
  }
};
/// A copy of a dense tensor to a pattern is a sample.
struct CopyOfStructured : OpRewritePattern<SampledGenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SampledGenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isCopyToPattern(op))
      return failure();
    return sampleProducer(rewriter, op, op.getInputs().front(),
                          op.getInit().getDefiningOp<ZerosOp>().getPattern());
  }
};
} // namespace

void sparse_autograd::populateSamplePatterns(RewritePatternSet &patterns) {
  patterns.add<SampleOfStructured>(patterns.getContext());
}

void sparse_autograd::populateCopyToPatternPatterns(
    RewritePatternSet &patterns) {
  patterns.add<CopyOfStructured>(patterns.getContext());
}
