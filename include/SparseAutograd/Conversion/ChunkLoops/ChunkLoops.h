//===- ChunkLoops.h - independent iterations in chunks -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_CHUNKLOOPS_CHUNKLOOPS_H
#define SPARSEAUTOGRAD_CONVERSION_CHUNKLOOPS_CHUNKLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_CHUNKLOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_CHUNKLOOPS_CHUNKLOOPS_H
