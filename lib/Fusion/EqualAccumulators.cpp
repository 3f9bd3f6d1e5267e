//===- EqualAccumulators.cpp - count once what is counted twice -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A masked mean counts the selected elements, and so does its derivative. Once
// both counts are results of one operation they start from the same value and
// are combined in the same way: they are equal after every iteration.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sparse_autograd {

/// Whether `first` and `second`, values of one body, are equal if `assumed`,
/// two of its arguments, are.
static bool areEqual(Value first, Value second, std::pair<Value, Value> assumed,
                     unsigned depth = 0) {
  // Combiners are short.
  constexpr unsigned maxDepth = 16;
  if (first == second || std::pair(first, second) == assumed)
    return true;
  Operation *lhs = first.getDefiningOp(), *rhs = second.getDefiningOp();
  if (!lhs || !rhs || depth > maxDepth || lhs->getBlock() != rhs->getBlock() ||
      lhs->getNumResults() != 1 || !isMemoryEffectFree(lhs))
    return false;
  return OperationEquivalence::isEquivalentTo(
      lhs, rhs,
      [&](Value a, Value b) {
        return success(areEqual(a, b, assumed, depth + 1));
      },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

namespace {

/// Uses the first of two equal accumulators for both. The second is then not
/// read and its result not used; other patterns drop it.
struct MergeEqualAccumulators : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    MutableArrayRef<OpOperand> inits = op.getDpsInitsMutable();
    ArrayRef<BlockArgument> accumulators = op.getRegionOutputArgs();
    ValueRange yielded = op.getBody()->getTerminator()->getOperands();
    for (unsigned second = 1; second < inits.size(); ++second) {
      if (accumulators[second].use_empty())
        continue;
      for (unsigned first = 0; first < second; ++first) {
        if (inits[first].get() != inits[second].get() ||
            op.getMatchingIndexingMap(&inits[first]) !=
                op.getMatchingIndexingMap(&inits[second]) ||
            !areEqual(yielded[first], yielded[second],
                      {accumulators[first], accumulators[second]}))
          continue;
        rewriter.modifyOpInPlace(op, [&] {
          rewriter.replaceAllUsesWith(accumulators[second],
                                      accumulators[first]);
          rewriter.replaceAllUsesWith(op.getResult(second),
                                      op.getResult(first));
        });
        return success();
      }
    }
    return failure();
  }
};

} // namespace

void populateMergeEqualAccumulatorsPatterns(RewritePatternSet &patterns) {
  patterns.add<MergeEqualAccumulators>(patterns.getContext());
}

} // namespace sparse_autograd
