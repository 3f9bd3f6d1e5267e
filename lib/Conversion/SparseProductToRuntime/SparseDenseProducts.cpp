//===- SparseDenseProducts.cpp - SpMM and SDDMM for libraries -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Called by OfferSparseProducts, after PrepareSparse and before LowerSparse:
// ops are structured, and their operands are sparse tensors.
//
//===----------------------------------------------------------------------===//

#include "SparseDenseProducts.h"

#include "../LibraryCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Which products
//===----------------------------------------------------------------------===//

std::string sparse_autograd::declineMatrix(RankedTensorType type) {
  sparse_tensor::SparseTensorEncodingAttr encoding =
      sparse_tensor::getSparseTensorEncoding(type);
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF64())
    return "its elements are neither f32 nor f64";
  if (!encoding || type.getRank() != 2 || !encoding.isPermutation() ||
      !getFormat(encoding.getLvlType(0)).storesAll() ||
      !getFormat(encoding.getLvlType(1)).isCompressed() ||
      !isUniqueLT(encoding.getLvlType(1)) ||
      !isOrderedLT(encoding.getLvlType(1)))
    return "the sparse matrix is not stored by rows (CSR)";
  Type index = encoding.getCrdElemType();
  if (encoding.getPosWidth() != encoding.getCrdWidth() ||
      !(index.isIndex() || index.isInteger(64) || index.isInteger(32)))
    return "positions and coordinates are not both of index, i64 or i32";
  return {};
}

static bool isWithinKernel(Operation *op) {
  return op->getParentOfType<scf::ForallOp>() ||
         op->getParentOfType<scf::ParallelOp>();
}

/// The loop that is the index of dimension `dim` of `operand`.
static unsigned getLoop(linalg::LinalgOp op, OpOperand *operand, unsigned dim) {
  return cast<AffineDimExpr>(op.getMatchingIndexingMap(operand).getResult(dim))
      .getPosition();
}

/// Whether `operand` is a matrix with loops `row` and `column`, and whether in
/// the other order.
static bool matchMatrix(linalg::LinalgOp op, OpOperand *operand, unsigned row,
                        unsigned column, bool &isTransposed) {
  if (op.getMatchingIndexingMap(operand).getNumResults() != 2)
    return false;
  unsigned first = getLoop(op, operand, 0), second = getLoop(op, operand, 1);
  isTransposed = first == column && second == row;
  return isTransposed || (first == row && second == column);
}

std::string
sparse_autograd::matchSparseDenseProduct(const Contraction &contraction,
                                         SparseDenseProduct &product) {
  linalg::LinalgOp op = contraction.op;
  product.contraction = contraction;
  product.isSampled = isa<SampledGenericOp>(op);
  const linalg::ContractionDimensions &dims = contraction.dims;
  if (dims.m.size() != 1 || dims.n.size() != 1 || dims.k.size() != 1 ||
      !contraction.hasPlainLoops() || op.getNumLoops() != 3)
    return "it has not rows, columns and terms alone";
  auto isOfSum = [&](OpOperand *factor) {
    return contraction.getFactorType(factor) == contraction.sumType;
  };
  if (contraction.narrows || contraction.productType != contraction.sumType ||
      contraction.sumType != contraction.getResultType() ||
      !isOfSum(contraction.left) || !isOfSum(contraction.right) ||
      !llvm::all_of(contraction.weights, isOfSum))
    return "its operands are not all of one type";

  OpOperand *factors[] = {contraction.left, contraction.right};
  OpOperand *init = op.getDpsInitOperand(0);
  auto isSparseOperand = [](OpOperand *operand) {
    return isSparse(operand->get().getType());
  };
  size_t sparseFactors = llvm::count_if(factors, isSparseOperand);
  if (llvm::any_of(contraction.weights, isSparseOperand) ||
      sparseFactors != (product.isSampled ? 0 : 1) ||
      isSparseOperand(init) != product.isSampled)
    return "it has several sparse matrices";
  product.sparse = product.isSampled             ? init
                   : isSparseOperand(factors[0]) ? factors[0]
                                                 : factors[1];
  auto type = cast<RankedTensorType>(product.sparse->get().getType());
  if (std::string reason = declineMatrix(type); !reason.empty())
    return reason;
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  auto getLevelLoop = [&](unsigned level) {
    AffineMap order = encoding.getDimToLvl();
    return getLoop(op, product.sparse,
                   order ? order.getDimPosition(level) : level);
  };
  unsigned row = getLevelLoop(0), column = getLevelLoop(1), term = dims.k[0];

  if (product.isSampled) {
    if (!contraction.weights.empty())
      return "terms are multiplied by a third matrix";
    bool isFirst = op.getMatchingIndexingMap(factors[0]).isFunctionOfDim(row);
    product.x = factors[isFirst ? 0 : 1];
    product.y = factors[isFirst ? 1 : 0];
    if (!matchMatrix(op, product.x, row, term, product.isXTransposed) ||
        !matchMatrix(op, product.y, term, column, product.isYTransposed))
      return "a factor is no matrix";
  } else {
    if (column != term)
      return "the sparse matrix is stored by terms, not by rows of the result";
    product.x = init;
    product.y = product.sparse == factors[0] ? factors[1] : factors[0];
    unsigned other = llvm::is_contained(dims.m, row) ? dims.n[0] : dims.m[0];
    if (!matchMatrix(op, product.x, row, other, product.isXTransposed) ||
        !matchMatrix(op, product.y, term, other, product.isYTransposed))
      return "a factor is no matrix";
    if (product.isXTransposed)
      return "the rows of the sparse matrix are columns of the result";
    for (OpOperand *weight : contraction.weights)
      if (op.getMatchingIndexingMap(weight).isFunctionOfDim(other))
        return "a weight differs between the columns of the result";
  }
  if (contraction.scale && !isKnownToHost(contraction.scale))
    return "the host does not know the scale";
  if (isWithinKernel(op))
    return "nothing calls the runtime within a kernel";
  return {};
}

//===----------------------------------------------------------------------===//
// Offers
//===----------------------------------------------------------------------===//

/// Multiplies the elements of the sparse matrix by the weights of its rows, and
/// makes `product` the one of the result, with an op that has no weights.
static void applyWeights(RewriterBase &rewriter, SparseDenseProduct &product) {
  Contraction &contraction = product.contraction;
  linalg::LinalgOp op = contraction.op;
  Location loc = op.getLoc();
  Value matrix = product.sparse->get();
  AffineMap ofMatrix = op.getMatchingIndexingMap(product.sparse);
  AffineMap identity = rewriter.getMultiDimIdentityMap(2);
  SmallVector<Value> inputs = {matrix};
  SmallVector<AffineMap> maps = {identity};
  for (OpOperand *weight : contraction.weights) {
    SmallVector<AffineExpr> dims;
    for (AffineExpr loop : op.getMatchingIndexingMap(weight).getResults())
      dims.push_back(
          rewriter.getAffineDimExpr(*ofMatrix.getResultPosition(loop)));
    inputs.push_back(weight->get());
    maps.push_back(AffineMap::get(2, 0, dims, rewriter.getContext()));
  }
  maps.push_back(identity);
  Value empty =
      createEmptyLike(rewriter, loc, matrix, getElementTypeOrSelf(matrix));
  linalg::LinalgOp weighted = createStructured(
      rewriter, loc, inputs, empty, maps,
      {utils::IteratorType::parallel, utils::IteratorType::parallel},
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        Value element = elements[0];
        for (Value weight : elements.slice(1, inputs.size() - 1))
          element = arith::MulFOp::create(builder, loc, element, weight);
        linalg::YieldOp::create(builder, loc, element);
      });

  OpOperand *factors[] = {contraction.left, contraction.right};
  SmallVector<Value> operands;
  maps.clear();
  for (OpOperand *factor : factors) {
    operands.push_back(factor == product.sparse ? weighted->getResult(0)
                                                : factor->get());
    maps.push_back(op.getMatchingIndexingMap(factor));
  }
  Value init = op.getDpsInits()[0];
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  auto plain = linalg::GenericOp::create(
      rewriter, loc, init.getType(), operands, init, maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        Value term =
            arith::MulFOp::create(builder, loc, elements[0], elements[1]);
        if (contraction.scale)
          term = arith::MulFOp::create(builder, loc, contraction.scale, term);
        Value sum = contraction.isDifference
                        ? arith::SubFOp::create(builder, loc, elements[2], term)
                              .getResult()
                        : arith::AddFOp::create(builder, loc, elements[2], term)
                              .getResult();
        linalg::YieldOp::create(builder, loc, sum);
      });
  rewriter.replaceOp(op, plain->getResults());
  std::string declined =
      matchSparseDenseProduct(*matchContraction(plain), product);
  assert(declined.empty() && "weights change nothing else");
  (void)declined;
}

/// The scale of a product, as an f64.
static Value createScale(ImplicitLocOpBuilder &builder,
                         const Contraction &contraction) {
  Type f64 = builder.getF64Type();
  Value scale = contraction.scale;
  if (!scale)
    return arith::ConstantOp::create(
        builder, builder.getF64FloatAttr(contraction.isDifference ? -1 : 1));
  if (scale.getType() != f64)
    scale = arith::ExtFOp::create(builder, f64, scale);
  if (contraction.isDifference)
    scale = arith::NegFOp::create(builder, scale);
  return scale;
}

/// The zeros that `fill` fills `to` with.
static Value createFill(ImplicitLocOpBuilder &builder, Value to) {
  Value zero = arith::ConstantOp::create(
      builder, builder.getZeroAttr(getElementTypeOrSelf(to)));
  return linalg::FillOp::create(builder, zero, to).getResult(0);
}

void sparse_autograd::offerSparseDenseProduct(RewriterBase &rewriter,
                                              const SparseDenseProduct &given) {
  SparseDenseProduct product = given;
  rewriter.setInsertionPoint(product.contraction.op);
  if (!product.contraction.weights.empty())
    applyWeights(rewriter, product);
  linalg::LinalgOp op = product.contraction.op;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value matrix = product.sparse->get();
  Value init = op.getDpsInits()[0];
  // Zeros that are added to need not be there for the library.
  bool accumulates = true;
  if (auto zeros = init.getDefiningOp<ZerosOp>()) {
    accumulates = false;
    matrix = zeros.getPattern();
  } else if (auto fill = init.getDefiningOp<linalg::FillOp>();
             fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat())) {
    accumulates = false;
    init = fill.getDpsInits()[0];
  }
  auto type = cast<RankedTensorType>(matrix.getType());
  auto lists = UnrealizedConversionCastOp::create(
      builder, getComponentTypes(type), matrix);
  Value positions = lists.getResult(0), coordinates = lists.getResult(1);
  Value values = lists.getResult(2);
  auto extent = [&](unsigned level) -> Value {
    AffineMap order =
        sparse_tensor::getSparseTensorEncoding(type).getDimToLvl();
    return builder.createOrFold<tensor::DimOp>(
        matrix, order ? order.getDimPosition(level) : level);
  };
  Value scale = createScale(builder, product.contraction);
  auto flag = [&](bool isSet) {
    return isSet ? builder.getUnitAttr() : UnitAttr();
  };
  Value start, isDone;
  if (product.isSampled) {
    if (!accumulates)
      values = tensor::EmptyOp::create(
          builder, tensor::getMixedSizes(builder, op.getLoc(), values),
          getElementTypeOrSelf(init));
    auto offer = OfferSampledProductOp::create(
        builder, values.getType(), builder.getI1Type(), scale, extent(0),
        extent(1), positions, coordinates, values, product.x->get(),
        product.y->get(), flag(accumulates), flag(product.isXTransposed),
        flag(product.isYTransposed));
    start = offer.getResults().front();
    isDone = offer.getIsDone();
  } else {
    auto offer = OfferProductOp::create(
        builder, init.getType(), builder.getI1Type(), scale, extent(0),
        extent(1), positions, coordinates, values, init, product.y->get(),
        flag(accumulates), UnitAttr(), flag(product.isYTransposed));
    start = offer.getResults().front();
    isDone = offer.getIsDone();
  }

  auto branch = scf::IfOp::create(builder, start.getType(), isDone,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  Value result = branch.getResult(0);
  if (product.isSampled)
    result = WithValuesOp::create(builder, op->getResult(0).getType(), result,
                                  matrix);
  rewriter.replaceAllUsesWith(op->getResult(0), result);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, start);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value begin = accumulates ? start : createFill(builder, start);
  if (product.isSampled)
    begin = WithValuesOp::create(builder, op->getResult(0).getType(), begin,
                                 matrix);
  rewriter.modifyOpInPlace(op, [&]() { op.getDpsInitOperand(0)->set(begin); });
  Value computed = op->getResult(0);
  if (product.isSampled)
    computed = StoredValuesOp::create(builder, start.getType(), computed);
  Operation *yield = scf::YieldOp::create(builder, computed);
  rewriter.moveOpBefore(op,
                        product.isSampled ? computed.getDefiningOp() : yield);
}
