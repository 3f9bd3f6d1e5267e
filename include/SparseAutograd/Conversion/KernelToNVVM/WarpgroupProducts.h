//===- WarpgroupProducts.h - Calls of wgmma ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For those who generate kernels: sparse products of a warpgroup have no op in
// MLIR, and products with A in registers none either.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_WARPGROUPPRODUCTS_H
#define SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_WARPGROUPPRODUCTS_H

#include "SparseAutograd/Target/NamedInstructions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace sparse_autograd {

/// What of a product is constant.
struct WarpgroupModes {
  bool negatesA = false;
  bool negatesB = false;
  bool transposesA = false;
  bool transposesB = false;
  int32_t selector = 0; ///< of metadata
};

/// Calls the instruction, and declares it in the module of the kernel if it has
/// to. `sums` is a structure of f32, or i32 with two f16 each; `a` a descriptor
/// (i64) or four i32; `b` a descriptor; `metadata` an i32 if the product is
/// sparse; `accumulates` an i32 that is 0 for a product without the sums.
mlir::Value createWarpgroupProduct(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::gpu::GPUModuleOp module,
                                   const WarpgroupInstruction &instruction,
                                   const WarpgroupModes &modes,
                                   mlir::Value sums, mlir::ValueRange a,
                                   mlir::Value b, mlir::Value metadata,
                                   mlir::Value accumulates);

/// A fence between what wrote the sums and a product.
mlir::Value createWarpgroupFence(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::gpu::GPUModuleOp module,
                                 mlir::Value sums);

/// Waits for all but the last `groups` groups, and returns the sums.
mlir::Value createWarpgroupWait(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::gpu::GPUModuleOp module, mlir::Value sums,
                                int32_t groups);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_WARPGROUPPRODUCTS_H
