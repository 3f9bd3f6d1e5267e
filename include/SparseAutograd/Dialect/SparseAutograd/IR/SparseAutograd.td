//===- SparseAutograd.td - the whole dialect ---------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has all of it at once: the parser and printer of attributes, and the
// reference. Few files need the classes of schedules or of the ops of 2:4
// storage, so each have a header of their own.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD

include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradPackingOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradSchedule.td"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_TD
