//===- TestAnalyses.cpp - print analyses of lib/Analysis ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestAnalyses.h"

using namespace sparse_autograd::test;

static constexpr TestPass passes[] = {
    {"added-density", "Print added-density", printAddedDensity},
    {"arithmetic-cost", "Print arithmetic-cost", printArithmeticCost},
    {"compared-values", "Print compared-values", printComparedValues},
    {"dimension-origins", "Print dimension-origins", printDimensionOrigins},
    {"float-range", "Print float-range", printFloatRange},
    {"gradient-bound", "Print gradient-bound", printGradientBound},
    {"gradient-density", "Print gradient-density", printGradientDensity},
    {"memory-bound", "Print memory-bound", printMemoryBound},
    {"read-values", "Print read-values", printReadValues},
    {"residual-cost", "Print residual-cost", printResidualCost},
    {"residual-plan", "Print residual-plan", printResidualPlan},
    {"scalar-terms", "Print scalar-terms", printScalarTerms},
    {"shape-origin", "Print shape-origin", printShapeOrigin},
    {"sparse-iteration", "Print sparse-iteration", printSparseIteration},
    {"sparse-patterns", "Print sparse-patterns", printSparsePatterns},
    {"support-analysis", "Print support-analysis", printSupports},
    {"threshold-select", "Print threshold-select", printThresholdSelect},
};

void sparse_autograd::test::registerAnalysisPasses() {
  for (const TestPass &pass : passes)
    registerTestPass(pass);
  registerTestContractionsPass();
}
