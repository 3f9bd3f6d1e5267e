//===- PackedLists.cpp - the lists of 2:4 tensors to make -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackedLists.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

PackedLists::PackedLists(OpBuilder &builder, Location loc,
                         RankedTensorType type, ArrayRef<Value> extents)
    : type(type), extents(extents) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  rowGroups = arith::CeilDivUIOp::create(builder, loc, extents.back(),
                                         constant(tileExtent));
  groups = rowGroups;
  for (Value extent : ArrayRef(extents).drop_back())
    groups = arith::MulIOp::create(builder, loc, groups, extent);
  Value two = constant(2);
  values = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{
          Value(arith::MulIOp::create(builder, loc, groups, two))},
      type.getElementType());
  coordinates = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{
          Value(arith::CeilDivUIOp::create(builder, loc, groups, two))},
      builder.getI8Type());
}

static SmallVector<Value> getExtents(OpBuilder &builder, Location loc,
                                     Value tensor) {
  return llvm::map_to_vector(tensor::getMixedSizes(builder, loc, tensor),
                             [&](OpFoldResult extent) -> Value {
                               return getValueOrCreateConstantIndexOp(
                                   builder, loc, extent);
                             });
}

PackedLists PackedLists::of(OpBuilder &builder, Compress24Op op) {
  SmallVector<Value> extents = getExtents(builder, op.getLoc(), op.getInput());
  if (op.getTransposed())
    std::swap(extents.end()[-2], extents.end()[-1]);
  return PackedLists(builder, op.getLoc(), op.getType(), extents);
}

SmallVector<Value> PackedLists::getComponents(Value coordinates,
                                              Value values) const {
  SmallVector<Value> components = {coordinates, values};
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (type.isDynamicDim(dim))
      components.push_back(extent);
  return components;
}

uint64_t sparse_autograd::getNibbleTable() {
  uint64_t table = 0;
  for (uint64_t kept = 0; kept < 16; ++kept) {
    SmallVector<uint64_t> stored;
    for (uint64_t i = 0; i < 4; ++i)
      if ((kept >> i) & 1)
        stored.push_back(i);
    for (uint64_t i = 4; i-- > 0 && stored.size() < 2;)
      if (!((kept >> i) & 1))
        stored.push_back(i);
    llvm::sort(stored);
    table |= (stored[0] | stored[1] << 2) << (4 * kept);
  }
  return table;
}

SmallVector<Compress24Op> sparse_autograd::getBothOrders(Compress24Op op) {
  SmallVector<Compress24Op> ops = {op};
  for (Operation *user : op.getChoice().getUsers()) {
    auto other = dyn_cast<Compress24Op>(user);
    if (ops.size() == 1 && other && other->getBlock() == op->getBlock() &&
        op->isBeforeInBlock(other) && other.getInput() == op.getInput() &&
        other.getTransposed() != op.getTransposed())
      ops.push_back(other);
  }
  return ops;
}
