//===- CotangentSums.cpp - sums over elements of cotangents ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentSums.h"
#include "CotangentMarks.h"
#include "CotangentTerms.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// An op that adds up one term in each iteration, from zero on.
struct Sum {
  linalg::GenericOp op;
  /// What it adds, in its body.
  Value term;

  explicit operator bool() const { return static_cast<bool>(op); }
};

} // namespace

static bool isReduction(utils::IteratorType iterator) {
  return iterator == utils::IteratorType::reduction;
}

/// Whether all elements of `init` are zero, as those of a fill are, which may
/// be a generic that hands on a number.
static bool isZero(Value init) {
  while (linalg::GenericOp op = getElementwise(init))
    init = getSource(getYielded(op)).first;
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getInputs().front();
  return matchPattern(init, m_AnyZeroFloat());
}

/// The sum that computes `value`. That of no terms is none: times an infinity
/// it would not be zero.
static Sum matchSum(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      llvm::any_of(op->getOperandTypes(), isSparse) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0))
           .isProjectedPermutation() ||
      !isZero(op.getDpsInits().front()))
    return {};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [range, iterator] :
       llvm::zip_equal(ranges, op.getIteratorTypesArray()))
    if (isReduction(iterator) && (ShapedType::isDynamic(range) || range == 0))
      return {};
  auto addition = getYielded(op).getDefiningOp<arith::AddFOp>();
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  if (!addition || !accumulator.hasOneUse())
    return {};
  if (addition.getLhs() == accumulator)
    return {op, addition.getRhs()};
  if (addition.getRhs() == accumulator)
    return {op, addition.getLhs()};
  return {};
}

namespace {

/// The tensor that a sum adds up elements of, or of its negation, with the map
/// to it, and the argument of the body that stands for the element.
struct Terms {
  BlockArgument element;
  Value tensor;
  AffineMap map;

  explicit operator bool() const { return static_cast<bool>(element); }
};

} // namespace

/// The terms of `sum`, if it adds up each element of a tensor. Ops that hand
/// on what they read are looked through.
static Terms matchTerms(Sum sum) {
  Value term = sum.term;
  if (auto negation = term.getDefiningOp<arith::NegFOp>())
    term = negation.getOperand();
  auto [tensor, map] = getSource(term);
  if (!map || !map.isPermutation() || !term.hasOneUse())
    return {};
  while (linalg::GenericOp op = getElementwise(tensor)) {
    auto [source, from] = getSource(getYielded(op));
    if (!from || !from.isIdentity())
      break;
    tensor = source;
  }
  return {cast<BlockArgument>(term), tensor, map};
}

/// Whether what `map` gives is the same along the loops that `op` reduces.
static bool isInvariant(linalg::GenericOp op, AffineMap map) {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (isReduction(iterator) && map.isFunctionOfDim(loop))
      return false;
  return true;
}

/// Whether `scalar`, of a body whose loops `map` gives in those of `sum`, does
/// not change along these. At most `depth` ops of the body are looked at.
static bool isFixed(Value scalar, AffineMap map, Sum sum, unsigned depth = 4) {
  auto [source, from] = getSource(scalar);
  if (from)
    return isInvariant(sum.op, from.compose(map));
  if (!isa_and_nonnull<linalg::GenericOp>(
          source.getParentRegion()->getParentOp()))
    return true;
  Operation *op = source.getDefiningOp();
  return op && op->getNumRegions() == 0 && !isa<linalg::IndexOp>(op) &&
         depth != 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFixed(operand, map, sum, depth - 1);
         });
}

//===----------------------------------------------------------------------===//
// Deviations
//===----------------------------------------------------------------------===//

namespace {

/// An element of a tensor, or a scalar of a body, in each iteration of some
/// loops: a map from these to the dimensions, or the loops around the body.
struct Element {
  Value value;
  AffineMap map;
};

} // namespace

/// Looks back through elementwise ops to where `element` comes from: another
/// tensor, or an op in a body.
static Element lookBack(Element element) {
  while (true) {
    if (auto [tensor, map] = getSource(element.value); map)
      element = {tensor, map.compose(element.map)};
    else if (linalg::GenericOp op = getElementwise(element.value))
      element.value = getYielded(op);
    else
      return element;
  }
}

/// What `element` is divided by a constant of: `element` is its mean if it is
/// the sum of `count` terms.
static Element matchQuotient(Element element, int64_t &count) {
  element = lookBack(element);
  auto quotient = element.value.getDefiningOp<arith::DivFOp>();
  APFloat divisor(0.0);
  if (!quotient || !matchPattern(quotient.getRhs(), m_ConstantFloat(&divisor)))
    return {};
  bool isExact;
  llvm::APSInt integer(64);
  if (divisor.convertToInteger(integer, APFloat::rmTowardZero, &isExact) !=
      APFloat::opOK)
    return {};
  count = integer.getExtValue();
  return lookBack({quotient.getLhs(), element.map});
}

/// Whether `element`, in the loops of `sum`, is the deviation of one of another
/// tensor from the mean of those along loops that `sum` reduces.
static bool isDeviation(Element element, Sum sum) {
  element = lookBack(element);
  auto difference = element.value.getDefiningOp<arith::SubFOp>();
  if (!difference)
    return false;
  Element deviating = lookBack({difference.getLhs(), element.map});
  int64_t count = 0;
  Element total = matchQuotient({difference.getRhs(), element.map}, count);
  Sum added = total.value ? matchSum(total.value) : Sum();
  if (!added || !deviating.map.isPermutation())
    return false;
  MLIRContext *context = element.map.getContext();
  Element term = lookBack({added.term, AffineMap::getMultiDimIdentityMap(
                                           added.op.getNumLoops(), context)});
  if (term.value != deviating.value || !term.map.isPermutation())
    return false;
  // The loops that the mean was computed in, from those of `sum`.
  AffineMap loops = inversePermutation(term.map).compose(deviating.map);
  AffineMap result =
      added.op.getMatchingIndexingMap(added.op.getDpsInitOperand(0));
  if (result.compose(loops) != total.map)
    return false;
  SmallVector<int64_t> ranges = added.op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = sum.op.getIteratorTypesArray();
  for (auto [loop, iterator] :
       llvm::enumerate(added.op.getIteratorTypesArray())) {
    if (!isReduction(iterator))
      continue;
    if (!isReduction(iterators[loops.getDimPosition(loop)]) ||
        count % ranges[loop] != 0)
      return false;
    count /= ranges[loop];
  }
  return count == 1;
}

/// Whether the elements of the cotangent `tensor`, which `map` gives in the
/// loops of `sum`, add up to zero.
static bool addsUpToZero(Value tensor, AffineMap map, Sum sum) {
  if (!isForOneReader(tensor))
    return false;
  std::optional<Element> varying;
  for (const Factor &factor : getProduct(tensor).factors) {
    Element element{factor.use->get(), factor.map.compose(map)};
    if (isFixed(element.value, element.map, sum))
      continue;
    if (varying)
      return false;
    varying = element;
  }
  return varying && isDeviation(*varying, sum);
}

/// The terms that `terms` has besides such that add up to zero; null if there
/// are none of these.
static Value dropDeviations(const Terms &terms, Sum sum) {
  auto both = terms.tensor.getDefiningOp<arith::AddFOp>();
  if (!both || !isMarkedCotangent(both))
    return {};
  if (addsUpToZero(both.getLhs(), terms.map, sum))
    return both.getRhs();
  if (addsUpToZero(both.getRhs(), terms.map, sum))
    return both.getLhs();
  return {};
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {

/// A product or a quotient of two scalars in a body: the rest, and a factor,
/// which is an element of a tensor, a constant or from outside of the body.
struct Scaled {
  Operation *op = nullptr;
  unsigned rest = 0;

  explicit operator bool() const { return op; }
  Value getRest() const { return op->getOperand(rest); }
  Value getFactor() const { return op->getOperand(1 - rest); }
};

} // namespace

/// Matches `value`, of a body whose loops `map` gives in those of `sum`, as
/// something times or divided by what does not change along `sum`.
static Scaled matchScaled(Value value, AffineMap map, Sum sum) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::DivFOp, arith::MulFOp>(op))
    return {};
  auto isFactor = [&](unsigned number) {
    auto [source, from] = getSource(op->getOperand(number));
    if (from)
      return isInvariant(sum.op, from.compose(map)) &&
             from.compose(map).isProjectedPermutation();
    return source.getParentRegion() != op->getParentRegion() ||
           matchPattern(source, m_Constant());
  };
  if (isFactor(1))
    return {op, 0};
  return isa<arith::MulFOp>(op) && isFactor(0) ? Scaled{op, 1} : Scaled();
}

/// Does what `scaled` does to each element of `rest`. The factor, if it is an
/// element of a tensor, is the one that `place` gives. Writes to `init`.
static Value createScaled(OpBuilder &builder, const Scaled &scaled, Value rest,
                          AffineMap place, Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs{rest};
  SmallVector<AffineMap> maps{identity};
  if (place) {
    inputs.push_back(getSource(scaled.getFactor()).first);
    maps.push_back(place);
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, scaled.op->getLoc(), type, inputs, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        IRMapping mapping;
        mapping.map(scaled.getRest(), elements[0]);
        if (place)
          mapping.map(scaled.getFactor(), elements[1]);
        else if (matchPattern(scaled.getFactor(), m_Constant()))
          nested.clone(*scaled.getFactor().getDefiningOp(), mapping);
        Operation *clone = nested.clone(*scaled.op, mapping);
        linalg::YieldOp::create(nested, loc, clone->getResults());
      });
  markCotangent(op.getResult(0));
  return op.getResult(0);
}

/// The tensor of what `elementwise` makes its elements of by `scaled`: an input
/// of it, or one that it then reads.
static Value getRestTensor(linalg::GenericOp elementwise,
                           const Scaled &scaled) {
  if (auto [tensor, map] = getSource(scaled.getRest()); map && map.isIdentity())
    return tensor;
  OpBuilder builder(elementwise);
  IRMapping clones;
  auto op = cast<linalg::GenericOp>(
      builder.clone(*elementwise.getOperation(), clones));
  op.getBody()->getTerminator()->setOperand(0, clones.lookup(scaled.getRest()));
  eraseIfDead(clones.lookup(scaled.op->getResult(0)).getDefiningOp());
  Value rest = op.getResult(0);
  Value product =
      createScaled(builder, scaled, rest, getSource(scaled.getFactor()).second,
                   elementwise.getDpsInits().front());
  elementwise.getResult(0).replaceAllUsesWith(product);
  return rest;
}

/// Applies `scaled` to the finished sum `total`; returns what takes its place.
static Value scaleTotal(Sum sum, const Scaled &scaled, AffineMap map,
                        Value total) {
  OpBuilder builder(total.getContext());
  builder.setInsertionPointAfterValue(total);
  AffineMap place = getSource(scaled.getFactor()).second;
  if (place) {
    // The dimensions of the result are loops of the sum.
    AffineMap result =
        sum.op.getMatchingIndexingMap(sum.op.getDpsInitOperand(0));
    SmallVector<AffineExpr> dims = llvm::map_to_vector(
        place.compose(map).getResults(), [&](AffineExpr loop) {
          return builder.getAffineDimExpr(*result.getResultPosition(loop));
        });
    place =
        AffineMap::get(result.getNumResults(), 0, dims, builder.getContext());
  }
  Value init =
      createEmptyLike(builder, scaled.op->getLoc(), sum.op.getDpsInits()[0],
                      getElementTypeOrSelf(total.getType()));
  Value product = createScaled(builder, scaled, total, place, init);
  total.replaceAllUsesExcept(product, product.getDefiningOp());
  return product;
}

/// Leaves out terms of `sum` that add up to zero, and applies what each of the
/// others is multiplied or divided by to their sum.
static void simplifySum(Sum sum) {
  Type type = sum.term.getType();
  if (!type.isF32() && !type.isF64())
    return;
  Value total = sum.op.getResult(0);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(sum.op.getNumLoops(),
                                                         sum.op.getContext());
  while (true) {
    if (Scaled scaled = matchScaled(sum.term, identity, sum)) {
      if (!sum.term.hasOneUse())
        return;
      total = scaleTotal(sum, scaled, identity, total);
      sum.term = scaled.getRest();
      scaled.op->getResult(0).replaceAllUsesWith(sum.term);
      scaled.op->erase();
      continue;
    }
    Terms terms = matchTerms(sum);
    if (!terms)
      return;
    OpOperand *input = sum.op.getMatchingOpOperand(terms.element);
    if (Value others = dropDeviations(terms, sum)) {
      input->set(others);
      continue;
    }
    linalg::GenericOp elementwise = getElementwise(terms.tensor);
    if (!elementwise || !isMarkedCotangent(elementwise))
      return;
    Scaled scaled = matchScaled(getYielded(elementwise), terms.map, sum);
    if (!scaled)
      return;
    total = scaleTotal(sum, scaled, terms.map, total);
    input->set(getRestTensor(elementwise, scaled));
    eraseIfDead(elementwise);
  }
}

/// The op that adds up elements for the cotangent `op`, which may negate the
/// sum.
static Sum findSum(linalg::GenericOp op) {
  if (Sum sum = matchSum(op.getResult(0)))
    return sum;
  // The extents of the negated sum are asked for as well.
  if (op.getNumDpsInputs() != 1 || !getElementwise(op.getResult(0)) ||
      !llvm::all_of(op.getDpsInputs().front().getUsers(), [&](Operation *user) {
        return user == op || isa<tensor::DimOp>(user);
      }))
    return {};
  auto negation = getYielded(op).getDefiningOp<arith::NegFOp>();
  if (!negation || !getSource(negation.getOperand()).second)
    return {};
  return matchSum(op.getDpsInputs().front());
}

void sparse_autograd::simplifyCotangentSums(func::FuncOp derivative) {
  // One may be found twice, and is another one once it is simplified.
  llvm::SetVector<Value> totals;
  derivative.walk([&](linalg::GenericOp op) {
    if (op->getNumResults() == 1 && isMarkedCotangent(op))
      if (Sum sum = findSum(op)) {
        // One that is negated has no mark yet.
        markCotangent(sum.op.getResult(0));
        totals.insert(sum.op.getResult(0));
      }
  });
  for (Value total : totals)
    simplifySum(matchSum(total));
}
