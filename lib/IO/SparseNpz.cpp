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

/// What indptr and indices say: an entry, or a block, for each index.
struct Slices {
  int64_t extent; ///< how many slices there are
  std::vector<int64_t> outer, inner;
};

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
  Expected<Slices> readSlices();
  Error setOuterExtent(size_t dim, int64_t extent);
  Error readCompressed(bool isByColumn);
  Error readBlocks();
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
Expected<Slices> PartReader::readSlices() {
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
  if (Error error = checkMemory(
          file, SaturatingMultiply<uint64_t>(inner->size(), sizeof(int64_t)),
          limits))
    return std::move(error);
  Slices slices;
  slices.extent = static_cast<int64_t>(begins->size()) - 1;
  slices.outer.reserve(inner->size());
  for (int64_t i = 0; i < slices.extent; ++i)
    slices.outer.insert(slices.outer.end(), (*begins)[i + 1] - (*begins)[i], i);
  slices.inner = std::move(*inner);
  return slices;
}

/// Takes the extent of the dimension that indptr cuts, or compares it.
Error PartReader::setOuterExtent(size_t dim, int64_t extent) {
  if (!hasShape) {
    tensor.shape.assign(2, 0);
    tensor.isInferred.assign(2, true);
    tensor.shape[dim] = extent;
    tensor.isInferred[dim] = false;
  } else if (tensor.getRank() == 2 && tensor.shape[dim] != extent) {
    return refuse("indptr", "the array delimits " + Twine(extent) +
                                " slices of a dimension of extent " +
                                Twine(tensor.shape[dim]));
  }
  return Error::success();
}

Error PartReader::readCompressed(bool isByColumn) {
  Expected<Slices> slices = readSlices();
  if (!slices)
    return slices.takeError();
  size_t outerDim = isByColumn ? 1 : 0;
  if (Error error = setOuterExtent(outerDim, slices->extent))
    return error;
  std::vector<int64_t> columns[2];
  columns[outerDim] = std::move(slices->outer);
  columns[1 - outerDim] = std::move(slices->inner);
  return addEntries(columns, {"indices", "indices"});
}

/// Reads blocks of rows and columns, whose elements are entries.
Error PartReader::readBlocks() {
  Expected<Slices> slices = readSlices();
  if (!slices)
    return slices.takeError();
  Expected<DenseArray> data = readArray("data");
  if (!data)
    return data.takeError();
  int64_t blocks = slices->inner.size();
  if (data->shape.size() != 3 || data->shape[0] != blocks ||
      data->shape[1] < 1 || data->shape[2] < 1)
    return refuse("data", "the array is not one of " + Twine(blocks) +
                              " blocks of rows and columns");
  int64_t rows = data->shape[1], columns = data->shape[2];
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  // Both products fit where the blocks of a dimension do.
  if (slices->extent > most / rows)
    return refuse("indptr", "the rows do not fit 64 bits");
  if (Error error = setOuterExtent(0, slices->extent * rows))
    return error;
  if (tensor.getRank() == 2 && !tensor.isInferred[1] &&
      tensor.shape[1] % columns != 0)
    return refuse("shape", "the extent " + Twine(tensor.shape[1]) +
                               " is no multiple of the " + Twine(columns) +
                               " columns of a block");
  uint64_t bytes =
      SaturatingMultiply<uint64_t>(data->getNumElements(), 2 * sizeof(int64_t));
  if (Error error = checkMemory(file, bytes, limits))
    return error;
  std::vector<int64_t> coordinates[2];
  for (std::vector<int64_t> &column : coordinates)
    column.reserve(data->getNumElements());
  for (int64_t block = 0; block < blocks; ++block) {
    if (slices->inner[block] >= most / columns)
      return refuse("indices", "the columns do not fit 64 bits");
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        coordinates[0].push_back(slices->outer[block] * rows + row);
        coordinates[1].push_back(slices->inner[block] * columns + column);
      }
  }
  // The values follow in the same order.
  data->shape = {data->getNumElements()};
  tensor.values = std::move(*data);
  return addEntries(coordinates, {"indices", "indices"});
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
  if (!llvm::is_contained({"csr", "csc", "coo", "bsr"}, *layout))
    return fileError(file,
                     "the layout " + quoted(*layout) + " is not supported",
                     "save the matrix as csr, csc, coo or bsr");
  // The data of blocks are read with them.
  Error error = *layout == "bsr"   ? readBlocks()
                : *layout == "coo" ? readCoordinates()
                                   : readCompressed(*layout == "csc");
  if (!error && *layout != "bsr")
    error = readData();
  if (error)
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
