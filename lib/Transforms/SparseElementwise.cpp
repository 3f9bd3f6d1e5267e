//===- SparseElementwise.cpp - elementwise ops that change the type -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR converts elementwise ops on tensors to linalg. Where no operand has the
// type of the result, as for extf and cmpf, it makes a destination without the
// encoding; such ops are converted here.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/SparseElementwise.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

struct ConvertSparseElementwise : RewritePattern {
  explicit ConvertSparseElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isSparse(op->getResult(0).getType()) ||
        !OpTrait::hasElementwiseMappableTraits(op) ||
        llvm::is_contained(op->getOperandTypes(), op->getResult(0).getType()))
      return failure();
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<AffineMap> maps(op->getNumOperands() + 1, identity);
    Value init =
        createEmptyOfType(rewriter, loc, type, op->getOperands().back());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, op->getOperands(), init, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange elements) {
          Operation *element = nested.create(
              loc, op->getName().getIdentifier(), elements.drop_back(),
              TypeRange{type.getElementType()}, op->getAttrs());
          linalg::YieldOp::create(nested, loc, element->getResult(0));
        });
    return success();
  }
};

} // namespace

void sparse_autograd::populateSparseElementwisePatterns(
    RewritePatternSet &patterns) {
  patterns.add<ConvertSparseElementwise>(patterns.getContext());
}
