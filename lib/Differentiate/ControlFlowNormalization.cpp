//===- ControlFlowNormalization.cpp - scf.if and scf.for only -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalizationPatterns.h"
#include "SparseAutograd/Transforms/SwitchToIf.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A region that is to stay has a rule.
struct InlineExecuteRegion : OpRewritePattern<scf::ExecuteRegionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ExecuteRegionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRegion().hasOneBlock() || op.getNoInline())
      return failure();
    Block &block = op.getRegion().front();
    Operation *yield = block.getTerminator();
    rewriter.inlineBlockBefore(&block, op);
    rewriter.replaceOp(op, yield->getOperands());
    rewriter.eraseOp(yield);
    return success();
  }
};

/// Iterations in any order may as well run in order. Nothing is read that
/// another iteration writes: a program that does is not defined.
struct ForallToFor : OpRewritePattern<scf::ForallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForallOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    Location loc = op.getLoc();
    auto values = [&](ArrayRef<OpFoldResult> mixed) {
      return getValueOrCreateConstantIndexOp(rewriter, loc, mixed);
    };
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, loc, values(op.getMixedLowerBound()),
        values(op.getMixedUpperBound()), values(op.getMixedStep()),
        op.getOutputs(),
        [&](OpBuilder &builder, Location loc, ValueRange variables,
            ValueRange carried) {
          scf::ValueVector next(carried);
          IRMapping mapping;
          mapping.map(op.getInductionVars(), variables);
          mapping.map(op.getRegionOutArgs(), carried);
          for (Operation &inner : op.getBody()->without_terminator())
            builder.clone(inner, mapping);
          auto map = [&](ArrayRef<OpFoldResult> mixed) {
            return llvm::map_to_vector(
                mixed, [&](OpFoldResult value) -> OpFoldResult {
                  if (auto dynamic = dyn_cast<Value>(value))
                    return mapping.lookupOrDefault(dynamic);
                  return value;
                });
          };
          for (Operation &inner : op.getTerminator().getYieldingOps()) {
            auto insert = cast<tensor::ParallelInsertSliceOp>(inner);
            Value &target =
                next[llvm::find(op.getRegionOutArgs(), insert.getDest()) -
                     op.getRegionOutArgs().begin()];
            target = tensor::InsertSliceOp::create(
                builder, inner.getLoc(),
                mapping.lookupOrDefault(insert.getSource()), target,
                map(insert.getMixedOffsets()), map(insert.getMixedSizes()),
                map(insert.getMixedStrides()));
          }
          return next;
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }
};

/// The same for loops that reduce.
struct ParallelToFor : OpRewritePattern<scf::ParallelOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ParallelOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
        op.getStep(), op.getInitVals(),
        [&](OpBuilder &builder, Location loc, ValueRange variables,
            ValueRange carried) {
          scf::ValueVector next;
          IRMapping mapping;
          mapping.map(op.getInductionVars(), variables);
          for (Operation &inner : op.getBody()->without_terminator())
            builder.clone(inner, mapping);
          auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
          for (auto [region, operand, value] : llvm::zip_equal(
                   reduce.getReductions(), reduce.getOperands(), carried)) {
            Block &block = region.front();
            mapping.map(block.getArgument(0), value);
            mapping.map(block.getArgument(1), mapping.lookupOrDefault(operand));
            for (Operation &inner : block.without_terminator())
              builder.clone(inner, mapping);
            next.push_back(
                mapping.lookupOrDefault(block.getTerminator()->getOperand(0)));
          }
          return next;
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }
};

} // namespace

void sparse_autograd::populateControlFlowNormalizationPatterns(
    RewritePatternSet &patterns) {
  populateSwitchToIfPatterns(patterns);
  patterns.add<InlineExecuteRegion, ForallToFor, ParallelToFor>(
      patterns.getContext());
}
