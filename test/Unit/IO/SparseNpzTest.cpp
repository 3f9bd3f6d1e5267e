//===- SparseNpzTest.cpp - Sparse matrices in .npz files --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/SparseNpz.h"
#include "SparseAutograd/IO/Npy.h"
#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/Write.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

/// The content of a .npy file.
template <typename T>
std::string makeNpy(ElementType type, ArrayRef<int64_t> shape,
                    ArrayRef<T> elements) {
  DenseArray array = cantFail(makeDenseArray("", type, shape, {}));
  llvm::copy(elements, array.as<T>().begin());
  return cantFail(makeNpyHeader(array, "")) + array.data.str().str();
}

std::string integers(ArrayRef<int32_t> elements) {
  return makeNpy<int32_t>(ElementType::I32, {int64_t(elements.size())},
                          elements);
}

std::string reals(ArrayRef<double> elements) {
  return makeNpy<double>(ElementType::F64, {int64_t(elements.size())},
                         elements);
}

/// The arrays of a file by their names.
using Parts = std::vector<std::pair<std::string, std::string>>;

Expected<AnyFile> read(const Parts &parts, StringRef name = "") {
  TemporaryFolder folder;
  std::vector<ZipInput> members;
  for (const auto &[part, content] : parts)
    members.push_back({part + ".npy", {content}});
  std::string text;
  raw_string_ostream stream(text);
  writeZip(stream, members);
  std::string path = folder.write("a.npz", text);
  return readAny(name.empty() ? path : path + ":" + name.str());
}

/// The message, without the name of the file.
std::string getProblem(const Parts &parts, StringRef name = "") {
  std::string message = getMessage(read(parts, name));
  size_t begin = message.find("a.npz");
  return begin == std::string::npos ? message : message.substr(begin + 5);
}

/// The parts, with those of the same name replaced and those without content
/// dropped.
Parts change(Parts parts, const Parts &changes) {
  for (const auto &changed : changes) {
    erase_if(parts, [&](auto &part) { return part.first == changed.first; });
    if (!changed.second.empty())
      parts.push_back(changed);
  }
  return parts;
}

const Parts csr = {{"indices", integers({2, 0, 1})},
                   {"indptr", integers({0, 1, 3})},
                   {"format", makeNpyText("csr")},
                   {"shape", integers({2, 3})},
                   {"data", reals({1.5, 0, -2})}};
const Parts coo = {{"row", integers({1, 0})},
                   {"col", integers({2, 1})},
                   {"format", makeNpyText("coo")},
                   {"shape", integers({2, 3})},
                   {"data", reals({1.5, 2.5})}};

TEST(SparseNpz, ReadsEachLayout) {
  auto expectTensor = [](const Parts &parts, std::vector<int64_t> coordinates,
                         ArrayRef<double> values) {
    auto file = read(parts);
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    auto &tensor = std::get<CoordinateTensor>(*file);
    EXPECT_EQ(tensor.coordinates, coordinates);
    EXPECT_EQ(tensor.values.as<double>(), values);
  };
  expectTensor(csr, {0, 2, 1, 0, 1, 1}, {1.5, 0, -2});
  expectTensor(change(csr, {{"format", ""}}), {0, 2, 1, 0, 1, 1}, {1.5, 0, -2});
  expectTensor(change(csr, {{"format", makeNpyText("csc")},
                            {"shape", integers({3, 2})}}),
               {0, 1, 1, 1, 2, 0}, {0, -2, 1.5});
  expectTensor(coo, {0, 1, 1, 2}, {2.5, 1.5});
  expectTensor(
      change(coo, {{"row", ""},
                   {"col", ""},
                   {"coords",
                    makeNpy<int32_t>(ElementType::I32, {2, 2}, {1, 0, 2, 1})}}),
      {0, 1, 1, 2}, {2.5, 1.5});
  // As text of characters of 32 bits, which older versions write.
  std::string wide = StringRef(makeNpyText("csc")).drop_back(3).str();
  wide.replace(wide.find("|S3"), 3, "<U3");
  for (char c : {'c', 's', 'r'})
    wide += std::string(1, c) + std::string(3, '\0');
  expectTensor(change(csr, {{"format", wide}}), {0, 2, 1, 0, 1, 1},
               {1.5, 0, -2});
}

// Two blocks of 1 by 2, of a matrix of 3 by 4.
Parts makeBlocks() {
  return {
      {"indptr", integers({0, 1, 1, 2})},
      {"indices", integers({1, 0})},
      {"data", makeNpy<double>(ElementType::F64, {2, 1, 2}, {1.5, 0, -2, 4})},
      {"shape", integers({3, 4})},
      {"format", makeNpyText("bsr")}};
}

TEST(SparseNpz, ReadsBlocks) {
  auto blocks = read(makeBlocks());
  ASSERT_TRUE(bool(blocks)) << toString(blocks.takeError());
  auto &tensor = std::get<CoordinateTensor>(*blocks);
  EXPECT_EQ(tensor.coordinates, (std::vector<int64_t>{0, 2, 0, 3, 2, 0, 2, 1}));
  EXPECT_EQ(tensor.values.as<double>(), ArrayRef<double>({1.5, 0, -2, 4}));
  auto file = read(change(makeBlocks(), {{"shape", ""}}), "");
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(std::get<CoordinateTensor>(*file).shape,
            (SmallVector<int64_t>{3, 4}));
  const std::pair<Parts, const char *> cases[] = {
      {change(makeBlocks(), {{"data", integers({1, 2})}}),
       ":data: the array is not one of 2 blocks of rows and columns; "},
      {change(makeBlocks(),
              {{"data", makeNpy<double>(ElementType::F64, {2, 0, 2}, {})}}),
       ":data: the array is not one of 2 blocks of rows and columns; "},
      {change(makeBlocks(), {{"shape", integers({3, 5})}}),
       ":shape: the extent 5 is no multiple of the 2 columns of a block; "},
      {change(makeBlocks(), {{"shape", integers({2, 4})}}),
       ":indptr: the array delimits 3 slices of a dimension of extent 2; "},
      {change(makeBlocks(), {{"indices", integers({1, 2})}}),
       ":indices: element 2 is 4, not less than the extent 4; "},
      {change(makeBlocks(), {{"indptr", integers({0, 2, 2, 2})},
                             {"indices", integers({1, 1})}}),
       ": coordinate (0, 2) (counting from 0) is that of the entries 0 and 2"},
  };
  for (const auto &[parts, expected] : cases) {
    std::string problem = getProblem(parts);
    EXPECT_TRUE(StringRef(problem).starts_with(expected))
        << problem << "\ninstead of " << expected;
  }
}

TEST(SparseNpz, FindsPartsByTheirName) {
  Parts named = {{"a_indptr", integers({0, 1, 1, 2})},
                 {"a_indices", integers({4, 0})},
                 {"a", integers({7})},
                 {"b_row", integers({3})},
                 {"b_col", integers({1})}};
  // The array of the name comes first.
  auto file = read(named, "a");
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_TRUE(std::holds_alternative<DenseArray>(*file));
  file = read(change(named, {{"a", ""}}), "a");
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  auto &tensor = std::get<CoordinateTensor>(*file);
  EXPECT_TRUE(tensor.isPattern);
  EXPECT_EQ(tensor.shape, (SmallVector<int64_t>{3, 5}));
  EXPECT_EQ(tensor.isInferred, (SmallVector<bool>{false, true}));
  file = read(named, "b");
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(std::get<CoordinateTensor>(*file).shape,
            (SmallVector<int64_t>{4, 2}));
  EXPECT_TRUE(StringRef(getProblem(named, "c")).contains("holds no array 'c'"));
  EXPECT_TRUE(StringRef(getProblem(named)).contains("several arrays"));
}

TEST(SparseNpz, DiagnosesWhatIsWrong) {
  std::string matrix = makeNpy<int32_t>(ElementType::I32, {1, 1}, {0});
  std::string wide =
      makeNpy<uint64_t>(ElementType::U64, {3}, {2, 0, uint64_t(1) << 63});
  const std::pair<Parts, const char *> cases[] = {
      {change(csr, {{"indices", reals({2, 0, 1})}}),
       ":indices: the array holds no integers"},
      {change(csr, {{"indices", matrix}}),
       ":indices: the array has 2 dimensions instead of one"},
      {change(csr, {{"indices", integers({2, 3, 1})}}),
       ":indices: element 1 is 3, not less than the extent 3"},
      {change(csr, {{"indices", integers({2, -1, 1})}}),
       ":indices: element 1 is not in 0 to 2^63 - 1"},
      {change(csr, {{"indices", wide}}),
       ":indices: element 2 is not in 0 to 2^63 - 1"},
      {change(csr, {{"indices", integers({2, 0})}}),
       ":indptr: the array ends with 3, but there are 2 indices"},
      {change(csr, {{"indices", ""}}), ":indices: the array is missing"},
      {change(csr, {{"indptr", integers({0, 4, 3})}}),
       ":indptr: element 2 is 3, less than the one before it, 4"},
      {change(csr, {{"indptr", integers({1, 1, 3})}}),
       ":indptr: the array does not begin with 0"},
      {change(csr, {{"indptr", integers({})}}),
       ":indptr: the array does not begin with 0"},
      {change(csr, {{"indptr", integers({0, 1, 2, 3})}}),
       ":indptr: the array delimits 3 slices of a dimension of extent 2"},
      {change(csr, {{"shape", integers({2, 3, 4})}}),
       ":shape: the tensor has 3 dimensions, its entries have 2 coordinates"},
      {change(csr, {{"shape", integers({})}}),
       ":shape: the tensor has 0 dimensions, which are not 1 to 64"},
      {change(csr, {{"shape", integers({2, -3})}}),
       ":shape: element 1 is not in 0 to 2^63 - 1"},
      {change(csr, {{"data", reals({1, 2})}}),
       ":data: the array has 2 elements for 3 entries"},
      {change(csr, {{"data", matrix}}),
       ":data: the array has 2 dimensions instead of one"},
      {change(csr, {{"format", makeNpyText("dia")}}),
       ": the layout 'dia' is not supported"},
      {change(csr, {{"format", integers({3})}}),
       ":format: the array is not a short text"},
      {change(csr, {{"format", makeNpyText(std::string(300, 'c'))}}),
       ":format: the array is not a short text"},
      {change(csr, {{"format", makeNpyText("csr") + "x"}}),
       ":format: the array is not a short text"},
      {change(csr, {{"indices", integers({2, 1, 1})}}),
       ": coordinate (1, 1) (counting from 0) is that of the entries 1 and 2"},
      {change(coo, {{"col", integers({1})}}),
       ":col: the array has 1 elements for 2 entries"},
      {change(coo, {{"row", integers({1, 2})}}),
       ":row: element 1 is 2, not less than the extent 2"},
      {change(coo, {{"coords", matrix}, {"shape", integers({0})}}),
       ":coords: element 0 is 0, not less than the extent 0"},
      {change(coo, {{"coords", integers({1, 2})}}),
       ":coords: the array is not one of integers with a row for each"},
  };
  for (const auto &[parts, expected] : cases) {
    std::string problem = getProblem(parts);
    EXPECT_TRUE(StringRef(problem).starts_with(expected))
        << problem << "\ninstead of " << expected;
    EXPECT_TRUE(StringRef(problem).contains("; ")) << problem;
  }
}

/// What a dense argument makes of these files.
TEST(SparseNpz, ExpandsToADenseArray) {
  TemporaryFolder folder;
  CoordinateTensor tensor =
      std::move(std::get<CoordinateTensor>(cantFail(read(csr))));
  std::string path = folder.getPath("a.npz");
  ASSERT_EQ(getMessage(writeSparse(path, tensor, SparseLayout::Csc)), "");
  auto array = readDense(path);
  ASSERT_TRUE(bool(array)) << toString(array.takeError());
  EXPECT_EQ(array->as<double>(), ArrayRef<double>({0, 0, 1.5, 0, -2, 0}));
  auto matrix = readCoordinates(path);
  ASSERT_TRUE(bool(matrix)) << toString(matrix.takeError());
  EXPECT_EQ(matrix->matrix.values, (std::vector<double>{1.5, 0, -2}));
  auto sparse = readSparse(path);
  ASSERT_TRUE(bool(sparse)) << toString(sparse.takeError());
  EXPECT_EQ(sparse->getNumEntries(), 3);
}

} // namespace
