//===- EraseDeadIterArgs.h - what a loop carries for nobody -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_ERASEDEADITERARGS_H
#define SPARSEAUTOGRAD_TRANSFORMS_ERASEDEADITERARGS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Erases what an scf.for carries if only itself is computed from it, as a tape
/// is that nobody reads: its result has no use, and in the body it reaches
/// neither a value that is carried for somebody nor an effect.
void populateEraseDeadIterArgsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_ERASEDEADITERARGS_H
