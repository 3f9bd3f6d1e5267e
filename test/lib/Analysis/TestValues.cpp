//===- TestValues.cpp - print what is known of values ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses of single values and ops. Tests tag the ops that a line is about.
//
//===----------------------------------------------------------------------===//

#include "TestAnalyses.h"

#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/ComparedValues.h"
#include "SparseAutograd/Analysis/FloatRange.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Analysis/ResidualCost.h"
#include "SparseAutograd/Analysis/ResidualPlan.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Analysis/ThresholdSelect.h"

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::test;

LogicalResult sparse_autograd::test::printArithmeticCost(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    llvm::outs() << tag << ": " << getArithmeticCost(*op);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      llvm::outs() << ", body " << getBodyCost(structured);
    llvm::outs() << "\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printComparedValues(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    ComparedValues compared(&function.getBody());
    forEachTagged(function, [&](Operation *op, StringRef tag) {
      llvm::outs() << tag << ": "
                   << (compared.contains(op) ? "compared" : "not compared")
                   << (compared.isOnce(op) ? ", once" : "") << "\n";
    });
  }
  return success();
}

LogicalResult sparse_autograd::test::printFloatRange(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    FloatRange range = getFloatRange(op->getResult(0));
    llvm::outs() << tag << ": [" << range.low << ", " << range.high
                 << "], magnitude " << range.getMagnitude() << "\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printReadValues(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    llvm::outs() << tag << ":";
    for (Value value : getReadValues(op))
      llvm::outs() << " " << getName(value);
    int64_t count = 0;
    forEachReadValue(op, [&](Value) { ++count; });
    llvm::outs() << ", in " << count << " places\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printResidualCost(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    llvm::outs() << tag << ": ";
    if (std::optional<int64_t> cost = estimateCost(op))
      llvm::outs() << *cost << " additions";
    else
      llvm::outs() << "must be executed once";
    for (Type type : op->getResultTypes())
      llvm::outs() << ", " << estimateBytes(type) << " bytes";
    llvm::outs() << "\n";
  });
  return success();
}

/// What is kept and computed again if a function returns all that is needed of
/// it, at the cost of a byte that its attribute `cost` says.
LogicalResult sparse_autograd::test::printResidualPlan(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    ResidualPlan plan(&function.getBody());
    for (Value argument : function.getArguments())
      plan.addInput(argument, estimateBytes(argument.getType()));
    Block &body = function.getBody().front();
    for (Operation &op : body.without_terminator())
      plan.addOperation(&op, [](Value value) -> std::optional<int64_t> {
        return estimateBytes(value.getType());
      });
    for (Value value : body.getTerminator()->getOperands())
      plan.need(value);
    auto cost = function->getAttrOfType<IntegerAttr>("cost");
    plan.choose(cost ? cost.getInt() : costOfKeptByte);
    llvm::outs() << "@" << function.getSymName() << ": " << plan.getSize()
                 << " bytes, kept";
    for (Value value : plan.getKept())
      llvm::outs() << " " << getName(value);
    llvm::outs() << ", again";
    for (Operation *op : plan.getRecomputed())
      llvm::outs() << " " << getName(op->getResult(0));
    llvm::outs() << "\n";
  }
  return success();
}

LogicalResult sparse_autograd::test::printShapeOrigin(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    llvm::outs() << tag << ":";
    if (choosesTensor(op))
      llvm::outs() << " chooses,";
    Value value = op->getResult(0);
    Value origin = getOperandOfSameShape(value);
    llvm::outs() << " like " << (origin ? getName(origin) : "none");
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      llvm::outs() << ", extents";
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        std::optional<int64_t> extent = getConstantExtent(value, dim);
        llvm::outs() << " " << (extent ? std::to_string(*extent) : "?");
      }
      auto function = op->getParentOfType<func::FuncOp>();
      for (Value argument : function.getArguments())
        if (argument.getType() == value.getType() &&
            haveSameShape(value, argument))
          llvm::outs() << ", as " << getName(argument);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      llvm::outs() << ", extent 0 "
                   << (keepsExtent(loop, cast<OpResult>(value), 0)
                           ? "kept"
                           : "not kept");
    llvm::outs() << "\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printThresholdSelect(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    auto comparison = getToldComparison(op->getResult(0));
    llvm::outs() << tag << ": "
                 << (comparison ? getName(comparison.getResult()) : "none")
                 << "\n";
  });
  return success();
}
