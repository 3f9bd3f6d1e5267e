//===- Read.cpp - Reading any supported file --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/InputFile.h"
#include "SparseAutograd/IO/MatrixMarket.h"
#include "SparseAutograd/IO/Npy.h"
#include "SparseAutograd/IO/Smtx.h"
#include "SparseAutograd/IO/SparseNpz.h"
#include "SparseAutograd/IO/Tns.h"
#include "SparseAutograd/IO/Zip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace sparse_autograd::io;

/// Splits `path:member`, unless a file has the whole as its name.
static std::pair<StringRef, StringRef> splitMember(StringRef path) {
  if (path.contains('\0') || sys::fs::exists(path))
    return {path, StringRef()};
  auto [file, member] = path.rsplit(':');
  if (member.empty() || file.empty() || !sys::fs::exists(file))
    return {path, StringRef()};
  return {file, member};
}

/// The name of an array, given that of its member.
static StringRef getArrayName(StringRef member) {
  member.consume_back(".npy");
  return member;
}

/// Chooses a member by its name, or the only one when there is no name.
static Expected<const ZipMember *> findMember(ArrayRef<ZipMember> members,
                                              StringRef name, StringRef file) {
  auto list = [&] {
    std::string names;
    constexpr size_t most = 20;
    for (const ZipMember &member : members.take_front(most))
      names += (names.empty() ? "" : ", ") + quoted(getArrayName(member.name));
    return names + (members.size() > most ? ", ..." : "");
  };
  if (members.empty())
    return fileError(file, "the file holds no arrays", "save one in it");
  if (name.empty()) {
    if (members.size() == 1)
      return &members.front();
    return fileError(file, "the file holds several arrays: " + list(),
                     "name one as FILE:NAME");
  }
  for (const ZipMember &member : members)
    if (member.name == name || getArrayName(member.name) == name)
      return &member;
  return fileError(file, "the file holds no array " + quoted(name),
                   "name one of " + list());
}

static bool isArray(ArrayRef<ZipMember> members, StringRef name) {
  if (name.empty())
    return members.size() == 1;
  return llvm::any_of(members, [&](const ZipMember &member) {
    return member.name == name || getArrayName(member.name) == name;
  });
}

static Expected<AnyFile> readMember(StringRef bytes, StringRef name,
                                    StringRef file,
                                    const ReadOptions &options) {
  const SizeLimits &limits = options.limits;
  Expected<std::vector<ZipMember>> members =
      readZipDirectory(bytes, file, limits);
  if (!members)
    return members.takeError();
  if (!isArray(*members, name) && hasSparseParts(*members, name))
    return readSparseParts(bytes, *members, name, file, options.duplicates,
                           limits);
  Expected<const ZipMember *> member = findMember(*members, name, file);
  if (!member)
    return member.takeError();
  Expected<AlignedBuffer> content =
      readZipMember(bytes, **member, file, limits);
  if (!content)
    return content.takeError();
  std::string memberFile = (file + ":" + (*member)->name).str();
  return parseNpy(content->str(), memberFile, limits);
}

/// A sparse file without ids.
static Expected<AnyFile> wrap(Expected<CoordinateMatrix> matrix) {
  if (!matrix)
    return matrix.takeError();
  TripletTable table;
  table.matrix = std::move(*matrix);
  return std::move(table);
}

static Expected<AnyFile> parse(StringRef bytes, StringRef file,
                               StringRef member, const ReadOptions &options) {
  const SizeLimits &limits = options.limits;
  if (isZip(bytes))
    return readMember(bytes, member, file, options);
  if (!member.empty())
    return fileError(file, "only a .npz file has members",
                     "leave out ':" + member + "'");
  StringRef name = file;
  if (name.ends_with_insensitive(".gz"))
    name = name.drop_back(3);
  if (isNpy(bytes) || name.ends_with_insensitive(".npy"))
    return parseNpy(bytes, file, limits);
  if (isMatrixMarket(bytes) || name.ends_with_insensitive(".mtx")) {
    auto matrix = parseMatrixMarket(bytes, file, options.duplicates, limits);
    if (!matrix)
      return matrix.takeError();
    if (auto *array = std::get_if<DenseArray>(&*matrix))
      return std::move(*array);
    return wrap(std::move(std::get<CoordinateMatrix>(*matrix)));
  }
  if (name.ends_with_insensitive(".smtx"))
    return wrap(parseSmtx(bytes, file, options.duplicates, limits));
  if (name.ends_with_insensitive(".csv"))
    return parseCsv(bytes, file, options.csv, options.duplicates, limits);
  if (name.ends_with_insensitive(".tns"))
    return parseTns(bytes, file, options.duplicates, limits);
  if (name.ends_with_insensitive(".npz"))
    return byteError(file, 0, "this is not a .npz file",
                     "write it again with numpy.savez");
  return fileError(file, "neither the content nor the name tells the format",
                   "use a .npy, .npz, .mtx, .smtx, .tns or .csv file, which "
                   "may be compressed by gzip");
}

Expected<AnyFile> sparse_autograd::io::readAny(StringRef path,
                                               const ReadOptions &options) {
  auto [file, member] = splitMember(path);
  Expected<AlignedBuffer> bytes = readExpandedFile(file, options.limits);
  if (!bytes)
    return bytes.takeError();
  return parse(bytes->str(), file, member, options);
}

Expected<DenseArray>
sparse_autograd::io::readDense(StringRef path, const ReadOptions &options) {
  Expected<AnyFile> any = readAny(path, options);
  if (!any)
    return any.takeError();
  if (auto *array = std::get_if<DenseArray>(&*any))
    return std::move(*array);
  if (auto *tensor = std::get_if<CoordinateTensor>(&*any))
    return expandTensor(*tensor, ElementType::F64, options.limits, path);
  return expandValues(std::get<TripletTable>(*any).matrix, ElementType::F64,
                      options.limits, path);
}

Expected<TripletTable>
sparse_autograd::io::readCoordinates(StringRef path,
                                     const ReadOptions &options) {
  Expected<AnyFile> any = readAny(path, options);
  if (!any)
    return any.takeError();
  if (auto *table = std::get_if<TripletTable>(&*any))
    return std::move(*table);
  if (auto *tensor = std::get_if<CoordinateTensor>(&*any)) {
    Expected<CoordinateMatrix> matrix = toMatrix(*tensor, path);
    if (!matrix)
      return matrix.takeError();
    TripletTable table;
    table.matrix = std::move(*matrix);
    return std::move(table);
  }
  return fileError(path, "the file holds a dense array, not a sparse matrix",
                   "use a .smtx, .csv or coordinate .mtx file");
}

Expected<CoordinateTensor>
sparse_autograd::io::readSparse(StringRef path, const ReadOptions &options) {
  Expected<AnyFile> any = readAny(path, options);
  if (!any)
    return any.takeError();
  if (auto *tensor = std::get_if<CoordinateTensor>(&*any))
    return std::move(*tensor);
  if (auto *array = std::get_if<DenseArray>(&*any))
    return collectNonzeros(*array, options.limits, path);
  return toTensor(std::get<TripletTable>(*any).matrix, options.limits, path);
}

Expected<std::vector<std::string>>
sparse_autograd::io::listMembers(StringRef path, const SizeLimits &limits) {
  Expected<AlignedBuffer> bytes = readExpandedFile(path, limits);
  if (!bytes)
    return bytes.takeError();
  if (!isZip(bytes->str()))
    return byteError(path, 0, "this is not a .npz file",
                     "write it again with numpy.savez");
  Expected<std::vector<ZipMember>> members =
      readZipDirectory(bytes->str(), path, limits);
  if (!members)
    return members.takeError();
  std::vector<std::string> names;
  for (const ZipMember &member : *members)
    names.push_back(getArrayName(member.name).str());
  return names;
}
