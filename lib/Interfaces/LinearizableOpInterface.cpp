//===- LinearizableOpInterface.cpp - differentiable ops -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace sparse_autograd;

#include "SparseAutograd/Interfaces/LinearizableOpInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

static unsigned rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

Support Support::of(Value mask) {
  return {mask,
          AffineMap::getMultiDimIdentityMap(rankOf(mask), mask.getContext())};
}

Support Support::of(Value mask, Value like) {
  return isa<RankedTensorType>(mask.getType()) ? of(mask)
                                               : of(mask, rankOf(like), {});
}

Support Support::of(Value mask, unsigned rank, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> results;
  for (int64_t dim : dims)
    results.push_back(getAffineDimExpr(dim, mask.getContext()));
  return {mask, AffineMap::get(rank, 0, results, mask.getContext())};
}

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

bool sparse_autograd::isDifferentiableType(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type)) &&
         (isa<FloatType>(type) || isa<RankedTensorType>(type));
}

bool sparse_autograd::isElementwise(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op))
    return true;
  auto differentiable = dyn_cast<LinearizableOpInterface>(op);
  return differentiable && differentiable.isElementwise();
}

LogicalResult sparse_autograd::reportNotTransposable(Operation *op) {
  return op->emitOpError("appears in a tangent but has no transpose; implement "
                         "LinearizableOpInterface::transpose for it");
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Linearizer::~Linearizer() {
  for (Operation *op : retired)
    op->erase();
}

void Linearizer::retire(Operation *op) {
  op->remove();
  op->dropAllReferences();
  retired.push_back(op);
}

void Linearizer::forget(Value argument) {
  tangents.erase(argument);
  shapes.erase(argument);
}

void Linearizer::setTangent(Value primal, Value tangent) {
  if (!tangent)
    return;
  tangents[primal] = tangent;
  known.insert(tangent);
  // Nobody needs the shape of a scalar, and the primal may not stay.
  if (isa<RankedTensorType>(tangent.getType()))
    // An identity hands a tangent on, perhaps into a region: the first primal
    // is there wherever the tangent is.
    shapes.try_emplace(tangent, primal);
}

Transposer::~Transposer() = default;
