//===- SwitchToIf.h - scf.index_switch to scf.if ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_SWITCHTOIF_H
#define SPARSEAUTOGRAD_TRANSFORMS_SWITCHTOIF_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Makes branches of scf.if, one in the other, of each scf.index_switch, in the
/// order of its cases. Differentiation has a rule for scf.if alone, and so it
/// is with bufferization: MLIR 22 does not see that the result of a switch is
/// in the buffers that its regions write to, and writes others there before it
/// is read.
void populateSwitchToIfPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_SWITCHTOIF_H
