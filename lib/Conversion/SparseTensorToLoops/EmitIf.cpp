//===- EmitIf.cpp - values carried past a condition -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitIf.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

SmallVector<Value>
sparse_autograd::emitIf(OpBuilder &builder, Location loc, Value condition,
                        ValueRange carried,
                        llvm::function_ref<SmallVector<Value>()> inside) {
  if (!condition)
    return inside();
  auto choice = scf::IfOp::create(builder, loc, carried.getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, carried);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, inside());
  return SmallVector<Value>(choice.getResults());
}
