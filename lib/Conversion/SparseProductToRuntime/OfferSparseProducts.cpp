//===- OfferSparseProducts.cpp - products with sparse matrices to cuSPARSE ===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/Contraction.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Conversion/SparseProductToRuntime/SparseProductToRuntime.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseDenseProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_OFFERSPARSEPRODUCTS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The operands A and B of an op that computes C = A B, and nothing else.
static std::optional<std::pair<Value, Value>>
matchProduct(linalg::LinalgOp op) {
  if (isa<SampledGenericOp>(op) || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() != 3 ||
      op.getNumReductionLoops() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(2).getType());
  if (!type || !isSparse(type) || !declineMatrix(type).empty() ||
      !sparse_tensor::getSparseTensorEncoding(type).isIdentity())
    return std::nullopt;
  for (Value input : op.getDpsInputs()) {
    auto other = dyn_cast<RankedTensorType>(input.getType());
    if (!other || other.getEncoding() != type.getEncoding() ||
        other.getElementType() != type.getElementType())
      return std::nullopt;
  }
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || contraction->scale || contraction->isDifference ||
      !contraction->isPlainProduct())
    return std::nullopt;
  AffineMap c = op.getIndexingMapsArray()[2];
  for (int left : {0, 1}) {
    AffineMap a = op.getIndexingMapsArray()[left];
    AffineMap b = op.getIndexingMapsArray()[1 - left];
    if (a.isProjectedPermutation() && b.isProjectedPermutation() &&
        c.isProjectedPermutation() && a.getResult(0) == c.getResult(0) &&
        a.getResult(1) == b.getResult(0) && b.getResult(1) == c.getResult(1) &&
        a.getResult(1) != c.getResult(1))
      return std::pair(op->getOperand(left), op->getOperand(1 - left));
  }
  return std::nullopt;
}

static void offerProduct(linalg::LinalgOp op, Value a, Value b) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  constexpr size_t numLists = 3;
  SmallVector<Value> factors;
  for (Value matrix : {a, b}) {
    auto components = UnrealizedConversionCastOp::create(
        builder, getComponentTypes(cast<RankedTensorType>(matrix.getType())),
        matrix);
    llvm::append_range(factors, components.getResults().take_front(numLists));
  }
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value rows = tensor::DimOp::create(builder, a, zero);
  Value columns = tensor::DimOp::create(builder, b, one);
  Value stored = BeginSparseProductOp::create(
      builder, rows, tensor::DimOp::create(builder, a, one), columns, factors);
  Value isBegun =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, stored, zero);
  auto branch = scf::IfOp::create(builder, type, isBegun,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  op->getResult(0).replaceAllUsesWith(branch.getResult(0));

  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Type> types = getComponentTypes(type);
  Value numPositions = arith::AddIOp::create(builder, rows, one);
  SmallVector<Value> lists;
  for (Value length : {numPositions, stored, stored})
    lists.push_back(
        tensor::EmptyOp::create(builder, ArrayRef<OpFoldResult>{length},
                                getElementTypeOrSelf(types[lists.size()])));
  auto end = EndSparseProductOp::create(
      builder, ArrayRef(types).take_front(numLists), factors, lists);
  SmallVector<Value> components(end->getResults());
  for (auto [dim, extent] : llvm::enumerate(ValueRange{rows, columns}))
    if (type.isDynamicDim(dim))
      components.push_back(extent);
  Value product =
      UnrealizedConversionCastOp::create(builder, TypeRange(type), components)
          .getResult(0);
  scf::YieldOp::create(builder, product);

  builder.setInsertionPointToStart(branch.elseBlock());
  auto yield = scf::YieldOp::create(builder, op->getResult(0));
  op->moveBefore(yield);
}

/// Whether `op` sums over what sparse tensors store.
static bool sumsSparse(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 &&
         llvm::any_of(op->getOperandTypes(), isSparse);
}

namespace {
struct OfferSparseProductsPass
    : sparse_autograd::impl::OfferSparseProductsBase<OfferSparseProductsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (sumsSparse(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      offer(rewriter, op);
  }

private:
  static void offer(RewriterBase &rewriter, linalg::LinalgOp op);
};
} // namespace

void OfferSparseProductsPass::offer(RewriterBase &rewriter,
                                    linalg::LinalgOp op) {
  auto remark = [&](const Twine &text) {
    remarkChosen(op.getLoc(), op, "library",
                 text + " is offered to cusparse; kernels are for where it is "
                        "missing");
  };
  if (auto factors = matchProduct(op)) {
    remark("a product of two sparse matrices (SpGEMM)");
    return offerProduct(op, factors->first, factors->second);
  }
  std::optional<Contraction> contraction = matchContraction(op);
  // A sum of what one tensor stores is no product.
  if (!contraction && llvm::count_if(op->getOperandTypes(), isSparse) < 2)
    return;
  SparseDenseProduct product;
  std::string declined = "it is no product of two matrices";
  if (contraction)
    declined = matchSparseDenseProduct(*contraction, product);
  if (!declined.empty())
    return remarkDeclined(op.getLoc(), op, "library",
                          "a sum over a sparse tensor is kernels, since " +
                              declined);
  remark(product.isSampled ? "a sampled product of dense matrices (SDDMM)"
         : contraction->weights.empty()
             ? "a product with a sparse matrix (SpMM)"
             : "a product with a sparse matrix (SpMM), whose elements are "
               "multiplied by the weights of its rows before,");
  offerSparseDenseProduct(rewriter, product);
}
