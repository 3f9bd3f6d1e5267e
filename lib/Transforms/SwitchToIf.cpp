//===- SwitchToIf.cpp - scf.index_switch to scf.if ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/SwitchToIf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// The first case against the rest, which is a switch of one case less.
struct IndexSwitchToIf : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IndexSwitchOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getNumCases() == 0) {
      Block &block = op.getDefaultRegion().front();
      Operation *yield = block.getTerminator();
      rewriter.inlineBlockBefore(&block, op);
      rewriter.replaceOp(op, yield->getOperands());
      rewriter.eraseOp(yield);
      return success();
    }
    Value value =
        arith::ConstantIndexOp::create(rewriter, loc, op.getCases().front());
    Value isCase = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), value);
    auto branch = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isCase,
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(op.getCaseRegions().front(),
                                branch.getThenRegion(),
                                branch.getThenRegion().end());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.createBlock(&branch.getElseRegion());
    auto rest = scf::IndexSwitchOp::create(
        rewriter, loc, op.getResultTypes(), op.getArg(),
        op.getCases().drop_front(), op.getNumCases() - 1);
    scf::YieldOp::create(rewriter, loc, rest.getResults());
    for (auto [from, to] : llvm::zip_equal(op.getCaseRegions().drop_front(),
                                           rest.getCaseRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.inlineRegionBefore(op.getDefaultRegion(), rest.getDefaultRegion(),
                                rest.getDefaultRegion().end());
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};
} // namespace

void sparse_autograd::populateSwitchToIfPatterns(RewritePatternSet &patterns) {
  patterns.add<IndexSwitchToIf>(patterns.getContext());
}
