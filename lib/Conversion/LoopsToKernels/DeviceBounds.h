//===- DeviceBounds.h - bounds that the device knows ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEVICEBOUNDS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEVICEBOUNDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace sparse_autograd {

/// The lesser of a number in the memory of the device, which nothing changes
/// behind the read, and of one that the host knows. A loop that ends there is a
/// kernel that is launched for the latter and reads the former itself.
struct DeviceBound {
  /// Nothing if `value` is none.
  static std::optional<DeviceBound> match(mlir::Value value);
  /// That of which `op` is the read.
  static std::optional<DeviceBound> matchRead(mlir::Operation *op);

  /// Has each kernel that uses the bound read the number.
  void readInKernels(mlir::RewriterBase &rewriter);

  mlir::arith::MinUIOp bound;
  mlir::memref::LoadOp read;
  /// What the host knows.
  mlir::Value most;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEVICEBOUNDS_H
