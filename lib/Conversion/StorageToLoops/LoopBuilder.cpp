//===- LoopBuilder.cpp - loops on buffers of indices ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"

#include "../BinarySearch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

MemRefType sparse_autograd::getBufferType(Type element, int64_t width) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  if (width)
    shape.push_back(width);
  return MemRefType::get(shape, element);
}

Value LoopBuilder::precedes(ValueRange a, ValueRange b, Value ifEqual) {
  Value precedes = ifEqual;
  // From the last one on: what comes before it decides.
  for (auto [own, other] : llvm::reverse(llvm::zip_equal(a, b)))
    precedes = bitOr(less(own, other), bitAnd(equal(own, other), precedes));
  return precedes;
}

Value LoopBuilder::countBits(Value number) {
  Type i64 = builder.getI64Type();
  Value word = arith::IndexCastOp::create(builder, i64, number);
  Value zeros = math::CountLeadingZerosOp::create(builder, word);
  Value bits = arith::ConstantIntOp::create(builder, i64, 64);
  return arith::IndexCastOp::create(builder, builder.getIndexType(),
                                    sub(bits, zeros));
}

SmallVector<Value> LoopBuilder::loadRow(Value buffer, Value row,
                                        int64_t width) {
  SmallVector<Value> elements;
  for (int64_t column = 0; column < width; ++column)
    elements.push_back(load(buffer, {row, index(column)}));
  return elements;
}

Value LoopBuilder::allocate(Value length, int64_t width) {
  return memref::AllocOp::create(
      builder, getBufferType(builder.getIndexType(), width), length);
}

SmallVector<Value> LoopBuilder::readFirstRow(Value buffer, int64_t width) {
  SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1),
                                     builder.getIndexAttr(width)};
  auto type = memref::SubViewOp::inferRankReducedResultType(
      {width}, cast<MemRefType>(buffer.getType()), offsets, sizes, strides);
  Value row =
      memref::SubViewOp::create(builder, type, buffer, offsets, sizes, strides);
  Value onHost = memref::AllocaOp::create(
      builder, MemRefType::get({width}, builder.getIndexType()));
  memref::CopyOp::create(builder, row, onHost);
  SmallVector<Value> elements;
  for (int64_t place = 0; place < width; ++place)
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
  return createBinarySearch(
      builder, builder.getLoc(), begin, end,
      [&](OpBuilder &, Value place) { return isBefore(place); });
}
