//===- ProveSparsityPass.cpp - prove that gradients stay sparse -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/AddedDensity.h"
#include "SparseAutograd/Analysis/GradientBound.h"
#include "SparseAutograd/Analysis/GradientDensity.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Derivative.h"
#include "SparseAutograd/Differentiate/Passes.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PROVESPARSITYPASS
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

// The ops that are reported are of the derivative, which the program does not
// have: errors do not name them.

/// Says how `path` makes the gradient of argument `argument` dense.
static void reportDensity(func::FuncOp derivative, unsigned argument,
                          Type gradient, const DensityPath &path) {
  auto type = cast<RankedTensorType>(gradient);
  Type dense = RankedTensorType::get(type.getShape(), type.getElementType());
  InFlightDiagnostic diagnostic =
      path.entry->emitError("this makes the gradient of a sparse tensor dense: "
                            "it is sampled from a ");
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

/// Says which dense tensor `derivative` adds to `program`, and why.
static void reportAddedTensor(func::FuncOp derivative, func::FuncOp program,
                              const AddedTensor &added) {
  Operation *op = added.value.getOwner();
  InFlightDiagnostic diagnostic =
      op->emitError("the derivative makes a dense ")
      << added.value.getType() << " in '" << derivative.getSymName()
      << "': no dense tensor of '" << program.getSymName()
      << "', no argument and no gradient that is asked for spans its "
         "dimensions "
      << added.first << " and " << added.second
      << ", so that it may take more memory than all of these; select by a "
         "mask, the sparse_autograd.pattern of a sparse tensor for instance, "
         "what a reduction is made of, compute what a sparse tensor is "
         "multiplied by where that stores something, with "
         "sparse_autograd.sample, or set prove-sparsity=false if there is "
         "memory for it";
  Location last = op->getLoc();
  for (Operation *next : added.chain) {
    if (next->getLoc() == last)
      continue;
    last = next->getLoc();
    diagnostic.attachNote(last) << (added.isMadeOf ? "it is made of what this "
                                                     "op makes"
                                                   : "this op reads it");
  }
  diagnostic.attachNote(added.sparse.getLoc())
      << (added.isMadeOf ? "it is made of this sparse tensor"
                         : "on the way to this sparse tensor");
}

namespace {
struct ProveSparsityPass
    : sparse_autograd::impl::ProveSparsityPassBase<ProveSparsityPass> {
  LogicalResult proveTensors(func::FuncOp derivative, SymbolTable &symbols) {
    auto name = derivative->getAttrOfType<FlatSymbolRefAttr>(
        SparseAutogradDialect::getDerivativeOfAttrName());
    auto program =
        name ? symbols.lookup<func::FuncOp>(name.getValue()) : func::FuncOp();
    if (!program || program.isDeclaration())
      return success();
    std::optional<AddedTensor> added =
        findAddedTensor(derivative, program, symbols);
    if (!added)
      return success();
    reportAddedTensor(derivative, program, *added);
    return failure();
  }

  LogicalResult proveGradients(func::FuncOp derivative) {
    // Derivatives have no unstructured control flow.
    if (!derivative.getBody().hasOneBlock())
      return success();
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
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      if (failed(proveGradients(function)) ||
          failed(proveTensors(function, symbols)))
        signalPassFailure();
    }
  }
};
} // namespace
