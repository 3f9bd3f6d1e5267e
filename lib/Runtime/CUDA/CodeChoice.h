//===- CodeChoice.h - Which code of an image a GPU runs ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CODECHOICE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CODECHOICE_H

#include "SparseAutograd/Runtime/DeviceABI.h"

namespace sparse_autograd {
namespace runtime {
namespace cuda {

/// The best code for a compute capability (90 is 9.0) after `previous`, or the
/// best if that is null; null if there is none.
const SparseAutogradCode *getNextCode(const SparseAutogradImage &image,
                                      int32_t capability,
                                      const SparseAutogradCode *previous);

/// The name of a form of code in messages: "sm_90a", "compute_80".
struct CodeName {
  char text[128];
};
CodeName getName(const SparseAutogradCode &code);

/// The names of all code of an image: "sm_90a, compute_80".
struct CodeNames {
  char text[256];
};
CodeNames getNames(const SparseAutogradImage &image);

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CODECHOICE_H
