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

/// Whether `value` is a cotangent that nothing but one reader, which is no
/// deeper in loops, is for.
static bool isForOneReader(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isMarkedCotangent(op))
    return false;
  OpOperand *read = getOneRead(value);
  return read && read->getOwner()->getBlock() == op->getBlock();
}

/// Adds the factors of `scalar` to `product`. Elements of cotangents at the
/// same place are looked into if `throughTensors`, and at most `depth` ops.
static void addFactors(Value scalar, bool throughTensors, unsigned depth,
                       Product &product) {
  if (depth-- == 0) {
    product.factors.push_back(scalar);
    return;
  }
  if (isForOneReader(scalar)) {
    if (auto multiplication = scalar.getDefiningOp<arith::MulFOp>()) {
      product.flags = product.flags & multiplication.getFastmath();
      addFactors(multiplication.getLhs(), throughTensors, depth, product);
      addFactors(multiplication.getRhs(), throughTensors, depth, product);
      return;
    }
    if (auto negation = scalar.getDefiningOp<arith::NegFOp>()) {
      product.isNegated = !product.isNegated;
      addFactors(negation.getOperand(), throughTensors, depth, product);
      return;
    }
  }
  auto [tensor, map] = getSource(scalar);
  if (throughTensors && map && map.isIdentity() && scalar.hasOneUse() &&
      isForOneReader(tensor))
    if (linalg::GenericOp producer = getElementwise(tensor))
      return addFactors(getYielded(producer), throughTensors, depth, product);
  product.factors.push_back(scalar);
}

Product sparse_autograd::getProduct(Value term) {
  constexpr unsigned depth = 16;
  Product product;
  if (!isForOneReader(term))
    return product;
  if (!isa<RankedTensorType>(term.getType()))
    addFactors(term, /*throughTensors=*/false, depth, product);
  else if (linalg::GenericOp op = getElementwise(term))
    addFactors(getYielded(op), /*throughTensors=*/true, depth, product);
  return product;
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
