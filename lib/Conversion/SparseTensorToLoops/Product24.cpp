//===- Product24.cpp - contractions with a 2:4 factor ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of a matrix that stores two of each four elements and a dense one
// is a call of the runtime, whose model of costs chooses between what is stored
// and a dense product: here already, for a remark, where extents are constants.
// Other contractions are loops over what is stored.
//
//===----------------------------------------------------------------------===//

#include "Packing24.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/Product24Cost.h"
#include "SparseStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// A product W B or W^T B: which operand is W, and along which loop it stores
/// groups.
struct Product24 {
  OpOperand *stored = nullptr, *dense = nullptr;
  /// The loops of the rows and of the groups of W, and the one of B alone.
  unsigned rows = 0, terms = 0, columns = 0;
  bool isTransposed = false;
};
} // namespace

/// Matches a contraction with a 2:4 factor; says why it is computed by loops
/// if it is one that `multiply_24` does not take.
static FailureOr<Product24> matchProduct(const Contraction &contraction,
                                         std::string &declined) {
  linalg::LinalgOp op = contraction.op;
  auto decline = [&](const Twine &reason) {
    declined = reason.str();
    return failure();
  };
  Product24 product;
  bool isLeft = isSparse(contraction.left->get().getType());
  product.stored = isLeft ? contraction.left : contraction.right;
  product.dense = isLeft ? contraction.right : contraction.left;
  auto type = cast<RankedTensorType>(product.stored->get().getType());
  if (!isPacked24(type))
    return decline("it is not stored along its last dimension");
  if (isSparse(product.dense->get().getType()) ||
      llvm::any_of(op->getResultTypes(), isSparse))
    return decline("another operand is sparse");
  const linalg::ContractionDimensions &dims = contraction.dims;
  if (!dims.batch.empty() || dims.m.size() != 1 || dims.n.size() != 1 ||
      dims.k.size() != 1 || op.getNumDpsInputs() != 2 ||
      !contraction.weights.empty() || !contraction.hasPlainLoops())
    return decline("it is no product of two matrices");
  if (contraction.scale || contraction.isDifference || contraction.narrows ||
      !contraction.productType.isF32() || !contraction.sumType.isF32() ||
      !contraction.getResultType().isF32() ||
      !contraction.getFactorType(product.dense).isF32() ||
      !(type.getElementType().isF32() || type.getElementType().isBF16()))
    return decline(
        "it is not one of f32 or bf16 with f32 that is added in f32");
  AffineMap map = op.getMatchingIndexingMap(product.stored);
  product.rows = map.getDimPosition(0);
  product.terms = map.getDimPosition(1);
  product.columns = isLeft ? dims.n.front() : dims.m.front();
  product.isTransposed = product.rows == dims.k.front();
  return product;
}

static bool isTransposed(linalg::LinalgOp op, OpOperand *operand,
                         unsigned columns) {
  return op.getMatchingIndexingMap(operand).getDimPosition(0) == columns;
}

/// Says in a remark how the product is computed, and what that takes.
static void remarkProduct(const Contraction &contraction,
                          const Product24 &product, int64_t strategy) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t m = extents[product.rows], n = extents[product.columns],
          k = extents[product.terms];
  int64_t bytes =
      contraction.getFactorType(product.stored).getIntOrFloatBitWidth() / 8;
  std::string text;
  bool isDense =
      strategy == SPARSE_AUTOGRAD_PRODUCT24_DENSE || product.isTransposed;
  std::string model;
  if (!ShapedType::isDynamicShape({m, n, k})) {
    Product24Cost cost = estimateProduct24(m, n, k, bytes);
    isDense |=
        strategy == SPARSE_AUTOGRAD_PRODUCT24_FASTEST && !isSparseFaster(cost);
    model = llvm::formatv(
        "; predicted {0:f1} us by stored values, {1:f1} us dense, {2:f2} times "
        "as long",
        cost.sparse / 1000, cost.dense / 1000, cost.dense / cost.sparse);
  } else if (!isDense) {
    model = strategy == SPARSE_AUTOGRAD_PRODUCT24_FASTEST
                ? "; the runtime chooses by the extents of the call"
                : "";
  }
  llvm::raw_string_ostream(text)
      << "product with a 2:4 matrix of "
      << contraction.getFactorType(product.stored) << ": "
      << (isDense ? "dense, of the rows that it expands" : "by stored values")
      << (product.isTransposed ? "; its groups are not along the sum: a second "
                                 "result of sparsify_24 would be"
                               : "")
      << (strategy != SPARSE_AUTOGRAD_PRODUCT24_FASTEST
              ? "; asked for by product-24"
              : "")
      << model;
  auto function = op->getParentOfType<func::FuncOp>();
  auto options = remark::RemarkOpts::name("strategy")
                     .category(contractionRemarkCategory)
                     .function(function ? function.getSymName() : StringRef());
  if (isDense)
    remark::missed(op.getLoc(), options) << text;
  else
    remark::passed(op.getLoc(), options) << text;
}

void sparse_autograd::readPackedTranspose(IRRewriter &rewriter,
                                          linalg::LinalgOp op) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !contraction->isOfMatrices() ||
      llvm::none_of(op.getDpsInputs(),
                    [](Value value) { return isSparse(value.getType()); }))
    return;
  std::string declined;
  FailureOr<Product24> product = matchProduct(*contraction, declined);
  if (failed(product) || !product->isTransposed)
    return;
  auto stored = product->stored->get().getDefiningOp<Compress24Op>();
  if (!stored || !stored.getBothOrders())
    return;
  unsigned number = product->stored->getOperandNumber();
  if (!isa<linalg::GenericOp>(op)) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      return;
    op = cast<linalg::LinalgOp>(generic->getOperation());
  }
  rewriter.setInsertionPoint(stored);
  Value other = Compress24Op::create(
      rewriter, stored.getLoc(), getTransposedType(stored.getType()),
      stored.getInput(), stored.getChoice(), !stored.getTransposed(),
      /*both_orders=*/true);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> place(maps[number].getResults());
  std::swap(place[0], place[1]);
  maps[number] =
      AffineMap::get(maps[number].getNumDims(), 0, place, op.getContext());
  auto generic = cast<linalg::GenericOp>(op.getOperation());
  rewriter.modifyOpInPlace(generic, [&] {
    generic->setOperand(number, other);
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  if (stored->use_empty())
    rewriter.eraseOp(stored);
}

Value sparse_autograd::lowerProduct24(OpBuilder &builder, linalg::LinalgOp op,
                                      ArrayRef<ValueRange> operands,
                                      int64_t strategy) {
  if (op->getNumResults() != 1)
    return {};
  auto isStored = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isPacked24(type);
  };
  if (llvm::none_of(op.getDpsInputs(), isStored))
    return {};
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !contraction->isOfMatrices())
    return {};
  std::string declined;
  FailureOr<Product24> product = matchProduct(*contraction, declined);
  if (failed(product)) {
    remarkContraction(*contraction, nullptr, "no 2:4 product: " + declined);
    return {};
  }
  remarkProduct(*contraction, *product, strategy);
  Location loc = op.getLoc();
  unsigned number = product->stored->getOperandNumber();
  SparseStorage storage(
      cast<RankedTensorType>(product->stored->get().getType()),
      operands[number]);
  OpOperand *init = op.getDpsInitOperand(0);
  Value sum = operands[init->getOperandNumber()].front();
  auto multiply = Multiply24Op::create(
      builder, loc, TypeRange(sum.getType()),
      storage.getExtent(builder, loc, 0), storage.getExtent(builder, loc, 1),
      storage.getValues(), storage.getCoordinates(2),
      operands[product->dense->getOperandNumber()].front(), sum,
      product->isTransposed, isTransposed(op, product->dense, product->columns),
      isTransposed(op, init, product->columns), strategy);
  return multiply->getResult(0);
}
