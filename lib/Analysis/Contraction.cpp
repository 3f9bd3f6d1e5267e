//===- Contraction.cpp - structured ops that sum products -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Called by whatever asks whether an op is a matrix product. Assumes nothing of
// the order of operands or of what has generalized the op before.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// What a body adds to its output, taken apart.
class BodyMatcher {
public:
  BodyMatcher(linalg::LinalgOp op, Contraction &contraction)
      : op(op), block(op.getBlock()), contraction(contraction) {}

  LogicalResult match();

private:
  Value skipConversions(Value value);
  LogicalResult matchTerm(Value value);
  LogicalResult matchFactor(Value value);
  bool isOutside(Value value) const { return value.getParentBlock() != block; }

  linalg::LinalgOp op;
  Block *block;
  Contraction &contraction;
  /// The inputs that are multiplied with each other, as often as they occur.
  SmallVector<OpOperand *> inputs;
};
} // namespace

/// What `value` is converted from, within the region.
Value BodyMatcher::skipConversions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isOutside(value))
      break;
    if (isa<arith::TruncFOp, arith::TruncIOp, arith::FPToSIOp, arith::FPToUIOp>(
            op))
      contraction.narrows = true;
    else if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp,
                  arith::SIToFPOp, arith::UIToFPOp, arith::IndexCastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isMultiplication(Operation *op) {
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp, arith::AndIOp,
                         complex::MulOp>(op);
}

LogicalResult BodyMatcher::matchFactor(Value value) {
  value = skipConversions(value);
  if (Operation *product = value.getDefiningOp();
      isMultiplication(product) && !isOutside(value))
    return success(succeeded(matchFactor(product->getOperand(0))) &&
                   succeeded(matchFactor(product->getOperand(1))));
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || isOutside(value) ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return failure();
  inputs.push_back(op.getDpsInputOperand(argument.getArgNumber()));
  return success();
}

LogicalResult BodyMatcher::matchTerm(Value value) {
  value = skipConversions(value);
  Operation *product = value.getDefiningOp();
  if (!isMultiplication(product) || isOutside(value))
    return failure();
  Value lhs = product->getOperand(0), rhs = product->getOperand(1);
  if (isOutside(lhs) != isOutside(rhs)) {
    if (contraction.scale)
      return failure();
    contraction.scale = isOutside(lhs) ? lhs : rhs;
    return matchTerm(isOutside(lhs) ? rhs : lhs);
  }
  contraction.productType = value.getType();
  return success(succeeded(matchFactor(lhs)) && succeeded(matchFactor(rhs)));
}

LogicalResult BodyMatcher::match() {
  if (op.getNumDpsInits() != 1 || llvm::any_of(*block, [](Operation &inner) {
        return !inner.hasTrait<OpTrait::IsTerminator>() && !isPure(&inner);
      }))
    return failure();
  Value yielded = skipConversions(block->getTerminator()->getOperand(0));
  Operation *sum = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::AddIOp,
                       arith::OrIOp, complex::AddOp>(sum) ||
      isOutside(yielded))
    return failure();
  contraction.sumType = yielded.getType();
  contraction.isDifference = isa<arith::SubFOp>(sum);
  Value accumulator = op.getRegionOutputArgs().front();
  bool isFirst = skipConversions(sum->getOperand(0)) == accumulator;
  if (!isFirst && (contraction.isDifference ||
                   skipConversions(sum->getOperand(1)) != accumulator))
    return failure();
  if (failed(matchTerm(sum->getOperand(isFirst ? 1 : 0))))
    return failure();

  // Two factors are summed over; what else there is weighs their product.
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  auto isSummed = [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return llvm::any_of(
        summed, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  };
  if (inputs.size() > 2) {
    auto weights = llvm::make_filter_range(
        inputs, [&](OpOperand *input) { return !isSummed(input); });
    contraction.weights = llvm::to_vector<2>(weights);
    llvm::erase_if(inputs, [&](OpOperand *input) { return !isSummed(input); });
  }
  if (inputs.size() != 2 || inputs[0] == inputs[1])
    return failure();
  llvm::sort(inputs, [](OpOperand *a, OpOperand *b) {
    return a->getOperandNumber() < b->getOperandNumber();
  });
  contraction.left = inputs[0];
  contraction.right = inputs[1];
  return success();
}

std::optional<Contraction>
sparse_autograd::matchContraction(linalg::LinalgOp op) {
  Contraction contraction;
  contraction.op = op;
  if (failed(BodyMatcher(op, contraction).match()))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(
      ArrayRef<AffineMap>{op.getMatchingIndexingMap(contraction.left),
                          op.getMatchingIndexingMap(contraction.right),
                          op.getMatchingIndexingMap(op.getDpsInitOperand(0))});
  if (failed(dims))
    return std::nullopt;
  contraction.dims = *dims;
  return contraction;
}

bool sparse_autograd::isContraction(linalg::LinalgOp op) {
  std::optional<Contraction> contraction = matchContraction(op);
  return contraction && !contraction->dims.k.empty();
}

bool Contraction::hasPlainLoops() const {
  linalg::LinalgOp structured = op;
  return dims.m.size() + dims.n.size() + dims.k.size() + dims.batch.size() ==
             structured.getNumLoops() &&
         llvm::all_of(structured.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

bool Contraction::isPlainProduct() const {
  return weights.empty() && !narrows && productType == sumType &&
         sumType == getResultType();
}
