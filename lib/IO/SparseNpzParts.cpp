//===- SparseNpzParts.cpp - Writing sparse matrices to .npz files -*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/SparseNpz.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <numeric>
#include <utility>

using namespace llvm;
using namespace sparse_autograd::io;

/// The least integer type of SciPy's indices that holds numbers up to `most`.
static ElementType getIndexType(int64_t most) {
  return isInt<32>(most) ? ElementType::I32 : ElementType::I64;
}

static void storeIndex(DenseArray &array, int64_t place, int64_t index) {
  if (array.type == ElementType::I32)
    array.as<int32_t>()[place] = static_cast<int32_t>(index);
  else
    array.as<int64_t>()[place] = index;
}

namespace {

/// Makes the arrays of one tensor, whose entries are sorted.
class PartBuilder {
public:
  PartBuilder(const CoordinateTensor &tensor, const SparseLayout &layout,
              const SizeLimits &limits, StringRef file)
      : tensor(tensor), layout(layout), limits(limits), file(file),
        rank(tensor.getRank()), count(tensor.getNumEntries()), order(count) {
    std::iota(order.begin(), order.end(), 0);
    int64_t most = count;
    for (int64_t extent : tensor.shape)
      most = std::max(most, extent);
    indexType = getIndexType(most);
  }

  Expected<SparseParts> build();

private:
  Expected<DenseArray *> add(StringRef name, ElementType type,
                             ArrayRef<int64_t> shape);
  Error addCoordinates();
  Error addSlices(ArrayRef<int64_t> outer, ArrayRef<int64_t> inner,
                  int64_t extent);
  Error addCompressed(size_t outerDim);
  Error addBlocks(const DenseArray &values);
  Error addValues(const DenseArray &values);

  const CoordinateTensor &tensor;
  SparseLayout layout;
  const SizeLimits &limits;
  StringRef file;
  int64_t rank, count;
  /// The entries in the order of the layout.
  std::vector<int64_t> order;
  ElementType indexType;
  SparseParts parts;
};

} // namespace

Expected<DenseArray *> PartBuilder::add(StringRef name, ElementType type,
                                        ArrayRef<int64_t> shape) {
  Expected<DenseArray> array = makeDenseArray(file, type, shape, limits);
  if (!array)
    return array.takeError();
  parts.arrays.emplace_back(name.str(), std::move(*array));
  return &parts.arrays.back().second;
}

Error PartBuilder::addCoordinates() {
  if (rank != 2) {
    Expected<DenseArray *> coords = add("coords", indexType, {rank, count});
    if (!coords)
      return coords.takeError();
    for (int64_t dim = 0; dim < rank; ++dim)
      for (int64_t i = 0; i < count; ++i)
        storeIndex(**coords, dim * count + i, tensor.getCoordinates(i)[dim]);
    return Error::success();
  }
  for (size_t dim : {0, 1}) {
    Expected<DenseArray *> column =
        add(dim ? "col" : "row", indexType, {count});
    if (!column)
      return column.takeError();
    for (int64_t i = 0; i < count; ++i)
      storeIndex(**column, i, tensor.getCoordinates(i)[dim]);
  }
  return Error::success();
}

/// Adds indices, and indptr, which delimits the `extent` slices.
Error PartBuilder::addSlices(ArrayRef<int64_t> outer, ArrayRef<int64_t> inner,
                             int64_t extent) {
  int64_t length = inner.size();
  Expected<DenseArray *> indices = add("indices", indexType, {length});
  if (!indices)
    return indices.takeError();
  Expected<DenseArray *> begins = add("indptr", indexType, {extent + 1});
  if (!begins)
    return begins.takeError();
  int64_t begun = 0;
  for (int64_t i = 0; i < length; ++i) {
    storeIndex(**indices, i, inner[i]);
    // A slice begins with the first index that is not before it.
    for (; begun <= outer[i]; ++begun)
      storeIndex(**begins, begun, i);
  }
  for (; begun <= extent; ++begun)
    storeIndex(**begins, begun, length);
  return Error::success();
}

Error PartBuilder::addCompressed(size_t outerDim) {
  // Those of a column stay sorted by row.
  if (outerDim == 1)
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::pair(tensor.getCoordinates(a)[1], a) <
             std::pair(tensor.getCoordinates(b)[1], b);
    });
  std::vector<int64_t> outer, inner;
  for (int64_t entry : order) {
    outer.push_back(tensor.getCoordinates(entry)[outerDim]);
    inner.push_back(tensor.getCoordinates(entry)[1 - outerDim]);
  }
  return addSlices(outer, inner, tensor.shape[outerDim]);
}

/// Adds the blocks that hold an entry, with zeros where there is none.
Error PartBuilder::addBlocks(const DenseArray &values) {
  int64_t rows = layout.block[0], columns = layout.block[1];
  auto getBlock = [&](int64_t entry) {
    ArrayRef<int64_t> at = tensor.getCoordinates(entry);
    return std::pair(at[0] / rows, at[1] / columns);
  };
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair(getBlock(a), a) < std::pair(getBlock(b), b);
  });
  std::vector<int64_t> outer, inner;
  for (auto [place, entry] : llvm::enumerate(order)) {
    if (place > 0 && getBlock(order[place - 1]) == getBlock(entry))
      continue;
    auto [row, column] = getBlock(entry);
    outer.push_back(row);
    inner.push_back(column);
  }
  if (Error error = addSlices(outer, inner, tensor.shape[0] / rows))
    return error;
  Expected<DenseArray *> data = add(
      "data", values.type, {static_cast<int64_t>(inner.size()), rows, columns});
  if (!data)
    return data.takeError();
  size_t width = getByteWidth(values.type);
  int64_t block = -1;
  for (auto [place, entry] : llvm::enumerate(order)) {
    block += place == 0 || getBlock(order[place - 1]) != getBlock(entry);
    ArrayRef<int64_t> at = tensor.getCoordinates(entry);
    int64_t element = (block * rows + at[0] % rows) * columns + at[1] % columns;
    std::memcpy((*data)->data.data() + element * width,
                values.data.data() + entry * width, width);
  }
  return Error::success();
}

Error PartBuilder::addValues(const DenseArray &values) {
  Expected<DenseArray *> data = add("data", values.type, {count});
  if (!data)
    return data.takeError();
  size_t width = getByteWidth(values.type);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy((*data)->data.data() + i * width,
                values.data.data() + order[i] * width, width);
  return Error::success();
}

Expected<SparseParts> PartBuilder::build() {
  // No array moves while others are added.
  parts.arrays.reserve(5);
  Expected<DenseArray> values = convertValues(
      tensor, tensor.isPattern ? ElementType::F64 : tensor.values.type, limits,
      file);
  if (!values)
    return values.takeError();
  bool hasBlocks = rank == 2 && tensor.shape[0] % layout.block[0] == 0 &&
                   tensor.shape[1] % layout.block[1] == 0;
  if (rank != 2 || (layout.kind == SparseLayout::Bsr && !hasBlocks))
    layout.kind = SparseLayout::Coo;
  Error error = Error::success();
  switch (layout.kind) {
  case SparseLayout::Csr:
    parts.layout = "csr";
    error = addCompressed(/*outerDim=*/0);
    break;
  case SparseLayout::Csc:
    parts.layout = "csc";
    error = addCompressed(/*outerDim=*/1);
    break;
  case SparseLayout::Coo:
    parts.layout = "coo";
    error = addCoordinates();
    break;
  case SparseLayout::Bsr:
    parts.layout = "bsr";
    error = addBlocks(*values);
    break;
  }
  if (!error && layout.kind != SparseLayout::Bsr)
    error = addValues(*values);
  if (error)
    return std::move(error);
  Expected<DenseArray *> shape = add("shape", ElementType::I64, {rank});
  if (!shape)
    return shape.takeError();
  llvm::copy(tensor.shape, (*shape)->as<int64_t>().begin());
  return std::move(parts);
}

Expected<SparseParts>
sparse_autograd::io::makeSparseParts(const CoordinateTensor &tensor,
                                     SparseLayout layout,
                                     const SizeLimits &limits, StringRef file) {
  return PartBuilder(tensor, layout, limits, file).build();
}
