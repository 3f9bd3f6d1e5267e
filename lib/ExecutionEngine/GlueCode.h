//===- GlueCode.h - functions between kernels -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is one function that allocates buffers, calls kernels and libraries
// and checks arguments, and many small ones, the kernels, where the time goes.
// The first grows with the program: optimizing it took most of the time of a
// compilation, and it ran no faster for it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_EXECUTIONENGINE_GLUECODE_H
#define SPARSEAUTOGRAD_EXECUTIONENGINE_GLUECODE_H

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace sparse_autograd {

/// Whether `function` is large, computes next to nothing of floats between its
/// calls, and has no loops but those in which the runtime runs a parallel loop:
/// what it does itself is done once, or once per kernel.
bool isGlueCode(llvm::Function &function);

/// Has LLVM translate such functions of `module` as they are (`optnone`).
void leaveGlueCode(llvm::Module &module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_GLUECODE_H
