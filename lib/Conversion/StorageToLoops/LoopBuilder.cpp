//===- LoopBuilder.cpp - loops on buffers of indices ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

Value LoopBuilder::countBits(Value number) {
  Type i64 = builder.getI64Type();
  Value word = arith::IndexCastOp::create(builder, i64, number);
  Value zeros = math::CountLeadingZerosOp::create(builder, word);
  Value bits = arith::ConstantIntOp::create(builder, i64, 64);
  return arith::IndexCastOp::create(builder, builder.getIndexType(),
                                    sub(bits, zeros));
}

Value LoopBuilder::allocate(Value length, int64_t width) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  if (width)
    shape.push_back(width);
  return memref::AllocOp::create(
      builder, MemRefType::get(shape, builder.getIndexType()), length);
}

SmallVector<Value> LoopBuilder::readAll(Value buffer, int64_t length) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 2) {
    SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1),
                                       builder.getIndexAttr(length)};
    auto row = memref::SubViewOp::inferRankReducedResultType(
        {length}, type, offsets, sizes, strides);
    buffer = memref::SubViewOp::create(builder, row, buffer, offsets, sizes,
                                       strides);
  }
  Value onHost = memref::AllocaOp::create(
      builder, MemRefType::get({length}, builder.getIndexType()));
  memref::CopyOp::create(builder, buffer, onHost);
  SmallVector<Value> elements;
  for (int64_t place = 0; place < length; ++place)
    elements.push_back(load(onHost, index(place)));
  return elements;
}

void LoopBuilder::forEach(ValueRange ends,
                          llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> begins(ends.size(), index(0));
  SmallVector<Value> steps(ends.size(), index(1));
  auto loop = scf::ParallelOp::create(builder, begins, ends, steps);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars());
}

SmallVector<Value> LoopBuilder::loop(
    Value begin, Value end, Value step, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, next);
  return SmallVector<Value>(loop.getResults());
}

void LoopBuilder::whileAbove(int64_t least, Value number,
                             llvm::function_ref<Value(Value)> body) {
  // The builder that regions are built with is this one.
  scf::WhileOp::create(
      builder, TypeRange(number.getType()), ValueRange(number),
      [&](OpBuilder &, Location, ValueRange carried) {
        Value isAbove = less(index(least), carried.front());
        scf::ConditionOp::create(builder, isAbove, carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::YieldOp::create(builder, body(carried.front()));
      });
}

void LoopBuilder::when(Value condition, llvm::function_ref<void()> body,
                       llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(builder, condition,
                                  /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value LoopBuilder::choose(Value condition, llvm::function_ref<Value()> chosen,
                          llvm::function_ref<Value()> otherwise) {
  return scf::IfOp::create(
             builder, condition,
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(builder, chosen());
             },
             [&](OpBuilder &, Location) {
               scf::YieldOp::create(builder, otherwise());
             })
      .getResult(0);
}

Value LoopBuilder::search(Value begin, Value end,
                          llvm::function_ref<Value(Value)> isBefore) {
  SmallVector<Value> range = {begin, end};
  auto loop = scf::WhileOp::create(
      builder, TypeRange(ValueRange(range)), range,
      [&](OpBuilder &, Location, ValueRange carried) {
        Value isOpen = less(carried.front(), carried.back());
        scf::ConditionOp::create(builder, isOpen, carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        Value low = carried.front(), high = carried.back();
        Value middle = div(add(low, high), index(2));
        Value goesOn = isBefore(middle);
        SmallVector<Value> next = {select(goesOn, add(middle, index(1)), low),
                                   select(goesOn, high, middle)};
        scf::YieldOp::create(builder, next);
      });
  return loop.getResult(0);
}
