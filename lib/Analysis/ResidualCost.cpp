//===- ResidualCost.cpp - what keeping and computing again costs ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ResidualCost.h"

#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// The number of elements of a value.
static int64_t countElements(Type type) {
  int64_t count = 1;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
    for (int64_t extent : shaped.getShape())
      count *= estimates.getExtent(extent);
  return count;
}

int64_t sparse_autograd::estimateBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t width = element.isIntOrFloat()
                      ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                      : 8;
  return countElements(type) * width;
}

/// What the ops of a region cost, executed once.
/// The cost of an op whose results are all there is to it.
static std::optional<int64_t> estimatePureCost(Operation *op);

static std::optional<int64_t> estimateRegion(Region &region) {
  int64_t cost = 0;
  for (Operation &op : region.getOps()) {
    std::optional<int64_t> opCost = estimatePureCost(&op);
    if (!opCost)
      return std::nullopt;
    cost += *opCost;
  }
  return cost;
}

/// How often a loop runs.
static int64_t countIterations(LoopLikeOpInterface loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return count ? count->getSExtValue() : estimates.extent;
}

std::optional<int64_t> sparse_autograd::estimateCost(Operation *op) {
  // Asked once: it looks into the regions.
  return isMemoryEffectFree(op) ? estimatePureCost(op) : std::nullopt;
}

static std::optional<int64_t> estimatePureCost(Operation *op) {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    int64_t volume = 1;
    for (int64_t extent : generic.getStaticLoopRanges())
      volume *= estimates.getExtent(extent);
    // Copying costs nothing here: what is copied has to be there anyway.
    return volume * getBodyCost(generic);
  }
  // They say what is there, and compute nothing.
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return 0;
  if (op->getNumRegions() != 0) {
    int64_t cost = 0;
    for (Region &region : op->getRegions()) {
      std::optional<int64_t> regionCost = estimateRegion(region);
      if (!regionCost)
        return std::nullopt;
      cost += *regionCost;
    }
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      cost *= countIterations(loop);
    return cost;
  }
  int64_t elements = 0;
  for (Type type : op->getResultTypes())
    elements += countElements(type);
  return elements * getArithmeticCost(*op);
}
