//===- KernelVectors.cpp - kernels on vectors -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which kernels compute their innermost dense loop by vectors, and how: a lane
// is an element of a row of the results, as in a product of a sparse and a
// dense matrix, or a part of the sum that an element is, as in a sampled
// product. What no vector holds stays a loop over scalars.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// Below this extent vectors are not worth their code.
static constexpr int64_t minimalExtent = 4;

llvm::SmallBitVector KernelBody::getLoops(unsigned number) {
  AffineMap map =
      kernel.op.getMatchingIndexingMap(&kernel.op->getOpOperand(number));
  llvm::SmallBitVector result(map.getNumDims());
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (map.isFunctionOfDim(loop))
      result.set(loop);
  return result;
}

int64_t KernelBody::getBytes(unsigned number) {
  return getElementTypeOrSelf(kernel.op->getOperand(number))
             .getIntOrFloatBitWidth() /
         8;
}

bool KernelBody::isLastDim(unsigned number, unsigned loop) {
  OpOperand &operand = kernel.op->getOpOperand(number);
  AffineMap map = kernel.op.getMatchingIndexingMap(&operand);
  // The elements of tensors of i1 are bytes, those of vectors bits.
  return !isSparse(operand.get().getType()) && getBytes(number) != 0 &&
         map.getResults().back() == getAffineDimExpr(loop, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(loop);
         });
}

/// Whether `term` adds another one to argument `number`, which that does not
/// read.
static bool isSum(const ScalarTerms &terms, const Term *term, unsigned number) {
  if (term->kind != Term::Apply || !isa<arith::AddFOp, arith::AddIOp>(
                                       cast<OpResult>(term->value).getOwner()))
    return false;
  for (unsigned side : {0, 1})
    if (terms.isArgument(term->operands[side], number))
      return !terms.reads(term->operands[1 - side], number);
  return false;
}

VectorForm KernelBody::getVectorForm(unsigned loop) {
  SmallVector<const Term *> yields = kernel.terms.getYields(absent);
  APInt extent;
  bool isOpen =
      !matchPattern(kernel.loops->getExtents()[loop], m_ConstantInt(&extent));
  VectorForm form;
  auto stayScalar = [&](StringRef why) {
    VectorForm none;
    none.whyNone = why;
    return none;
  };
  if (!ScalarTerms::isElementwise(yields))
    return stayScalar("its region has an op that vectors have no form of");
  if (!isOpen && extent.getSExtValue() < minimalExtent)
    return stayScalar("the innermost loop is too short");
  // What is left of an open extent needs a mask.
  int64_t maskedBytes = kernel.loops->getSchedule().maskedBytes;
  auto isAccessible = [&](unsigned number) {
    return isLastDim(number, loop) &&
           (!isOpen || (maskedBytes != 0 && getBytes(number) >= maskedBytes));
  };
  StringRef inaccessible =
      isOpen && maskedBytes == 0
          ? "the innermost extent is open, and the processor has no masks"
          : "an operand is not consecutive in memory along the innermost loop";
  for (OpOperand *input : kernel.op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    llvm::SmallBitVector places = getLoops(number);
    if (absent.test(number) || !kernel.terms.reads(yields, number) ||
        !places.test(loop))
      continue;
    if (!isAccessible(number))
      return stayScalar(inaccessible);
    form.readLoops.push_back(places.reset(loop));
  }
  form.laneBytes = llvm::divideCeil(ScalarTerms::getWidestBits(yields), 8);
  form.placeLoops.resize(kernel.op.getNumLoops());
  unsigned numInLanes = 0;
  form.addsTerms = true;
  for (auto [yielded, init] :
       llvm::zip_equal(yields, kernel.op.getDpsInitsMutable())) {
    unsigned number = init.getOperandNumber();
    form.addsTerms &= isSum(kernel.terms, yielded, number);
    if (!getLoops(number).test(loop))
      continue;
    if (!isAccessible(number))
      return stayScalar(inaccessible);
    ++numInLanes;
    form.placeLoops |= getLoops(number).reset(loop);
  }
  if (numInLanes == yields.size())
    form.kind = VectorForm::Elements;
  else if (numInLanes == 0 && form.addsTerms)
    form.kind = VectorForm::Sums;
  form.whyNone = "its results are no elements of a row, and no sums";
  return form;
}

Value KernelBody::load(OpBuilder &builder, const VisitedElement &element,
                       Value tensor, ValueRange place) {
  if (element.lanes)
    return element.lanes->load(builder, kernel.loc, tensor, place);
  return tensor::ExtractOp::create(builder, kernel.loc, tensor, place);
}

Value KernelBody::store(OpBuilder &builder, const VisitedElement &element,
                        Value value, Value tensor, ValueRange place) {
  if (element.lanes)
    return element.lanes->store(builder, kernel.loc, value, tensor, place);
  return tensor::InsertOp::create(builder, kernel.loc, value, tensor, place);
}
