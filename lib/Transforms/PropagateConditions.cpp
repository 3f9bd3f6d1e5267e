//===- PropagateConditions.cpp - conditions in their branches -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/PropagateConditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// One walk over the ops, with the branches that each is in.
class Propagation {
public:
  void visit(Region &region) {
    for (Operation &op : region.getOps()) {
      for (OpOperand &operand : op.getOpOperands())
        if (auto branch = branches.find(operand.get());
            branch != branches.end())
          operand.set(branch->second.getConstant(operand.get()));
      auto choice = dyn_cast<scf::IfOp>(op);
      if (choice && !matchPattern(choice.getCondition(), m_Constant())) {
        visitBranch(choice.getThenRegion(), choice.getCondition(), true);
        visitBranch(choice.getElseRegion(), choice.getCondition(), false);
        continue;
      }
      for (Region &nested : op.getRegions())
        visit(nested);
    }
  }

private:
  /// A branch, in which a condition has one value.
  struct Branch {
    Region *region;
    bool isTaken;
    Value constant;

    /// Made for the first reader.
    Value getConstant(Value condition) {
      if (!constant) {
        auto builder = OpBuilder::atBlockBegin(&region->front());
        constant = arith::ConstantOp::create(builder, condition.getLoc(),
                                             builder.getBoolAttr(isTaken));
      }
      return constant;
    }
  };

  void visitBranch(Region &region, Value condition, bool isTaken) {
    branches[condition] = {&region, isTaken, Value()};
    visit(region);
    branches.erase(condition);
  }

  /// Those that the op at hand is in, by their conditions.
  llvm::SmallDenseMap<Value, Branch> branches;
};
} // namespace

void sparse_autograd::propagateConditions(Operation *root) {
  for (Region &region : root->getRegions())
    Propagation().visit(region);
}
