//===- ColumnHalves.cpp - loops on half of the columns --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnHalves.h"

#include "../KernelOps.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sparse_autograd;

static bool isVector(Type type) { return isa<VectorType>(type); }

/// Whether `transfer` accesses neighbouring elements of a row, all of its
/// lanes, half of which are a line of a cache.
static bool accessesColumns(VectorTransferOpInterface transfer) {
  VectorType type = transfer.getVectorType();
  Type element = type.getElementType();
  return type.getRank() == 1 && !transfer.getMask() &&
         !transfer.hasOutOfBoundsDim() &&
         transfer.getPermutationMap().isMinorIdentity() &&
         element.isIntOrFloat() && type.getNumElements() % 2 == 0 &&
         type.getNumElements() / 2 * element.getIntOrFloatBitWidth() >=
             genericCPU.lineBytes * 8;
}

/// Whether each lane of the results of `op` depends on the same lane of its
/// operands alone.
static bool isByLane(Operation *op) {
  bool hasVectors = llvm::any_of(op->getOperandTypes(), isVector) ||
                    llvm::any_of(op->getResultTypes(), isVector);
  if (!hasVectors)
    return true;
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return accessesColumns(transfer);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isVector(broadcast.getSourceType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return OpTrait::hasElementwiseMappableTraits(op);
}

/// Whether `operand`, if it is a vector, is computed in `loop` or a constant.
static bool canHalve(scf::ForOp loop, Value operand) {
  return !isVector(operand.getType()) ||
         !loop.isDefinedOutsideOfLoop(operand) ||
         isa_and_nonnull<arith::ConstantOp>(operand.getDefiningOp());
}

/// Whether all vectors that `loop` stores begin at one column, or at that of a
/// strip.
static bool storesOneVector(scf::ForOp loop, const ScatterPart &part) {
  Value column;
  for (const Access &access : getAccesses(loop)) {
    if (!access.isWrite)
      continue;
    if (access.numVectorDims != 1)
      return false;
    if (!column)
      column = access.indices.back();
    if (access.indices.back() != column)
      return false;
  }
  return part.strips || (column && getConstantIntValue(column));
}

/// The loop all of whose vectors are columns of `part`.
static scf::ForOp getVectorLoop(const Scatter &scatter,
                                const ScatterPart &part) {
  return part.strips ? part.strips : scatter.loop;
}

/// The lanes of the vectors of `part`, if these have halves.
static std::optional<int64_t> getLanes(const Scatter &scatter,
                                       const ScatterPart &part) {
  scf::ForOp loop = getVectorLoop(scatter, part);
  std::optional<int64_t> lanes;
  auto hasLanes = [&](Value value) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type)
      return true;
    if (!lanes && type.getRank() == 1)
      lanes = type.getNumElements();
    return type.getRank() == 1 && type.getNumElements() == lanes;
  };
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    return WalkResult(
        success(isByLane(op) && llvm::all_of(op->getResults(), hasLanes) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return canHalve(loop, operand) && hasLanes(operand);
                })));
  });
  if (result.wasInterrupted() || !storesOneVector(loop, part))
    return std::nullopt;
  return lanes;
}

bool sparse_autograd::hasColumnHalves(const Scatter &scatter) {
  // Vectors beside the strips are no columns of one of them.
  bool hasStrips = llvm::any_of(
      scatter.parts, [](const ScatterPart &part) { return !!part.strips; });
  scf::ForOp loop = scatter.loop;
  if (hasStrips && llvm::any_of(*loop.getBody(), [](Operation &op) {
        return llvm::any_of(op.getResultTypes(), isVector);
      }))
    return false;
  return llvm::all_of(scatter.parts, [&](const ScatterPart &part) {
    return part.strips || getLanes(scatter, part);
  });
}

static VectorType getHalf(Type type) {
  auto whole = cast<VectorType>(type);
  return VectorType::get(whole.getNumElements() / 2, whole.getElementType());
}

/// The splat `whole` with half of the lanes.
static TypedAttr getHalf(arith::ConstantOp whole) {
  return cast<SplatElementsAttr>(whole.getValue())
      .resizeSplat(getHalf(whole.getType()));
}

/// Leaves half of the lanes of all vectors in `loop`, `distance` lanes behind
/// where they began.
static void halveLanes(ImplicitLocOpBuilder &builder, scf::ForOp loop,
                       Value distance) {
  loop.getBody()->walk([&](Operation *op) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
      if (constant && isVector(constant.getType()) &&
          loop.isDefinedOutsideOfLoop(constant))
        operand.set(arith::ConstantOp::create(builder, getHalf(constant)));
    }
    if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
      // Indices follow the buffer, which follows the vector of a write.
      unsigned column = transfer.getIndices().size() +
                        (isa<vector::TransferWriteOp>(op) ? 1 : 0);
      op->setOperand(column, arith::AddIOp::create(
                                 builder, op->getOperand(column), distance));
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && isVector(constant.getType()))
      constant.setValueAttr(getHalf(constant));
    for (Value result : op->getResults())
      if (isVector(result.getType()))
        result.setType(getHalf(result.getType()));
  });
}

/// Leaves every other strip of `strips`, from the first or the second on.
static void halveStrips(ImplicitLocOpBuilder &builder, scf::ForOp strips,
                        Value half) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(strips);
  Value step = strips.getStep();
  Value distance = arith::MulIOp::create(builder, half, step);
  strips.setLowerBound(
      arith::AddIOp::create(builder, strips.getLowerBound(), distance));
  strips.setStep(arith::AddIOp::create(builder, step, step));
}

void sparse_autograd::cloneColumnHalf(ImplicitLocOpBuilder &builder,
                                      const Scatter &scatter, Value half) {
  scf::ForOp loop = scatter.loop;
  IRMapping mapping;
  builder.clone(*loop, mapping);
  for (const ScatterPart &part : scatter.parts) {
    scf::ForOp original = getVectorLoop(scatter, part);
    auto clone = cast<scf::ForOp>(mapping.lookup(original.getInductionVar())
                                      .getParentBlock()
                                      ->getParentOp());
    std::optional<int64_t> lanes = getLanes(scatter, part);
    if (!lanes) {
      halveStrips(builder, clone, half);
      continue;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(clone);
    Value distance = arith::MulIOp::create(
        builder, half, arith::ConstantIndexOp::create(builder, *lanes / 2));
    halveLanes(builder, clone, distance);
  }
}
