//===- GenericToLoops.cpp - structured ops that branch around reads -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO lowers a concatenation to a linalg.generic that reads one tensor or
// the other. What a branch reads cannot be gathered before: elsewhere its
// position is outside of the tensor. As loops it has the rules of scf.for,
// scf.if and tensor.extract.
//
//===----------------------------------------------------------------------===//

#include "NormalizationPatterns.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether the region of `op` reads an element of a tensor of floats from
/// outside of it within another region.
static bool readsInBranch(linalg::GenericOp op) {
  WalkResult result = op.getRegion().walk([&](tensor::ExtractOp extract) {
    Value tensor = extract.getTensor();
    bool isFound = extract->getBlock() != op.getBody() &&
                   isDifferentiableType(tensor.getType()) &&
                   tensor.getParentRegion()->isProperAncestor(&op.getRegion());
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {

struct GenericToLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !readsInBranch(op))
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> lower, upper, steps;
    for (Range range :
         cast<linalg::LinalgOp>(*op).createLoopRanges(rewriter, loc)) {
      lower.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, range.offset));
      upper.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
      steps.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, range.stride));
    }
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, loc, lower, upper, steps, op.getOutputs(),
        [&](OpBuilder &builder, Location loc, ValueRange position,
            ValueRange outputs) {
          return buildBody(op, builder, loc, position, outputs);
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }

private:
  /// One iteration, at `position`: the tensors that follow `outputs`.
  static scf::ValueVector buildBody(linalg::GenericOp op, OpBuilder &builder,
                                    Location loc, ValueRange position,
                                    ValueRange outputs) {
    SmallVector<Value> tensors(op.getInputs());
    llvm::append_range(tensors, outputs);
    SmallVector<SmallVector<Value>> indices;
    IRMapping mapping;
    for (auto [operand, tensor] :
         llvm::zip_equal(op->getOpOperands(), tensors)) {
      auto expanded = affine::expandAffineMap(
          builder, loc, op.getMatchingIndexingMap(&operand), position);
      indices.emplace_back(llvm::to_vector(*expanded));
      Value element = tensor;
      if (isa<RankedTensorType>(tensor.getType()))
        element =
            tensor::ExtractOp::create(builder, loc, tensor, indices.back());
      mapping.map(op.getMatchingBlockArgument(&operand), element);
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), position[index.getDim()]);
      else
        builder.clone(inner, mapping);
    }
    scf::ValueVector results;
    Operation *yield = op.getBody()->getTerminator();
    for (auto [value, tensor, at] :
         llvm::zip(yield->getOperands(), outputs,
                   ArrayRef(indices).take_back(outputs.size())))
      results.push_back(tensor::InsertOp::create(
          builder, loc, mapping.lookupOrDefault(value), tensor, at));
    return results;
  }
};

} // namespace

void sparse_autograd::populateGenericToLoopsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<GenericToLoops>(patterns.getContext());
}
