//===- CostModel.cpp - what it costs to read a sparse tensor --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostModel.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// What finding an element costs besides what is done with it.
static constexpr double elementCost = 4;
/// What is left of a cost on two threads, more would only be better, and on the
/// many of a device.
static constexpr double threadsShare = 0.5, deviceShare = 1.0 / 1024;

/// Whether the loop over the outermost level of `operand` writes to a place of
/// its own in each iteration, if it is stored with `encoding`.
static bool runsInParallel(linalg::LinalgOp op, OpOperand &operand,
                           SparseTensorEncodingAttr encoding) {
  auto dim = dyn_cast<AffineDimExpr>(encoding.getDimToLvl().getResult(0));
  if (!dim || !isUniqueLT(encoding.getLvlTypes().front()))
    return false;
  AffineExpr index =
      op.getMatchingIndexingMap(&operand).getResult(dim.getPosition());
  if (!isa<AffineDimExpr>(index))
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::is_contained(op.getMatchingIndexingMap(&init).getResults(),
                              index);
  });
}

CostModel::CostModel(bool parallel, bool forDevice)
    : forDevice(forDevice), share(forDevice  ? deviceShare
                                  : parallel ? threadsShare
                                             : 1) {}

double CostModel::getRunCost(linalg::LinalgOp op, OpOperand &operand,
                             SparseTensorEncodingAttr encoding) const {
  // The loops that the operand does not cover run for each of its elements.
  double cost = 1;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(loop))
      cost *= static_cast<double>(estimates.getExtent(extent));
  cost += elementCost;
  if (runsInParallel(op, operand, encoding))
    return cost * share;
  // The other loops are threads of the device at least.
  return forDevice ? 1 + elementCost : cost;
}

double CostModel::getIterations(LoopLikeOpInterface loop) const {
  if (std::optional<APInt> count = loop.getStaticTripCount())
    return static_cast<double>(count->getZExtValue());
  return static_cast<double>(estimates.extent);
}

SmallVector<OpOperand *>
sparse_autograd::getFreeOperands(linalg::LinalgOp op,
                                 SparsePatterns &patterns) {
  SmallVector<OpOperand *> operands;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isSparse(input->get().getType()))
      operands.push_back(input);
  auto isLikeFirst = [&](OpOperand *operand) {
    OpOperand *first = operands.front();
    return getSparseTensorEncoding(operand->get().getType()) ==
               getSparseTensorEncoding(first->get().getType()) &&
           op.getMatchingIndexingMap(operand) ==
               op.getMatchingIndexingMap(first) &&
           patterns.originOf(operand->get()) == patterns.originOf(first->get());
  };
  if (operands.empty() || isSparse(op->getResultTypes().front()) ||
      !llvm::all_of(operands, isLikeFirst))
    return {};
  ScalarTerms terms(op);
  if (SparseIteration::of(op, terms).visitsAll)
    return {};
  return operands;
}

/// A width of coordinates that fits those of any dimension of `type`, one of
/// which has fitted `width`. An extent that is not known is taken to fit 32
/// bits if another one does; the runtime checks.
static unsigned getCoordinateWidth(RankedTensorType type, unsigned width) {
  if (width == 0 || width == 64)
    return width;
  int64_t largest = 0;
  for (int64_t extent : type.getShape())
    largest = ShapedType::isDynamic(extent)
                  ? std::max(largest, int64_t(1) << 32)
                  : std::max(largest, extent);
  while (width < 64 && largest > int64_t(1) << width)
    width *= 2;
  return width == 64 ? 0 : width;
}

SmallVector<SparseTensorEncodingAttr>
sparse_autograd::getOtherOrders(RankedTensorType type) {
  SparseTensorEncodingAttr encoding = getSparseTensorEncoding(type);
  AffineMap order = encoding.getDimToLvl();
  ArrayRef<LevelType> levels = encoding.getLvlTypes();
  if (type.getRank() < 2 || !order.isPermutation())
    return {};
  // A dense level inside stores what its parents have not: it stays there.
  for (LevelType level : levels.drop_front())
    if (getFormat(level).storesAll())
      return {};
  LevelType compressed = *buildLevelType(LevelFormat::Compressed, true, true);
  SmallVector<LevelType> types(levels.size(), compressed);
  if (getFormat(levels.front()).storesAll())
    types.front() = levels.front();
  SmallVector<SparseTensorEncodingAttr> others;
  for (int64_t outermost = 0; outermost < type.getRank(); ++outermost) {
    SmallVector<AffineExpr> dims = {
        getAffineDimExpr(outermost, type.getContext())};
    for (AffineExpr dim : order.getResults())
      if (dim != dims.front())
        dims.push_back(dim);
    auto other = SparseTensorEncodingAttr::get(
        type.getContext(), types,
        AffineMap::get(type.getRank(), 0, dims, type.getContext()), AffineMap(),
        encoding.getPosWidth(),
        getCoordinateWidth(type, encoding.getCrdWidth()));
    if (other != encoding)
      others.push_back(other);
  }
  return others;
}
