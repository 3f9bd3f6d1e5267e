//===- StorageFunctions.cpp - functions that make storage -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

func::FuncOp StorageFunctions::getFunction(StringRef name, TypeRange arguments,
                                           TypeRange results, Body body) {
  func::FuncOp &function = functions[name];
  if (function)
    return function;
  Location loc = module.getLoc();
  OpBuilder builder(module.getContext());
  auto created = func::FuncOp::create(
      loc, name, builder.getFunctionType(arguments, results));
  created.setPrivate();
  // A function of the program may have the name.
  symbols.insert(created);
  function = created;
  builder.setInsertionPointToStart(created.addEntryBlock());
  LoopBuilder loops(builder, loc);
  SmallVector<Value> values = body(loops, created.getArguments());
  func::ReturnOp::create(loops.builder, values);
  return created;
}
