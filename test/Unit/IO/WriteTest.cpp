//===- WriteTest.cpp - Files that appear whole or not at all ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Write.h"
#include "SparseAutograd/IO/InputFile.h"
#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/IO/Read.h"
#include "TemporaryFolder.h"
#include "llvm/Support/Signals.h"
#include "gtest/gtest.h"
#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

DenseArray makeArray(ArrayRef<int64_t> shape) {
  return cantFail(makeDenseArray("", ElementType::F64, shape, SizeLimits()));
}

mode_t getMode(const std::string &path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

void expectContains(const std::string &message, StringRef part) {
  EXPECT_TRUE(StringRef(message).contains(part)) << message;
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  TemporaryFolder folder;
  std::string path = folder.getPath("out.txt");
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    (*file)->getStream() << "half";
    EXPECT_EQ(folder.list().size(), 1u);
    EXPECT_FALSE(sys::fs::exists(path));
  }
  EXPECT_TRUE(folder.list().empty());
  auto file = OutputFile::create(path);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  (*file)->getStream() << "whole";
  ASSERT_EQ(getMessage((*file)->commit()), "");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.txt"});
}

TEST(OutputFile, FollowsTheUmaskAndThePermissionsOfWhatItReplaces) {
  TemporaryFolder folder;
  std::string path = folder.getPath("out.npy");
  mode_t old = ::umask(027);
  EXPECT_EQ(getMessage(writeDense(path, makeArray({1}))), "");
  ::umask(old);
  EXPECT_EQ(getMode(path), mode_t(0640));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(getMessage(writeDense(path, makeArray({1}))), "");
  EXPECT_EQ(getMode(path), mode_t(0600));
}

TEST(OutputFile, LeavesNothingWhenTheDiskIsFull) {
  TemporaryFolder folder;
  std::string path = folder.write("out.npy", "before");
  // A limit on the size of files stands for a full disk.
  struct rlimit old = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  auto handler = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {4096, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message = getMessage(writeDense(path, makeArray({100000})));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  ::signal(SIGXFSZ, handler);
  expectContains(message, "out.npy: cannot write the file: File too large; ");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.npy"});
  uint64_t size = 0;
  ASSERT_FALSE(sys::fs::file_size(path, size));
  EXPECT_EQ(size, 6u);
}

std::string read(const std::string &path) {
  return cantFail(readFile(path, SizeLimits())).str().str();
}

/// Starts files of these names with the text "new".
std::vector<std::unique_ptr<OutputFile>>
startFiles(const TemporaryFolder &folder, ArrayRef<const char *> names) {
  std::vector<std::unique_ptr<OutputFile>> files;
  for (const char *name : names) {
    files.push_back(cantFail(OutputFile::create(folder.getPath(name))));
    files.back()->getStream() << "new";
  }
  return files;
}

TEST(OutputFile, AllOrNone) {
  TemporaryFolder folder;
  folder.write("a", "old");
  EXPECT_EQ(
      getMessage(OutputFile::commitAll(startFiles(folder, {"a", "b", "c"}))),
      "");
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(read(folder.getPath("a")), "new");

  // A folder took the name of the third after it was started.
  folder.write("a", "old");
  auto files = startFiles(folder, {"a", "d", "e", "f"});
  ASSERT_EQ(::mkdir(folder.getPath("e").c_str(), 0700), 0);
  expectContains(getMessage(OutputFile::commitAll(files)),
                 "e: cannot write the file: Is a directory; ");
  files.clear();
  EXPECT_EQ(read(folder.getPath("a")), "old");
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"a", "b", "c", "e"}));
}

TEST(OutputFile, TwoOfOneNameAreRefused) {
  TemporaryFolder folder;
  ASSERT_EQ(::symlink(folder.write("a", "old").c_str(),
                      folder.getPath("link").c_str()),
            0);
  expectContains(
      getMessage(OutputFile::commitAll(startFiles(folder, {"a", "link"}))),
      "link: two results would have this name; ");
  EXPECT_EQ(read(folder.getPath("a")), "old");
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"a", "link"}));
}

// What a signal finds half written is gone after it.
TEST(OutputFile, LeavesNothingAfterASignal) {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    TemporaryFolder folder;
    folder.write("a", "old");
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // As in a process of its own: not with what earlier tests have
      // registered, nor what whoever runs them ignores.
      sys::unregisterHandlers();
      (void)::signal(number, SIG_DFL);
      auto files = startFiles(folder, {"a", "b"});
      for (const auto &file : files)
        file->getStream().flush();
      ::kill(::getpid(), number);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    EXPECT_EQ(folder.list(), std::vector<std::string>{"a"});
    EXPECT_EQ(read(folder.getPath("a")), "old");
  }
}

TEST(OutputFile, ReplacesOnlyRegularFiles) {
  TemporaryFolder folder;
  std::string fifo = folder.getPath("fifo.npy");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expectContains(getMessage(writeDense(fifo, makeArray({1}))),
                 "something that is not a regular file has this name; ");
  expectContains(getMessage(OutputFile::create("/dev/null")),
                 "something that is not a regular file has this name; ");
  expectContains(getMessage(OutputFile::create(folder.getPath("."))),
                 "something that is not a regular file has this name; ");
  expectContains(getMessage(OutputFile::create("")), "this is not a file name");
  expectContains(getMessage(OutputFile::create(folder.getPath("no/a.npy"))),
                 "cannot create a file in its folder: No such file");
  std::string link = folder.getPath("link.npy");
  ASSERT_EQ(::symlink("none.npy", link.c_str()), 0);
  expectContains(getMessage(writeDense(link, makeArray({1}))),
                 "cannot follow the symbolic link: No such file");
}

TEST(OutputFile, FollowsSymbolicLinks) {
  TemporaryFolder folder;
  std::string target = folder.write("target.npy", "before");
  std::string link = folder.getPath("link.npy");
  ASSERT_EQ(::symlink("target.npy", link.c_str()), 0);
  ASSERT_EQ(getMessage(writeDense(link, makeArray({3}))), "");
  EXPECT_TRUE(sys::fs::is_symlink_file(link));
  EXPECT_EQ(getMessage(readDense(target)), "");
}

TEST(Write, DiagnosesWhatIsWrong) {
  TemporaryFolder folder;
  DenseArray vector = makeArray({3});
  expectContains(getMessage(writeDense(folder.getPath("a.txt"), vector)),
                 "an array cannot be written to a file of this name; ");
  expectContains(getMessage(writeDense(folder.getPath("a.mtx"), vector)),
                 "an array of 1 dimensions is not a matrix; ");
  expectContains(getMessage(writeCoordinates(folder.getPath("a.npy"), {})),
                 "a sparse matrix cannot be written to a file of this name; ");
  expectContains(getMessage(writeNpz(folder.getPath("a.npy"), {})),
                 "arrays cannot be written to a file of this name; ");
  std::string npz = folder.getPath("a.npz");
  for (const char *name : {"", "../x", "a\\b", "a\nb"})
    expectContains(getMessage(writeNpz(npz, {{name, &vector}})),
                   "of an array is repeated or not allowed; ");
  expectContains(getMessage(writeNpz(npz, {{"x", &vector}, {"x", &vector}})),
                 "the name 'x' of an array is repeated or not allowed; ");
  DenseArray brain =
      cantFail(makeDenseArray("", ElementType::BF16, {1}, SizeLimits()));
  expectContains(getMessage(writeNpz(npz, {{"x", &brain}})), "has no bf16");
  expectContains(getMessage(writeDense(folder.getPath("a.npy"), brain)),
                 "has no bf16");
  EXPECT_TRUE(folder.list().empty());
}

CoordinateTensor makeMatrix(ArrayRef<int64_t> shape,
                            std::vector<int64_t> coordinates,
                            ArrayRef<double> values) {
  CoordinateTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.isInferred.assign(shape.size(), false);
  tensor.coordinates = std::move(coordinates);
  tensor.values = makeArray({static_cast<int64_t>(values.size())});
  llvm::copy(values, tensor.values.as<double>().begin());
  return tensor;
}

// What a format would lose is refused, and what it holds is not.
TEST(Write, RefusesWhatAFormatCannotHold) {
  TemporaryFolder folder;
  auto write = [&](const char *name, const CoordinateTensor &tensor) {
    return getMessage(
        writeSparse(folder.getPath(name), tensor, SparseLayout::Csr));
  };
  expectContains(write("a.smtx", makeMatrix({1, 2}, {0, 0, 0, 1}, {1, 2})),
                 "the value at (0, 1) (counting from 0) is not 1, which is "
                 "what a pattern, all that the format has, stands for; write "
                 "the tensor to a .mtx, .tns or .npz file");
  expectContains(write("a.csv", makeMatrix({2, 1}, {0, 0}, {1})),
                 "a table of triplets has no rows without an entry, and the "
                 "matrix has one; write it to a .mtx, .tns or .npz file");
  expectContains(write("a.csv", makeMatrix({2, 2}, {0, 0, 1, 0}, {1, 1})),
                 "a table of triplets has no columns without an entry");
  expectContains(write("a.csv", makeMatrix({0, 0}, {}, {})),
                 "a table of triplets has at least one entry");
  expectContains(write("a.csv", makeMatrix({1, 1}, {0, 0}, {NAN})),
                 "is not finite, which a table of triplets takes for missing "
                 "data");
  CoordinateTensor large = makeMatrix({1, 1}, {0, 0}, {0});
  large.values.type = ElementType::I64;
  large.values.as<int64_t>()[0] = (int64_t(1) << 53) + 1;
  expectContains(write("a.csv", large),
                 "is an integer that would be read as another one; write the "
                 "tensor to a .npz file");
  expectContains(getMessage(writeDense(folder.getPath("a.tns"), makeArray({}))),
                 "a number has no coordinates; write the array to a .npy file");
  DenseArray mask =
      cantFail(makeDenseArray("", ElementType::Bool, {1}, SizeLimits()));
  expectContains(getMessage(writeDense(folder.getPath("a.tns"), mask)),
                 "has no false; write the array to a .npy file");
  EXPECT_TRUE(folder.list().empty());
  EXPECT_EQ(write("a.smtx", makeMatrix({3, 3}, {0, 0, 0, 1}, {1, 1})), "");
  EXPECT_EQ(write("a.csv", makeMatrix({2, 1}, {0, 0, 1, 0}, {1, 0})), "");
}

TEST(Write, CompressesByTheName) {
  TemporaryFolder folder;
  DenseArray array = makeArray({300, 40});
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array.as<double>()[i] = 1.0 / static_cast<double>(i + 1);
  for (const char *name : {"a.npy", "a.mtx", "a.npy.gz", "a.MTX.GZ"}) {
    std::string path = folder.getPath(name);
    ASSERT_EQ(getMessage(writeDense(path, array)), "") << name;
    auto again = readDense(path);
    ASSERT_TRUE(bool(again)) << toString(again.takeError());
    EXPECT_EQ(again->data.str(), array.data.str());
    auto bytes = cantFail(readFile(path, SizeLimits()));
    EXPECT_EQ(isGzip(bytes.str()), StringRef(name).ends_with_insensitive("gz"));
  }
  auto tensor = cantFail(collectNonzeros(array, SizeLimits(), ""));
  for (const char *name : {"a.tns.gz", "a.mtx.gz", "a.npz.gz", "a.csv.gz"}) {
    std::string path = folder.getPath(name);
    ASSERT_EQ(getMessage(writeSparse(path, tensor, SparseLayout::Csr)), "");
    auto again = readSparse(path);
    ASSERT_TRUE(bool(again)) << toString(again.takeError());
    EXPECT_EQ(again->coordinates, tensor.coordinates) << name;
  }
  // Equal arrays make equal files.
  std::string first = folder.getPath("a.npy.gz");
  std::string second = folder.getPath("b.npy.gz");
  ASSERT_EQ(getMessage(writeDense(second, array)), "");
  EXPECT_EQ(cantFail(readFile(first, SizeLimits())).str(),
            cantFail(readFile(second, SizeLimits())).str());
  expectContains(getMessage(writeDense(folder.getPath("a.gz"), array)),
                 "use the extension .npy");
  // What cannot be written leaves nothing.
  EXPECT_NE(getMessage(writeDense(folder.getPath("v.mtx.gz"), makeArray({3}))),
            "");
  EXPECT_FALSE(sys::fs::exists(folder.getPath("v.mtx.gz")));
}

} // namespace
