//===- DeferAssertions.cpp - assertions in kernels ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeferAssertions.h"

#include "../RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

/// The number where no assertion has failed: the largest.
static constexpr int64_t noFailure = -1;

/// Makes what follows `assertion` in its block depend on it. What the block
/// hands on of that does not matter where it fails: zeros.
static LogicalResult guardRest(cf::AssertOp assertion, Value cell,
                               int64_t number) {
  Location loc = assertion.getLoc();
  Block *block = assertion->getBlock();
  Operation *terminator = block->getTerminator();
  SmallVector<OpOperand *> handedOn;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Operation *definition = operand.get().getDefiningOp();
    if (!definition || definition->getBlock() != block ||
        definition->isBeforeInBlock(assertion))
      continue;
    if (!operand.get().getType().isIntOrIndexOrFloat())
      return assertion.emitOpError("is followed by a ")
             << operand.get().getType()
             << " that its block hands on, which in a kernel no other value "
                "can replace";
    handedOn.push_back(&operand);
  }
  SmallVector<Value> values;
  for (OpOperand *operand : handedOn)
    values.push_back(operand->get());

  OpBuilder builder(assertion);
  auto guard = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)),
                                 assertion.getArg(), /*withElseRegion=*/true);
  // The blocks have terminators if the op has no results.
  auto finish = [&](Block *end, ValueRange results) {
    if (results.empty())
      return;
    builder.setInsertionPointToEnd(end);
    scf::YieldOp::create(builder, loc, results);
  };
  Block *passed = guard.thenBlock(), *failed = guard.elseBlock();
  passed->getOperations().splice(passed->begin(), block->getOperations(),
                                 std::next(assertion->getIterator()),
                                 terminator->getIterator());
  finish(passed, values);

  builder.setInsertionPointToStart(failed);
  Value code =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), number);
  memref::AtomicRMWOp::create(builder, loc, arith::AtomicRMWKind::minu, code,
                              cell, ValueRange());
  SmallVector<Value> zeros;
  for (Value value : values)
    zeros.push_back(arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType())));
  finish(failed, zeros);
  for (auto [operand, result] : llvm::zip_equal(handedOn, guard.getResults()))
    operand->set(result);
  assertion.erase();
  return success();
}

/// The calls of `function` before which a tensor has been copied to the host:
/// what kernels left out there is nothing to go on with.
static SmallVector<Operation *> getReaders(func::FuncOp function) {
  SmallVector<Operation *> readers;
  function.walk([&](Block *block) {
    bool isCopied = false;
    for (Operation &op : *block) {
      if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        auto target = cast<MemRefType>(copy.getTarget().getType());
        isCopied |= isOnDevice(copy.getSource().getType()) &&
                    !isOnDevice(target) && target.getRank() != 0;
      } else if (isa<func::CallOp>(op) && isCopied) {
        readers.push_back(&op);
        isCopied = false;
      }
    }
  });
  return readers;
}

LogicalResult sparse_autograd::deferAssertions(func::FuncOp function) {
  SmallVector<cf::AssertOp> assertions;
  function.walk([&](gpu::LaunchOp launch) {
    launch.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  });
  if (assertions.empty())
    return success();
  Location loc = function.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  auto space = gpu::AddressSpaceAttr::get(function.getContext(),
                                          gpu::AddressSpace::Global);
  Type i32 = builder.getI32Type();
  Value cell = memref::AllocOp::create(
      builder, loc,
      MemRefType::get({}, i32, MemRefLayoutAttrInterface(), space));
  Value onHost =
      memref::AllocaOp::create(builder, loc, MemRefType::get({}, i32));
  Value none = arith::ConstantIntOp::create(builder, loc, i32, noFailure);
  memref::StoreOp::create(builder, loc, none, onHost);
  memref::CopyOp::create(builder, loc, onHost, cell);

  SmallVector<StringAttr> messages;
  SmallVector<Location> locations;
  for (auto [number, assertion] : llvm::enumerate(assertions)) {
    messages.push_back(assertion.getMsgAttr());
    locations.push_back(assertion.getLoc());
    if (failed(guardRest(assertion, cell, static_cast<int64_t>(number))))
      return failure();
  }
  auto createCheck = [&](Operation *before) {
    builder.setInsertionPoint(before);
    memref::CopyOp::create(builder, loc, cell, onHost);
    Value failed = memref::LoadOp::create(builder, loc, onHost);
    for (auto [number, message] : llvm::enumerate(messages)) {
      Value code = arith::ConstantIntOp::create(builder, locations[number], i32,
                                                static_cast<int64_t>(number));
      Value isOther = arith::CmpIOp::create(
          builder, locations[number], arith::CmpIPredicate::ne, failed, code);
      cf::AssertOp::create(builder, locations[number], isOther, message);
    }
  };
  for (Operation *call : getReaders(function))
    createCheck(call);
  function.walk([&](func::ReturnOp op) {
    createCheck(op);
    builder.setInsertionPoint(op);
    memref::DeallocOp::create(builder, loc, cell);
  });
  return success();
}
