//===- ThresholdSelect.h - what a relu tells --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_THRESHOLDSELECT_H
#define SPARSEAUTOGRAD_ANALYSIS_THRESHOLDSELECT_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sparse_autograd {

/// The comparison that `value` tells as well as what was compared:
/// select(z > t, z, t) is greater than t where z is, as in a relu. Null if
/// there is none.
mlir::arith::CmpFOp getToldComparison(mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_THRESHOLDSELECT_H
