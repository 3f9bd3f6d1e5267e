//===- NamedInstructions.h - The last step to PTX ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_NAMEDINSTRUCTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_NAMEDINSTRUCTIONS_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// Replaces calls of functions that stand for instructions
/// (SparseAutograd/Target/NamedInstructions.h) by inline PTX.
llvm::Error writeNamedInstructions(llvm::Module &module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_NAMEDINSTRUCTIONS_H
