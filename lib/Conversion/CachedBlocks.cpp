//===- CachedBlocks.cpp - blocks that caches hold -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CachedBlocks.h"

#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

/// Beside what else a core has there.
static constexpr int64_t cachedBytes =
    sparse_autograd::genericCPU.coreCacheBytes / 8;

OpFoldResult sparse_autograd::getBoundBefore(scf::ForallOp loop,
                                             OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  if (!value || loop.isDefinedOutsideOfLoop(value))
    return size;
  if (auto minimum = value.getDefiningOp<arith::MinUIOp>())
    for (Value operand : minimum->getOperands())
      if (OpFoldResult bound = getBoundBefore(loop, operand))
        return bound;
  return {};
}

void sparse_autograd::versionLoop(RewriterBase &rewriter, scf::ForallOp loop,
                                  Value condition) {
  rewriter.setInsertionPoint(loop);
  auto choice = scf::IfOp::create(rewriter, loop.getLoc(), condition,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPoint(choice.elseBlock()->getTerminator());
  rewriter.clone(*loop);
  rewriter.moveOpBefore(loop, choice.thenBlock()->getTerminator());
}

Value sparse_autograd::createByteCount(OpBuilder &builder, Location loc,
                                       ArrayRef<OpFoldResult> sizes,
                                       Type element) {
  Value bytes = arith::ConstantIndexOp::create(
      builder, loc, llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  for (OpFoldResult size : sizes)
    bytes = arith::MulIOp::create(
        builder, loc, bytes,
        getValueOrCreateConstantIndexOp(builder, loc, size));
  return bytes;
}

Value sparse_autograd::createByteCount(OpBuilder &builder, Location loc,
                                       Value array) {
  return createByteCount(builder, loc,
                         memref::getMixedSizes(builder, loc, array),
                         getElementTypeOrSelf(array.getType()));
}

Value sparse_autograd::createFitsInCache(OpBuilder &builder, Location loc,
                                         Value bytes) {
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule, bytes,
      arith::ConstantIndexOp::create(builder, loc, cachedBytes));
}
