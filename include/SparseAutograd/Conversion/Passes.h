//===- Passes.h - all conversion passes -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_PASSES_H
#define SPARSEAUTOGRAD_CONVERSION_PASSES_H

#include "SparseAutograd/Conversion/ChunkLoops/ChunkLoops.h"
#include "SparseAutograd/Conversion/CompressMaskedRows/CompressMaskedRows.h"
#include "SparseAutograd/Conversion/ContractionToRuntime/ContractionToRuntime.h"
#include "SparseAutograd/Conversion/DistributeScatter/DistributeScatter.h"
#include "SparseAutograd/Conversion/FloatsToF64/FloatsToF64.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/Conversion/KernelToNVVM/KernelToNVVM.h"
#include "SparseAutograd/Conversion/KernelToObject/KernelToObject.h"
#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"
#include "SparseAutograd/Conversion/LinalgToLoops/LinalgToLoops.h"
#include "SparseAutograd/Conversion/LoopsToFunctions/LoopsToFunctions.h"
#include "SparseAutograd/Conversion/LoopsToKernels/LoopsToKernels.h"
#include "SparseAutograd/Conversion/ParallelToRuntime/ParallelToRuntime.h"
#include "SparseAutograd/Conversion/PlaceBuffers/PlaceBuffers.h"
#include "SparseAutograd/Conversion/PrefetchBlocks/PrefetchBlocks.h"
#include "SparseAutograd/Conversion/PrefetchRows/PrefetchRows.h"
#include "SparseAutograd/Conversion/ProgramToLLVM/ProgramToLLVM.h"
#include "SparseAutograd/Conversion/SparseAutogradToLinalg/SparseAutogradToLinalg.h"
#include "SparseAutograd/Conversion/SparseProductToRuntime/SparseProductToRuntime.h"
#include "SparseAutograd/Conversion/SparseTensorToLoops/SparseTensorToLoops.h"
#include "SparseAutograd/Conversion/StorageToLoops/StorageToLoops.h"
#include "SparseAutograd/Conversion/StorageToRuntime/StorageToRuntime.h"
#include "SparseAutograd/Conversion/StreamResults/StreamResults.h"
#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"
#include "SparseAutograd/Conversion/TensorToBuffer/TensorToBuffer.h"
#include "SparseAutograd/Conversion/VectorizeEntries/VectorizeEntries.h"

namespace sparse_autograd {

#define GEN_PASS_REGISTRATION
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_PASSES_H
