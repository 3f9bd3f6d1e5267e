//===- PhaseContents.cpp - what a phase leaves ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseContents.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace sparse_autograd;
using llvm::StringLiteral;

using Dialect = SparseAutogradDialect;

//===----------------------------------------------------------------------===//
// Phases on tensors
//===----------------------------------------------------------------------===//

/// Of programs.
static constexpr StringLiteral ofPrograms[] = {"affine",
                                               "arith",
                                               "bufferization",
                                               "builtin",
                                               "cf",
                                               "complex",
                                               "func",
                                               "index",
                                               "llvm",
                                               "math",
                                               "scf",
                                               "ub",
                                               "vector",
                                               "linalg",
                                               "shape",
                                               "sparse_autograd",
                                               "sparse_tensor",
                                               "tensor"};
/// Derivatives that are asked for.
static constexpr StringLiteral requests[] = {
    "sparse_autograd.jvp", "sparse_autograd.split_vjp",
    "sparse_autograd.value_and_grad", "sparse_autograd.vjp"};
/// Of dense tensors, with lists of what sparse ones store.
static constexpr StringLiteral onDenseTensors[] = {
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "index",
    "llvm",
    "math",
    "scf",
    "ub",
    "vector",
    "linalg",
    "tensor",
    "sparse_autograd.log",
    "sparse_autograd.count_before",
    "sparse_autograd.count_positions",
    "sparse_autograd.sort_entries",
    "sparse_autograd.store_positions",
    "sparse_autograd.begin_sparse_product",
    "sparse_autograd.end_sparse_product"};

static constexpr TypeKind anyTensor[] = {TypeKind::SparseTensor,
                                         TypeKind::Tensor};
static constexpr TypeKind denseTensor[] = {TypeKind::Tensor};

static constexpr StringLiteral manifest[] = {Dialect::getManifestAttrName()};
static constexpr StringLiteral marksOfLoops[] = {Dialect::getManifestAttrName(),
                                                 Dialect::getParallelAttrName(),
                                                 Dialect::getEntriesAttrName()};

//===----------------------------------------------------------------------===//
// Parts of the target
//===----------------------------------------------------------------------===//

static constexpr StringLiteral onBuffers[] = {
    "affine",
    "arith",
    "builtin",
    "cf",
    "complex",
    "func",
    "index",
    "llvm",
    "math",
    "scf",
    "ub",
    "vector",
    "linalg",
    "memref",
    "sparse_autograd.log",
    "sparse_autograd.count_before",
    "sparse_autograd.count_positions",
    "sparse_autograd.sort_entries",
    "sparse_autograd.store_positions",
    "sparse_autograd.begin_sparse_product",
    "sparse_autograd.end_sparse_product"};
/// What the runtime and libraries do are calls.
static constexpr StringLiteral inLoopsOfCPU[] = {
    "affine",  "arith",
    "builtin", "cf",
    "complex", "func",
    "index",   "llvm",
    "math",    "scf",
    "ub",      "vector",
    "memref",  "sparse_autograd.log"};
/// Contractions are whole until kernels are built.
static constexpr StringLiteral inLoopsOfGPU[] = {
    "affine",
    "arith",
    "builtin",
    "cf",
    "complex",
    "func",
    "index",
    "llvm",
    "math",
    "scf",
    "ub",
    "vector",
    "linalg",
    "memref",
    "sparse_autograd.inner_product",
    "sparse_autograd.log"};
static constexpr StringLiteral inKernels[] = {"affine",
                                              "arith",
                                              "builtin",
                                              "cf",
                                              "complex",
                                              "func",
                                              "index",
                                              "llvm",
                                              "math",
                                              "scf",
                                              "ub",
                                              "vector",
                                              "gpu",
                                              "memref",
                                              "nvgpu",
                                              "nvvm",
                                              "sparse_autograd.log"};
/// A kernel is launched once it is a function.
static constexpr StringLiteral outlined[] = {"gpu.launch"};
static constexpr StringLiteral inLLVM[] = {"builtin.module", "llvm"};

/// With `threads=1` calls of bodies stay what they are.
static constexpr StringLiteral marksOfCalls[] = {
    Dialect::getParallelAttrName()};
static constexpr TypeKind buffers[] = {TypeKind::MemRef};

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static const PhaseContents phases[] = {
    {"input", ofPrograms, {}, /*hasForeignOps=*/true, anyTensor, {}},
    {"differentiate", ofPrograms, requests, true, anyTensor, {}},
    {"select-formats", ofPrograms, requests, true, anyTensor, manifest},
    {"lower-sparse", onDenseTensors, {}, false, denseTensor, marksOfLoops},

    {"cpu-buffers", onBuffers, {}, false, buffers, marksOfLoops},
    {"cpu-loops", inLoopsOfCPU, {}, false, buffers, marksOfLoops},
    {"cpu", inLLVM, {}, false, {}, marksOfCalls},

    {"gpu-buffers", onBuffers, {}, false, buffers, marksOfLoops},
    {"gpu-loops", inLoopsOfGPU, {}, false, buffers, marksOfLoops},
    {"gpu-kernels", inKernels, outlined, false, buffers, manifest},
    {"gpu", inLLVM, {}, false, {}, {}},
};

mlir::ArrayRef<PhaseContents> sparse_autograd::getPhaseContents() {
  return phases;
}
