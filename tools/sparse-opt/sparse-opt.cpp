//===- sparse-opt.cpp - run passes on MLIR files --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Tools/CommandLine.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef SPARSE_AUTOGRAD_INCLUDE_TESTS
namespace sparse_autograd::test {
void registerAnalysisPasses();
void registerTransformsPasses();
} // namespace sparse_autograd::test
#endif

int main(int argc, char **argv) {
  sparse_autograd::Tool tool(
      argc, argv,
      "sparse-opt runs passes on an MLIR file; --sparse-autograd is the whole "
      "pipeline, and its options are listed with it",
      "sparse-opt --sparse-autograd=\"compile-to=differentiate "
      "prove-sparsity=false\" examples/masked-mean.mlir",
      sparse_autograd::Tool::Others::Hide);
  mlir::registerAllPasses();
  sparse_autograd::registerAllPasses();
#ifdef SPARSE_AUTOGRAD_INCLUDE_TESTS
  sparse_autograd::test::registerAnalysisPasses();
  sparse_autograd::test::registerTransformsPasses();
#endif
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Optimizer driver of sparse-autograd\n", registry));
}
