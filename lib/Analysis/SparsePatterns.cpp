//===- SparsePatterns.cpp - whose pattern a sparse value has --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::movesElements(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ConcatOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
             sparse_tensor::ConcatenateOp>(op);
}

Value SparsePatterns::originOf(Value value) {
  if (Value known = origins.lookup(value))
    return known;
  Value origin = computeOrigin(value);
  origins.try_emplace(value, origin);
  if (assumptions != 0)
    assumed.push_back(value);
  return origin;
}

OpOperand *SparsePatterns::getPatternSource(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() != 0 || op->getNumResults() != 1)
    return nullptr;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(init);
  ScalarTerms terms(op);
  SparseIteration iteration = SparseIteration::of(op, terms);
  if (iteration.visitsAll || !ScalarTerms::isZero(iteration.base.front()))
    return nullptr;
  OpOperand *source = nullptr;
  for (const StoredPart &part : iteration.parts)
    for (unsigned number : part.stored) {
      OpOperand *operand = &op->getOpOperand(number);
      auto operandType = cast<RankedTensorType>(operand->get().getType());
      if (operandType.getEncoding() != type.getEncoding() ||
          op.getMatchingIndexingMap(operand) != map)
        return nullptr;
      if (source && originOf(source->get()) != originOf(operand->get()))
        return nullptr;
      source = source ? source : operand;
    }
  // What is read of the destination has to lie where the source stores it.
  if (source && op.payloadUsesValueFromOperand(init) &&
      originOf(init->get()) != originOf(source->get()))
    return nullptr;
  return source;
}

bool SparsePatterns::selectsStored(MaskOpInterface op) {
  Value mask = op.getMaskOperand();
  return mask && llvm::is_sorted(op.getMaskDimensions()) &&
         originOf(mask) == originOf(op.getMaskedOperand());
}

Value SparsePatterns::computeCarried(Value argument, Value init,
                                     Value yielded) {
  Value start = originOf(init);
  ++assumptions;
  size_t before = assumed.size();
  origins.try_emplace(argument, start);
  assumed.push_back(argument);
  bool keeps = originOf(yielded) == start;
  while (assumed.size() > before)
    origins.erase(assumed.pop_back_val());
  --assumptions;
  return keeps ? start : Value();
}

Operation *SparsePatterns::getFirstAlike(Operation *op) {
  auto isAlike = [&](Operation *other) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto otherType = cast<RankedTensorType>(other->getResult(0).getType());
    return other->getName() == op->getName() &&
           other->getAttrDictionary() == op->getAttrDictionary() &&
           otherType.getEncoding() == type.getEncoding() &&
           otherType.getShape() == type.getShape() &&
           llvm::equal(
               op->getOperands(), other->getOperands(), [&](Value a, Value b) {
                 return a == b ||
                        (isSparse(a.getType()) && originOf(a) == originOf(b));
               });
  };
  // What makes the operands comes first: else it would be compared with `op`,
  // and so with what it makes.
  if (!llvm::is_contained(makers, op))
    for (Value operand : op->getOperands())
      if (isSparse(operand.getType()))
        originOf(operand);
  // Compared anew each time: an assumption may hold that did not.
  for (unsigned number = 0; number < makers.size(); ++number)
    if (Operation *other = makers[number]; isAlike(other))
      return other;
  makers.push_back(op);
  return op;
}

Value SparsePatterns::computeOrigin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return value;
    OpOperand *init = loop.getTiedLoopInit(argument);
    Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
    Value carried = computeCarried(argument, init->get(), yielded);
    return carried ? carried : value;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (auto pattern = dyn_cast<PatternOp>(op))
    return originOf(pattern.getInput());
  if (auto zeros = dyn_cast<ZerosOp>(op))
    return originOf(zeros.getPattern());
  if (auto with = dyn_cast<WithValuesOp>(op))
    return originOf(with.getPattern());
  if (auto sample = dyn_cast<SampleOp>(op))
    return originOf(sample.getPattern());
  if (auto sampled = dyn_cast<SampledGenericOp>(op))
    return originOf(sampled.getInit());
  if (isa<BarrierOp, StopGradientOp, GradMaskOp>(op))
    return originOf(op->getOperand(result.getResultNumber()));
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isSparse(cast.getSource().getType()) ? originOf(cast.getSource())
                                                : value;
  if (isa<MaskedSoftmaxOp, MaskedLogSoftmaxOp>(op))
    return selectsStored(cast<MaskOpInterface>(op))
               ? originOf(op->getOperand(0))
               : value;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    OpOperand *source = getPatternSource(generic);
    return source ? originOf(source->get()) : value;
  }
  if (movesElements(op) || isa<tensor::EmptyOp>(op))
    return getFirstAlike(op)->getResult(0);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = result.getResultNumber();
    Value first = originOf(branch.thenYield().getOperand(number));
    Value second = originOf(branch.elseYield().getOperand(number));
    return first == second ? first : value;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    BlockArgument argument = loop.getTiedLoopRegionIterArg(result);
    Value origin = originOf(argument);
    return origin == argument ? value : origin;
  }
  return value;
}
