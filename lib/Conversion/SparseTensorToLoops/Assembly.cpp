//===- Assembly.cpp - a new sparse tensor from entries --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseStorage.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

Value sparse_autograd::listEntry(OpBuilder &builder, Location loc,
                                 AffineMap levels, ValueRange indices,
                                 Value entries, Value number) {
  for (auto [level, expr] : llvm::enumerate(levels.getResults())) {
    Value coordinate =
        affine::expandAffineExpr(builder, loc, expr, indices, {});
    Value column = arith::ConstantIndexOp::create(builder, loc, level);
    entries = tensor::InsertOp::create(builder, loc, coordinate, entries,
                                       ValueRange{number, column});
  }
  return entries;
}

AssembledStorage
sparse_autograd::assembleStorage(OpBuilder &builder, Location loc,
                                 RankedTensorType type, Value coordinates,
                                 Value count, ValueRange extents) {
  SparseTensorType sparse(type);
  SparseTensorEncodingAttr encoding = sparse.getEncoding();
  Type index = builder.getIndexType();
  auto createList = [&](Value length, Type element) -> Value {
    return tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>{length},
                                   element);
  };
  SmallVector<Value> levelExtents =
      getLevelExtents(builder, loc, type, extents);

  Value order = createList(count, index);
  order =
      SortEntriesOp::create(builder, loc, order.getType(), coordinates, order)
          .getResult(0);
  Value counts = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<int64_t>{static_cast<int64_t>(sparse.getLvlRank())}, index);
  counts = CountPositionsOp::create(builder, loc, counts.getType(), encoding,
                                    coordinates, order, levelExtents, counts)
               .getResult(0);

  SmallVector<Value> lists;
  SmallVector<LevelList> levelLists = getLevelLists(encoding);
  auto *next = levelLists.begin();
  Value parents = arith::ConstantIndexOp::create(builder, loc, 1);
  for (auto [level, levelType] : llvm::enumerate(sparse.getLvlTypes())) {
    const LevelFormatInfo &format = getFormat(levelType);
    Value place = arith::ConstantIndexOp::create(builder, loc, level);
    Value elements = tensor::ExtractOp::create(builder, loc, counts, place);
    if (format.hasPositions())
      lists.push_back(createList(countPositions(builder, loc, format, parents),
                                 (next++)->elementType));
    if (format.hasCoordinates())
      lists.push_back(
          createList(countCoordinates(builder, loc, format, elements),
                     (next++)->elementType));
    parents = elements;
  }
  lists.push_back(createList(count, index));
  auto store = StorePositionsOp::create(
      builder, loc, TypeRange(ValueRange(lists)), encoding, coordinates, order,
      levelExtents, lists);
  AssembledStorage storage;
  storage.lists.assign(store->result_begin(), store->result_end());
  storage.slots = storage.lists.pop_back_val();
  storage.numValues = parents;
  storage.order = order;
  return storage;
}

SmallVector<Value> sparse_autograd::assembleTensor(
    OpBuilder &builder, Location loc, RankedTensorType type, ValueRange extents,
    Value count, llvm::function_ref<Value(Value)> list,
    llvm::function_ref<Value(Value, Value)> compute) {
  int64_t numLevels = SparseTensorType(type).getLvlRank();
  Value coordinates = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{count, builder.getIndexAttr(numLevels)},
      builder.getIndexType());
  AssembledStorage assembled =
      assembleStorage(builder, loc, type, list(coordinates), count, extents);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  Value values = tensor::EmptyOp::create(
      builder, loc, ArrayRef<OpFoldResult>{assembled.numValues},
      type.getElementType());
  values = linalg::FillOp::create(builder, loc, zero, values).getResult(0);

  SmallVector<Value> components = std::move(assembled.lists);
  components.push_back(compute(values, assembled.slots));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      components.push_back(extents[dim]);
  return components;
}
