//===- CodeCacheTest.cpp - machine code kept on disk ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/JustInTime/CodeCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace sparse_autograd;

namespace {
/// A cache in a folder of its own, and what it says.
class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("code-cache", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  static CodeKey makeKey(llvm::StringRef program) {
    CodeKey key;
    key.add("options");
    key.add(program);
    return key;
  }
  std::string find(llvm::StringRef program) {
    auto object = cache().find(makeKey(program), log());
    return object ? object->getBuffer().str() : "nothing";
  }
  void store(llvm::StringRef program, llvm::StringRef object) {
    cache().store(makeKey(program), object, log());
  }
  CodeCache cache() { return CodeCache(folder, byteLimit); }
  CodeCache::Log log() { return keep; }
  std::string getPath(llvm::StringRef program) {
    llvm::SmallString<128> path = llvm::StringRef(folder);
    llvm::sys::path::append(
        path, "llvmcache-" + llvm::toHex(makeKey(program).getDigest(), true));
    return path.str().str();
  }
  void write(llvm::StringRef program, llvm::StringRef content) {
    std::error_code code;
    llvm::raw_fd_ostream stream(getPath(program), code);
    stream << content;
  }
  std::string read(llvm::StringRef program) {
    auto file = llvm::MemoryBuffer::getFile(getPath(program));
    return file ? (*file)->getBuffer().str() : "";
  }
  /// What was said since it was asked last.
  std::string takeSaid() { return std::exchange(said, ""); }

  llvm::SmallString<128> folder;
  uint64_t byteLimit = CodeCache::defaultByteLimit;
  std::string said;
  std::function<void(const llvm::Twine &)> keep =
      [this](const llvm::Twine &text) { said += text.str() + "\n"; };
};
} // namespace

TEST_F(CodeCacheTest, StoresAndFinds) {
  EXPECT_EQ(find("a"), "nothing");
  store("a", "code of a");
  store("b", "code of b");
  EXPECT_EQ(find("a"), "code of a");
  EXPECT_EQ(find("b"), "code of b");
  store("a", "code of a, once more");
  EXPECT_EQ(find("a"), "code of a, once more");
  EXPECT_EQ(said, "");
  // Parts do not run into each other.
  CodeKey one, other;
  one.add("ab");
  one.add("c");
  other.add("a");
  other.add("bc");
  EXPECT_NE(one.getDigest(), other.getDigest());
}

TEST_F(CodeCacheTest, IgnoresWhatWasNotStored) {
  store("a", "code of a");
  std::string whole = read("a");

  std::string changed = whole;
  changed.back() ^= 1;
  write("a", changed);
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("it is not what was stored"), std::string::npos);

  write("a", llvm::StringRef(whole).drop_back());
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("it is not what was stored"), std::string::npos);
  write("a", llvm::StringRef(whole).take_front(40));
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("it is not complete"), std::string::npos);

  write("b", whole);
  EXPECT_EQ(find("b"), "nothing");
  EXPECT_NE(takeSaid().find("it was stored for another program"),
            std::string::npos);
  write("a", "");
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("it is not one of this version's"),
            std::string::npos);

  // Storing repairs it.
  store("a", "code of a");
  EXPECT_EQ(find("a"), "code of a");
  EXPECT_EQ(said, "");

  llvm::sys::fs::setPermissions(getPath("a"), llvm::sys::fs::all_all);
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("others than this user may have written it"),
            std::string::npos);
  llvm::sys::fs::remove(getPath("a"));
  llvm::sys::fs::create_directory(getPath("a"));
  EXPECT_EQ(find("a"), "nothing");
  EXPECT_NE(takeSaid().find("is not used: "), std::string::npos);
}

TEST_F(CodeCacheTest, SaysThatItCannotStore) {
  write("a", "a file");
  CodeCache below(getPath("a") + "/folder");
  below.store(makeKey("a"), "code", log());
  EXPECT_NE(takeSaid().find("the code cannot be stored in '"),
            std::string::npos);
}

TEST_F(CodeCacheTest, KeepsToItsLimit) {
  const std::string object(1000, 'x');
  byteLimit = 3500;
  // The time of an entry is that of its last use.
  auto setTime = [&](llvm::StringRef program, int seconds) {
    int descriptor;
    ASSERT_FALSE(llvm::sys::fs::openFileForReadWrite(
        getPath(program), descriptor, llvm::sys::fs::CD_OpenExisting,
        llvm::sys::fs::OF_None));
    llvm::sys::fs::setLastAccessAndModificationTime(
        descriptor, llvm::sys::toTimePoint(1000 + seconds));
    close(descriptor);
  };
  for (auto [i, program] : llvm::enumerate(std::vector{"a", "b", "c"})) {
    store(program, object);
    setTime(program, i);
  }
  EXPECT_EQ(find("a"), object); // Now the last one that was used.
  store("d", object);
  EXPECT_EQ(find("b"), "nothing");
  EXPECT_EQ(find("a"), object);
  EXPECT_EQ(find("c"), object);
  EXPECT_EQ(find("d"), object);
  EXPECT_EQ(said, "");
}

TEST_F(CodeCacheTest, ServesSeveralProcesses) {
  // Each entry is long, and the same for all who store it.
  const std::string object(200000, 'x');
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool isRight = true;
      for (int round = 0; round < 50; ++round) {
        std::string name = std::to_string(round % 3);
        store(name, object);
        isRight &= find(name) == object;
      }
      _exit(isRight && said.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  // No temporary file is left: three entries, and when they were counted.
  std::error_code code;
  int count = 0;
  for (llvm::sys::fs::directory_iterator i(folder, code), end;
       i != end && !code; i.increment(code))
    ++count;
  EXPECT_EQ(count, 4);
}

TEST_F(CodeCacheTest, IsChosenByNameAndEnvironment) {
  auto isStored = [&](llvm::StringRef choice) {
    std::optional<CodeCache> cache = CodeCache::open(choice, log());
    if (!cache)
      return false;
    cache->store(makeKey("a"), "code", log());
    return true;
  };
  setenv("SPARSE_AUTOGRAD_CACHE", "off", 1);
  EXPECT_FALSE(isStored("default"));
  EXPECT_FALSE(isStored("off"));
  std::string first = (folder + "/first").str();
  EXPECT_TRUE(isStored(first));
  EXPECT_TRUE(llvm::sys::fs::is_directory(first));
  std::string second = (folder + "/second").str();
  setenv("SPARSE_AUTOGRAD_CACHE", second.c_str(), 1);
  EXPECT_TRUE(isStored("default"));
  EXPECT_TRUE(llvm::sys::fs::is_directory(second));
  unsetenv("SPARSE_AUTOGRAD_CACHE");
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  EXPECT_TRUE(isStored("default"));
  EXPECT_TRUE(llvm::sys::fs::is_directory(folder + "/sparse-autograd"));
  EXPECT_EQ(said, "");

  setenv("SPARSE_AUTOGRAD_CACHE_BYTES", "1G", 1);
  EXPECT_TRUE(isStored(first));
  EXPECT_NE(takeSaid().find("is '1G', which is no number of bytes"),
            std::string::npos);
  unsetenv("SPARSE_AUTOGRAD_CACHE_BYTES");
}
