//===- ReductionPatterns.cpp - ways to shrink an operation ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionPatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// An operation of one result becomes an operand of its type, if the file still
/// shows the failure then. Upstream's driver cannot go back from a module that
/// does not.
struct ReplaceByOperand : RewritePattern {
  ReplaceByOperand(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1)
      return failure();
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      if (operand.getType() != op->getResult(0).getType() ||
          !isInteresting(op, index))
        continue;
      rewriter.replaceOp(op, operand);
      return success();
    }
    return failure();
  }

private:
  /// Tries it on a copy of the module.
  bool isInteresting(Operation *op, size_t operand) const {
    IRMapping copies;
    OwningOpRef<ModuleOp> module =
        cast<ModuleOp>(op->getParentOfType<ModuleOp>()->clone(copies));
    Operation *copy = copies.lookup(op);
    copy->getResult(0).replaceAllUsesWith(copy->getOperand(operand));
    copy->erase();
    return tester.isInteresting(*module).first == Tester::Interestingness::True;
  }

  const Tester &tester;
};

/// Patterns for ops of any dialect; ours brings them.
struct ReductionPatterns : DialectReductionPatternInterface {
  explicit ReductionPatterns(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}

  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ReplaceByOperand>(patterns.getContext(), tester);
  }
};
} // namespace

void sparse_autograd::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, SparseAutogradDialect *dialect) {
        dialect->addInterfaces<ReductionPatterns>();
      });
}
