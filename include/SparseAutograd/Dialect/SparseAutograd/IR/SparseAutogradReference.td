//===- SparseAutogradReference.td - all ops, for the reference *- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops whose classes are generated apart, together: docs/reference/Dialect.md
// is made of this file.
//
//===----------------------------------------------------------------------===//

include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradPackingOps.td"
