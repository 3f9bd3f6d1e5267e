//===- Patterns.h - our own conversions to LLVM -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_PROGRAMTOLLVM_PATTERNS_H
#define SPARSEAUTOGRAD_CONVERSION_PROGRAMTOLLVM_PATTERNS_H

#include "mlir/Conversion/LLVMCommon/Pattern.h"

namespace sparse_autograd {

/// Functions of the runtime and texts that are added to a module, each once.
class RuntimeSymbols;
/// `tables` outlives them.
std::shared_ptr<RuntimeSymbols>
createRuntimeSymbols(mlir::SymbolTableCollection &tables);

/// Replaces the assertions of functions, which have no nested control flow, by
/// branches to a call of the runtime that raises an error.
llvm::LogicalResult lowerAssertions(mlir::ModuleOp module,
                                    RuntimeSymbols &symbols);

/// Adds the patterns that call the runtime (memory, log) and those of i1 in
/// memory. They take precedence over upstream's.
void populateRuntimePatterns(const mlir::LLVMTypeConverter &converter,
                             std::shared_ptr<RuntimeSymbols> symbols,
                             mlir::RewritePatternSet &patterns);

/// Adds the pattern that makes a view which splits dimensions a cast with the
/// extents that the op states. It is applied before upstream's patterns of
/// views.
void populateExpandShapePatterns(mlir::RewritePatternSet &patterns);

/// Replaces the ops of math that upstream's conversions to LLVM get wrong, or
/// do not know, by ops that they get right and by calls of libm.
llvm::LogicalResult expandElementaryFunctions(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_PROGRAMTOLLVM_PATTERNS_H
