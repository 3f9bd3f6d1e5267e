//===- CotangentConstants.cpp - constants in cotangents -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentConstants.h"
#include "CotangentMarks.h"
#include "CotangentTerms.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A multiplication by a constant, or an addition to itself.
struct Scaling {
  Operation *op;
  /// The number of the operand that is scaled.
  unsigned rest;
  APFloat constant;
  unsigned numLoops;

  Value getRest() const { return op->getOperand(rest); }
  void replaceBy(Value value) const {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
};

} // namespace

static SmallVector<Scaling> findScalings(const Product &product) {
  SmallVector<Scaling> scalings;
  auto countLoops = [](AffineMap map) { return map ? map.getNumResults() : 0; };
  for (const Factor &factor : product.factors) {
    Operation *op = factor.use->getOwner();
    unsigned rest = 1 - factor.use->getOperandNumber();
    APFloat constant(0.0);
    // A product of two constants is one, and is folded.
    if (isa<arith::MulFOp>(op) &&
        matchPattern(factor.use->get(), m_ConstantFloat(&constant)) &&
        !matchPattern(op->getOperand(rest), m_Constant()))
      scalings.push_back({op, rest, constant, countLoops(factor.map)});
  }
  for (auto [op, map] : product.steps)
    if (isa<arith::AddFOp>(op)) {
      auto type = cast<FloatType>(op->getResult(0).getType());
      scalings.push_back(
          {op, 0, APFloat(type.getFloatSemantics(), 2), countLoops(map)});
    }
  return scalings;
}

static void combineConstants(const Product &product) {
  SmallVector<Scaling> scalings = findScalings(product);
  if (scalings.size() < 2)
    return;
  APFloat constant = scalings.front().constant;
  for (const Scaling &scaling : ArrayRef(scalings).drop_front())
    if (constant.multiply(scaling.constant, APFloat::rmNearestTiesToEven) !=
        APFloat::opOK)
      return;
  const Scaling &kept =
      *llvm::min_element(scalings, [](const Scaling &a, const Scaling &b) {
        return a.numLoops < b.numLoops;
      });
  for (const Scaling &scaling : scalings)
    if (scaling.op != kept.op)
      scaling.replaceBy(scaling.getRest());

  OpBuilder builder(kept.op);
  Location loc = kept.op->getLoc();
  Value rest = kept.getRest(), scaled = rest;
  auto flags = cast<arith::ArithFastMathInterface>(kept.op)
                   .getFastMathFlagsAttr()
                   .getValue();
  if (constant.isExactlyValue(-1))
    scaled = arith::NegFOp::create(builder, loc, rest, flags);
  else if (!constant.isExactlyValue(1))
    scaled = arith::MulFOp::create(
        builder, loc, rest,
        arith::ConstantOp::create(
            builder, loc, builder.getFloatAttr(rest.getType(), constant)),
        flags);
  if (scaled != rest && isMarkedCotangent(kept.op))
    markCotangent(scaled);
  kept.replaceBy(scaled);
}

void sparse_autograd::combineCotangentConstants(func::FuncOp derivative) {
  // A product comes before its parts, which are products as well.
  SmallVector<Product> products;
  llvm::DenseSet<Operation *> parts;
  derivative.walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (!isMarkedCotangent(op))
      return;
    Product product = getProduct(op->getResult(0));
    if (!product.isWide || llvm::any_of(product.steps, [&](const Step &step) {
          return parts.contains(step.op);
        }))
      return;
    for (const Step &step : product.steps)
      parts.insert(step.op);
    products.push_back(std::move(product));
  });
  for (const Product &product : products)
    combineConstants(product);
}
