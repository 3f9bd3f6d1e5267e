//===- ProductUpdates.cpp - add a product where it is computed ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of gradient descent subtracts a multiple of a product of matrices from
// the weights. A library adds a multiple of a product to what is there as fast
// as it stores the product, so the gradient need not exist.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "SparseAutograd/Analysis/Contraction.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sparse_autograd {

namespace {
/// A sum c + s t or a difference c - s t, of floats.
struct ScaledSum {
  Value base, term;
  /// Null: 1. Otherwise a value from outside of the region.
  Value scale;
  bool isDifference = false;
};
} // namespace

static bool isOutside(Block &block, Value value) {
  return value.getParentBlock() != &block;
}

/// Matches `value`, computed in `block`, as a sum whose base is an argument of
/// `block`; where both operands of an addition could be, the first is.
static std::optional<ScaledSum> matchScaledSum(Block &block, Value value) {
  ScaledSum sum;
  if (auto addition = value.getDefiningOp<arith::AddFOp>()) {
    sum.base = addition.getLhs();
    sum.term = addition.getRhs();
    if (!isa<BlockArgument>(sum.base))
      std::swap(sum.base, sum.term);
  } else if (auto subtraction = value.getDefiningOp<arith::SubFOp>()) {
    sum.base = subtraction.getLhs();
    sum.term = subtraction.getRhs();
    sum.isDifference = true;
  } else {
    return std::nullopt;
  }
  if (!isa<BlockArgument>(sum.base) || isOutside(block, sum.base))
    return std::nullopt;
  if (auto product = sum.term.getDefiningOp<arith::MulFOp>())
    for (auto [scale, term] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())})
      if (isOutside(block, scale) && !isOutside(block, term)) {
        sum.scale = scale;
        sum.term = term;
        break;
      }
  return sum;
}

/// Products with fewer multiplications, known statically, may become loops,
/// which would multiply each of their terms.
static constexpr int64_t smallProduct = estimates.smallProduct;

static bool isSmall(linalg::LinalgOp op) {
  int64_t work = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(work, extent, work) || work >= smallProduct)
      return false;
  return true;
}

/// The product of matrices that starts from zeros and computes `value` for one
/// user alone; null if it is none.
static linalg::LinalgOp getProduct(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !value.hasOneUse() || !op.hasPureTensorSemantics() || isSmall(op))
    return nullptr;
  std::optional<Contraction> contraction = matchContraction(op);
  auto zeros = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  Type type = getElementTypeOrSelf(value.getType());
  if (!contraction || !contraction->isOfMatrices() ||
      !contraction->isPlainProduct() || contraction->scale ||
      contraction->isDifference || !zeros ||
      !matchPattern(zeros.value(), m_AnyZeroFloat()) ||
      (!type.isF32() && !type.isF64()) ||
      !llvm::all_of(op.getDpsInputs(), [&](Value input) {
        return getElementTypeOrSelf(input.getType()) == type;
      }))
    return nullptr;
  return op;
}

namespace {

struct FoldIntoProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 ||
        op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
        !llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }))
      return failure();
    Block *body = op.getBody();
    std::optional<ScaledSum> sum =
        matchScaledSum(*body, body->getTerminator()->getOperand(0));
    if (!sum || !llvm::hasNItems(body->getOperations(), sum->scale ? 3 : 2))
      return failure();
    auto number = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == body ? argument.getArgNumber()
                                                     : 2;
    };
    // Of a sum of two products either can be the term.
    for (bool isSwapped : {false, true}) {
      if (isSwapped) {
        if (sum->scale || sum->isDifference)
          break;
        std::swap(sum->base, sum->term);
      }
      if (number(sum->base) + number(sum->term) != 1)
        return failure();
      Value base = op.getDpsInputs()[number(sum->base)];
      linalg::LinalgOp product =
          getProduct(op.getDpsInputs()[number(sum->term)]);
      if (!product || base.getType() != op.getResult(0).getType() ||
          product->getResult(0).getType() != base.getType())
        continue;
      rewriter.replaceOpWithNewOp<linalg::GenericOp>(
          op, TypeRange(base.getType()), ValueRange(product.getDpsInputs()),
          base, product.getIndexingMapsArray(), product.getIteratorTypesArray(),
          [&](OpBuilder &builder, Location loc, ValueRange args) {
            Value term = arith::MulFOp::create(builder, loc, args[0], args[1]);
            if (sum->scale)
              term = arith::MulFOp::create(builder, loc, term, sum->scale);
            Value total =
                sum->isDifference
                    ? arith::SubFOp::create(builder, loc, args[2], term)
                          .getResult()
                    : arith::AddFOp::create(builder, loc, args[2], term)
                          .getResult();
            linalg::YieldOp::create(builder, loc, total);
          });
      return success();
    }
    return failure();
  }
};

} // namespace

void populateFoldIntoProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldIntoProduct>(patterns.getContext());
}

} // namespace sparse_autograd
