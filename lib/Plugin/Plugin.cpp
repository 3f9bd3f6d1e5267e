//===- Plugin.cpp - the project as a plugin of mlir-opt -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library that any program with --load-dialect-plugin and
// --load-pass-plugin, such as the stock mlir-opt, can load. It registers what
// is ours alone: the program brings upstream's dialects and passes, from the
// libMLIR that both link to.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Registration.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace sparse_autograd;

static void registerDialect(mlir::DialectRegistry *registry) {
  registry->insert<SparseAutogradDialect>();
  registerDerivativeRules(*registry);
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "SparseAutograd", SPARSE_AUTOGRAD_VERSION,
          registerDialect};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "SparseAutograd", SPARSE_AUTOGRAD_VERSION,
          registerAllPasses};
}
