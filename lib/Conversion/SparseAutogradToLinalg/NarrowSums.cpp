//===- NarrowSums.cpp - sums of narrow floats in f32 ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of f16 or bf16 that is rounded at each term stops growing at 2048 or
// 256 ones. It runs in f32, and is rounded once; its terms are not (semantics
// G11).
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
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
  if (!type ||
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

/// The tensor that a sum in f32 starts from, in place of `init`.
static Value widenInit(OpBuilder &builder, Location loc, Value init) {
  Type f32 = builder.getF32Type();
  if (auto zeros = init.getDefiningOp<ZerosOp>())
    return createZeros(builder, loc, zeros.getPattern(), f32);
  // A sparse sum with a pattern of its own starts from nothing.
  auto type = cast<RankedTensorType>(init.getType());
  Value start = init;
  while (auto cast = start.getDefiningOp<tensor::CastOp>())
    start = cast.getSource();
  auto empty = start.getDefiningOp<tensor::EmptyOp>();
  if (isSparse(type) && empty) {
    Value wide = tensor::EmptyOp::create(builder, loc, empty.getMixedSizes(),
                                         f32, type.getEncoding());
    return tensor::CastOp::create(builder, loc, type.clone(f32), wide);
  }
  return createFloatCast(builder, loc, init, f32);
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
    linalg::LinalgOp op = named;
    if (!isa<linalg::GenericOp, SampledGenericOp>(*named)) {
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
      inits.back() = widenInit(rewriter, loc, init.get());
    }
    auto build = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
      buildBody(op, resultOf, builder, loc, arguments);
    };
    Operation *wide;
    SmallVector<Value> inputs = op.getDpsInputs();
    if (isa<SampledGenericOp>(*op))
      wide = SampledGenericOp::create(rewriter, loc, inputs, inits.front(),
                                      op.getIndexingMapsArray(),
                                      op.getIteratorTypesArray(), build);
    else
      wide = linalg::GenericOp::create(
          rewriter, loc, ValueRange(inits).getTypes(), inputs, inits,
          op.getIndexingMapsArray(), op.getIteratorTypesArray(), build);
    takeAttributes(wide, op);
    SmallVector<Value> results;
    for (auto [result, narrow] :
         llvm::zip_equal(wide->getResults(), op->getResultTypes()))
      results.push_back(result.getType() == narrow
                            ? result
                            : createFloatCast(rewriter, loc, result,
                                              getElementTypeOrSelf(narrow)));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static void buildBody(linalg::LinalgOp op,
                        const llvm::DenseMap<Operation *, unsigned> &resultOf,
                        OpBuilder &builder, Location loc,
                        ValueRange arguments) {
    IRMapping mapping;
    mapping.map(op.getBlock()->getArguments(), arguments);
    for (Operation &inner : *op.getBlock()) {
      auto found = resultOf.find(&inner);
      if (found == resultOf.end()) {
        builder.clone(inner, mapping);
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands()) {
        Value value = mapping.lookupOrDefault(operand);
        // A term is added as it was computed, not rounded (semantics G11).
        if (!value.getType().isF32())
          value = arith::ExtFOp::create(
              builder, inner.getLoc(), builder.getF32Type(), value,
              arith::FastMathFlagsAttr::get(builder.getContext(),
                                            arith::FastMathFlags::contract));
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
