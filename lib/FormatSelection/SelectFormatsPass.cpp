//===- SelectFormatsPass.cpp - choose how sparse tensors are stored -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/FormatSelection/Passes.h"

#include "FormatSelection.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/ExpandConversions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SELECTFORMATS
#include "SparseAutograd/FormatSelection/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

remark::RemarkOpts sparse_autograd::getRemarkOptions(StringRef name,
                                                     Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  return remark::RemarkOpts::name(name)
      .category("sparse-autograd-select-formats")
      .function(function.getSymName());
}

std::string sparse_autograd::describeOrder(
    sparse_tensor::SparseTensorEncodingAttr encoding) {
  AffineExpr outermost = encoding.getDimToLvl().getResult(0);
  return "dimension " +
         std::to_string(cast<AffineDimExpr>(outermost).getPosition()) +
         " outermost";
}

namespace {
struct SelectFormatsPass
    : sparse_autograd::impl::SelectFormatsBase<SelectFormatsPass> {
  using SelectFormatsBase::SelectFormatsBase;

  void runOnOperation() override {
    if (failed(expandConversions(getOperation())))
      return signalPassFailure();
    CostModel costs(parallel, forDevice);
    SparsityLimits limits = {minSparsity, minNnz};
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      keepSmallTensorsDense(function, limits);
      // What calls it would have to follow.
      if (users.useEmpty(function))
        chooseArgumentFormats(function, costs);
      copyToOtherOrders(function, costs);
    }
  }
};
} // namespace
