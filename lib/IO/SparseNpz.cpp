//===- SparseNpz.cpp - Sparse matrices in .npz files ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/SparseNpz.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>

using namespace llvm;
using namespace sparse_autograd::io;

/// What the name of a part begins with.
static std::string getPrefix(StringRef name) {
  return name.empty() ? std::string() : (name + "_").str();
}

static const ZipMember *findPart(ArrayRef<ZipMember> members,
                                 const Twine &part) {
  std::string name = (part + ".npy").str();
  for (const ZipMember &member : members)
    if (member.name == name)
      return &member;
  return nullptr;
}

bool sparse_autograd::io::hasSparseParts(ArrayRef<ZipMember> members,
                                         StringRef name) {
  std::string prefix = getPrefix(name);
  auto has = [&](StringRef part) -> bool {
    return findPart(members, prefix + part);
  };
  return (has("indptr") && has("indices")) || (has("row") && has("col")) ||
         has("coords") ||
         // Of another layout, which deserves an error of its own.
         (has("format") && has("shape") && has("data"));
}

namespace {

/// Reads the parts of one tensor.
class PartReader {
public:
  PartReader(StringRef bytes, ArrayRef<ZipMember> members, StringRef name,
             StringRef file, Duplicates duplicates, const SizeLimits &limits)
      : bytes(bytes), members(members), prefix(getPrefix(name)), file(file),
        duplicates(duplicates), limits(limits) {}

  Expected<CoordinateTensor> read();

private:
  Error refuse(StringRef part, const Twine &problem) const {
    return fileError((file + ":" + prefix + part).str(), problem,
                     "write the file again with scipy.sparse.save_npz");
  }
  const ZipMember *find(StringRef part) const {
    return findPart(members, prefix + part);
  }
  Expected<AlignedBuffer> readBytes(const ZipMember &member) const {
    return readZipMember(bytes, member, file, limits);
  }
  Expected<DenseArray> readArray(StringRef part) const;
  Expected<std::vector<int64_t>> readIntegers(StringRef part) const;
  Expected<std::string> readLayout() const;
  Error readShape();
  Error readData();
  Error addEntries(ArrayRef<std::vector<int64_t>> columns,
                   ArrayRef<StringRef> names);
  Error readCompressed(bool isByColumn);
  Error readCoordinates();

  StringRef bytes;
  ArrayRef<ZipMember> members;
  std::string prefix;
  StringRef file;
  Duplicates duplicates;
  const SizeLimits &limits;
  CoordinateTensor tensor;
  /// Whether the extents are known before the entries are.
  bool hasShape = false;
};

} // namespace

Expected<DenseArray> PartReader::readArray(StringRef part) const {
  const ZipMember *member = find(part);
  if (!member)
    return refuse(part, "the array is missing");
  Expected<AlignedBuffer> content = readBytes(*member);
  if (!content)
    return content.takeError();
  return parseNpy(content->str(), (file + ":" + prefix + part).str(), limits);
}

Expected<std::vector<int64_t>> PartReader::readIntegers(StringRef part) const {
  Expected<DenseArray> array = readArray(part);
  if (!array)
    return array.takeError();
  if (array->shape.size() != 1)
    return refuse(part, "the array has " + Twine(array->shape.size()) +
                            " dimensions instead of one");
  if (isFloat(array->type) || array->type == ElementType::Bool)
    return refuse(part, "the array holds no integers");
  uint64_t count = array->getNumElements();
  if (Error error = checkMemory(
          file, SaturatingMultiply<uint64_t>(count, sizeof(int64_t)), limits))
    return std::move(error);
  std::vector<int64_t> integers;
  integers.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t value =
        array->type == ElementType::I64 || array->type == ElementType::U64
            ? array->as<int64_t>()[i]
            : static_cast<int64_t>(getAsDouble(*array, i));
    if (value < 0)
      return refuse(part, "element " + Twine(i) + " is not in 0 to 2^63 - 1");
    integers.push_back(value);
  }
  return integers;
}

Expected<std::string> PartReader::readLayout() const {
  const ZipMember *member = find("format");
  if (!member)
    return std::string(find("indptr") ? "csr" : "coo");
  Expected<AlignedBuffer> content = readBytes(*member);
  if (!content)
    return content.takeError();
  return parseNpyText(content->str(), (file + ":" + prefix + "format").str(),
                      limits);
}

Error PartReader::readShape() {
  if (!find("shape"))
    return Error::success();
  Expected<std::vector<int64_t>> shape = readIntegers("shape");
  if (!shape)
    return shape.takeError();
  if (shape->empty() || shape->size() > limits.rank)
    return refuse("shape", "the tensor has " + Twine(shape->size()) +
                               " dimensions, which are not 1 to " +
                               Twine(limits.rank));
  tensor.shape.assign(shape->begin(), shape->end());
  tensor.isInferred.assign(shape->size(), false);
  hasShape = true;
  return Error::success();
}

/// Reads the values, of which there must be one for each entry.
Error PartReader::readData() {
  tensor.isPattern = !find("data");
  if (tensor.isPattern)
    return Error::success();
  Expected<DenseArray> values = readArray("data");
  if (!values)
    return values.takeError();
  if (values->shape.size() != 1)
    return refuse("data", "the array has " + Twine(values->shape.size()) +
                              " dimensions instead of one");
  if (values->getNumElements() != tensor.getNumEntries())
    return refuse("data", "the array has " + Twine(values->getNumElements()) +
                              " elements for " + Twine(tensor.getNumEntries()) +
                              " entries");
  tensor.values = std::move(*values);
  return Error::success();
}

/// Adds entries by their coordinates in each dimension, which must be below the
/// extents that are known.
Error PartReader::addEntries(ArrayRef<std::vector<int64_t>> columns,
                             ArrayRef<StringRef> names) {
  size_t rank = columns.size(), count = columns.front().size();
  if (hasShape && tensor.getRank() != rank)
    return refuse("shape", "the tensor has " + Twine(tensor.getRank()) +
                               " dimensions, its entries have " + Twine(rank) +
                               " coordinates");
  if (!hasShape) {
    tensor.shape.resize(rank, 0);
    tensor.isInferred.resize(rank, true);
  }
  for (auto [dim, column] : llvm::enumerate(columns)) {
    if (column.size() != count)
      return refuse(names[dim], "the array has " + Twine(column.size()) +
                                    " elements for " + Twine(count) +
                                    " entries");
    for (auto [entry, coordinate] : llvm::enumerate(column)) {
      if (coordinate < tensor.shape[dim])
        continue;
      if (!tensor.isInferred[dim] ||
          coordinate == std::numeric_limits<int64_t>::max())
        return refuse(names[dim], "element " + Twine(entry) + " is " +
                                      Twine(coordinate) +
                                      ", not less than the extent " +
                                      Twine(tensor.shape[dim]));
      tensor.shape[dim] = coordinate + 1;
    }
  }
  if (Error error = checkMemory(
          file, SaturatingMultiply<uint64_t>(count, rank * sizeof(int64_t)),
          limits))
    return error;
  tensor.coordinates.reserve(count * rank);
  for (size_t entry = 0; entry < count; ++entry)
    for (const std::vector<int64_t> &column : columns)
      tensor.coordinates.push_back(column[entry]);
  return Error::success();
}

/// Reads the rows, or columns, as indptr delimits them.
Error PartReader::readCompressed(bool isByColumn) {
  Expected<std::vector<int64_t>> begins = readIntegers("indptr");
  if (!begins)
    return begins.takeError();
  Expected<std::vector<int64_t>> inner = readIntegers("indices");
  if (!inner)
    return inner.takeError();
  if (begins->empty() || begins->front() != 0)
    return refuse("indptr", "the array does not begin with 0");
  for (size_t i = 1; i < begins->size(); ++i)
    if ((*begins)[i] < (*begins)[i - 1])
      return refuse("indptr", "element " + Twine(i) + " is " +
                                  Twine((*begins)[i]) +
                                  ", less than the one before it, " +
                                  Twine((*begins)[i - 1]));
  if (begins->back() != static_cast<int64_t>(inner->size()))
    return refuse("indptr", "the array ends with " + Twine(begins->back()) +
                                ", but there are " + Twine(inner->size()) +
                                " indices");
  size_t outerDim = isByColumn ? 1 : 0;
  int64_t outerExtent = static_cast<int64_t>(begins->size()) - 1;
  if (!hasShape) {
    tensor.shape.assign(2, 0);
    tensor.isInferred.assign(2, true);
    tensor.shape[outerDim] = outerExtent;
    tensor.isInferred[outerDim] = false;
  } else if (tensor.getRank() == 2 && tensor.shape[outerDim] != outerExtent) {
    return refuse("indptr", "the array delimits " + Twine(outerExtent) +
                                " slices of a dimension of extent " +
                                Twine(tensor.shape[outerDim]));
  }
  if (Error error = checkMemory(
          file, SaturatingMultiply<uint64_t>(inner->size(), sizeof(int64_t)),
          limits))
    return error;
  std::vector<int64_t> outer;
  outer.reserve(inner->size());
  for (int64_t i = 0; i < outerExtent; ++i)
    outer.insert(outer.end(), (*begins)[i + 1] - (*begins)[i], i);
  std::vector<int64_t> columns[2];
  columns[outerDim] = std::move(outer);
  columns[1 - outerDim] = std::move(*inner);
  return addEntries(columns, {"indices", "indices"});
}

Error PartReader::readCoordinates() {
  if (!find("coords")) {
    std::vector<int64_t> columns[2];
    StringRef names[] = {"row", "col"};
    for (auto [name, column] : llvm::zip_equal(names, columns)) {
      Expected<std::vector<int64_t>> integers = readIntegers(name);
      if (!integers)
        return integers.takeError();
      column = std::move(*integers);
    }
    return addEntries(columns, names);
  }
  Expected<DenseArray> coords = readArray("coords");
  if (!coords)
    return coords.takeError();
  if (coords->shape.size() != 2 || coords->shape[0] < 1 ||
      coords->shape[0] > limits.rank || isFloat(coords->type) ||
      coords->type == ElementType::Bool)
    return refuse("coords", "the array is not one of integers with a row for "
                            "each dimension");
  int64_t rank = coords->shape[0], count = coords->shape[1];
  if (Error error = checkMemory(file, coords->getNumElements() * 8, limits))
    return error;
  std::vector<std::vector<int64_t>> columns(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    for (int64_t entry = 0; entry < count; ++entry) {
      int64_t index = dim * count + entry;
      bool isWide = getByteWidth(coords->type) == 8;
      int64_t coordinate =
          isWide ? coords->as<int64_t>()[index]
                 : static_cast<int64_t>(getAsDouble(*coords, index));
      if (coordinate < 0)
        return refuse("coords",
                      "element " + Twine(index) + " is not in 0 to 2^63 - 1");
      columns[dim].push_back(coordinate);
    }
  return addEntries(columns, SmallVector<StringRef>(rank, "coords"));
}

Expected<CoordinateTensor> PartReader::read() {
  Expected<std::string> layout = readLayout();
  if (!layout)
    return layout.takeError();
  if (Error error = readShape())
    return std::move(error);
  bool isByColumn = *layout == "csc";
  if (*layout != "csr" && *layout != "csc" && *layout != "coo")
    return fileError(file,
                     "the layout " + quoted(*layout) + " is not supported",
                     "save the matrix as csr, csc or coo");
  if (Error error =
          *layout == "coo" ? readCoordinates() : readCompressed(isByColumn))
    return std::move(error);
  if (Error error = readData())
    return std::move(error);
  auto refuseDuplicate = [&](int64_t first, int64_t second) {
    return fileError(
        file,
        "coordinate " + formatCoordinates(tensor.getCoordinates(second)) +
            " (counting from 0) is that of the entries " + Twine(first) +
            " and " + Twine(second),
        "call sum_duplicates() on the matrix before it is saved, or ask for "
        "duplicates to be coalesced");
  };
  if (Error error =
          sortEntries(tensor, duplicates, limits, file, refuseDuplicate))
    return std::move(error);
  return std::move(tensor);
}

Expected<CoordinateTensor> sparse_autograd::io::readSparseParts(
    StringRef bytes, ArrayRef<ZipMember> members, StringRef name,
    StringRef file, Duplicates duplicates, const SizeLimits &limits) {
  return PartReader(bytes, members, name, file, duplicates, limits).read();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

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

Expected<SparseParts>
sparse_autograd::io::makeSparseParts(const CoordinateTensor &tensor,
                                     SparseLayout layout,
                                     const SizeLimits &limits, StringRef file) {
  int64_t rank = tensor.getRank(), count = tensor.getNumEntries();
  if (layout != SparseLayout::Coo && rank != 2)
    layout = SparseLayout::Coo;
  SparseParts parts;
  parts.layout = layout == SparseLayout::Csr   ? "csr"
                 : layout == SparseLayout::Csc ? "csc"
                                               : "coo";
  auto add = [&](StringRef name, ElementType type,
                 ArrayRef<int64_t> shape) -> Expected<DenseArray *> {
    Expected<DenseArray> array = makeDenseArray(file, type, shape, limits);
    if (!array)
      return array.takeError();
    parts.arrays.emplace_back(name.str(), std::move(*array));
    return &parts.arrays.back().second;
  };
  // No array moves while others are added.
  parts.arrays.reserve(5);
  int64_t most = count;
  for (int64_t extent : tensor.shape)
    most = std::max(most, extent);
  ElementType indexType = getIndexType(most);

  // Those of a column stay sorted by row.
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (layout == SparseLayout::Csc)
    llvm::sort(order, [&](int64_t a, int64_t b) {
      int64_t first = tensor.coordinates[2 * a + 1];
      int64_t second = tensor.coordinates[2 * b + 1];
      return std::tie(first, a) < std::tie(second, b);
    });
  if (layout == SparseLayout::Coo && rank != 2) {
    Expected<DenseArray *> coords = add("coords", indexType, {rank, count});
    if (!coords)
      return coords.takeError();
    for (int64_t dim = 0; dim < rank; ++dim)
      for (int64_t i = 0; i < count; ++i)
        storeIndex(**coords, dim * count + i, tensor.getCoordinates(i)[dim]);
  } else if (layout == SparseLayout::Coo) {
    for (size_t dim : {0, 1}) {
      Expected<DenseArray *> column =
          add(dim ? "col" : "row", indexType, {count});
      if (!column)
        return column.takeError();
      for (int64_t i = 0; i < count; ++i)
        storeIndex(**column, i, tensor.getCoordinates(i)[dim]);
    }
  } else {
    size_t outer = layout == SparseLayout::Csc ? 1 : 0;
    Expected<DenseArray *> indices = add("indices", indexType, {count});
    if (!indices)
      return indices.takeError();
    Expected<DenseArray *> begins =
        add("indptr", indexType, {tensor.shape[outer] + 1});
    if (!begins)
      return begins.takeError();
    int64_t begun = 0;
    for (int64_t i = 0; i < count; ++i) {
      ArrayRef<int64_t> at = tensor.getCoordinates(order[i]);
      storeIndex(**indices, i, at[1 - outer]);
      for (; begun <= at[outer]; ++begun)
        storeIndex(**begins, begun, i);
    }
    for (; begun <= tensor.shape[outer]; ++begun)
      storeIndex(**begins, begun, count);
  }

  Expected<DenseArray *> shape = add("shape", ElementType::I64, {rank});
  if (!shape)
    return shape.takeError();
  llvm::copy(tensor.shape, (*shape)->as<int64_t>().begin());
  ElementType type = tensor.isPattern ? ElementType::F64 : tensor.values.type;
  Expected<DenseArray> values = convertValues(tensor, type, limits, file);
  if (!values)
    return values.takeError();
  Expected<DenseArray *> data = add("data", type, {count});
  if (!data)
    return data.takeError();
  size_t width = getByteWidth(type);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy((*data)->data.data() + i * width,
                values->data.data() + order[i] * width, width);
  return parts;
}
