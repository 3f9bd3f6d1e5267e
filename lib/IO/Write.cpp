//===- Write.cpp - Writing results ------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Write.h"
#include "GzipStream.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/MatrixMarket.h"
#include "SparseAutograd/IO/Npy.h"
#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/IO/Smtx.h"
#include "SparseAutograd/IO/TextLines.h"
#include "SparseAutograd/IO/Tns.h"
#include "SparseAutograd/IO/Zip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace llvm;
using namespace sparse_autograd::io;

/// Whether a file has an extension, be it compressed or not.
static bool hasExtension(StringRef path, StringRef extension) {
  if (path.ends_with_insensitive(".gz"))
    path = path.drop_back(3);
  return path.ends_with_insensitive(extension);
}

/// Makes a file of what `write` puts into its stream, compressed if its name
/// says so.
static PreparedFile prepareFile(StringRef path,
                                function_ref<Error(raw_ostream &)> write) {
  PreparedFile file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (path.ends_with_insensitive(".gz")) {
    GzipStream stream((*file)->getStream());
    if (Error error = write(stream))
      return std::move(error);
    if (!stream.finish())
      return fileError(path, "no memory to compress the file",
                       "write it without .gz");
  } else if (Error error = write((*file)->getStream())) {
    return std::move(error);
  }
  return file;
}

static Error commit(PreparedFile file) {
  return file ? (*file)->commit() : file.takeError();
}

static PreparedFile prepareNpy(StringRef path, const DenseArray &array) {
  Expected<std::string> header = makeNpyHeader(array, path);
  if (!header)
    return header.takeError();
  return prepareFile(path, [&](raw_ostream &stream) {
    stream << *header << array.data.str();
    return Error::success();
  });
}

PreparedFile sparse_autograd::io::prepareDense(StringRef path,
                                               const DenseArray &array,
                                               const SizeLimits &limits) {
  if (hasExtension(path, ".npy"))
    return prepareNpy(path, array);
  if (hasExtension(path, ".mtx"))
    return prepareFile(path, [&](raw_ostream &stream) {
      return writeMatrixMarket(stream, array, path);
    });
  if (!hasExtension(path, ".tns"))
    return fileError(path, "an array cannot be written to a file of this name",
                     "use the extension .npy or .tns, or .mtx for a matrix");
  if (array.shape.empty() || array.type == ElementType::Bool)
    return fileError(path,
                     array.shape.empty()
                         ? "a number has no coordinates"
                         : "a mask is true of what is stored, so that the file "
                           "has no false",
                     "write the array to a .npy file");
  Expected<CoordinateTensor> tensor = collectElements(array, limits, path);
  if (!tensor)
    return tensor.takeError();
  return prepareSparse(path, *tensor, SparseLayout::Coo, limits);
}

Error sparse_autograd::io::writeDense(StringRef path, const DenseArray &array) {
  return commit(prepareDense(path, array));
}

Error sparse_autograd::io::writeCoordinates(StringRef path,
                                            const CoordinateMatrix &matrix) {
  if (!hasExtension(path, ".mtx"))
    return fileError(path,
                     "a sparse matrix cannot be written to a file of this name",
                     "use the extension .mtx");
  return commit(prepareFile(path, [&](raw_ostream &stream) {
    writeMatrixMarket(stream, matrix);
    return Error::success();
  }));
}

Error sparse_autograd::io::writeNpz(StringRef path,
                                    ArrayRef<NamedArray> arrays) {
  if (!hasExtension(path, ".npz"))
    return fileError(path, "arrays cannot be written to a file of this name",
                     "use the extension .npz");
  constexpr size_t longestName = 4096;
  std::vector<std::string> headers;
  std::vector<ZipInput> members;
  StringSet<> names;
  headers.reserve(arrays.size());
  for (const NamedArray &named : arrays) {
    // The name becomes that of a file when somebody unpacks the archive.
    bool isSafe = !named.name.empty() && named.name.size() <= longestName &&
                  llvm::none_of(named.name, [](unsigned char c) {
                    return c < 0x20 || c == 0x7f || c == '/' || c == '\\';
                  });
    if (!isSafe || !names.insert(named.name).second)
      return fileError(path,
                       "the name " + quoted(named.name) +
                           " of an array is repeated or not allowed",
                       "use distinct names without slashes");
    Expected<std::string> header = makeNpyHeader(*named.array, path);
    if (!header)
      return header.takeError();
    headers.push_back(std::move(*header));
    members.push_back(
        {named.name + ".npy", {headers.back(), named.array->data.str()}});
  }
  return commit(prepareFile(path, [&](raw_ostream &stream) {
    writeZip(stream, members);
    return Error::success();
  }));
}

/// Writes the arrays of a tensor, and the text that names their layout.
static PreparedFile prepareParts(StringRef path, const CoordinateTensor &tensor,
                                 const SparseLayout &layout,
                                 const SizeLimits &limits) {
  Expected<SparseParts> parts = makeSparseParts(tensor, layout, limits, path);
  if (!parts)
    return parts.takeError();
  std::vector<std::string> headers;
  headers.reserve(parts->arrays.size());
  std::vector<ZipInput> members;
  for (const auto &[name, array] : parts->arrays) {
    Expected<std::string> header = makeNpyHeader(array, path);
    if (!header)
      return header.takeError();
    headers.push_back(std::move(*header));
    members.push_back({name + ".npy", {headers.back(), array.data.str()}});
  }
  std::string format = makeNpyText(parts->layout);
  members.push_back({"format.npy", {format}});
  return prepareFile(path, [&](raw_ostream &stream) {
    writeZip(stream, members);
    return Error::success();
  });
}

/// An error unless a table of triplets holds a matrix: it names the rows and
/// columns that have an entry, and no others, and its values are finite.
static Error checkHeldByTriplets(const CoordinateTensor &tensor,
                                 const SizeLimits &limits, StringRef file) {
  if (Error error = checkHeldByText(tensor, /*asDoubles=*/true, file))
    return error;
  int64_t count = tensor.getNumEntries();
  for (int64_t i = 0; i < count && !tensor.isPattern; ++i)
    if (!std::isfinite(getAsDouble(tensor.values, i)))
      return fileError(file,
                       describeValue(tensor, i) +
                           " is not finite, which a table of triplets takes "
                           "for missing data",
                       "write the matrix to a .mtx, .tns or .npz file");
  for (size_t dim : {0, 1}) {
    int64_t extent = tensor.shape[dim];
    // More rows or columns than entries: one of them is empty.
    std::vector<bool> isThere;
    if (extent <= count) {
      if (Error error = checkMemory(file, extent / 8 + 1, limits))
        return error;
      isThere.resize(extent);
      for (int64_t i = 0; i < count; ++i)
        isThere[tensor.getCoordinates(i)[dim]] = true;
    }
    if (extent > count || !llvm::all_of(isThere, [](bool is) { return is; }))
      return fileError(file,
                       Twine("a table of triplets has no ") +
                           (dim ? "columns" : "rows") +
                           " without an entry, and the matrix has one",
                       "write it to a .mtx, .tns or .npz file");
  }
  if (count == 0)
    return fileError(file, "a table of triplets has at least one entry",
                     "write the matrix to a .mtx, .tns or .npz file");
  return Error::success();
}

static Error writeTriplets(raw_ostream &stream, const CoordinateTensor &tensor,
                           const SizeLimits &limits, StringRef file) {
  if (tensor.getRank() != 2)
    return fileError(file,
                     "a tensor of " + Twine(tensor.getRank()) +
                         " dimensions has no triplets",
                     "write it to a .tns or .npz file");
  if (Error error = checkHeldByTriplets(tensor, limits, file))
    return error;
  stream << (tensor.isPattern ? "row,column\n" : "row,column,value\n");
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    ArrayRef<int64_t> at = tensor.getCoordinates(i);
    stream << at[0] << ',' << at[1];
    if (!tensor.isPattern) {
      stream << ',';
      writeElement(stream, tensor.values, i);
    }
    stream << '\n';
  }
  return Error::success();
}

PreparedFile sparse_autograd::io::prepareSparse(StringRef path,
                                                const CoordinateTensor &tensor,
                                                const SparseLayout &layout,
                                                const SizeLimits &limits) {
  if (hasExtension(path, ".npy")) {
    ElementType type = tensor.isPattern ? ElementType::F64 : tensor.values.type;
    Expected<DenseArray> array = expandTensor(tensor, type, limits, path);
    if (!array)
      return array.takeError();
    return prepareNpy(path, *array);
  }
  if (hasExtension(path, ".npz"))
    return prepareParts(path, tensor, layout, limits);
  if (hasExtension(path, ".tns"))
    return prepareFile(path, [&](raw_ostream &stream) {
      return writeTns(stream, tensor, path);
    });
  if (hasExtension(path, ".smtx"))
    return prepareFile(path, [&](raw_ostream &stream) {
      return writeSmtx(stream, tensor, path);
    });
  if (hasExtension(path, ".mtx"))
    return prepareFile(path, [&](raw_ostream &stream) {
      return writeMatrixMarket(stream, tensor, path);
    });
  if (hasExtension(path, ".csv"))
    return prepareFile(path, [&](raw_ostream &stream) {
      return writeTriplets(stream, tensor, limits, path);
    });
  return fileError(path,
                   "a sparse tensor cannot be written to a file of this name",
                   "use the extension .npz, .npy, .tns, .mtx, .smtx or .csv");
}

Error sparse_autograd::io::writeSparse(StringRef path,
                                       const CoordinateTensor &tensor,
                                       const SparseLayout &layout,
                                       const SizeLimits &limits) {
  return commit(prepareSparse(path, tensor, layout, limits));
}
