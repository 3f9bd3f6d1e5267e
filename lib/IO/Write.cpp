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
static Error writeFile(StringRef path,
                       function_ref<Error(raw_ostream &)> write) {
  Expected<std::unique_ptr<OutputFile>> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (path.ends_with_insensitive(".gz")) {
    GzipStream stream((*file)->getStream());
    if (Error error = write(stream))
      return error;
    if (!stream.finish())
      return fileError(path, "no memory to compress the file",
                       "write it without .gz");
  } else if (Error error = write((*file)->getStream())) {
    return error;
  }
  return (*file)->commit();
}

Error sparse_autograd::io::writeDense(StringRef path, const DenseArray &array) {
  if (hasExtension(path, ".mtx"))
    return writeFile(path, [&](raw_ostream &stream) {
      return writeMatrixMarket(stream, array, path);
    });
  if (!hasExtension(path, ".npy"))
    return fileError(path, "an array cannot be written to a file of this name",
                     "use the extension .npy, or .mtx for a matrix");
  Expected<std::string> header = makeNpyHeader(array, path);
  if (!header)
    return header.takeError();
  return writeFile(path, [&](raw_ostream &stream) {
    stream << *header << array.data.str();
    return Error::success();
  });
}

Error sparse_autograd::io::writeCoordinates(StringRef path,
                                            const CoordinateMatrix &matrix) {
  if (!hasExtension(path, ".mtx"))
    return fileError(path,
                     "a sparse matrix cannot be written to a file of this name",
                     "use the extension .mtx");
  return writeFile(path, [&](raw_ostream &stream) {
    writeMatrixMarket(stream, matrix);
    return Error::success();
  });
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
  return writeFile(path, [&](raw_ostream &stream) {
    writeZip(stream, members);
    return Error::success();
  });
}

/// Writes the arrays of a tensor, and the text that names their layout.
static Error writeParts(StringRef path, const CoordinateTensor &tensor,
                        SparseLayout layout, const SizeLimits &limits) {
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
  return writeFile(path, [&](raw_ostream &stream) {
    writeZip(stream, members);
    return Error::success();
  });
}

static Error writeTriplets(raw_ostream &stream, const CoordinateTensor &tensor,
                           StringRef file) {
  if (tensor.getRank() != 2)
    return fileError(file,
                     "a tensor of " + Twine(tensor.getRank()) +
                         " dimensions has no triplets",
                     "write it to a .tns file");
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

Error sparse_autograd::io::writeSparse(StringRef path,
                                       const CoordinateTensor &tensor,
                                       SparseLayout layout,
                                       const SizeLimits &limits) {
  if (hasExtension(path, ".npy")) {
    ElementType type = tensor.isPattern ? ElementType::F64 : tensor.values.type;
    Expected<DenseArray> array = expandTensor(tensor, type, limits, path);
    return array ? writeDense(path, *array) : array.takeError();
  }
  if (hasExtension(path, ".npz"))
    return writeParts(path, tensor, layout, limits);
  if (hasExtension(path, ".tns"))
    return writeFile(path, [&](raw_ostream &stream) {
      writeTns(stream, tensor);
      return Error::success();
    });
  if (hasExtension(path, ".smtx"))
    return writeFile(path, [&](raw_ostream &stream) {
      return writeSmtx(stream, tensor, path);
    });
  if (hasExtension(path, ".mtx"))
    return writeFile(path, [&](raw_ostream &stream) {
      return writeMatrixMarket(stream, tensor, path);
    });
  if (hasExtension(path, ".csv"))
    return writeFile(path, [&](raw_ostream &stream) {
      return writeTriplets(stream, tensor, path);
    });
  return fileError(path,
                   "a sparse tensor cannot be written to a file of this name",
                   "use the extension .npz, .npy, .tns, .mtx, .smtx or .csv");
}
