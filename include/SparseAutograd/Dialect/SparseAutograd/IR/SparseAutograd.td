//===- SparseAutograd.td - the whole dialect ---------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has all attributes at once: their parser and printer, and the reference.
// Their classes are in two headers, of which few files need that of schedules.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD

include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradSchedule.td"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD
