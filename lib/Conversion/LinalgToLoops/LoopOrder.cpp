//===- LoopOrder.cpp - the order of a nest's loops --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopOrder.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

#include <cmath>

using namespace mlir;

namespace sparse_autograd {
namespace {

constexpr double cacheLine = genericCPU.lineBytes;

/// What the cost of a loop is compared by.
struct LoopCost {
  /// Bytes of cache lines touched per iteration, as the innermost loop.
  double lines = 0.0;
  /// Breaks ties among loops that all leave the line each time.
  double strides = 0.0;
};

} // namespace

/// The strides of a buffer in elements, with unknown ones estimated.
static SmallVector<int64_t> estimateStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    strides.assign(type.getRank(), ShapedType::kDynamic);
  int64_t dense = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (ShapedType::isDynamic(strides[i]))
      strides[i] = dense;
    int64_t extent = estimates.getExtent(type.getDimSize(i));
    dense = std::abs(strides[i]) * std::max<int64_t>(1, extent);
  }
  return strides;
}

/// The factor of `dimension` in a linear expression; 1 if it occurs otherwise.
static int64_t getCoefficient(AffineExpr expression, unsigned dimension) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dim.getPosition() == dimension;
  if (!expression.isFunctionOfDim(dimension))
    return 0;
  auto binary = cast<AffineBinaryOpExpr>(expression);
  if (binary.getKind() == AffineExprKind::Add)
    return getCoefficient(binary.getLHS(), dimension) +
           getCoefficient(binary.getRHS(), dimension);
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      factor && binary.getKind() == AffineExprKind::Mul)
    return getCoefficient(binary.getLHS(), dimension) * factor.getValue();
  return 1;
}

SmallVector<unsigned> chooseLoopOrder(linalg::LinalgOp op) {
  SmallVector<LoopCost> costs(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<int64_t> strides = estimateStrides(type);
    double bytes = type.getElementType().isIndex()
                       ? 8.0
                       : std::max(1u, type.getElementTypeBitWidth() / 8);
    // An output is read and written.
    double weight = op.isDpsInit(&operand) ? 2.0 : 1.0;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      double stride = 0;
      for (auto [expression, dimStride] :
           llvm::zip_equal(map.getResults(), strides))
        stride += static_cast<double>(getCoefficient(expression, loop)) *
                  static_cast<double>(dimStride);
      stride = std::abs(stride) * bytes;
      costs[loop].lines += weight * std::min(stride, cacheLine);
      costs[loop].strides += weight * std::log2(1.0 + stride);
    }
  }

  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    // A loop of one iteration is no inner loop.
    if ((extents[a] == 1) != (extents[b] == 1))
      return extents[a] == 1;
    if (costs[a].lines != costs[b].lines)
      return costs[a].lines > costs[b].lines;
    if (costs[a].strides != costs[b].strides)
      return costs[a].strides > costs[b].strides;
    return linalg::isParallelIterator(iterators[a]) &&
           !linalg::isParallelIterator(iterators[b]);
  });
  return order;
}

} // namespace sparse_autograd
