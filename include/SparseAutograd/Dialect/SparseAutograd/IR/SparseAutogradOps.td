//===- SparseAutogradOps.td - the ops of the dialect -------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADOPS_TD

include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradReductionOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradGradientOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradDerivativeOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradLibraryOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradLoopOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradProgramOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradRowOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradSelectionOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradSparseOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradStorageOps.td"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADOPS_TD
