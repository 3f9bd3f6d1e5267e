//===- ProveSparsityPass.cpp - prove that gradients stay sparse -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/GradientSupport.h"
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
    SmallVector<unsigned> gradients;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      if (derivative.getResultAttr(index, attribute))
        gradients.push_back(index);
      else
        others.push_back(value);
    }
    if (gradients.empty())
      return success();
    GradientSupport support(derivative, others);
    for (unsigned index : gradients) {
      Value gradient = terminator->getOperand(index);
      if (std::optional<DensityPath> density = support.findDensity(gradient)) {
        unsigned argument =
            derivative.getResultAttrOfType<IntegerAttr>(index, attribute)
                .getInt();
        reportDensity(derivative, argument, gradient.getType(), *density);
        return failure();
      }
      std::optional<GradientBound> bound = support.getBound(gradient);
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
