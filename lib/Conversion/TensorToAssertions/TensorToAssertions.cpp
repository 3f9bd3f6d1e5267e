//===- TensorToAssertions.cpp - checks at run time ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"

#include "../Assertions.h"
#include "ProvedAssertions.h"
#include "ShapeAssertions.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/ShortenDims.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_TENSORTOASSERTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of an operand.
struct OperandDim {
  OpOperand *operand;
  int64_t dim;

  int64_t getStaticExtent() const {
    return cast<RankedTensorType>(operand->get().getType()).getDimSize(dim);
  }
  std::string str() const {
    return ("dimension " + Twine(dim) + " of operand " +
            Twine(operand->getOperandNumber()))
        .str();
  }
};
} // namespace

/// Whether every dimension of every operand is traversed by one loop, or has a
/// static extent: then the extents that must be equal are those that share a
/// loop.
static bool isTraversedByDims(linalg::LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::all_of(map.getResults(), [](AffineExpr expr) {
      return isa<AffineDimExpr, AffineConstantExpr>(expr);
    });
  });
}

/// Asserts that the extents that share a loop are equal.
static void assertEqualExtents(OpBuilder &builder, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  SmallVector<SmallVector<OperandDim>> dimsOfLoop(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        dimsOfLoop[loop.getPosition()].push_back(
            {&operand, static_cast<int64_t>(dim)});
  for (ArrayRef<OperandDim> dims : dimsOfLoop) {
    // The verifier compares what is static.
    const OperandDim *first = llvm::find_if(dims, [](const OperandDim &dim) {
      return !ShapedType::isDynamic(dim.getStaticExtent());
    });
    if (first == dims.end())
      first = dims.begin();
    for (const OperandDim &other : dims) {
      if (&other == first || !ShapedType::isDynamic(other.getStaticExtent()))
        continue;
      Value expected = tensor::DimOp::create(builder, loc,
                                             first->operand->get(), first->dim);
      Value extent =
          tensor::DimOp::create(builder, loc, other.operand->get(), other.dim);
      Value isEqual = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, expected, extent);
      cf::AssertOp::create(
          builder, loc, isEqual,
          makeAssertionMessage(op, other.str() + " must have the extent of " +
                                       first->str()));
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether anything about `op` is open: an extent of an operand or result, or
/// an index.
static bool needsCheck(Operation *op) {
  if (hasShapeAssertions(op) || isa<SampledGenericOp>(op))
    return hasOpenTypes(op);
  return needsVerification(op);
}

static void assertBefore(Operation *op) {
  OpBuilder builder(op);
  if (hasShapeAssertions(op))
    return assertShapes(builder, op, [&](Value holds, const Twine &detail) {
      cf::AssertOp::create(builder, op->getLoc(), holds,
                           makeAssertionMessage(op, detail));
    });
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (structured &&
      (isa<SampledGenericOp>(op) || isTraversedByDims(structured)))
    return assertEqualExtents(builder, structured);
  if (!isInStructuredRegion(op))
    assertVerified(op);
}

namespace {
struct TensorToAssertionsPass
    : sparse_autograd::impl::TensorToAssertionsBase<TensorToAssertionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (needsCheck(op))
        ops.push_back(op);
    });
    llvm::for_each(ops, assertBefore);
    shortenDims(getOperation());

    // An extent of a result is one of the operands': extents of the arguments
    // are all that is left to compare, and an assertion keeps no result alive.
    RewritePatternSet patterns(&getContext());
    populateShortenDimsPatterns(patterns);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    memref::populateResolveShapedTypeResultDimsPatterns(patterns);
    scf::populateSCFForLoopCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    useAssertions(getOperation());
  }
};
} // namespace
