//===- BoundMemoryPass.cpp - state what functions allocate ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/MemoryBound.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/FormatSelection/Passes.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_BOUNDMEMORY
#include "SparseAutograd/FormatSelection/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct BoundMemoryPass
    : sparse_autograd::impl::BoundMemoryBase<BoundMemoryPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration() || !function.isPublic() ||
          llvm::none_of(function.getArgumentTypes(), isSparse))
        continue;
      if (std::optional<std::string> bytes =
              MemoryBound(function, symbols).compute())
        function->setAttr(SparseAutogradDialect::getMemoryBoundAttrName(),
                          StringAttr::get(&getContext(), *bytes));
    }
  }
};
} // namespace
