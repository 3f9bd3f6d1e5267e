//===- consumer.cpp - use the installed dialect from outside --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

static constexpr const char *source = R"mlir(
func.func @mean(%x: tensor<8xf32>, %m: tensor<8xi1>) -> tensor<f32> {
  %0 = sparse_autograd.masked_reduce mean %x, %m dims = [0]
         : tensor<8xf32>, tensor<8xi1> -> tensor<f32>
  return %0 : tensor<f32>
}
)mlir";

int main() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect,
                      sparse_autograd::SparseAutogradDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  if (!module)
    return 1;
  module->print(llvm::outs());
  return 0;
}
