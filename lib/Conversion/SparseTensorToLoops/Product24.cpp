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
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
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
  /// The loops of the rows and of the groups of W.
  unsigned rows = 0, terms = 0;
  /// Those of B alone, side by side in B and in the sum.
  SmallVector<unsigned, 2> columns;
  bool isTransposed = false;
};
} // namespace

/// Whether `operand` is a matrix: dimensions of `columns`, in that order side
/// by side, before or after another one.
static bool isOfColumns(linalg::LinalgOp op, OpOperand *operand,
                        ArrayRef<unsigned> columns) {
  SmallVector<unsigned> places;
  for (AffineExpr place : op.getMatchingIndexingMap(operand).getResults())
    places.push_back(cast<AffineDimExpr>(place).getPosition());
  return places.size() == columns.size() + 1 &&
         (ArrayRef(places).drop_back() == columns ||
          ArrayRef(places).drop_front() == columns);
}

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
  ArrayRef<unsigned> ofRows = isLeft ? dims.m : dims.n;
  product.columns = isLeft ? dims.n : dims.m;
  if (!dims.batch.empty() || ofRows.size() != 1 || dims.k.size() != 1 ||
      op.getNumDpsInputs() != 2 || !contraction.weights.empty() ||
      !contraction.hasPlainLoops() ||
      !isOfColumns(op, product.dense, product.columns) ||
      !isOfColumns(op, op.getDpsInitOperand(0), product.columns))
    return decline("it is no product of two matrices");
  auto isWidened = [](Type type) {
    return type.isF32() || type.isBF16() || type.isF16();
  };
  if (contraction.narrows || !contraction.productType.isF32() ||
      !contraction.sumType.isF32() || !contraction.getResultType().isF32() ||
      !isWidened(contraction.getFactorType(product.dense)) ||
      !isWidened(type.getElementType()))
    return decline("it is not one of f32, bf16 or f16 that is added in f32");
  AffineMap map = op.getMatchingIndexingMap(product.stored);
  product.rows = map.getDimPosition(0);
  product.terms = map.getDimPosition(1);
  product.isTransposed = product.rows == dims.k.front();
  return product;
}

static bool isTransposed(linalg::LinalgOp op, OpOperand *operand,
                         const Product24 &product) {
  return op.getMatchingIndexingMap(operand).getDimPosition(0) ==
         product.columns.front();
}

/// The dimensions of B or of the sum as those of a matrix.
static SmallVector<ReassociationIndices> getMatrixDims(int64_t rank,
                                                       bool isTransposed) {
  auto columns = llvm::to_vector<2>(
      llvm::seq<int64_t>(isTransposed ? 0 : 1, isTransposed ? rank - 1 : rank));
  ReassociationIndices other = {isTransposed ? rank - 1 : 0};
  if (isTransposed)
    return {columns, other};
  return {other, columns};
}

static Value toMatrix(OpBuilder &builder, Location loc, Value tensor,
                      bool isTransposed) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 2)
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, tensor,
                                         getMatrixDims(rank, isTransposed));
}

/// Says in a remark how the product is computed, and what that takes.
static void remarkProduct(const Contraction &contraction,
                          const Product24 &product, int64_t strategy) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t m = extents[product.rows], n = 1, k = extents[product.terms];
  for (unsigned loop : product.columns)
    n = ShapedType::isDynamic(n) || ShapedType::isDynamic(extents[loop])
            ? ShapedType::kDynamic
            : n * extents[loop];
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

/// The 2:4 factor of a contraction whose groups do not lie along the sum, where
/// that is all that keeps it from what the target has for 2:4 products.
static OpOperand *getFactorToTranspose(const Contraction &contraction,
                                       bool forDevice) {
  if (!forDevice) {
    std::string declined;
    FailureOr<Product24> product = matchProduct(contraction, declined);
    return succeeded(product) && product->isTransposed ? product->stored
                                                       : nullptr;
  }
  OpOperand *stored = getStructuredFactor(contraction);
  if (!stored || contraction.dims.k.size() != 1 ||
      !tensorCoreStrategy.decline(contraction).empty())
    return nullptr;
  linalg::LinalgOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(stored);
  unsigned rank = map.getNumResults();
  return rank >= 2 && map.getDimPosition(rank - 2) == contraction.dims.k.front()
             ? stored
             : nullptr;
}

/// What `stored` stores, in the other order: of the op that there is for it, or
/// of another one.
static Value getOtherOrder(IRRewriter &rewriter, Compress24Op stored) {
  for (Operation *user : stored.getChoice().getUsers()) {
    auto other = dyn_cast<Compress24Op>(user);
    if (!other || other->getBlock() != stored->getBlock() ||
        other.getInput() != stored.getInput() ||
        other.getTransposed() == stored.getTransposed())
      continue;
    if (stored->isBeforeInBlock(other))
      rewriter.moveOpAfter(other, stored);
    return other;
  }
  rewriter.setInsertionPoint(stored);
  return Compress24Op::create(
      rewriter, stored.getLoc(), getTransposedType(stored.getType()),
      stored.getInput(), stored.getChoice(), !stored.getTransposed(),
      /*both_orders=*/true);
}

linalg::LinalgOp sparse_autograd::readPackedTranspose(IRRewriter &rewriter,
                                                      linalg::LinalgOp op,
                                                      bool forDevice) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !contraction->isOfMatrices() ||
      llvm::none_of(op.getDpsInputs(),
                    [](Value value) { return isSparse(value.getType()); }))
    return op;
  OpOperand *factor = getFactorToTranspose(*contraction, forDevice);
  if (!factor)
    return op;
  auto stored = factor->get().getDefiningOp<Compress24Op>();
  if (!stored || !stored.getBothOrders())
    return op;
  unsigned number = factor->getOperandNumber();
  if (!isa<linalg::GenericOp>(op)) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      return op;
    op = cast<linalg::LinalgOp>(generic->getOperation());
  }
  Value other = getOtherOrder(rewriter, stored);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> place(maps[number].getResults());
  std::swap(place.end()[-2], place.end()[-1]);
  maps[number] =
      AffineMap::get(maps[number].getNumDims(), 0, place, op.getContext());
  auto generic = cast<linalg::GenericOp>(op.getOperation());
  rewriter.modifyOpInPlace(generic, [&] {
    generic->setOperand(number, other);
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  if (stored->use_empty())
    rewriter.eraseOp(stored);
  return op;
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
  Value dense = operands[product->dense->getOperandNumber()].front();
  if (!getElementTypeOrSelf(dense).isF32())
    dense = createElementwise(
        builder, loc, dense, dense, builder.getF32Type(),
        [](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
          return arith::ExtFOp::create(nested, loc, nested.getF32Type(),
                                       elements[0]);
        });
  Value sum = operands[init->getOperandNumber()].front(), begin = sum;
  // A scale multiplies the sums (semantics G11).
  bool isPlain = !contraction->scale && !contraction->isDifference;
  if (!isPlain) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0f));
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, sum),
        builder.getF32Type());
    begin = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  }
  bool isDenseTransposed = isTransposed(op, product->dense, *product);
  bool isSumTransposed = isTransposed(op, init, *product);
  Value matrix = toMatrix(builder, loc, begin, isSumTransposed);
  auto multiply = Multiply24Op::create(
      builder, loc, TypeRange(matrix.getType()),
      storage.getExtent(builder, loc, 0), storage.getExtent(builder, loc, 1),
      storage.getValues(), storage.getCoordinates(2),
      toMatrix(builder, loc, dense, isDenseTransposed), matrix,
      product->isTransposed, isDenseTransposed, isSumTransposed, strategy);
  Value result = multiply->getResult(0);
  auto type = cast<RankedTensorType>(sum.getType());
  if (type.getRank() > 2)
    result = tensor::ExpandShapeOp::create(
        builder, loc, type, result,
        getMatrixDims(type.getRank(), isSumTransposed),
        tensor::getMixedSizes(builder, loc, sum));
  if (isPlain)
    return result;
  return createElementwise(
      builder, loc, {sum, result}, sum, builder.getF32Type(),
      [&](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        Value term = elements[1];
        if (contraction->scale)
          term = arith::MulFOp::create(nested, loc, contraction->scale, term);
        if (contraction->isDifference)
          return arith::SubFOp::create(nested, loc, elements[0], term);
        return arith::AddFOp::create(nested, loc, elements[0], term);
      });
}
