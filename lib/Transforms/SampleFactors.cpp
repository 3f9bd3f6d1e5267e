//===- SampleFactors.cpp - factors of what is stored ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/SampleFactors.h"

#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Sampling.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether sampling `value` saves more than it costs: a reduction makes it, or
/// elementwise ops on one. (Elementwise ops alone are computed where they are
/// read.)
static bool isProduct(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    linalg::LinalgOp producer = getSampledProducer(next);
    if (!producer || !seen.insert(next).second)
      continue;
    if (producer.getNumReductionLoops() != 0)
      return true;
    AffineMap map =
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    for (OpOperand *input : producer.getDpsInputOperands())
      if (producer.getMatchingIndexingMap(input) == map)
        open.push_back(input->get());
  }
  return false;
}

/// The sparse operand of its op at whose elements alone the dense `operand` is
/// read; null if there is none.
static OpOperand *findPattern(OpOperand &operand) {
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!op || !op.isDpsInput(&operand))
    return nullptr;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto isAlike = [&](OpOperand &other) {
    return isSparse(other.get().getType()) &&
           op.getMatchingIndexingMap(&other) == map;
  };
  if (!map.isProjectedPermutation())
    return nullptr;
  // Every element of the destination's pattern is visited, and no other.
  if (isa<SampledGenericOp>(op) && isAlike(*op.getDpsInitOperand(0)))
    return op.getDpsInitOperand(0);
  if (llvm::none_of(op->getOpOperands(), isAlike))
    return nullptr;
  ScalarTerms terms(op);
  SparseIteration iteration = SparseIteration::of(op, terms);
  // Nothing is stored in all parts of a sum.
  if (iteration.parts.size() != 1 ||
      terms.reads(iteration.base, operand.getOperandNumber()))
    return nullptr;
  for (unsigned number : iteration.parts.front().stored)
    if (isAlike(op->getOpOperand(number)))
      return &op->getOpOperand(number);
  return nullptr;
}

/// Whether all that reads the dense `value` does so where a sparse tensor
/// stores something, or is computed element by element and read there alone.
static bool isReadAtPatterns(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (OpOperand &use : next.getUses()) {
      if (isa<SampleOp>(use.getOwner()) || findPattern(use))
        continue;
      auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
      // What is a destination alone goes with its op.
      if (!reader || reader->getNumResults() != 1 ||
          reader.getNumReductionLoops() != 0 ||
          getSampledProducer(reader->getResult(0)) != reader ||
          (reader.isDpsInit(&use) &&
           reader.payloadUsesValueFromOperand(&use)) ||
          reader.getMatchingIndexingMap(&use) !=
              reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)))
        return false;
      open.push_back(reader->getResult(0));
    }
  }
  return true;
}

namespace {
struct SampleFactor : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    auto sampled = dyn_cast<SampledGenericOp>(op.getOperation());
    if (llvm::none_of(op->getOperandTypes(), isSparse) ||
        (sampled && isCopyToPattern(sampled)))
      return failure();
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      // Samples are of floating point.
      if (isSparse(value.getType()) || !isProduct(value) ||
          !isa<FloatType>(getElementTypeOrSelf(value.getType())))
        continue;
      OpOperand *pattern = findPattern(*input);
      if (!pattern || !isReadAtPatterns(value))
        continue;
      auto type = cast<RankedTensorType>(pattern->get().getType());
      Value sample =
          SampleOp::create(rewriter, op.getLoc(),
                           type.clone(getElementTypeOrSelf(value.getType())),
                           value, pattern->get());
      rewriter.modifyOpInPlace(op, [&]() { input->set(sample); });
      return success();
    }
    return failure();
  }
};
} // namespace

void sparse_autograd::populateSampleFactorsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<SampleFactor>(patterns.getContext());
}
