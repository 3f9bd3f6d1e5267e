//===- CheckInputPass.cpp - the pass sparse-autograd-check-input ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Differentiate/Passes.h"
#include "SparseAutograd/Transforms/ExpandOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace sparse_autograd {
#define GEN_PASS_DEF_CHECKINPUT
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace sparse_autograd;

namespace {
struct CheckInputPass : sparse_autograd::impl::CheckInputBase<CheckInputPass> {
  void runOnOperation() override {
    const Dialect *dialect =
        getContext().getLoadedDialect<SparseAutogradDialect>();
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto concat = dyn_cast<tensor::ConcatOp>(op);
          concat && llvm::any_of(concat.getInputs().getTypes(), [&](Type type) {
            return isSparse(type) != isSparse(concat.getType());
          })) {
        concat.emitOpError("joins sparse and dense tensors; convert its "
                           "operands to the format of its result with "
                           "sparse_tensor.convert");
        return WalkResult::interrupt();
      }
      if (isa<linalg::PackOp, linalg::UnPackOp>(op) && changesElements(op)) {
        op->emitOpError("has a destination whose elements are not those of its "
                        "source; convert the source first");
        return WalkResult::interrupt();
      }
      StringRef hint = SparseAutogradDialect::getNnzAttrName();
      if (op->hasAttr(hint) &&
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
        op->emitOpError("has the attribute '")
            << hint
            << "', a hint on an op that makes a tensor; remove it, or give it "
               "to such an op";
        return WalkResult::interrupt();
      }
      for (NamedAttribute attribute : op->getDiscardableAttrs()) {
        StringRef name = attribute.getName();
        if (attribute.getNameDialect() != dialect || !dialect ||
            SparseAutogradDialect::isForPrograms(name))
          continue;
        if (isa<ScheduleAttr>(attribute.getValue())) {
          op->emitOpError("has the attribute '")
              << name
              << "', which the compiler states of what it has proved itself; "
                 "remove it, and write independent iterations as an op that "
                 "has "
                 "them, such as 'linalg.generic' or 'scf.forall'";
          return WalkResult::interrupt();
        }
        op->emitOpError("has the attribute '")
            << name
            << "', with which passes of the compiler mark ops; remove it: the "
               "compiler marks what it has proved itself, and "
            << SparseAutogradDialect::describeAttrsForPrograms();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
