//===- KernelCounts.cpp - counts that kernels alone need ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number of elements that nothing but sizes depends on is not worth that the
// host waits for it. Lists may as well be longer than what is stored in them,
// as long as nobody else sees them.
//
//===----------------------------------------------------------------------===//

#include "KernelCounts.h"

#include "../KernelOps.h"
#include "LevelElements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether nobody can tell how long `list` is before `block` returns it:
/// kernels access elements that they know to be there.
static bool isOfKernels(memref::AllocOp list, Block *block) {
  return llvm::all_of(list->getUsers(), [&](Operation *user) {
    if (isa<func::ReturnOp>(user))
      return user->getBlock() == block && list.getType().getRank() == 1;
    return isa<memref::DeallocOp, StorePositionsOp>(user) ||
           (isa<memref::LoadOp, memref::StoreOp>(user) &&
            isInParallelLoop(user));
  });
}

/// Whether a larger length does no harm to `user`, which no kernel executes: a
/// list of kernels gets it, or what grows with it.
static bool allowsMore(Operation *user, Block *block) {
  if (auto list = dyn_cast<memref::AllocOp>(user))
    return isOfKernels(list, block);
  return isa<arith::AddIOp, arith::MulIOp>(user) &&
         llvm::all_of(user->getUsers(), [&](Operation *next) {
           return !isInParallelLoop(next) && allowsMore(next, block);
         });
}

static bool isOfKernels(memref::LoadOp count) {
  return llvm::all_of(count->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isInParallelLoop(user))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return isParallelLoop(loop) && loop.getUpperBound() == use.get() &&
             loop.getLowerBound() != use.get() && loop.getStep() != use.get();
    return allowsMore(user, count->getBlock());
  });
}

std::optional<SmallVector<memref::LoadOp>>
sparse_autograd::findKernelCounts(CountPositionsOp op) {
  LevelElements levels(op.getEncoding());
  // There may be more elements than entries otherwise.
  for (int64_t level = 0; level < levels.size(); ++level)
    if (levels.getFormat(level).storesAll())
      return std::nullopt;
  auto counts = op.getCounts().getDefiningOp<memref::AllocOp>();
  if (!counts)
    return std::nullopt;
  SmallVector<memref::LoadOp> loads;
  for (Operation *user : counts->getUsers()) {
    if (user == op || isa<memref::DeallocOp>(user))
      continue;
    auto load = dyn_cast<memref::LoadOp>(user);
    if (!load || load->getBlock() != op->getBlock() ||
        load->isBeforeInBlock(op) ||
        !matchPattern(load.getIndices().front(), m_Constant()) ||
        !isOfKernels(load))
      return std::nullopt;
    loads.push_back(load);
  }
  return loads;
}

/// Has the function return the first elements of `list`, as many as `readAtEnd`
/// says.
static void returnPart(memref::AllocOp list,
                       llvm::function_ref<Value()> readAtEnd) {
  for (OpOperand &use : llvm::make_early_inc_range(list->getUses())) {
    auto end = dyn_cast<func::ReturnOp>(use.getOwner());
    if (!end)
      continue;
    ImplicitLocOpBuilder builder(list.getLoc(), end);
    Value part = memref::SubViewOp::create(
        builder, list, ArrayRef<OpFoldResult>{builder.getIndexAttr(0)},
        ArrayRef<OpFoldResult>{readAtEnd()},
        ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
    use.set(memref::CastOp::create(builder, list.getType(), part));
  }
}

/// Makes the lists whose length depends on `length` as long as for `most`.
static void lengthenLists(Value length, Value most,
                          llvm::function_ref<Value()> readAtEnd) {
  for (OpOperand &use : llvm::make_early_inc_range(length.getUses())) {
    Operation *user = use.getOwner();
    if (isInParallelLoop(user))
      continue;
    if (auto list = dyn_cast<memref::AllocOp>(user)) {
      use.set(most);
      returnPart(list, readAtEnd);
    } else if (isa<arith::AddIOp, arith::MulIOp>(user)) {
      auto clone = [&](Value value, Operation *before) {
        OpBuilder builder(before);
        IRMapping mapping;
        mapping.map(length, value);
        return builder.clone(*user, mapping)->getResult(0);
      };
      Operation *end = length.getParentBlock()->getTerminator();
      lengthenLists(user->getResult(0), clone(most, user),
                    [&] { return clone(readAtEnd(), end); });
    }
  }
}

void sparse_autograd::replaceKernelCount(
    memref::LoadOp load, Value count, Value most,
    llvm::function_ref<Value()> readAtEnd) {
  lengthenLists(load, most, readAtEnd);
  load.replaceAllUsesWith(count);
  load.erase();
}
