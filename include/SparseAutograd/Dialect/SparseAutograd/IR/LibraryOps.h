//===- LibraryOps.h - offers to a library of the device ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of SparseAutogradLibraryOps.td. Apart from SparseAutograd.h, since
// only the passes that make, place and lower them know them.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_LIBRARYOPS_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_LIBRARYOPS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradLibraryOps.h.inc"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_LIBRARYOPS_H
