//===- ProveSparsityPass.cpp - prove that gradients stay sparse -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/GradientBound.h"
#include "SparseAutograd/Analysis/GradientDensity.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Passes.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PROVESPARSITYPASS
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Says how `path` makes the gradient of argument `argument` dense.
static void reportDensity(func::FuncOp derivative, unsigned argument,
                          Type gradient, const DensityPath &path) {
  auto type = cast<RankedTensorType>(gradient);
  Type dense = RankedTensorType::get(type.getShape(), type.getElementType());
  InFlightDiagnostic diagnostic =
      path.entry->emitOpError("makes the gradient of a sparse tensor dense: it "
                              "is sampled from a ");
  diagnostic << dense
             << " that nothing else needs; sample what this op reads "
                "or makes with sparse_autograd.sample, select it by a mask, or "
                "ask for a gradient of type "
             << dense;
  Location last = path.entry->getLoc();
  for (Operation *op : path.uses) {
    if (op->getLoc() == last)
      continue;
    last = op->getLoc();
    diagnostic.attachNote(last) << "what comes of it goes through this op";
  }
  diagnostic.attachNote(derivative.getArgument(argument).getLoc())
      << "to the gradient of this argument";
}

namespace {
struct ProveSparsityPass
    : sparse_autograd::impl::ProveSparsityPassBase<ProveSparsityPass> {
  LogicalResult prove(func::FuncOp derivative) {
    StringRef attribute = SparseAutogradDialect::getGradientOfAttrName();
    Operation *terminator = derivative.getBody().front().getTerminator();
    SmallVector<Value> others;
    // The gradients that are tensors, and the arguments they belong to.
    SmallVector<std::pair<unsigned, unsigned>> gradients;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      auto argument =
          derivative.getResultAttrOfType<IntegerAttr>(index, attribute);
      if (argument && isa<RankedTensorType>(value.getType()))
        gradients.emplace_back(index, argument.getInt());
      if (!argument || !isSparse(value.getType()))
        others.push_back(value);
    }
    GradientDensity density(derivative, others);
    GradientBounds bounds(derivative);
    for (auto [index, argument] : gradients) {
      Value gradient = terminator->getOperand(index);
      if (isSparse(gradient.getType()))
        if (std::optional<DensityPath> path = density.find(gradient)) {
          reportDensity(derivative, argument, gradient.getType(), *path);
          return failure();
        }
      std::optional<GradientBound> bound = bounds.of(gradient, argument);
      if (!bound)
        continue;
      Builder builder(&getContext());
      derivative.setResultAttr(
          index, SparseAutogradDialect::getBoundAttrName(),
          builder.getDictionaryAttr(
              {builder.getNamedAttr("elements",
                                    builder.getStringAttr(bound->elements)),
               builder.getNamedAttr("bytes",
                                    builder.getStringAttr(bound->bytes))}));
    }
    return success();
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && failed(prove(function)))
        signalPassFailure();
  }
};
} // namespace
