//===- Normalization.cpp - the form that is differentiated ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "NormalizationPatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "SparseAutograd/Transforms/ExpandOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static LogicalResult verifyStructured(func::FuncOp function) {
  if (function.getBody().hasOneBlock())
    return success();
  return function.emitOpError(
      "has unstructured control flow, which is not differentiated; use scf.if "
      "and scf.for");
}

/// Inlines `call` and the calls in what it inlines, if operands of theirs may
/// have derivatives. `stack` holds the callees being inlined, outermost first.
static LogicalResult inlineCall(func::CallOp call,
                                SmallVectorImpl<func::FuncOp> &stack,
                                SymbolTableCollection &symbolTables) {
  if (llvm::none_of(call.getOperandTypes(), isDifferentiableType))
    return success();
  auto callee = symbolTables.lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  // What is declared only has no rule; that matters if it is on the path.
  if (!callee || callee.isDeclaration())
    return success();
  if (llvm::is_contained(stack, callee))
    return call.emitOpError("recursion through '")
           << callee.getSymName() << "' is not differentiated; write a loop";
  if (failed(verifyStructured(callee)))
    return failure();

  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  SmallVector<func::CallOp> nestedCalls;
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](func::CallOp nested) {
      nestedCalls.push_back(nested);
    });
  for (auto [result, returned] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();

  stack.push_back(callee);
  for (func::CallOp nested : nestedCalls)
    if (failed(inlineCall(nested, stack, symbolTables)))
      return failure();
  stack.pop_back();
  return success();
}

static LogicalResult inlineCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  SymbolTableCollection symbolTables;
  SmallVector<func::FuncOp> stack;
  for (func::CallOp call : calls)
    if (failed(inlineCall(call, stack, symbolTables)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The kind of reduction that a combiner other than addition is.
static std::optional<ReductionKind> getReductionKind(Operation *combiner) {
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(combiner)
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [](auto) { return ReductionKind::Min; })
      .Case([](arith::MulFOp) { return ReductionKind::Prod; })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {

/// A named op of linalg is a generic; the contractions and convolutions among
/// them are recognised again by what they compute.
struct GeneralizeNamedOp : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp>(op) || !op.hasPureTensorSemantics())
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// A linalg.generic that reduces by max, min or mul is an elementwise op
/// (what is reduced), a masked_reduce and the combination with the init.
struct SplitReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() == 0)
      return failure();
    BlockArgument accumulator = op.getRegionOutputArgs().front();
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    Operation *combiner = yield.getOperand(0).getDefiningOp();
    if (!combiner || combiner->getNumOperands() != 2 ||
        !accumulator.hasOneUse() || *accumulator.getUsers().begin() != combiner)
      return failure();
    std::optional<ReductionKind> kind = getReductionKind(combiner);
    AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!kind || !outMap.isProjectedPermutation())
      return failure();
    Value reduced = combiner->getOperand(0) == accumulator
                        ? combiner->getOperand(1)
                        : combiner->getOperand(0);

    // The elementwise part, over the whole iteration space, in the order of
    // the result's dimensions followed by the reduced ones.
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> extents = getLoopExtents(op, rewriter);
    if (extents.empty() && op.getNumLoops() != 0)
      return failure();
    SmallVector<AffineExpr> order(outMap.getResults());
    SmallVector<int64_t> dims;
    SmallVector<OpFoldResult> shape;
    for (AffineExpr expr : order)
      shape.push_back(extents[cast<AffineDimExpr>(expr).getPosition()]);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!linalg::isReductionIterator(op.getIteratorTypesArray()[loop]))
        continue;
      dims.push_back(order.size());
      order.push_back(rewriter.getAffineDimExpr(loop));
      shape.push_back(extents[loop]);
    }
    Value init = op.getDpsInits().front();
    Type elementType = getElementTypeOrSelf(init.getType());
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape, elementType);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.back() =
        AffineMap::get(op.getNumLoops(), 0, order, rewriter.getContext());
    SmallVector<utils::IteratorType> iterators(op.getNumLoops(),
                                               utils::IteratorType::parallel);
    auto elementwise = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), op.getInputs(), empty, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          IRMapping mapping;
          mapping.map(op.getBody()->getArguments(), args);
          for (Operation &inner : op.getBody()->without_terminator())
            if (&inner != combiner)
              builder.clone(inner, mapping);
          linalg::YieldOp::create(builder, loc,
                                  mapping.lookupOrDefault(reduced));
        });
    Value values = elementwise.getResult(0), numbers;
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
      numbers = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ORD,
                                      values, values);
    auto reduction =
        MaskedReduceOp::create(rewriter, loc, *kind, values, numbers, dims);
    auto castTo = [&](Type type, Value value) -> Value {
      if (value.getType() == type)
        return value;
      return tensor::CastOp::create(rewriter, loc, type, value);
    };
    Value result = castTo(init.getType(), reduction);
    Operation *combined = rewriter.clone(*combiner);
    combined->setOperands({init, result});
    combined->getResult(0).setType(init.getType());
    result = combined->getResult(0);
    // Where nothing is a number, the init stays what it is, a NaN included.
    if (numbers) {
      Value any = castTo(
          cast<RankedTensorType>(init.getType()).clone(rewriter.getI1Type()),
          createAny(rewriter, loc, numbers, dims.size()));
      result = arith::SelectOp::create(rewriter, loc, any, result, init);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  /// Whether `mask` selects anything along its last `numReduced` dimensions.
  static Value createAny(OpBuilder &builder, Location loc, Value mask,
                         int64_t numReduced) {
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, mask);
    int64_t rank = shape.size();
    shape.truncate(rank - numReduced);
    Value no =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
    Value empty =
        tensor::EmptyOp::create(builder, loc, shape, builder.getI1Type());
    Value init = linalg::FillOp::create(builder, loc, no, empty).getResult(0);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    std::fill(iterators.end() - numReduced, iterators.end(),
              utils::IteratorType::reduction);
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    AffineMap leading =
        AffineMap::get(rank, 0, identity.getResults().drop_back(numReduced),
                       builder.getContext());
    return linalg::GenericOp::create(
               builder, loc, init.getType(), mask, init,
               ArrayRef<AffineMap>{identity, leading}, iterators,
               [](OpBuilder &nested, Location loc, ValueRange args) {
                 Value either =
                     arith::OrIOp::create(nested, loc, args[0], args[1]);
                 linalg::YieldOp::create(nested, loc, either);
               })
        .getResult(0);
  }
};

} // namespace

LogicalResult
sparse_autograd::normalizeForDifferentiation(func::FuncOp function) {
  if (failed(verifyStructured(function)))
    return failure();
  if (failed(inlineCalls(function)))
    return failure();

  RewritePatternSet patterns(function.getContext());
  patterns.add<GeneralizeNamedOp, SplitReduction>(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  populateExpandOpsPatterns(patterns);
  populateGatherNormalizationPatterns(patterns);
  populateControlFlowNormalizationPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  return applyPatternsGreedily(function, std::move(patterns), config);
}
