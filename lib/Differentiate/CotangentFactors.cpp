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

/// Whether the product of `factors` is hardly larger than one of them. Four is
/// what is known of (1 - y) (1 + y), the derivative of tanh.
static bool staysInRange(ArrayRef<Value> factors) {
  constexpr double largestGrowth = 4;
  bool hasUnbounded = false;
  double growth = 1;
  for (Value factor : factors) {
    double magnitude = getFloatRange(factor).getMagnitude();
    if (magnitude <= largestGrowth)
      growth *= std::max(magnitude, 1.0);
    else if (std::exchange(hasUnbounded, true))
      return false;
  }
  return growth <= largestGrowth;
}

/// Takes a factor that both have out of `a` and `b`; null if there is none, or
/// if what would be left could overflow.
static Value takeCommonFactor(Product &a, Product &b) {
  if (a.factors.size() < 2 || b.factors.size() < 2)
    return {};
  for (unsigned i = 0, e = a.factors.size(); i < e; ++i) {
    auto *it = llvm::find_if(b.factors, [&](Value factor) {
      return getSource(factor) == getSource(a.factors[i]);
    });
    if (it == b.factors.end())
      continue;
    SmallVector<Value> restOfA(a.factors), restOfB(b.factors);
    restOfA.erase(restOfA.begin() + i);
    restOfB.erase(restOfB.begin() + (it - b.factors.begin()));
    if (!staysInRange(restOfA) || !staysInRange(restOfB))
      continue;
    Value common = a.factors[i];
    a.factors = std::move(restOfA);
    b.factors = std::move(restOfB);
    return common;
  }
  return {};
}

/// Builds `common` times the sum of `a` and `b`; `get` gives each factor.
static Value buildFactored(OpBuilder &builder, arith::AddFOp sum, Value common,
                           const Product &a, const Product &b,
                           llvm::function_ref<Value(Value)> get) {
  Location loc = sum.getLoc();
  arith::FastMathFlags flags = sum.getFastmath() & a.flags & b.flags;
  auto multiply = [&](const Product &product) {
    Value value = get(product.factors.front());
    for (Value factor : ArrayRef(product.factors).drop_front())
      value = arith::MulFOp::create(builder, loc, value, get(factor), flags);
    return value;
  };
  Value first = multiply(a), second = multiply(b);
  if (a.isNegated && !b.isNegated)
    std::swap(first, second);
  Value both = a.isNegated == b.isNegated
                   ? arith::AddFOp::create(builder, loc, first, second, flags)
                         .getResult()
                   : arith::SubFOp::create(builder, loc, first, second, flags);
  Value result = arith::MulFOp::create(builder, loc, get(common), both, flags);
  markCotangent(result);
  if (!a.isNegated || !b.isNegated)
    return result;
  result = arith::NegFOp::create(builder, loc, result, flags);
  markCotangent(result);
  return result;
}

namespace {

/// The bodies of elementwise ops, gathered in that of one.
class BodyMerger {
public:
  /// Notes the elements that `scalar`, of a body, is computed of.
  void gather(Value scalar) {
    if (!visited.insert(scalar).second)
      return;
    if (Source source = getSource(scalar); source.second) {
      sources.insert(source);
      return;
    }
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

  /// `scalar` in the new body, whose arguments are `elements`.
  Value build(OpBuilder &builder, ValueRange elements, Value scalar) {
    if (Value known = built.lookupOrNull(scalar))
      return known;
    if (Source source = getSource(scalar); source.second) {
      const auto *it = llvm::find(sources, source);
      Value element = elements[it - sources.begin()];
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
  static bool isInBody(Value scalar) {
    Operation *op = scalar.getDefiningOp();
    return op && isa<linalg::GenericOp>(op->getParentOp());
  }

  llvm::SetVector<Source> sources;
  llvm::DenseSet<Value> visited;
  IRMapping built;
};

} // namespace

static Value factorTensors(OpBuilder &builder, arith::AddFOp sum, Value common,
                           const Product &a, const Product &b) {
  BodyMerger merger;
  merger.gather(common);
  for (const Product *product : {&a, &b})
    for (Value factor : product->factors)
      merger.gather(factor);
  auto term = sum.getLhs().getDefiningOp<linalg::GenericOp>();
  SmallVector<AffineMap> maps = merger.getMaps();
  maps.push_back(term.getMatchingIndexingMap(term.getDpsInitOperand(0)));
  auto op = linalg::GenericOp::create(
      builder, sum.getLoc(), sum.getType(), merger.getTensors(),
      term.getDpsInits(), maps, term.getIteratorTypesArray(),
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        Value product =
            buildFactored(nested, sum, common, a, b, [&](Value factor) {
              return merger.build(nested, elements, factor);
            });
        linalg::YieldOp::create(nested, loc, product);
      });
  markCotangent(op.getResult(0));
  return op.getResult(0);
}

static void factor(arith::AddFOp sum) {
  Product a = getProduct(sum.getLhs()), b = getProduct(sum.getRhs());
  Value common = takeCommonFactor(a, b);
  if (!common)
    return;
  OpBuilder builder(sum);
  Value factored = isa<RankedTensorType>(sum.getType())
                       ? factorTensors(builder, sum, common, a, b)
                       : buildFactored(builder, sum, common, a, b,
                                       [](Value factor) { return factor; });
  sum.getResult().replaceAllUsesWith(factored);
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
