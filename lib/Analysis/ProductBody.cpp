//===- ProductBody.cpp - what a product of matrices adds ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ProductBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

static bool isOutside(Block &block, Value value) {
  return value.getParentBlock() != &block;
}

std::optional<ScaledSum> sparse_autograd::matchScaledSum(Block &block,
                                                         Value value) {
  ScaledSum sum;
  if (auto addition = value.getDefiningOp<arith::AddFOp>()) {
    sum.base = addition.getLhs();
    sum.term = addition.getRhs();
    if (!isa<BlockArgument>(sum.base))
      std::swap(sum.base, sum.term);
  } else if (auto subtraction = value.getDefiningOp<arith::SubFOp>()) {
    sum.base = subtraction.getLhs();
    sum.term = subtraction.getRhs();
    sum.isDifference = true;
  } else {
    return std::nullopt;
  }
  if (!isa<BlockArgument>(sum.base) || isOutside(block, sum.base))
    return std::nullopt;
  if (auto product = sum.term.getDefiningOp<arith::MulFOp>())
    for (auto [scale, term] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())})
      if (isOutside(block, scale) && !isOutside(block, term)) {
        sum.scale = scale;
        sum.term = term;
        break;
      }
  return sum;
}
