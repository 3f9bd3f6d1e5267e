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
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

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

/// Whether `op`, or a function that it calls, makes a float of the bits of an
/// integer.
static bool makesFloatOfBits(Operation *op) {
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

/// A float that is computed of one of the inputs, whose bits `op` makes a float
/// of; null if there is none.
static Value findFloatOfBits(Operation *op, ArrayRef<Value> inputs) {
  // Values whose bits or derivatives reach `op`, and the float whose bits are
  // read on that way; null as long as there is none.
  llvm::MapVector<Value, Value> reached;
  auto follow = [&](Operation *definition, ValueRange values, Value from,
                    Value source) {
    // A number that is rounded or compared is another thing than its bits.
    bool readsBits = definition && readsBitsOfFloat(definition);
    bool readsFloats = holdsFloats(from) || readsBits;
    bool readsIntegers =
        holdsIntegers(from) || (definition && makesFloatOfBits(definition));
    for (Value value : values)
      if (holdsFloats(value) ? readsFloats
                             : readsIntegers && holdsIntegers(value))
        reached.insert(
            {value, holdsFloats(value) && readsBits ? value : source});
  };
  for (Value operand : op->getOperands())
    if (holdsIntegers(operand))
      reached.insert({operand, Value()});
  for (unsigned index = 0; index < reached.size(); ++index) {
    auto [value, source] = *(reached.begin() + index);
    if (source && llvm::is_contained(inputs, value))
      return source;
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getNumRegions() != 0)
      forEachSource(value, [&](Value read) {
        follow(/*definition=*/nullptr, read, value, source);
      });
    else if (!isa<StopGradientOp>(definition))
      follow(definition, definition->getOperands(), value, source);
  }
  return {};
}

/// Whether a result of the function depends on what `op` computes, other than
/// by a stop_gradient.
static bool isNeeded(Operation *op, const ActivityAnalysis &activity) {
  if (llvm::all_of(op->getUsers(), llvm::IsaPred<StopGradientOp>))
    return false;
  // The ops of a region that is differentiated as a whole count as it does.
  while (llvm::none_of(op->getResults(),
                       [&](Value result) { return activity.isKnown(result); }))
    if (!(op = op->getParentOp()))
      return false;
  return llvm::any_of(op->getResults(),
                      [&](Value result) { return activity.isUseful(result); });
}

LogicalResult
sparse_autograd::checkFloatBits(Region &region, ArrayRef<Value> inputs,
                                const ActivityAnalysis &activity) {
  WalkResult walked = region.walk([&](Operation *op) {
    if (!makesFloatOfBits(op) || !isNeeded(op, activity))
      return WalkResult::advance();
    Value source = findFloatOfBits(op, inputs);
    if (!source)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic = op->emitOpError(
        "makes a float of the bits of one that is being differentiated, which "
        "have no derivative; convert values with extf, truncf or sitofp, or "
        "read the bits of a sparse_autograd.stop_gradient of it");
    diagnostic.attachNote(source.getLoc()) << "of the bits of this float";
    activity.attachPath(diagnostic, source);
    return WalkResult::interrupt();
  });
  return success(!walked.wasInterrupted());
}
