//===- sparse-lsp-server.cpp - what an editor asks about MLIR files -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Tools/CommandLine.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  sparse_autograd::Tool tool(
      argc, argv,
      "sparse-lsp-server answers an editor, which starts it, by the Language "
      "Server Protocol on the standard streams",
      "sparse-lsp-server", sparse_autograd::Tool::Others::Hide);
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
