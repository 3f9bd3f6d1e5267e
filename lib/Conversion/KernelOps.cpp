//===- KernelOps.cpp - what kernels do, and what the host does ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelOps.h"

#include "RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sparse_autograd;

void sparse_autograd::setBlocksAtOnce(Operation *op, int32_t blocks) {
  op->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
              Builder(op->getContext()).getI32IntegerAttr(blocks));
}

bool sparse_autograd::isParallelLoop(Operation *op) {
  if (auto parallel = dyn_cast<scf::ParallelOp>(op))
    return parallel.getInitVals().empty();
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getInitArgs().empty() && getSchedule(loop).isParallel;
}

bool sparse_autograd::isInParallelLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isParallelLoop(parent))
      return true;
  return false;
}

bool sparse_autograd::isHostControlFlow(Operation *op) {
  if (op->getNumRegions() == 0 || isParallelLoop(op))
    return false;
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return true;
  return op
      ->walk([&](Operation *nested) {
        bool canBeInKernel =
            isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                            math::MathDialect, scf::SCFDialect, ub::UBDialect>(
                nested->getDialect()) ||
            isa<cf::AssertOp, memref::LoadOp, memref::StoreOp, memref::DimOp,
                memref::SubViewOp, memref::CastOp>(nested);
        return WalkResult(success(canBeInKernel && !isParallelLoop(nested)));
      })
      .wasInterrupted();
}

Accesses sparse_autograd::getAccesses(Operation *op) {
  Accesses accesses;
  op->walk([&](Operation *nested) {
    if (auto load = dyn_cast<memref::LoadOp>(nested)) {
      accesses.push_back({nested, load.getMemref(), load.getIndices(), false});
    } else if (auto store = dyn_cast<memref::StoreOp>(nested)) {
      accesses.push_back({nested, store.getMemref(), store.getIndices(), true});
    } else if (auto transfer = dyn_cast<VectorTransferOpInterface>(nested)) {
      bool isMinor = transfer.getPermutationMap().isMinorIdentity();
      accesses.push_back(
          {nested, transfer.getBase(),
           isMinor ? ValueRange(transfer.getIndices()) : ValueRange(),
           isa<vector::TransferWriteOp>(nested),
           isMinor ? transfer.getTransferRank() : 0});
    } else if (auto copy = dyn_cast<memref::CopyOp>(nested)) {
      accesses.push_back({nested, copy.getSource(), {}, false});
      accesses.push_back({nested, copy.getTarget(), {}, true});
    } else if (auto product = dyn_cast<InnerProductOp>(nested)) {
      accesses.push_back({nested, product.getLeft(), {}, false});
      if (Value coordinates = product.getCoordinates())
        accesses.push_back({nested, coordinates, {}, false});
      accesses.push_back({nested, product.getRight(), {}, false});
    }
  });
  return accesses;
}

bool sparse_autograd::accessesDevice(Operation *op) {
  return llvm::any_of(getAccesses(op), [](const Access &access) {
    return isOnDevice(access.memref.getType());
  });
}
