//===- ResidualPlan.cpp - what a backward part keeps ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ResidualPlan.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Analysis/ResidualCost.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sparse_autograd;

/// More than whatever else an op costs.
static constexpr int64_t costOfLastResort = int64_t(1) << 40;

std::optional<int64_t> ResidualPlan::getCost(Operation *op) const {
  return compared.isOnce(op) ? std::nullopt : estimateCost(op);
}

void ResidualPlan::addInput(Value value, int64_t size) {
  numbers[value] = graph.addInput(size);
  values.push_back(value);
  inputs.insert(value);
}

void ResidualPlan::addOperation(
    Operation *op, llvm::function_ref<std::optional<int64_t>(Value)> sizeOf) {
  SmallVector<ResidualGraph::Index> operands;
  for (Value value : getReadValues(op))
    if (auto known = numbers.find(value); known != numbers.end())
      operands.push_back(known->second);
  SmallVector<std::optional<int64_t>> sizes;
  for (Value result : op->getResults())
    sizes.push_back(sizeOf(result));
  std::optional<int64_t> cost = getCost(op);
  // Computed twice all the same if it cannot be kept.
  if (!cost && llvm::is_contained(sizes, std::nullopt))
    cost = costOfLastResort;
  ResidualGraph::Index number = graph.addOperation(cost, operands);
  operations.push_back(op);
  for (auto [result, size] : llvm::zip_equal(op->getResults(), sizes)) {
    numbers[result] = graph.addResult(number, size);
    values.push_back(result);
  }
}

void ResidualPlan::need(Value value) {
  if (auto known = numbers.find(value); known != numbers.end())
    graph.need(known->second);
}

bool ResidualPlan::keeps(Value value) const {
  auto known = numbers.find(value);
  return known != numbers.end() && plan.kept.test(known->second);
}

SmallVector<Value> ResidualPlan::getKept() const {
  SmallVector<Value> kept;
  for (unsigned index : plan.kept.set_bits())
    kept.push_back(values[index]);
  return kept;
}

SmallVector<Operation *> ResidualPlan::getRecomputed() const {
  SmallVector<Operation *> recomputed;
  for (unsigned index : plan.recomputed.set_bits())
    recomputed.push_back(operations[index]);
  return recomputed;
}

void ResidualPlan::remark(StringRef function) const {
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name)
        .category(residualRemarkCategory)
        .function(function);
  };
  auto describe = [](Operation *op) {
    return ("the result of '" + op->getName().getStringRef() + "'").str();
  };
  for (Value value : getKept()) {
    Operation *op = value.getDefiningOp();
    std::string what;
    if (inputs.contains(value))
      what = "an argument is kept: nothing computes it";
    else if (getCost(op))
      what = describe(op) +
             " is kept: computing it again, and what that needs, costs more";
    else
      what = describe(op) + " is kept: it must not be computed twice";
    remark::passed(value.getLoc(), options("kept"))
        << what << remark::metric("Bytes", estimateBytes(value.getType()));
  }
  for (Operation *op : getRecomputed()) {
    std::optional<int64_t> cost = getCost(op);
    // What costs nothing is not worth a word.
    if (cost && *cost != 0)
      remark::passed(op->getLoc(), options("recomputed"))
          << describe(op) + " is computed again: keeping it costs more"
          << remark::metric("Cost", *cost);
  }
}
