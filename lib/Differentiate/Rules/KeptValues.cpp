//===- KeptValues.cpp - what regions keep for their transposes ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptValues.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Analysis/ResidualCost.h"
#include "SparseAutograd/Analysis/ResidualPlan.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::getOuterPattern(Operation *op, Value value,
                                       SparsePatterns &patterns) {
  Value origin = patterns.originOf(value);
  return op->isAncestor(origin.getParentBlock()->getParentOp()) ? Value()
                                                                : origin;
}

Value sparse_autograd::createStoredValues(OpBuilder &builder, Location loc,
                                          Value value) {
  auto type = RankedTensorType::get({ShapedType::kDynamic},
                                    getElementTypeOrSelf(value.getType()));
  return StoredValuesOp::create(builder, loc, type, value);
}

bool sparse_autograd::canBeKept(Operation *op, Value value,
                                SparsePatterns &patterns) {
  if (isSparse(value.getType()))
    return static_cast<bool>(getOuterPattern(op, value, patterns));
  return isa<RankedTensorType>(value.getType())
             ? hasOuterShape(op, value)
             : value.getType().isIntOrIndexOrFloat();
}

/// Plans for `ops`, which are the tangent's or compute what it needs. `sizeOf`
/// says what it takes to keep a value of the latter.
static void fillPlan(ResidualPlan &plan, ArrayRef<Operation *> ops,
                     ValueRange inputs, ArrayRef<CarriedValue> carried,
                     const Linearizer &linearizer,
                     llvm::function_ref<std::optional<int64_t>(Value)> sizeOf) {
  for (const CarriedValue &value : carried)
    plan.addInput(value.counterpart,
                  estimateBytes(value.counterpart.getType()));
  llvm::DenseSet<Value> linear(llvm::from_range, inputs);
  auto isLinear = [&](Value value) {
    return linear.contains(value) || linearizer.isTangent(value);
  };
  for (Operation *op : ops) {
    llvm::SetVector<Value> used = getReadValues(op);
    if (!op->hasTrait<OpTrait::IsTerminator>() &&
        llvm::none_of(used, isLinear)) {
      plan.addOperation(op, sizeOf);
      continue;
    }
    for (Value result : op->getResults())
      if (isDifferentiableType(result.getType()))
        linear.insert(result);
    for (Value value : used)
      if (!isLinear(value))
        plan.need(value);
  }
  plan.choose(costOfKeptByte);
}

SmallVector<KeptValue> sparse_autograd::chooseKeptValues(
    Block &primal, Block &tangent, ValueRange inputs,
    ArrayRef<CarriedValue> carried, const Linearizer &linearizer,
    bool readsPrimal) {
  // An op of the tangent may have been replaced since it was cloned: what they
  // stand for tells which values are the same.
  llvm::DenseMap<Value, Value> byOrigin;
  for (Operation &op : primal)
    for (Value result : op.getResults())
      byOrigin[linearizer.originOf(result)] = result;
  auto getPrimal = [&](Value value) {
    return byOrigin.lookup(linearizer.originOf(value));
  };

  // What is yielded for a carried value that is kept is kept with it.
  llvm::DenseSet<Value> keptAnyway;
  SparsePatterns patterns;
  auto sizeOf = [&](Value value) -> std::optional<int64_t> {
    Value counterpart = getPrimal(value);
    if (!counterpart || !canBeKept(primal.getParentOp(), counterpart, patterns))
      return std::nullopt;
    return keptAnyway.contains(counterpart) ? 0
                                            : estimateBytes(value.getType());
  };
  SmallVector<Operation *> ops;
  SmallVector<Region *> regions;
  if (readsPrimal) {
    for (Operation &op : primal.without_terminator())
      ops.push_back(&op);
    regions.push_back(primal.getParent());
  }
  for (Operation &op : tangent)
    ops.push_back(&op);
  regions.push_back(tangent.getParent());
  auto makePlan = [&] {
    ResidualPlan plan(regions);
    fillPlan(plan, ops, inputs, carried, linearizer, sizeOf);
    return plan;
  };
  ResidualPlan plan = makePlan();
  for (const CarriedValue &value : carried)
    if (plan.keeps(value.counterpart))
      keptAnyway.insert(value.yielded);
  if (!keptAnyway.empty())
    plan = makePlan();
  if (auto function =
          tangent.getParentOp()->getParentOfType<FunctionOpInterface>())
    plan.remark(function.getName());

  SmallVector<KeptValue> kept;
  for (Value value : plan.getKept()) {
    const auto *argument =
        llvm::find_if(carried, [&](const CarriedValue &candidate) {
          return candidate.counterpart == value;
        });
    kept.push_back(
        {argument != carried.end() ? argument->argument : getPrimal(value),
         value});
  }
  return kept;
}

void sparse_autograd::separate(Block &primal, Block &tangent, IRMapping kept,
                               OpBuilder &builder, Linearizer &linearizer) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist;
  auto need = [&](Value value) {
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (op && op->getBlock() == &primal && !kept.contains(value) &&
        needed.insert(op).second)
      worklist.push_back(op);
  };
  // Values of `tangent` whose shape is that of a value of `primal`.
  SmallVector<Value> shaped;
  auto addShape = [&](Value value) {
    Value like = linearizer.shapeOf(value);
    if (!like || like.getParentBlock() != &primal)
      return;
    shaped.push_back(value);
    need(like);
  };
  tangent.walk([&](Operation *op) {
    llvm::for_each(op->getOperands(), need);
    llvm::for_each(op->getResults(), addShape);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), addShape);
  });
  while (!worklist.empty())
    forEachReadValue(worklist.pop_back_val(), need);

  for (Operation &op : primal)
    if (needed.contains(&op))
      builder.clone(op, kept);
  tangent.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(kept.lookupOrDefault(operand.get()));
  });
  for (Value value : shaped)
    linearizer.replaceShape(value, kept.lookup(linearizer.shapeOf(value)));
}
