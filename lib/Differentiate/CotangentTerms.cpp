//===- CotangentTerms.cpp - cotangents as products ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentTerms.h"
#include "CotangentMarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

Source sparse_autograd::getSource(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    if (auto op =
            dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp()))
      if (OpOperand *operand = op.getMatchingOpOperand(argument);
          op.isDpsInput(operand))
        return {operand->get(), op.getMatchingIndexingMap(operand)};
  return {scalar, AffineMap()};
}

linalg::GenericOp sparse_autograd::getElementwise(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      llvm::any_of(op->getOperandTypes(), isSparse))
    return {};
  OpOperand *init = op.getDpsInitOperand(0);
  return !op.payloadUsesValueFromOperand(init) &&
                 op.getMatchingIndexingMap(init).isIdentity()
             ? op
             : linalg::GenericOp();
}

Value sparse_autograd::getYielded(linalg::GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0);
}

/// The one use of `value` that reads it; null if there are several. Ops of
/// linalg that transposition has just built have inputs that nothing reads.
static OpOperand *getOneRead(Value value) {
  OpOperand *read = nullptr;
  for (OpOperand &use : value.getUses()) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (op && op.isDpsInput(&use) &&
        op.getMatchingBlockArgument(&use).use_empty())
      continue;
    if (read)
      return nullptr;
    read = &use;
  }
  return read;
}

bool sparse_autograd::isForOneReader(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isMarkedCotangent(op))
    return false;
  OpOperand *read = getOneRead(value);
  return read && read->getOwner()->getBlock() == op->getBlock();
}

linalg::GenericOp sparse_autograd::getElementwiseForReader(Value scalar) {
  Value tensor = getSource(scalar).first;
  return tensor != scalar && isForOneReader(tensor) ? getElementwise(tensor)
                                                    : linalg::GenericOp();
}

/// Whether `op` adds something to itself.
static bool isDoubling(Operation *op) {
  return isa<arith::AddFOp>(op) && op->getOperand(0) == op->getOperand(1);
}

namespace {

/// Finds the factors of a product.
class FactorFinder {
public:
  /// Elements of other cotangents are looked into if `throughTensors`.
  FactorFinder(Product &product, bool throughTensors)
      : product(product), throughTensors(throughTensors) {}

  /// Adds the factors of what `use` reads, in a body whose loops `map` gives in
  /// those of the product. At most `depth` ops are looked at.
  void add(OpOperand &use, AffineMap map, Value partial, unsigned depth) {
    Value scalar = use.get();
    if (depth-- == 0 || !isReadHereAlone(use) ||
        !(addFactorsOfOp(scalar, use.getOwner()->getBlock(), map, partial,
                         depth) ||
          addFactorsOfElement(scalar, map, partial, depth)))
      product.factors.push_back({&use, map, partial ? partial : scalar});
  }

private:
  /// Whether the op that `use` is an operand of alone reads the value, once or
  /// to double it.
  static bool isReadHereAlone(OpOperand &use) {
    if (isDoubling(use.getOwner()))
      return llvm::all_of(use.get().getUsers(), [&](Operation *user) {
        return user == use.getOwner();
      });
    return use.get().hasOneUse();
  }

  bool addFactorsOfOp(Value scalar, Block *block, AffineMap map, Value partial,
                      unsigned depth) {
    Operation *op = scalar.getDefiningOp();
    if (!op || op->getBlock() != block)
      return false;
    if (!isMarkedCotangent(op)) {
      if (!product.isWide)
        return false;
      if (!partial && !isa<arith::NegFOp>(op))
        partial = scalar;
    }
    if (!isa<arith::MulFOp, arith::NegFOp>(op) &&
        !(product.isWide && (isa<arith::DivFOp>(op) || isDoubling(op))))
      return false;
    product.steps.push_back({op, map});
    if (!isa<arith::NegFOp>(op))
      product.flags = product.flags & cast<arith::ArithFastMathInterface>(op)
                                          .getFastMathFlagsAttr()
                                          .getValue();
    add(op->getOpOperand(0), map, partial, depth);
    if (isa<arith::MulFOp>(op))
      add(op->getOpOperand(1), map, partial, depth);
    return true;
  }

  bool addFactorsOfElement(Value scalar, AffineMap map, Value partial,
                           unsigned depth) {
    if (!throughTensors || partial)
      return false;
    AffineMap place = getSource(scalar).second;
    if (!place ||
        !(product.isWide ? place.isProjectedPermutation() : place.isIdentity()))
      return false;
    linalg::GenericOp producer = getElementwiseForReader(scalar);
    if (!producer)
      return false;
    add(producer.getBody()->getTerminator()->getOpOperand(0),
        place.compose(map), partial, depth);
    return true;
  }

  Product &product;
  bool throughTensors;
};

} // namespace

Product sparse_autograd::getProduct(Value term) {
  constexpr unsigned depth = 16;
  Product product;
  Type type = getElementTypeOrSelf(term.getType());
  product.isWide = type.isF32() || type.isF64();
  if (!isa<RankedTensorType>(term.getType())) {
    if (isForOneReader(term))
      FactorFinder(product, /*throughTensors=*/false)
          .add(*term.use_begin(), AffineMap(), Value(), depth);
  } else if (linalg::GenericOp op = getElementwise(term)) {
    FactorFinder(product, /*throughTensors=*/true)
        .add(op.getBody()->getTerminator()->getOpOperand(0),
             AffineMap::getMultiDimIdentityMap(op.getNumLoops(),
                                               op.getContext()),
             Value(), depth);
  }
  return product;
}

bool Product::isNegated() const {
  return llvm::count_if(
             steps,
             [](const Step &step) { return isa<arith::NegFOp>(step.op); }) %
             2 !=
         0;
}

Source Factor::getSource() const {
  auto [value, place] = sparse_autograd::getSource(use->get());
  return {value, place && map ? place.compose(map) : place};
}

bool Factor::isCotangent() const { return isKnownCotangent(getSource().first); }

OpOperand *Factor::getMultiplied() const {
  OpOperand *operand = use;
  while (auto negation = dyn_cast<arith::NegFOp>(operand->getOwner()))
    operand = &*negation->use_begin();
  return isa<arith::MulFOp>(operand->getOwner()) ? operand : nullptr;
}

void sparse_autograd::eraseIfDead(Operation *op) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *dead = worklist.pop_back_val();
    if (!isOpTriviallyDead(dead))
      continue;
    llvm::SmallSetVector<Operation *, 4> producers;
    for (Value operand : dead->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    dead->erase();
    worklist.append(producers.begin(), producers.end());
  }
}
