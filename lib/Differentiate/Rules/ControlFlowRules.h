//===- ControlFlowRules.h - rules of ops with regions -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CONTROLFLOWRULES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CONTROLFLOWRULES_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

/// Attaches the rules of scf.execute_region, scf.for, scf.if and scf.while to
/// their ops.
void attachExecuteRegionRule(mlir::MLIRContext &context);
void attachForRule(mlir::MLIRContext &context);
void attachIfRule(mlir::MLIRContext &context);
void attachWhileRule(mlir::MLIRContext &context);

/// The ops of `block` before the terminator, except those that only have
/// effects: the primal program has had them.
llvm::SmallVector<mlir::Operation *> getPrimalOps(mlir::Block &block);

/// The numbers of the results of `op` whose derivatives matter.
llvm::SmallVector<unsigned> getActiveResults(mlir::Operation *op,
                                             const Linearizer &linearizer);

/// The linear values of the enclosing program that `regions` read.
llvm::SmallVector<mlir::Value>
capturedLinearValues(llvm::MutableArrayRef<mlir::Region> regions,
                     const Transposer &transposer);

/// The tangents of those operands of the terminator of `block` that come
/// `active` after operand `firstOperand`, built before it.
llvm::SmallVector<mlir::Value>
createForwardedTangents(mlir::Block &block, unsigned firstOperand,
                        llvm::ArrayRef<unsigned> active,
                        Linearizer &linearizer);

/// Whether `value` is an input of the whole program: nobody will ask for the
/// support of its cotangent.
bool isProgramInput(mlir::Value value);

/// Where the cotangent of a value may differ from zero: nowhere, in a part that
/// a mask tells, or in all of it.
enum class Reach { Nowhere, Part, Whole };

/// What `transposer` knows now of the cotangent of `value`. An input of the
/// whole program is reached in all of it.
Reach reachOf(Transposer &transposer, mlir::Value value);

/// The same of the cotangent as it stands, which may be what it starts from.
Reach currentReachOf(Transposer &transposer, mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CONTROLFLOWRULES_H
