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
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
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
  for (const char *name : {"a.tns.gz", "a.smtx.gz", "a.npz.gz", "a.csv.gz"}) {
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
