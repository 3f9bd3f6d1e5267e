//===- RegisterPasses.cpp - passes and pipelines ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/Passes.h"
#include "SparseAutograd/Differentiate/Passes.h"
#include "SparseAutograd/FormatSelection/Passes.h"
#include "SparseAutograd/Fusion/Passes.h"
#include "SparseAutograd/Pipelines/Passes.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Transforms/Passes.h"

void sparse_autograd::registerAllPasses() {
  registerSparseAutogradConversionPasses();
  registerBoundMemory();
  registerShareResults();
  registerSparseAutogradDifferentiatePasses();
  registerSparseAutogradFormatSelectionPasses();
  registerSparseAutogradFusionPasses();
  registerSparseAutogradPipelinesPasses();
  registerSparseAutogradTransformsPasses();
  registerPipelines();
}
