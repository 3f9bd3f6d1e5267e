//===- CastsToAssertions.cpp - what casts claim ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include "ProvedAssertions.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CASTSTOASSERTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Whether the type of `op` says an extent that nothing proves.
static bool claims(tensor::CastOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!from || !to)
    return static_cast<bool>(to);
  return llvm::any_of(llvm::seq(to.getRank()), [&](int64_t dim) {
    return from.isDynamicDim(dim) && !to.isDynamicDim(dim) &&
           getConstantExtent(op.getSource(), dim) != to.getDimSize(dim);
  });
}

namespace {
struct CastsToAssertionsPass
    : sparse_autograd::impl::CastsToAssertionsBase<CastsToAssertionsPass> {
  void runOnOperation() override {
    SmallVector<tensor::CastOp> casts;
    getOperation()->walk([&](tensor::CastOp op) {
      if (claims(op))
        casts.push_back(op);
    });
    if (casts.empty())
      return;
    for (tensor::CastOp op : casts)
      assertVerified(op);
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    useAssertions(getOperation());
  }
};
} // namespace
