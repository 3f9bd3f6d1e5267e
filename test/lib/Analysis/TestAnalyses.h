//===- TestAnalyses.h - print analyses of lib/Analysis -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each file of lib/Analysis, which TestAnalyses.cpp registers.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_LIB_ANALYSIS_TESTANALYSES_H
#define SPARSEAUTOGRAD_TEST_LIB_ANALYSIS_TESTANALYSES_H

#include "../TestPass.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd::test {

/// Of a pass with options of its own.
void registerTestContractionsPass();

llvm::LogicalResult printAddedDensity(mlir::ModuleOp module);
llvm::LogicalResult printArithmeticCost(mlir::ModuleOp module);
llvm::LogicalResult printComparedValues(mlir::ModuleOp module);
llvm::LogicalResult printDimensionOrigins(mlir::ModuleOp module);
llvm::LogicalResult printFloatRange(mlir::ModuleOp module);
llvm::LogicalResult printGradientBound(mlir::ModuleOp module);
llvm::LogicalResult printGradientDensity(mlir::ModuleOp module);
llvm::LogicalResult printMemoryBound(mlir::ModuleOp module);
llvm::LogicalResult printReadValues(mlir::ModuleOp module);
llvm::LogicalResult printResidualCost(mlir::ModuleOp module);
llvm::LogicalResult printResidualPlan(mlir::ModuleOp module);
llvm::LogicalResult printScalarTerms(mlir::ModuleOp module);
llvm::LogicalResult printShapeOrigin(mlir::ModuleOp module);
llvm::LogicalResult printSparseIteration(mlir::ModuleOp module);
llvm::LogicalResult printSparsePatterns(mlir::ModuleOp module);
llvm::LogicalResult printSupports(mlir::ModuleOp module);
llvm::LogicalResult printThresholdSelect(mlir::ModuleOp module);

} // namespace sparse_autograd::test

#endif // SPARSEAUTOGRAD_TEST_LIB_ANALYSIS_TESTANALYSES_H
