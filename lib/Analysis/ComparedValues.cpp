//===- ComparedValues.cpp - what must be computed once --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ComparedValues.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::isEqualityComparison(arith::CmpFOp op) {
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UEQ:
  case arith::CmpFPredicate::UNE:
    return true;
  default:
    return false;
  }
}

ComparedValues::ComparedValues(ArrayRef<Region *> program) {
  SmallVector<Operation *> worklist;
  auto collect = [&](arith::CmpFOp op) {
    // What a constant is compared with is on one side alone.
    if (!isEqualityComparison(op) || matchPattern(op.getLhs(), m_Constant()) ||
        matchPattern(op.getRhs(), m_Constant()))
      return;
    // The op of the program that the comparison stands in.
    Operation *outer = op;
    while (true) {
      if (compared.insert(outer).second)
        worklist.push_back(outer);
      if (llvm::is_contained(program, outer->getParentRegion()))
        break;
      outer = outer->getParentOp();
    }
  };
  for (Region *region : program)
    region->walk(collect);
  auto contains = [&](Operation *op) {
    return llvm::none_of(
        program, [&](Region *region) { return region->getParentOp() == op; });
  };
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    auto add = [&](Operation *source) {
      if (source && contains(source) && compared.insert(source).second)
        worklist.push_back(source);
    };
    forEachReadValue(op, [&](Value value) {
      // A loop carries on what it yields.
      add(isa<BlockArgument>(value) ? value.getParentBlock()->getParentOp()
                                    : value.getDefiningOp());
    });
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand.getDefiningOp());
    });
  }
}

/// Whether `op` rounds to f16 or bf16. Inside of a loop its result may go on as
/// it was before.
static bool roundsToNarrowFloat(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp>(op) ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()))
    return false;
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  });
}

/// Whether the same operands give the same bits wherever `op`, without its
/// regions, is computed. Of operations of others nothing is known.
static bool isReproducible(Operation *op) {
  if (roundsToNarrowFloat(op))
    return false;
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::FloorOp, math::FmaOp, math::RoundOp, math::RoundEvenOp,
          math::SqrtOp, math::TruncOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect, linalg::LinalgDialect,
                         scf::SCFDialect, tensor::TensorDialect>(
      op->getDialect());
}

bool ComparedValues::isOnce(Operation *op) const {
  if (!compared.contains(op))
    return false;
  WalkResult result = op->walk([](Operation *inner) {
    // The order of a sum depends on the loops that it is computed in.
    auto structured = dyn_cast<linalg::LinalgOp>(inner);
    bool isSame = isReproducible(inner) &&
                  !(structured && structured.getNumReductionLoops() != 0);
    return isSame ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}
