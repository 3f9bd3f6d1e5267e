//===- Registration.h - everything an embedder registers --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_REGISTRATION_H
#define SPARSEAUTOGRAD_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace sparse_autograd {

/// Registers the dialect, the dialects that the pipeline produces, and the
/// interfaces (derivative rules, bufferization, tiling) attached to them.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers the passes and the pipeline `--sparse-autograd`.
void registerAllPasses();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_REGISTRATION_H
