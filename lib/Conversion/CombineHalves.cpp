//===- CombineHalves.cpp - lanes of a vector combined ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombineHalves.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

Value sparse_autograd::combineHalves(
    OpBuilder &builder, Location loc, Value vector, int64_t count,
    llvm::function_ref<Value(Value, Value)> combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = lanes / 2; half >= count; half /= 2) {
    auto take = [&](int64_t offset) {
      return vector::ExtractStridedSliceOp::create(
          builder, loc, vector, ArrayRef(offset), ArrayRef(half),
          ArrayRef<int64_t>(1));
    };
    vector = combine(take(0), take(half));
  }
  return vector;
}
