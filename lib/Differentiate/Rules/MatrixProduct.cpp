//===- MatrixProduct.cpp - products of matrices under a mask --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"
#include "SparseAutograd/Analysis/Contraction.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

std::optional<MatrixProduct>
sparse_autograd::matchMatrixProduct(linalg::GenericOp op,
                                    llvm::function_ref<bool(Value)> isLinear) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || contraction->scale || contraction->isDifference ||
      !contraction->weights.empty() ||
      !isa<FloatType>(contraction->productType) ||
      !isa<FloatType>(contraction->sumType))
    return std::nullopt;
  OpOperand *factor = contraction->left, *coefficient = contraction->right;
  if (!isLinear(factor->get()))
    std::swap(factor, coefficient);
  if (!isLinear(factor->get()) || isLinear(coefficient->get()) ||
      !isa<FloatType>(contraction->getFactorType(coefficient)))
    return std::nullopt;
  AffineMap maps[] = {
      op.getMatchingIndexingMap(factor), op.getMatchingIndexingMap(coefficient),
      op.getIndexingMapMatchingResult(cast<OpResult>(op.getResult(0)))};
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return MatrixProduct{factor, coefficient};
}

bool sparse_autograd::isComputedFromFloats(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (!op)
    return false;
  auto isFine = [](Value operand) {
    Type type = getElementTypeOrSelf(operand.getType());
    return isa<FloatType>(type) ||
           (type.isInteger(1) && isComputedFromFloats(operand));
  };
  if (isa<arith::CmpFOp, PatternOp>(op))
    return true;
  if (isa<arith::AndIOp, arith::OrIOp, tensor::CastOp>(op))
    return llvm::all_of(op->getOperands(), isFine);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && llvm::all_of(generic.getInputs(), isFine) &&
         !generic.hasIndexSemantics();
}

bool sparse_autograd::coversMask(AffineMap operand, AffineMap mask) {
  return llvm::all_of(mask.getResults(), [&](AffineExpr expr) {
    return llvm::is_contained(operand.getResults(), expr);
  });
}

Support sparse_autograd::projectMask(OpBuilder &builder, Location loc,
                                     Value value, AffineMap mask,
                                     AffineMap operand) {
  MLIRContext *context = builder.getContext();
  // The dimensions of the mask that go, and where the operand has the others.
  SmallVector<int64_t> reduced;
  SmallVector<AffineExpr> dims;
  for (auto [dim, expr] : llvm::enumerate(mask.getResults())) {
    const AffineExpr *found = llvm::find(operand.getResults(), expr);
    if (found == operand.getResults().end())
      reduced.push_back(dim);
    else
      dims.push_back(
          getAffineDimExpr(found - operand.getResults().begin(), context));
  }
  AffineMap map = AffineMap::get(operand.getNumResults(), 0, dims, context);
  if (reduced.empty())
    return Support{value, map};
  if (dims.empty())
    return {};
  return Support{createAny(builder, loc, value, reduced), map};
}
