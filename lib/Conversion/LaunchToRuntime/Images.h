//===- Images.h - code of kernels as constants ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LAUNCHTORUNTIME_IMAGES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LAUNCHTORUNTIME_IMAGES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace sparse_autograd {

/// Makes `binary` a SparseAutogradImage (DeviceABI.h), a constant of the name
/// that `binary` had, which is erased, in `symbols`. Of bitcode, which is for
/// the emulator, the runtime's form is only declared (see
/// emulatedCodeSection). Fails, having said why, if an object is of no
/// form that the runtime takes.
mlir::FailureOr<mlir::LLVM::GlobalOp> createImage(mlir::gpu::BinaryOp binary,
                                                  mlir::SymbolTable &symbols);

/// Defines the list of all `images` of the module (`imagesSymbol`).
void createImageList(mlir::ArrayRef<mlir::LLVM::GlobalOp> images,
                     mlir::SymbolTable &symbols);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LAUNCHTORUNTIME_IMAGES_H
