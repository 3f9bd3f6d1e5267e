//===- TestContractions.cpp - print the contractions of a module ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A line for each contraction, with its loops, its body, and what each strategy
// of the target says of it; called by tests of the analyses.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "TestAnalyses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace sparse_autograd;

static void printLoops(StringRef kind, ArrayRef<unsigned> loops,
                       ArrayRef<int64_t> extents) {
  if (loops.empty())
    return;
  llvm::outs() << " " << kind << " [";
  llvm::interleaveComma(loops, llvm::outs(), [&](unsigned loop) {
    if (ShapedType::isDynamic(extents[loop]))
      llvm::outs() << "?";
    else
      llvm::outs() << extents[loop];
  });
  llvm::outs() << "]";
}

static void print(const Contraction &contraction, bool forDevice) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  llvm::outs() << "  contraction";
  printLoops("batch", contraction.dims.batch, extents);
  printLoops("m", contraction.dims.m, extents);
  printLoops("n", contraction.dims.n, extents);
  printLoops("k", contraction.dims.k, extents);
  llvm::outs() << ": " << contraction.getResultType()
               << (contraction.isDifference ? " -= " : " += ");
  if (contraction.scale)
    llvm::outs() << "scale * ";
  for (OpOperand *weight : contraction.weights)
    llvm::outs() << contraction.getFactorType(weight) << " weight * ";
  llvm::outs() << contraction.getFactorType(contraction.left) << " * "
               << contraction.getFactorType(contraction.right) << " in "
               << contraction.productType << ", added in "
               << contraction.sumType
               << (contraction.narrows ? ", narrowed" : "") << "\n";
  for (const ContractionStrategy *strategy :
       getContractionStrategies(forDevice)) {
    std::string reason = strategy->decline(contraction);
    llvm::outs() << "    " << strategy->name << ": "
                 << (reason.empty() ? "yes" : "no, " + reason) << "\n";
  }
}

namespace {
struct TestContractionsPass
    : PassWrapper<TestContractionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestContractionsPass)

  TestContractionsPass() = default;
  TestContractionsPass(const TestContractionsPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override {
    return "test-sparse-autograd-contractions";
  }
  StringRef getDescription() const override {
    return "Print the contractions of each function, and what strategies of "
           "the target take them";
  }

  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        llvm::outs() << "@" << function.getSymName() << "\n";
      if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        if (std::optional<Contraction> contraction =
                matchContraction(structured))
          print(*contraction, forDevice);
    });
    markAllAnalysesPreserved();
  }

  Option<bool> forDevice{*this, "for-device",
                         llvm::cl::desc("Strategies of a device"),
                         llvm::cl::init(false)};
};
} // namespace

void sparse_autograd::test::registerTestContractionsPass() {
  PassRegistration<TestContractionsPass>();
}
