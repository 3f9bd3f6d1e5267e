//===- RemoveBarriers.cpp - barriers are identities in the end ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseAutogradToLinalg/SparseAutogradToLinalg.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_REMOVEBARRIERS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct RemoveBarriersPass
    : sparse_autograd::impl::RemoveBarriersBase<RemoveBarriersPass> {
  void runOnOperation() override {
    getOperation()->walk([](BarrierOp op) {
      op->replaceAllUsesWith(op.getInputs());
      op->erase();
    });
  }
};
} // namespace
