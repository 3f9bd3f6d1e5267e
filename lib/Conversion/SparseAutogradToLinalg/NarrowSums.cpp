//===- NarrowSums.cpp - sums of narrow floats in f32 ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of f16 or bf16 that is rounded at each term stops growing at 2048 or
// 256 ones. It runs in f32, and is rounded once (semantics G11).
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace sparse_autograd;

/// The op that adds to the running value of `init`, a narrow float, subtracts
/// from it or multiplies it, and does nothing else with it; null if there is
/// none.
static Operation *findNarrowCombiner(linalg::LinalgOp op, OpOperand &init) {
  auto type = dyn_cast<RankedTensorType>(init.get().getType());
  if (!type || type.getEncoding() ||
      !(type.getElementType().isF16() || type.getElementType().isBF16()))
    return nullptr;
  BlockArgument running = op.getMatchingBlockArgument(&init);
  Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(combiner) ||
      !running.hasOneUse() || *running.getUsers().begin() != combiner ||
      !combiner->hasOneUse())
    return nullptr;
  // What is subtracted from a term changes its sign each time: it is no sum.
  if (isa<arith::SubFOp>(combiner) && combiner->getOperand(0) != running)
    return nullptr;
  return combiner;
}

namespace {

struct WidenNarrowSum : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp named,
                                PatternRewriter &rewriter) const override {
    if (!named.hasPureTensorSemantics() || named.getNumReductionLoops() == 0 ||
        llvm::none_of(named.getDpsInitsMutable(), [&](OpOperand &init) {
          return findNarrowCombiner(named, init);
        }))
      return failure();
    linalg::GenericOp op;
    if (auto generic = dyn_cast<linalg::GenericOp>(*named)) {
      op = generic;
    } else {
      FailureOr<linalg::GenericOp> generalized =
          linalg::generalizeNamedOp(rewriter, named);
      if (failed(generalized))
        return failure();
      op = *generalized;
    }
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    SmallVector<Value> inits;
    llvm::DenseMap<Operation *, unsigned> resultOf;
    for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Operation *combiner = findNarrowCombiner(op, init);
      inits.push_back(init.get());
      if (!combiner)
        continue;
      resultOf[combiner] = index;
      auto type = cast<RankedTensorType>(init.get().getType());
      inits.back() = arith::ExtFOp::create(
          rewriter, loc, type.clone(rewriter.getF32Type()), init.get());
    }
    auto wide = linalg::GenericOp::create(
        rewriter, loc, ValueRange(inits).getTypes(), op.getInputs(), inits,
        op.getIndexingMapsArray(), op.getIteratorTypesArray(),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          buildBody(op, resultOf, builder, loc, arguments);
        });
    wide->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    SmallVector<Value> results;
    for (auto [result, narrow] :
         llvm::zip_equal(wide.getResults(), op.getResultTypes()))
      results.push_back(
          result.getType() == narrow
              ? result
              : arith::TruncFOp::create(rewriter, loc, narrow, result)
                    .getResult());
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static void buildBody(linalg::GenericOp op,
                        const llvm::DenseMap<Operation *, unsigned> &resultOf,
                        OpBuilder &builder, Location loc,
                        ValueRange arguments) {
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments(), arguments);
    for (Operation &inner : *op.getBody()) {
      auto found = resultOf.find(&inner);
      if (found == resultOf.end()) {
        builder.clone(inner, mapping);
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands()) {
        Value value = mapping.lookupOrDefault(operand);
        if (!value.getType().isF32())
          value = arith::ExtFOp::create(builder, inner.getLoc(),
                                        builder.getF32Type(), value);
        operands.push_back(value);
      }
      OperationState state(inner.getLoc(), inner.getName(), operands,
                           builder.getF32Type(), inner.getAttrs());
      mapping.map(inner.getResult(0), builder.create(state)->getResult(0));
    }
  }
};

} // namespace

void sparse_autograd::populateNarrowSumsPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenNarrowSum>(patterns.getContext());
}
