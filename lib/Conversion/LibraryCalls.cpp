//===- LibraryCalls.cpp - ops that libraries compute ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `user` makes another name of a buffer that it uses.
static bool makesName(Operation *user) {
  return isa<ViewLikeOpInterface, RegionBranchOpInterface>(user) ||
         llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>) ||
         // What returns from the function ends its names.
         (user->hasTrait<OpTrait::IsTerminator>() &&
          !isa<func::ReturnOp>(user));
}

linalg::FillOp sparse_autograd::findZeroFill(Operation *op, Value result) {
  auto alloc = result.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return nullptr;
  Block *block = op->getBlock();
  // A name that is made behind `op` can be read before it only in the next
  // iteration, where it is one of another buffer if that is allocated there.
  bool isNewBuffer = alloc->getBlock() == block;
  Operation *last = nullptr;
  for (Operation *user : result.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    bool isBefore = ancestor && ancestor->isBeforeInBlock(op);
    if ((isBefore || !isNewBuffer) && makesName(user))
      return nullptr;
    if (isBefore && (!last || last->isBeforeInBlock(ancestor)))
      last = ancestor;
  }
  auto fill = dyn_cast_or_null<linalg::FillOp>(last);
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat())
             ? fill
             : linalg::FillOp();
}

void sparse_autograd::offerToLibrary(RuntimeCallBuilder &calls, StringRef name,
                                     ArrayRef<Value> arguments,
                                     linalg::FillOp fill) {
  OpBuilder &builder = calls.builder;
  Value done = calls.call(name, arguments, builder.getI32Type()).front();
  Value isLeft = arith::CmpIOp::create(
      builder, calls.loc, arith::CmpIPredicate::eq, done, calls.kind(0));
  auto branch = scf::IfOp::create(builder, calls.loc, isLeft);
  if (fill)
    fill->moveBefore(branch.thenYield());
  calls.op->moveBefore(branch.thenYield());
}

bool sparse_autograd::isKnownToHost(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(values[i])) {
      if (!argument.getOwner()->isEntryBlock() ||
          !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        return false;
      continue;
    }
    Operation *op = values[i].getDefiningOp();
    // What is computed from elements is computed on the device.
    if (!isPure(op) || op->getNumRegions() != 0)
      return false;
    if (isa<ShapedDimOpInterface>(op))
      continue;
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
      return false;
    values.insert_range(op->getOperands());
  }
  return true;
}
