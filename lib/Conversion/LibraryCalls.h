//===- LibraryCalls.h - ops that libraries compute --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LIBRARYCALLS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LIBRARYCALLS_H

#include "RuntimeCalls.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// The fill of the buffer `result` with zero that only `op` behind it sees, or
/// null.
mlir::linalg::FillOp findZeroFill(mlir::Operation *op, mlir::Value result);

/// Whether the host knows `value` without asking the device: it is a constant,
/// an argument of the function, or computed of these and of extents.
bool isKnownToHost(mlir::Value value);

/// Calls the function `name` of the runtime, which returns whether a library of
/// the device computes what the op of `calls` does. If not, the op does that,
/// and before it its `fill`, if there is one.
void offerToLibrary(RuntimeCallBuilder &calls, llvm::StringRef name,
                    llvm::ArrayRef<mlir::Value> arguments,
                    mlir::linalg::FillOp fill);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LIBRARYCALLS_H
