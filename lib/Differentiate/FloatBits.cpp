//===- FloatBits.cpp - floats made of the bits of floats ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBits.h"
#include "ForwardedValues.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

static bool holdsFloats(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool holdsIntegers(Value value) {
  return getElementTypeOrSelf(value.getType()).isIntOrIndex();
}

static bool isBitcast(Operation *op) {
  return isa<arith::BitcastOp, tensor::BitcastOp>(op);
}

/// The function that `op` calls, if it has a body.
static FunctionOpInterface getCallee(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return {};
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  return callee && !callee.isExternal() ? callee : FunctionOpInterface();
}

/// Whether `op` is a cast for which `isCast` holds, or calls a function with
/// one.
static bool hasCast(Operation *op, function_ref<bool(Operation *)> isCast) {
  if (isCast(op))
    return true;
  // Functions that call each other are looked at once.
  SmallVector<FunctionOpInterface> functions;
  SmallPtrSet<Operation *, 4> seen;
  auto visit = [&](Operation *user) {
    FunctionOpInterface callee = getCallee(user);
    if (callee && seen.insert(callee).second)
      functions.push_back(callee);
  };
  visit(op);
  for (unsigned index = 0; index < functions.size(); ++index) {
    WalkResult found = functions[index]->walk([&](Operation *nested) {
      visit(nested);
      return isCast(nested) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return true;
  }
  return false;
}

bool sparse_autograd::makesFloatOfBits(Operation *op) {
  return llvm::any_of(op->getOperands(), holdsIntegers) &&
         hasCast(op, [](Operation *cast) {
           return isBitcast(cast) && holdsFloats(cast->getResult(0)) &&
                  holdsIntegers(cast->getOperand(0));
         });
}

static bool readsBitsOfFloat(Operation *op) {
  return hasCast(op, [](Operation *cast) {
    return isBitcast(cast) && holdsIntegers(cast->getResult(0)) &&
           holdsFloats(cast->getOperand(0));
  });
}

/// Calls `callback` for the values of which `value`, an argument of a region or
/// a result of an op with regions, is one by control flow.
static void forEachSource(Value value, function_ref<void(Value)> callback) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    forEachForwardedValue(branch, [&](Value source, Value target) {
      if (target == value)
        callback(source);
    });
    return;
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (structured && argument) {
    if (argument.getArgNumber() < op->getNumOperands())
      callback(op->getOperand(argument.getArgNumber()));
    return;
  }
  if (structured) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    callback(structured.getBlock()->getTerminator()->getOperand(number));
    return;
  }
  // Nothing is known of what the regions of another op do.
  if (!argument)
    forEachReadValue(op, callback);
}

Value sparse_autograd::findFloatOfBits(Operation *op,
                                       function_ref<bool(Value)> isVaried) {
  SmallVector<Value> open;
  SmallPtrSet<Value, 8> seen;
  auto follow = [&](Value value) {
    if (holdsIntegers(value) && seen.insert(value).second)
      open.push_back(value);
  };
  llvm::for_each(op->getOperands(), follow);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getNumRegions() != 0) {
      forEachSource(value, follow);
      continue;
    }
    if (readsBitsOfFloat(definition))
      for (Value operand : definition->getOperands())
        if (holdsFloats(operand) && isVaried(operand))
          return operand;
    llvm::for_each(definition->getOperands(), follow);
  }
  return {};
}
