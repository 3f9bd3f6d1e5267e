//===- DeviceBounds.cpp - bounds that the device knows --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBounds.h"

#include "../RuntimeCalls.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether what `bound` reads is the same, and there, wherever that is used.
static bool isKept(memref::LoadOp read, arith::MinUIOp bound) {
  auto buffer = read.getMemref().getDefiningOp<memref::AllocOp>();
  Block *block = read->getBlock();
  if (!buffer || bound->getBlock() != block)
    return false;
  return llvm::all_of(buffer->getUsers(), [&](Operation *user) {
    if (isa<memref::LoadOp>(user))
      return true;
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (!inBlock)
      return false;
    if (isa<memref::DeallocOp>(user))
      return llvm::all_of(bound->getUsers(), [&](Operation *other) {
        Operation *kernel = block->findAncestorOpInBlock(*other);
        return kernel && kernel->isBeforeInBlock(inBlock);
      });
    // A view could be written through later on.
    return inBlock->isBeforeInBlock(read) &&
           llvm::none_of(inBlock->getResultTypes(), llvm::IsaPred<MemRefType>);
  });
}

std::optional<DeviceBound> DeviceBound::match(Value value) {
  auto bound = value.getDefiningOp<arith::MinUIOp>();
  if (!bound)
    return std::nullopt;
  for (auto [number, most] : {std::pair(bound.getLhs(), bound.getRhs()),
                              std::pair(bound.getRhs(), bound.getLhs())}) {
    auto read = number.getDefiningOp<memref::LoadOp>();
    if (read && isOnDevice(read.getMemRefType()) && read->hasOneUse() &&
        isKept(read, bound))
      return DeviceBound{bound, read, most};
  }
  return std::nullopt;
}

std::optional<DeviceBound> DeviceBound::matchRead(Operation *op) {
  auto read = dyn_cast<memref::LoadOp>(op);
  if (!read || !read->hasOneUse())
    return std::nullopt;
  auto bound = dyn_cast<arith::MinUIOp>(*read->user_begin());
  std::optional<DeviceBound> found;
  if (bound)
    found = match(bound);
  return found && found->read == read ? found : std::nullopt;
}

void DeviceBound::readInKernels(RewriterBase &rewriter) {
  llvm::SmallSetVector<gpu::LaunchOp, 4> kernels;
  for (Operation *user : bound->getUsers())
    if (auto launch = user->getParentOfType<gpu::LaunchOp>())
      kernels.insert(launch);
  OpBuilder::InsertionGuard guard(rewriter);
  for (gpu::LaunchOp launch : kernels) {
    rewriter.setInsertionPointToStart(&launch.getBody().front());
    IRMapping mapping;
    rewriter.clone(*read, mapping);
    Value own = rewriter.clone(*bound, mapping)->getResult(0);
    rewriter.replaceUsesWithIf(bound, own, [&](OpOperand &use) {
      return launch->isProperAncestor(use.getOwner()) &&
             use.getOwner() != own.getDefiningOp();
    });
  }
}
