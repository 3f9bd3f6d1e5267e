//===- PrefetchBlocks.h - ask for the next block of rows --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_PREFETCHBLOCKS_PREFETCHBLOCKS_H
#define SPARSEAUTOGRAD_CONVERSION_PREFETCHBLOCKS_PREFETCHBLOCKS_H

#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_PREFETCHBLOCKS
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_PREFETCHBLOCKS_PREFETCHBLOCKS_H
