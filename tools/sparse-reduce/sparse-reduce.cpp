//===- sparse-reduce.cpp - shrink a file that shows a failure -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionPatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Tools/CommandLine.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/WithColor.h"

int main(int argc, char **argv) {
  sparse_autograd::Tool tool(
      argc, argv,
      "sparse-reduce shrinks a file that shows a failure: a script says, by "
      "its status 1, whether a smaller one still shows it",
      "sparse-reduce model.mlir --reduction-tree=\"traversal-mode=0 "
      "test=./fails.sh\" -o small.mlir",
      sparse_autograd::Tool::Others::Hide);
  mlir::registerAllPasses();
  sparse_autograd::registerAllPasses();
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  sparse_autograd::registerReductionPatterns(registry);
  mlir::MLIRContext context(registry);
  // The patterns are wanted for programs without an op of ours, too.
  context.loadDialect<sparse_autograd::SparseAutogradDialect>();
  // Warnings, which nobody would see else, say why nothing was reduced.
  mlir::ScopedDiagnosticHandler handler(
      &context, [](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Warning)
          return mlir::failure();
        llvm::WithColor::warning() << diagnostic << "\n";
        return mlir::success();
      });
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
