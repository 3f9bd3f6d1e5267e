//===- FuncToEntries.h - functions to C entries -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_FUNCTOENTRIES_H
#define SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_FUNCTOENTRIES_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

/// The module attribute that holds the manifest as a string of JSON.
inline constexpr llvm::StringLiteral manifestAttributeName =
    SparseAutogradDialect::getManifestAttrName();

/// The constant of the compiled code that holds it, zero-terminated.
inline constexpr llvm::StringLiteral manifestSymbol =
    "sparse_autograd_manifest";

/// What the symbol of an entry begins with; the function's name follows.
inline constexpr llvm::StringLiteral entrySymbolPrefix =
    "_sparse_autograd_entry_";

/// The version of the manifest's schema.
inline constexpr int64_t manifestVersion = 2;

#define GEN_PASS_DECL_RECORDMANIFEST
#define GEN_PASS_DECL_EMITENTRIES
#include "SparseAutograd/Conversion/Passes.h.inc"
#define GEN_PASS_DECL_BOUNDMEMORY
#define GEN_PASS_REGISTRATION_BOUNDMEMORY
#define GEN_PASS_DECL_SHARERESULTS
#define GEN_PASS_REGISTRATION_SHARERESULTS
#include "SparseAutograd/Conversion/FuncToEntries/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_FUNCTOENTRIES_H
