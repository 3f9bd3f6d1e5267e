//===- BinarySearch.cpp - loops that search a list ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BinarySearch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

Value sparse_autograd::createBinarySearch(
    OpBuilder &builder, Location loc, Value begin, Value end,
    llvm::function_ref<Value(OpBuilder &, Value)> isBefore) {
  Type index = builder.getIndexType();
  auto search = scf::WhileOp::create(
      builder, loc, TypeRange{index, index}, ValueRange{begin, end},
      [&](OpBuilder &nested, Location loc, ValueRange range) {
        Value isOpen = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::ult, range[0], range[1]);
        scf::ConditionOp::create(nested, loc, isOpen, range);
      },
      [&](OpBuilder &nested, Location loc, ValueRange range) {
        Value one = arith::ConstantIndexOp::create(nested, loc, 1);
        Value sum = arith::AddIOp::create(nested, loc, range[0], range[1]);
        Value middle = arith::ShRUIOp::create(nested, loc, sum, one);
        Value next = arith::AddIOp::create(nested, loc, middle, one);
        Value goesOn = isBefore(nested, middle);
        Value low =
            arith::SelectOp::create(nested, loc, goesOn, next, range[0]);
        Value high =
            arith::SelectOp::create(nested, loc, goesOn, range[1], middle);
        scf::YieldOp::create(nested, loc, ValueRange{low, high});
      });
  return search.getResult(0);
}
