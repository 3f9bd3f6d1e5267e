//===- ShortenDims.cpp - extents at their origin --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ShortenDims.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// The first tensors of chains of tensors of one shape.
class Origins {
public:
  Value get(Value value) {
    SmallVector<Value> chain;
    while (true) {
      if (Value known = origins.lookup(value)) {
        value = known;
        break;
      }
      chain.push_back(value);
      Value next = getOperandOfSameShape(value);
      if (!next)
        break;
      value = next;
    }
    for (Value link : chain)
      origins[link] = value;
    return value;
  }

private:
  llvm::DenseMap<Value, Value> origins;
};
} // namespace

void sparse_autograd::shortenDims(Operation *root) {
  Origins origins;
  SmallVector<tensor::DimOp> dims;
  root->walk([&](tensor::DimOp dim) {
    if (isa<RankedTensorType>(dim.getSource().getType()))
      dims.push_back(dim);
  });
  for (tensor::DimOp dim : dims) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = cast<RankedTensorType>(dim.getSource().getType());
    // What the type says is known already.
    if (!index || *index < 0 || *index >= type.getRank() ||
        !type.isDynamicDim(*index))
      continue;
    Value origin = origins.get(dim.getSource());
    auto empty = origin.getDefiningOp<tensor::EmptyOp>();
    if (!empty || !empty.getType().isDynamicDim(*index)) {
      dim.getSourceMutable().assign(origin);
      continue;
    }
    dim.getResult().replaceAllUsesWith(empty.getDynamicSize(*index));
    dim.erase();
  }
}
