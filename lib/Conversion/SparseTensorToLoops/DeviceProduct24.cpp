//===- DeviceProduct24.cpp - 2:4 products of a device ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction of what is stored along the sum, which tiles of sparse tensor
// cores or loops compute, is a parallel loop of inner products from here on, as
// dense ones are after LinalgToLoops, so that fusion finds what is done with
// each element, and the host chooses by extents that are not known. A model of
// bytes and multiplications chooses between these, a dense product of the
// expanded matrix, and loops over what is stored.
//
//===----------------------------------------------------------------------===//

#include "DeviceProduct24.h"

#include "../ProductElement.h"
#include "Packing24.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/DeviceProduct24Cost.h"
#include "SparseStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {
enum class Way { Tiles, Dense, Loops };

/// What the model says of a contraction of known extents.
struct Prediction {
  DeviceProduct24Cost cost;
  bool hasTiles, hasDenseTiles;

  Way getFastest() const {
    Way fastest = Way::Loops;
    double least = cost.loops;
    if (hasDenseTiles && cost.dense < least) {
      fastest = Way::Dense;
      least = cost.dense;
    }
    return hasTiles && cost.tiles <= least ? Way::Tiles : fastest;
  }
};
} // namespace

/// The machine that the model predicts times of.
static const GPUMachine &getModelledMachine() { return gpuMachines[0]; }

static std::optional<Prediction> predict(const Contraction &contraction,
                                         OpOperand *stored, bool hasTiles,
                                         bool areRowsShared) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(extents) || contraction.dims.k.size() != 1)
    return std::nullopt;
  bool isLeft = stored == contraction.left;
  ArrayRef<unsigned> ofRows = isLeft ? contraction.dims.m : contraction.dims.n;
  ArrayRef<unsigned> ofColumns =
      isLeft ? contraction.dims.n : contraction.dims.m;
  unsigned row = getLargestLoop(ofRows, extents);
  unsigned column = getLargestLoop(ofColumns, extents);
  unsigned term = contraction.dims.k.front();
  int64_t batch = 1;
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (loop != row && loop != column && loop != term)
      batch *= extent;
  auto getBytes = [](Type type) -> int64_t {
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  };
  DeviceProduct24 product = {batch,
                             extents[row],
                             extents[column],
                             extents[term],
                             getBytes(contraction.getFactorType(stored)),
                             getBytes(contraction.getResultType()),
                             areRowsShared};
  std::string declined;
  return Prediction{
      DeviceProduct24Model(getModelledMachine(), product).estimate(), hasTiles,
      getTileStrategy(contraction, declined) != nullptr};
}

static Way chooseWay(int64_t strategy, bool hasTiles,
                     const std::optional<Prediction> &prediction) {
  if (strategy == SPARSE_AUTOGRAD_PRODUCT24_DENSE)
    return Way::Dense;
  if (strategy == SPARSE_AUTOGRAD_PRODUCT24_FASTEST && prediction)
    return prediction->getFastest();
  return hasTiles ? Way::Tiles : Way::Loops;
}

static void remarkWay(const Contraction &contraction, OpOperand *stored,
                      Way way, const std::string &declined,
                      const std::optional<Prediction> &prediction,
                      int64_t strategy) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "product with a 2:4 matrix of " << contraction.getFactorType(stored)
         << ": ";
  if (way == Way::Tiles)
    stream << structuredTensorCoreStrategy.name << ", by stored values";
  else if (way == Way::Dense)
    stream << "dense, of the matrix that is expanded first";
  else
    stream << "loops over stored values";
  if (!declined.empty())
    stream << "; no " << structuredTensorCoreStrategy.name << ": " << declined;
  if (strategy != SPARSE_AUTOGRAD_PRODUCT24_FASTEST)
    stream << "; asked for by product-24";
  if (prediction) {
    constexpr double microseconds = 1e6;
    stream << "; a model of " << getModelledMachine().name << " predicts ";
    if (prediction->hasTiles)
      stream << llvm::formatv("{0:f1} us by tiles, ",
                              prediction->cost.tiles * microseconds);
    if (prediction->hasDenseTiles)
      stream << llvm::formatv("{0:f1} us dense, ",
                              prediction->cost.dense * microseconds);
    stream << llvm::formatv("{0:f1} us by loops",
                            prediction->cost.loops * microseconds);
  } else if (way == Way::Tiles) {
    stream << "; the host chooses tiles or loops by the extents of the call";
  }
  linalg::LinalgOp op = contraction.op;
  auto function = op->getParentOfType<func::FuncOp>();
  auto options = remark::RemarkOpts::name("strategy")
                     .category(contractionRemarkCategory)
                     .function(function ? function.getSymName() : StringRef());
  if (way == Way::Tiles)
    remark::passed(op.getLoc(), options) << text;
  else
    remark::missed(op.getLoc(), options) << text;
}

/// Whether an `inner_product` computes the elements of a contraction, whose
/// factor `stored` has its groups along the sum: by tiles, or by a loop over
/// all that a row stores, which lanes can share.
static bool hasInnerProducts(const Contraction &contraction,
                             OpOperand *stored) {
  linalg::LinalgOp op = contraction.op;
  if (contraction.dims.k.size() != 1 || !contraction.hasPlainLoops() ||
      size_t(op.getNumDpsInputs()) != 2 + contraction.weights.size())
    return false;
  AffineMap map = op.getMatchingIndexingMap(stored);
  Type factor = contraction.getFactorType(contraction.left);
  Type sum = contraction.sumType;
  bool isNarrow = (factor.isF16() || factor.isBF16()) && sum.isF32();
  return map.getDimPosition(map.getNumResults() - 1) ==
             contraction.dims.k.front() &&
         factor == contraction.getFactorType(contraction.right) &&
         contraction.productType == sum && !contraction.narrows &&
         sum == contraction.getResultType() &&
         (!contraction.scale || contraction.scale.getType() == sum) &&
         (isNarrow || (factor == sum && (sum.isF32() || sum.isF64())));
}

/// Has a contraction read a dense copy of its 2:4 factor.
static void expandFactor(IRRewriter &rewriter, OpOperand *stored) {
  Operation *op = stored->getOwner();
  auto type = cast<RankedTensorType>(stored->get().getType());
  rewriter.setInsertionPoint(op);
  Value dense = createStoredCopy(
      rewriter, op->getLoc(), stored->get(),
      RankedTensorType::get(type.getShape(), type.getElementType()));
  rewriter.modifyOpInPlace(op, [&] { stored->set(dense); });
}

bool sparse_autograd::chooseDeviceProduct24(IRRewriter &rewriter,
                                            linalg::LinalgOp op,
                                            int64_t strategy) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !contraction->isOfMatrices() || op->getNumResults() != 1)
    return false;
  OpOperand *stored = getStructuredFactor(*contraction);
  if (!stored)
    return false;
  std::string declined = structuredTensorCoreStrategy.decline(*contraction);
  bool hasTiles = declined.empty();
  bool areInnerProducts = hasInnerProducts(*contraction, stored);
  std::optional<Prediction> prediction =
      predict(*contraction, stored, hasTiles, areInnerProducts);
  Way way = chooseWay(strategy, hasTiles, prediction);
  remarkWay(*contraction, stored, way, declined, prediction, strategy);
  if (way == Way::Dense)
    expandFactor(rewriter, stored);
  return way != Way::Dense && areInnerProducts;
}

//===----------------------------------------------------------------------===//
// Loops of inner products
//===----------------------------------------------------------------------===//

/// The values of 2:4 storage as a tensor with two for each group of a row.
static Value createRowsOfValues(OpBuilder &builder, Location loc,
                                const SparseStorage &storage) {
  RankedTensorType type = storage.getType();
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value extent = storage.getExtent(builder, loc, dim);
    if (dim == rank - 1) {
      Value groups = builder.createOrFold<arith::CeilDivUIOp>(
          loc, extent,
          arith::ConstantIndexOp::create(builder, loc, 4).getResult());
      extent = builder.createOrFold<arith::MulIOp>(
          loc, groups,
          arith::ConstantIndexOp::create(builder, loc, 2).getResult());
    }
    shape.push_back(getAsOpFoldResult(extent));
  }
  SmallVector<int64_t> sizes;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(shape, dynamic, sizes);
  auto rows = RankedTensorType::get(sizes, type.getElementType());
  Value values = storage.getValues();
  if (rank == 1)
    return castTo(builder, loc, rows, values);
  if (rows.hasStaticShape())
    values = castTo(
        builder, loc,
        RankedTensorType::get({rows.getNumElements()}, type.getElementType()),
        values);
  auto all = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank));
  return tensor::ExpandShapeOp::create(
      builder, loc, rows, values, ArrayRef<ReassociationIndices>{all}, shape);
}

/// What the elements of the result begin with, and the tensor that they are
/// inserted into: those of a fill with zero are not read.
static std::pair<Value, Value> getBegin(linalg::LinalgOp op, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (fill && matchPattern(fill.getInputs().front(), m_PosZeroFloat()))
    return {fill.getInputs().front(), fill.getOutputs().front()};
  return {Value(), init};
}

Value sparse_autograd::lowerDeviceProduct24(OpBuilder &builder,
                                            linalg::LinalgOp op,
                                            ArrayRef<ValueRange> operands) {
  Contraction contraction = *matchContraction(op);
  OpOperand *stored = getStructuredFactor(contraction);
  OpOperand *dense =
      stored == contraction.left ? contraction.right : contraction.left;
  OpOperand *sum = op.getDpsInitOperand(0);
  Location loc = op.getLoc();
  SparseStorage storage(cast<RankedTensorType>(stored->get().getType()),
                        operands[stored->getOperandNumber()]);
  Value rowsOfValues = createRowsOfValues(builder, loc, storage);
  Value coordinates = storage.getCoordinates(storage.getNumLevels() - 1);
  Value matrix = operands[dense->getOperandNumber()].front();
  auto beginAndResult = getBegin(op, operands[sum->getOperandNumber()].front());
  Value begin = beginAndResult.first, result = beginAndResult.second;

  // Every loop but that of the sum is one of the result.
  unsigned term = contraction.dims.k.front();
  SmallVector<Value> extents(op.getNumLoops());
  auto setExtents = [&](OpOperand *operand,
                        function_ref<Value(int64_t)> getExtent) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (auto [dim, place] : llvm::enumerate(map.getResults()))
      extents[cast<AffineDimExpr>(place).getPosition()] = getExtent(dim);
  };
  setExtents(sum, [&](int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, tensor::getMixedSize(builder, loc, result, dim));
  });
  setExtents(stored,
             [&](int64_t dim) { return storage.getExtent(builder, loc, dim); });
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);

  SmallVector<Value> variables(op.getNumLoops()), place;
  SmallVector<scf::ForOp> nest;
  OpBuilder::InsertionGuard guard(builder);
  for (AffineExpr expression : op.getMatchingIndexingMap(sum).getResults()) {
    unsigned loop = cast<AffineDimExpr>(expression).getPosition();
    auto next = scf::ForOp::create(
        builder, loc, zero, extents[loop], one,
        nest.empty() ? result : nest.back().getRegionIterArg(0));
    setParallel(next);
    if (!nest.empty())
      scf::YieldOp::create(builder, loc, next.getResults());
    variables[loop] = next.getInductionVar();
    place.push_back(next.getInductionVar());
    nest.push_back(next);
    builder.setInsertionPointToStart(next.getBody());
  }
  Value elements = nest.back().getRegionIterArg(0);
  Value init =
      begin ? begin : tensor::ExtractOp::create(builder, loc, elements, place);
  SmallVector<Value> ofStored, ofDense;
  int64_t storedDim = getElementIndices(op, stored, term, variables, ofStored);
  int64_t denseDim = getElementIndices(op, dense, term, variables, ofDense);
  auto createSum = [&](Value begin) -> Value {
    return InnerProductOp::create(
        builder, loc, contraction.sumType, begin, rowsOfValues, ofStored,
        builder.getI64IntegerAttr(storedDim), matrix, ofDense,
        builder.getI64IntegerAttr(denseDim), extents[term], coordinates);
  };
  auto load = [&](OpOperand *weight) -> Value {
    Value value = operands[weight->getOperandNumber()].front();
    if (!isa<RankedTensorType>(value.getType()))
      return value;
    SmallVector<Value> indices;
    getElementIndices(op, weight, term, variables, indices);
    return tensor::ExtractOp::create(builder, loc, value, indices);
  };
  Value element =
      createProductElement(builder, contraction, init, createSum, load);
  Value inserted =
      tensor::InsertOp::create(builder, loc, element, elements, place);
  scf::YieldOp::create(builder, loc, inserted);
  return nest.front().getResult(0);
}
