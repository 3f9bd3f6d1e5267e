//===- Exponential.h - the exponential of an f32 ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_EXECUTIONENGINE_EXPONENTIAL_H
#define SPARSEAUTOGRAD_EXECUTIONENGINE_EXPONENTIAL_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace sparse_autograd {

/// Makes exponentials of f32 arithmetic, without a call: a call of a vector
/// library spills every vector register around it. It vectorizes where there is
/// no such library, and an element has the same bits wherever it stands, in a
/// vector or in what is left over. Here, because how it is done best depends on
/// the machine; the bits differ only between those with and without
/// fused multiply-adds.
void expandExponentials(llvm::Module &module,
                        const llvm::TargetMachine &machine);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_EXPONENTIAL_H
