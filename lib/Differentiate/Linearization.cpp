//===- Linearization.cpp - the tangent of a program -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linearization.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

Value ProgramLinearizer::originOf(Value value) const {
  return origins.lookup_or(value, value);
}

bool ProgramLinearizer::isActive(Value value) const {
  // Inside the region of an op that is differentiated as a whole nothing is
  // known of activity: there every value counts.
  Value origin = originOf(value);
  return isDifferentiableType(value.getType()) &&
         (!activity.isKnown(origin) || activity.isActive(origin));
}

void ProgramLinearizer::noteClones(const IRMapping &clones) {
  for (auto [original, clone] : clones.getValueMap())
    origins[clone] = originOf(original);
}

void ProgramLinearizer::forget(Value argument) {
  Linearizer::forget(argument);
  origins.erase(argument);
}

void ProgramLinearizer::replaceTangent(Value tangent, Value replacement) {
  SmallVector<Value> primals;
  for (auto [primal, known] : tangents)
    if (known == tangent)
      primals.push_back(primal);
  for (Value primal : primals)
    setTangent(primal, replacement);
  tangent.replaceAllUsesWith(replacement);
}

LogicalResult ProgramLinearizer::linearizeBlock(Block &block) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : ops) {
    if (isReverse())
      builder.setInsertionPoint(block.getTerminator());
    else
      builder.setInsertionPointAfter(op);
    if (failed(linearizeOp(op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLinearizer::linearizeBlock(Block &block, Block &tangents) {
  assert(isReverse() && "forward mode builds behind each op");
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : ops) {
    builder.setInsertionPointToEnd(&tangents);
    if (failed(linearizeOp(op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLinearizer::linearizeBlock(Block &block, ValueRange held) {
  SmallVector<std::pair<Value, Value>> aside;
  for (Value value : held)
    if (auto it = tangents.find(value); it != tangents.end()) {
      aside.push_back(*it);
      tangents.erase(it);
    }
  LogicalResult result = linearizeBlock(block);
  for (auto [value, tangent] : aside)
    tangents[value] = tangent;
  return result;
}

/// A value with a tangent that `op` or its regions read; null if none.
static Value findOperandWithTangent(Operation *op,
                                    const Linearizer &linearizer) {
  Value found;
  forEachReadValue(op, [&](Value value) {
    if (!found && linearizer.tangent(value))
      found = value;
  });
  return found;
}

/// Whether values of `type` hold floats but have no tangents: vectors, memrefs,
/// unranked tensors, complex numbers.
static bool hidesFloats(Type type) {
  if (isDifferentiableType(type))
    return false;
  Type element = getElementTypeOrSelf(type);
  return isa<ComplexType>(element) ||
         (isa<ShapedType>(type) && isa<FloatType>(element));
}

Operation *ProgramLinearizer::findLostWrite(Operation *op) const {
  Operation *lost = nullptr;
  op->walk([&](Operation *nested) {
    if (nested->getNumResults() != 0 || nested->getNumRegions() != 0 ||
        isa<LinearizableOpInterface>(nested) || isMemoryEffectFree(nested))
      return WalkResult::advance();
    if (llvm::none_of(nested->getOperands(), [&](Value operand) {
          return tangent(operand) ||
                 !activity.pathFromInput(originOf(operand)).empty();
        }))
      return WalkResult::advance();
    lost = nested;
    return WalkResult::interrupt();
  });
  return lost;
}

LogicalResult ProgramLinearizer::linearizeOp(Operation *op) {
  Value operand = findOperandWithTangent(op, *this);
  if (!operand)
    return success();
  if (Operation *write = findLostWrite(op))
    return write->emitOpError("has side effects on a value that is being "
                              "differentiated; only programs on values are "
                              "differentiated, move it out of the function");
  auto differentiable = dyn_cast<LinearizableOpInterface>(op);
  bool isNeeded = llvm::any_of(op->getResults(),
                               [&](Value result) { return isActive(result); });
  if (!isNeeded) {
    // A value that activity does not follow might lead to a result all the
    // same: its derivative would be lost without a word.
    for (Type type : op->getResultTypes())
      if (op->getNumRegions() == 0 && hidesFloats(type))
        return op->emitOpError("computes ")
               << type
               << ", which derivatives do not follow; use floats and ranked "
                  "tensors of floats";
    // An op without results has effects only: its rule knows which are none of
    // the derivative's business.
    return differentiable && op->getNumResults() == 0 &&
                   !isa<RegionBranchOpInterface>(op)
               ? differentiable.linearize(*this)
               : success();
  }
  if (!differentiable)
    return reportMissingRule(op, operand);
  if (failed(checkFormats(op)))
    return failure();
  return differentiable.linearize(*this);
}

LogicalResult ProgramLinearizer::checkFormats(Operation *op) {
  auto differentiable = cast<LinearizableOpInterface>(op);
  Value refused;
  forEachReadValue(op, [&](Value value) {
    Value known = tangent(value);
    if (!known || isSparse(known.getType()) == isSparse(value.getType()))
      return;
    // What the ops of a region read densely is theirs to take.
    bool isNested = op->getNumRegions() != 0 && !isSparse(known.getType()) &&
                    !llvm::is_contained(op->getOperands(), value);
    if (!refused && !isNested &&
        !differentiable.takesTangentFormat(value, known.getType()))
      refused = value;
  });
  if (!refused)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  if (isSparse(refused.getType()))
    diagnostic << "has no rule for the dense gradient of a sparse tensor of "
                  "type "
               << refused.getType()
               << "; make that tensor dense with sparse_tensor.convert first, "
                  "or ask for a gradient with its pattern";
  else
    diagnostic << "makes dense the gradient of a tensor of type "
               << refused.getType() << ", which is asked for as "
               << tangent(refused).getType()
               << "; read rows with sparse_autograd.gather, outside of loops "
                  "and branches, or ask for a dense gradient";
  attachPath(diagnostic, refused);
  return diagnostic;
}

LogicalResult ProgramLinearizer::reportMissingRule(Operation *op,
                                                   Value operand) {
  InFlightDiagnostic diagnostic =
      op->emitOpError("has no derivative rule; attach an external model of "
                      "LinearizableOpInterface to it, or keep it off the "
                      "differentiated path with "
                      "sparse_autograd.stop_gradient");
  attachPath(diagnostic, operand);
  return diagnostic;
}

void ProgramLinearizer::attachPath(InFlightDiagnostic &diagnostic,
                                   Value value) {
  activity.attachPath(diagnostic, originOf(value));
}
