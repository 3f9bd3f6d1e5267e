//===- PTX.h - kernels to PTX and bitcode -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_PTX_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace sparse_autograd {

/// The triple of the code of NVIDIA GPUs.
inline constexpr llvm::StringLiteral gpuTriple = "nvptx64-nvidia-cuda";
/// How much LLVM optimizes it.
inline constexpr int gpuOptimizationLevel = 3;

/// The PTX of `module`, which holds functions of the LLVM dialect, for `chip`.
/// `features` are LLVM's, such as "+ptx85". What it calls of libdevice is
/// linked from the bitcode at `libdevice`, which is opened if it is needed. An
/// error has been reported at the module.
mlir::FailureOr<std::string> compileToPTX(mlir::gpu::GPUModuleOp module,
                                          llvm::StringRef chip,
                                          llvm::StringRef features,
                                          llvm::StringRef libdevice);

/// The bitcode that PTX would be made of, optimized, with calls of libdevice.
mlir::FailureOr<std::string> compileToBitcode(mlir::gpu::GPUModuleOp module,
                                              llvm::StringRef chip,
                                              llvm::StringRef features);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_PTX_H
