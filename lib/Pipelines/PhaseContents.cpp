//===- PhaseContents.cpp - what a phase leaves ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseContents.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/EntryAttributes.h"

using namespace sparse_autograd;
using llvm::StringLiteral;

using Dialect = SparseAutogradDialect;
using Group = llvm::ArrayRef<StringLiteral>;

//===----------------------------------------------------------------------===//
// Phases on tensors
//===----------------------------------------------------------------------===//

/// Of scalars, vectors and control flow: in every phase before LLVM's.
static constexpr StringLiteral ofScalars[] = {
    "affine", "arith", "builtin", "cf",  "complex", "func",
    "index",  "llvm",  "math",    "scf", "ub",      "vector"};
static constexpr StringLiteral onTensors[] = {"bufferization", "linalg",
                                              "tensor"};
static constexpr StringLiteral ofProgramsAlone[] = {"shape", "sparse_autograd",
                                                    "sparse_tensor"};
static constexpr Group ofPrograms[] = {ofScalars, onTensors, ofProgramsAlone};

/// Derivatives that are asked for.
static constexpr StringLiteral requests[] = {
    "sparse_autograd.jvp", "sparse_autograd.split_vjp",
    "sparse_autograd.value_and_grad", "sparse_autograd.vjp"};
/// What structured ops on tensors are made of, masked and sparse.
static constexpr StringLiteral beforeStructured[] = {
    "sparse_autograd.jvp",
    "sparse_autograd.split_vjp",
    "sparse_autograd.value_and_grad",
    "sparse_autograd.vjp",
    "sparse_autograd.masked_reduce",
    "sparse_autograd.masked_softmax",
    "sparse_autograd.masked_log_softmax",
    "sparse_autograd.sample",
    "sparse_tensor.convert"};
/// On lists of what sparse tensors store.
static constexpr StringLiteral onLists[] = {
    "sparse_autograd.log",
    "sparse_autograd.count_before",
    "sparse_autograd.count_positions",
    "sparse_autograd.sort_entries",
    "sparse_autograd.store_positions",
    "sparse_autograd.pack_24",
    "sparse_autograd.multiply_24",
    "sparse_autograd.begin_sparse_product",
    "sparse_autograd.end_sparse_product",
    "sparse_autograd.offer_product",
    "sparse_autograd.offer_sampled_product"};
/// Contractions are whole until kernels are built.
static constexpr StringLiteral contractions[] = {
    "sparse_autograd.inner_product"};
static constexpr Group onDenseTensors[] = {ofScalars, onTensors, onLists,
                                           contractions};

static constexpr TypeKind anyTensor[] = {TypeKind::SparseTensor,
                                         TypeKind::Tensor};
static constexpr TypeKind denseTensor[] = {TypeKind::Tensor};

/// What functions are to their callers, until the manifest says it.
static constexpr StringLiteral marksOfFunctions[] = {splitAttributeName,
                                                     gradientsAttributeName};
static constexpr StringLiteral manifest[] = {Dialect::getManifestAttrName()};
/// Of loops that lower-sparse, and linalg-to-loops for the CPU, make.
static constexpr Schedule ofLoops = {/*isParallel=*/true,
                                     /*isOverEntries=*/true};

//===----------------------------------------------------------------------===//
// Parts of the target
//===----------------------------------------------------------------------===//

static constexpr StringLiteral structured[] = {"linalg", "memref"};
static constexpr Group onBuffers[] = {ofScalars, structured, onLists,
                                      contractions};
/// What the runtime and libraries do are calls.
static constexpr StringLiteral loops[] = {"memref", "sparse_autograd.log"};
static constexpr Group inLoopsOfCPU[] = {ofScalars, loops};
static constexpr StringLiteral inKernelsAlone[] = {"linalg"};
static constexpr Group inLoopsOfGPU[] = {ofScalars, loops, inKernelsAlone,
                                         contractions};
static constexpr StringLiteral kernels[] = {"gpu", "nvgpu", "nvvm"};
static constexpr Group inKernels[] = {ofScalars, loops, kernels};
/// A kernel is launched once it is a function.
static constexpr StringLiteral outlined[] = {"gpu.launch"};
static constexpr StringLiteral llvmAlone[] = {"builtin.module", "llvm"};
static constexpr Group inLLVM[] = {llvmAlone};

/// With `threads=1` calls of bodies stay what they are.
static constexpr Schedule ofCalls = {/*isParallel=*/true};
static constexpr TypeKind buffers[] = {TypeKind::MemRef};

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static const PhaseContents phases[] = {
    {"input", ofPrograms, {}, /*hasForeignOps=*/true, anyTensor, {}},
    {"differentiate", ofPrograms, requests, true, anyTensor, marksOfFunctions},
    {"select-formats", ofPrograms, requests, true, anyTensor, manifest},
    {"prepare-sparse", ofPrograms, beforeStructured, true, anyTensor, manifest},
    {"lower-sparse", onDenseTensors, {}, false, denseTensor, manifest, ofLoops},

    {"cpu-buffers", onBuffers, {}, false, buffers, manifest, ofLoops},
    // What is parallel is an scf.parallel from here on.
    {"cpu-loops", inLoopsOfCPU, {}, false, buffers, manifest},
    {"cpu", inLLVM, {}, false, {}, {}, ofCalls},

    {"gpu-buffers", onBuffers, {}, false, buffers, manifest, ofLoops},
    {"gpu-loops", inLoopsOfGPU, {}, false, buffers, manifest, ofLoops},
    // Who does which iteration is in the kernels.
    {"gpu-kernels", inKernels, outlined, false, buffers, manifest},
    {"gpu", inLLVM, {}, false, {}, {}},
};

mlir::ArrayRef<PhaseContents> sparse_autograd::getPhaseContents() {
  return phases;
}
