//===- GradientDensity.cpp - how a sparse gradient becomes dense ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/GradientDensity.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace sparse_autograd;

GradientDensity::GradientDensity(func::FuncOp derivative,
                                 ValueRange otherResults)
    : derivative(derivative) {
  SmallVector<Value> open(otherResults);
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp())
      if (needed.insert(op).second)
        forEachReadValue(op, [&](Value value) { open.push_back(value); });
}

bool GradientDensity::report(Operation *op) {
  found = DensityPath{op, SmallVector<Operation *>(llvm::reverse(path))};
  return false;
}

/// Whether `map` ranges over each loop that `whole` ranges over.
static bool spans(AffineMap map, AffineMap whole) {
  for (unsigned loop = 0; loop < whole.getNumDims(); ++loop)
    if (whole.isFunctionOfDim(loop) && !map.isFunctionOfDim(loop))
      return false;
  return true;
}

bool GradientDensity::visitStructured(linalg::LinalgOp op,
                                      function_ref<bool(Value)> visitOther) {
  AffineMap space = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType()) ||
        !op.payloadUsesValueFromOperand(&operand))
      continue;
    bool isSpanning = spans(op.getMatchingIndexingMap(&operand), space);
    if (isSparse(value.getType()) ? !visitSparse(value)
                                  : isSpanning && !visitOther(value))
      return false;
  }
  return true;
}

bool GradientDensity::visitList(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || needed.contains(op) || !visited.insert(value).second)
    return true;
  path.push_back(op);
  llvm::scope_exit leave([&]() { path.pop_back(); });
  if (auto stored = dyn_cast<StoredValuesOp>(op))
    return visitSparse(stored.getOperand());
  // What rows are read of is not as long as the list.
  if (isa<GatherOp>(op))
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured,
                           [&](Value operand) { return visitList(operand); });
  if (op->getNumRegions() != 0)
    return visitYields(cast<OpResult>(value));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isa<RankedTensorType>(operand.getType()) || visitStored(operand);
  });
}

bool GradientDensity::visitStored(Value value) {
  return isSparse(value.getType()) ? visitSparse(value) : visitList(value);
}

bool GradientDensity::visitYields(OpResult result) {
  Operation *op = result.getOwner();
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Operation *terminator = region.back().getTerminator();
    unsigned number = result.getResultNumber();
    // A while loop yields from both of its regions.
    unsigned first = isa<scf::ConditionOp>(terminator) ? 1 : 0;
    if (first + number < terminator->getNumOperands() &&
        !visitStored(terminator->getOperand(first + number)))
      return false;
  }
  return true;
}

bool GradientDensity::visitSparse(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || needed.contains(op) || !visited.insert(value).second)
    return true;
  path.push_back(op);
  llvm::scope_exit leave([&]() { path.pop_back(); });
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured,
                           [&](Value operand) { return visitDense(operand); });
  if (op->getNumRegions() != 0 && !visitYields(cast<OpResult>(value)))
    return false;
  if (auto withValues = dyn_cast<WithValuesOp>(op))
    return visitSparse(withValues.getPattern()) &&
           visitList(withValues.getValues());
  for (Value operand : op->getOperands()) {
    if (isSparse(operand.getType())) {
      if (!visitSparse(operand))
        return false;
    } else if (isa<SampleOp, sparse_tensor::ConvertOp>(op) &&
               !visitDense(operand)) {
      return false;
    }
  }
  return true;
}

bool GradientDensity::visitDense(Value value) {
  // A mask says where elements of a gradient are; it holds none.
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return true;
  Operation *op = value.getDefiningOp();
  // What the caller gives, what the program computes anyway, and nothing.
  if (!op) {
    Operation *loop = value.getParentBlock()->getParentOp();
    return loop == derivative || needed.contains(loop) || report(loop);
  }
  if (needed.contains(op) || isa<tensor::EmptyOp, linalg::FillOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<StoredValuesOp>(op))
    return visitList(value);
  path.push_back(op);
  llvm::scope_exit leave([&]() { path.pop_back(); });
  if (!value.hasOneUse())
    return report(op);
  if (isa<StopGradientOp, GradMaskOp, tensor::CastOp>(op))
    return visitDense(op->getOperand(0));
  if (isElementwise(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) || visitDense(operand);
    });
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || op->getNumResults() != 1 ||
      structured.getNumReductionLoops() != 0 ||
      !structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
           .isPermutation())
    return report(op);
  return visitStructured(structured,
                         [&](Value operand) { return visitDense(operand); });
}

std::optional<DensityPath> GradientDensity::find(Value gradient) {
  found.reset();
  path.clear();
  (void)visitSparse(gradient);
  return found;
}
