//===- ZeroFill.cpp - results that start from zeros -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroFill.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

linalg::FillOp sparse_autograd::findZeroFill(Operation *op, Value result) {
  // Another name of the buffer could be read in between.
  if (!result.getDefiningOp<memref::AllocOp>())
    return nullptr;
  for (Operation *user : result.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      return nullptr;
  for (Operation *previous = op->getPrevNode(); previous;
       previous = previous->getPrevNode()) {
    if (previous == result.getDefiningOp())
      return nullptr;
    if (auto fill = dyn_cast<linalg::FillOp>(previous);
        fill && fill.getOutputs()[0] == result)
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ? fill
                                                                 : nullptr;
    bool uses = false;
    previous->walk([&](Operation *inner) {
      uses |= llvm::is_contained(inner->getOperands(), result);
    });
    if (uses)
      return nullptr;
  }
  return nullptr;
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
