//===- AttachCPU.cpp - the processor that a module is compiled for --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Target/TargetMachine.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_ATTACHCPU
#include "SparseAutograd/Transforms/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct AttachCPU : sparse_autograd::impl::AttachCPUBase<AttachCPU> {
  using AttachCPUBase::AttachCPUBase;

  void runOnOperation() override {
    auto machine = createHostMachine(llvm::CodeGenOptLevel::Default,
                                     getCPUArgument(cpu), features);
    if (!machine) {
      getOperation().emitError(toString(machine.takeError()));
      return signalPassFailure();
    }
    auto get = [&](StringRef text) {
      return StringAttr::get(&getContext(), text);
    };
    StringRef list = (*machine)->getTargetFeatureString();
    getOperation()->setAttr(
        LLVM::LLVMDialect::getTargetAttrName(),
        LLVM::TargetAttr::get(
            &getContext(), get((*machine)->getTargetTriple().str()),
            get((*machine)->getTargetCPU()),
            list.empty() ? LLVM::TargetFeaturesAttr()
                         : LLVM::TargetFeaturesAttr::get(&getContext(), list)));
  }
};
} // namespace
