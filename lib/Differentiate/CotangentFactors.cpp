//===- CotangentFactors.cpp - factors of sums of cotangents ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentFactors.h"
#include "CotangentMarks.h"
#include "CotangentTerms.h"
#include "SparseAutograd/Analysis/FloatRange.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether what is left of `product` without `common`, values of the program
/// alone, is hardly larger than one factor. Four is what is known of
/// (1 - y) (1 + y), the derivative of tanh.
static bool staysInRange(const Product &product, const Factor &common) {
  constexpr double largestGrowth = 4;
  llvm::SmallSetVector<Value, 8> partials;
  for (const Factor &factor : product.factors)
    if (&factor != &common)
      partials.insert(factor.partial);
  bool hasUnbounded = false;
  double growth = 1;
  // A partial is known as a whole.
  for (const Step &step : product.steps) {
    if (!isMarkedCotangent(step.op))
      continue;
    if (isa<arith::DivFOp>(step.op))
      return false;
    if (isa<arith::AddFOp>(step.op))
      growth *= 2;
  }
  for (Value partial : partials) {
    double magnitude = getFloatRange(partial).getMagnitude();
    if (magnitude <= largestGrowth)
      growth *= std::max(magnitude, 1.0);
    else if (std::exchange(hasUnbounded, true))
      return false;
  }
  return growth <= largestGrowth;
}

/// Whether `product` can do without `common`: what is left is a cotangent, or
/// does not overflow where a cotangent is zero.
static bool canTakeOut(const Product &product, const Factor &common) {
  if (!common.getMultiplied())
    return false;
  bool isCotangent =
      product.isWide && llvm::any_of(product.factors, [&](const Factor &other) {
        return &other != &common && other.isCotangent();
      });
  return isCotangent || staysInRange(product, common);
}

/// The factor that `a` and `b` have in common and are multiplied by most often;
/// null if there is none that can be taken out. One of the multiplications by
/// it is done as often as the one that takes their place.
static std::pair<const Factor *, const Factor *>
findCommonFactor(const Product &a, const Product &b) {
  std::pair<const Factor *, const Factor *> common;
  for (const Factor &ofA : a.factors)
    for (const Factor &ofB : b.factors) {
      if (ofA.getSource() != ofB.getSource() || !canTakeOut(a, ofA) ||
          !canTakeOut(b, ofB))
        continue;
      if (ofA.isFull() && ofB.isFull())
        return {&ofA, &ofB};
      if (!common.first && (ofA.isFull() || ofB.isFull()))
        common = {&ofA, &ofB};
    }
  return common;
}

static void takeOut(OpOperand &factor) {
  Operation *multiplication = factor.getOwner();
  Value rest = multiplication->getOperand(1 - factor.getOperandNumber());
  multiplication->getResult(0).replaceAllUsesWith(rest);
  multiplication->erase();
}

static void dropNegations(const Product &product) {
  for (const Step &step : product.steps)
    if (isa<arith::NegFOp>(step.op)) {
      step.op->getResult(0).replaceAllUsesWith(step.op->getOperand(0));
      step.op->erase();
    }
}

namespace {

/// What a sum of two products becomes: their common factor times the sum, or
/// the difference, of what is left of them.
struct Factored {
  arith::AddFOp sum;
  bool isFirstNegated, isSecondNegated;
  arith::FastMathFlags flags;

  Value build(OpBuilder &builder, Value common, Value first, Value second) {
    Location loc = sum->getLoc();
    if (isFirstNegated && !isSecondNegated)
      std::swap(first, second);
    Value both = isFirstNegated == isSecondNegated
                     ? arith::AddFOp::create(builder, loc, first, second, flags)
                           .getResult()
                     : arith::SubFOp::create(builder, loc, first, second, flags)
                           .getResult();
    markCotangent(both);
    Value result = arith::MulFOp::create(builder, loc, common, both, flags);
    markCotangent(result);
    if (!isFirstNegated || !isSecondNegated)
      return result;
    result = arith::NegFOp::create(builder, loc, result, flags);
    markCotangent(result);
    return result;
  }
};

} // namespace

namespace {

/// The bodies of elementwise ops, gathered in that of one.
class BodyMerger {
public:
  /// Notes an element that is read.
  void gather(Source source) { sources.insert(source); }

  /// Notes the elements that `scalar`, of a body, is computed of.
  void gather(Value scalar) {
    if (!visited.insert(scalar).second)
      return;
    if (Value computed = getComputedHere(scalar))
      return gather(computed);
    if (Source source = getSource(scalar); source.second)
      return gather(source);
    if (!isInBody(scalar))
      return;
    scalar.getDefiningOp()->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        gather(operand);
    });
  }

  SmallVector<Value> getTensors() const {
    return llvm::map_to_vector(sources,
                               [](Source source) { return source.first; });
  }
  SmallVector<AffineMap> getMaps() const {
    return llvm::map_to_vector(sources,
                               [](Source source) { return source.second; });
  }

  /// `source` in the new body, whose arguments are `elements`.
  Value get(ValueRange elements, Source source) const {
    return elements[llvm::find(sources, source) - sources.begin()];
  }

  /// `scalar` in the new body, whose arguments are `elements`.
  Value build(OpBuilder &builder, ValueRange elements, Value scalar) {
    if (Value known = built.lookupOrNull(scalar))
      return known;
    if (Value computed = getComputedHere(scalar)) {
      Value value = build(builder, elements, computed);
      built.map(scalar, value);
      return value;
    }
    if (Source source = getSource(scalar); source.second) {
      Value element = get(elements, source);
      built.map(scalar, element);
      return element;
    }
    if (!isInBody(scalar))
      return scalar;
    scalar.getDefiningOp()->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        build(builder, elements, operand);
    });
    builder.clone(*scalar.getDefiningOp(), built);
    return built.lookup(scalar);
  }

private:
  /// What the body of another op computes for this reader alone: null if
  /// `scalar` is not such an element.
  static Value getComputedHere(Value scalar) {
    AffineMap place = getSource(scalar).second;
    linalg::GenericOp op = place && place.isIdentity()
                               ? getElementwiseForReader(scalar)
                               : linalg::GenericOp();
    return op ? getYielded(op) : Value();
  }

  static bool isInBody(Value scalar) {
    Operation *op = scalar.getDefiningOp();
    return op && isa<linalg::GenericOp>(op->getParentOp());
  }

  llvm::SetVector<Source> sources;
  llvm::DenseSet<Value> visited;
  IRMapping built;
};

} // namespace

/// `factored`, of tensors, as one op. `common` is read where it says.
static Value buildTensor(OpBuilder &builder, Factored factored, Source common) {
  arith::AddFOp sum = factored.sum;
  linalg::GenericOp terms[] = {getElementwise(sum.getLhs()),
                               getElementwise(sum.getRhs())};
  BodyMerger merger;
  if (common.second)
    merger.gather(common);
  for (linalg::GenericOp term : terms)
    merger.gather(getYielded(term));
  SmallVector<AffineMap> maps = merger.getMaps();
  maps.push_back(
      terms[0].getMatchingIndexingMap(terms[0].getDpsInitOperand(0)));
  auto op = linalg::GenericOp::create(
      builder, sum.getLoc(), sum.getType(), merger.getTensors(),
      terms[0].getDpsInits(), maps, terms[0].getIteratorTypesArray(),
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        auto build = [&](Value scalar) {
          return merger.build(nested, elements, scalar);
        };
        Value factor =
            common.second ? merger.get(elements, common) : build(common.first);
        Value first = build(getYielded(terms[0]));
        Value second = build(getYielded(terms[1]));
        linalg::YieldOp::create(nested, loc,
                                factored.build(nested, factor, first, second));
      });
  markCotangent(op.getResult(0));
  return op.getResult(0);
}

static void factor(arith::AddFOp sum) {
  if (!isForOneReader(sum.getLhs()) || !isForOneReader(sum.getRhs()))
    return;
  Product a = getProduct(sum.getLhs()), b = getProduct(sum.getRhs());
  auto [ofA, ofB] = findCommonFactor(a, b);
  if (!ofA)
    return;
  Value scalar = ofA->use->get();
  Source common = ofA->getSource();
  Factored factored{sum, a.isNegated(), b.isNegated(),
                    sum.getFastmath() & a.flags & b.flags};
  OpOperand *operands[] = {ofA->getMultiplied(), ofB->getMultiplied()};
  for (const Product *product : {&a, &b})
    dropNegations(*product);
  for (OpOperand *operand : operands)
    takeOut(*operand);
  OpBuilder builder(sum);
  Value value =
      isa<RankedTensorType>(sum.getType())
          ? buildTensor(builder, factored, common)
          : factored.build(builder, scalar, sum.getLhs(), sum.getRhs());
  sum.getResult().replaceAllUsesWith(value);
  eraseIfDead(sum);
}

void sparse_autograd::factorCotangents(func::FuncOp derivative) {
  SmallVector<arith::AddFOp> sums;
  derivative.walk([&](arith::AddFOp sum) {
    if (isMarkedCotangent(sum))
      sums.push_back(sum);
  });
  // Those of bodies and of other sums come before what reads them.
  for (arith::AddFOp sum : sums)
    factor(sum);
}
