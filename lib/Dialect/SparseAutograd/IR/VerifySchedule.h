//===- VerifySchedule.h - where a schedule may stand ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_VERIFYSCHEDULE_H
#define SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_VERIFYSCHEDULE_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd {

/// Checks that the schedule of `op` has a meaning there: the kind of op, what
/// it carries, its bounds and the loops around it.
llvm::LogicalResult verifySchedule(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_VERIFYSCHEDULE_H
