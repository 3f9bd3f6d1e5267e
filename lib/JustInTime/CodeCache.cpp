//===- CodeCache.cpp - machine code kept on disk --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is a file `llvmcache-<digest of its key>`, the names that LLVM's
// pruning of caches knows:
//
//     magic, 24 bytes | digest of the key, 32 | digest of the object, 32 |
//     the object
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/JustInTime/CodeCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <unistd.h>

using namespace llvm;
using namespace sparse_autograd;

/// Another layout of entries has another text.
static constexpr StringLiteral magic = "sparse-autograd code 01\n";
static constexpr size_t digestBytes = LLVM_BLAKE3_OUT_LEN;

static StringRef toText(const BLAKE3Result<> &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

void CodeKey::add(StringRef part) {
  hasher.update(std::to_string(part.size()) + ":");
  hasher.update(part);
}

BLAKE3Result<> CodeKey::getDigest() const { return hasher.final(); }

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

std::optional<CodeCache> CodeCache::open(StringRef choice, Log log) {
  std::string fromEnvironment;
  if (choice == "default") {
    fromEnvironment =
        sys::Process::GetEnv("SPARSE_AUTOGRAD_CACHE").value_or("");
    choice = fromEnvironment;
  }
  if (choice == "off")
    return std::nullopt;
  SmallString<128> directory = choice;
  if (directory.empty()) {
    if (!sys::path::cache_directory(directory))
      return std::nullopt;
    sys::path::append(directory, "sparse-autograd");
  }
  uint64_t byteLimit = defaultByteLimit;
  if (auto text = sys::Process::GetEnv("SPARSE_AUTOGRAD_CACHE_BYTES"))
    if (StringRef(*text).getAsInteger(10, byteLimit) || byteLimit == 0) {
      byteLimit = defaultByteLimit;
      log("SPARSE_AUTOGRAD_CACHE_BYTES is '" + *text +
          "', which is no number of bytes; the limit is " + Twine(byteLimit));
    }
  return CodeCache(directory, byteLimit);
}

SmallString<128> CodeCache::getPath(const BLAKE3Result<> &digest) const {
  SmallString<128> path = StringRef(directory);
  sys::path::append(path, "llvmcache-" + toHex(digest, /*LowerCase=*/true));
  return path;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The object file of an entry; empty, with the reason, if it is none of
/// `key`'s.
static StringRef readEntry(StringRef content, const BLAKE3Result<> &key,
                           StringRef &problem) {
  if (!content.consume_front(magic)) {
    problem = "it is not one of this version's";
    return {};
  }
  if (content.size() <= 2 * digestBytes) {
    problem = "it is not complete";
    return {};
  }
  if (!content.consume_front(toText(key))) {
    problem = "it was stored for another program";
    return {};
  }
  StringRef digest = content.take_front(digestBytes);
  StringRef object = content.drop_front(digestBytes);
  if (toText(BLAKE3::hash(arrayRefFromStringRef(object))) != digest) {
    problem = "it is not what was stored";
    return {};
  }
  return object;
}

std::unique_ptr<MemoryBuffer> CodeCache::find(const CodeKey &key,
                                              Log log) const {
  BLAKE3Result<> digest = key.getDigest();
  SmallString<128> path = getPath(digest);
  auto refuse = [&](const Twine &problem) {
    log("the code in '" + path + "' is not used: " + problem);
    return nullptr;
  };
  int descriptor;
  std::error_code code = sys::fs::openFileForRead(path, descriptor);
  if (code == errc::no_such_file_or_directory)
    return nullptr;
  if (code)
    return refuse(code.message());
  sys::fs::file_status status;
  code = sys::fs::status(descriptor, status);
  std::unique_ptr<MemoryBuffer> result;
  if (code || status.type() != sys::fs::file_type::regular_file) {
    refuse(code ? code.message() : "it is no file");
  } else if (status.getUser() != geteuid() ||
             (status.permissions() &
              (sys::fs::group_write | sys::fs::others_write))) {
    refuse("others than this user may have written it");
  } else if (auto file = MemoryBuffer::getOpenFile(
                 descriptor, path, status.getSize(),
                 /*RequiresNullTerminator=*/false,
                 // A mapped file that becomes shorter would end the process.
                 /*IsVolatile=*/true)) {
    StringRef problem;
    StringRef object = readEntry((*file)->getBuffer(), digest, problem);
    if (problem.empty()) {
      result = MemoryBuffer::getMemBufferCopy(object, path);
      // It was used; the disk may be one that only reads.
      [[maybe_unused]] std::error_code ignored =
          sys::fs::setLastAccessAndModificationTime(
              descriptor, std::chrono::system_clock::now());
    } else {
      refuse(problem);
    }
  } else {
    refuse(file.getError().message());
  }
  [[maybe_unused]] std::error_code closed =
      sys::Process::SafelyCloseFileDescriptor(descriptor);
  return result;
}

void CodeCache::store(const CodeKey &key, StringRef object, Log log) const {
  BLAKE3Result<> digest = key.getDigest();
  SmallString<128> path = getPath(digest), temporary;
  auto fail = [&](std::error_code code) {
    log("the code cannot be stored in '" + Twine(directory) +
        "': " + code.message());
  };
  if (std::error_code code = sys::fs::create_directories(
          directory, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return fail(code);
  // No TempFile, which would set handlers of signals in a process that is not
  // ours. What a process that is killed leaves is pruned like an entry.
  int descriptor;
  if (std::error_code code = sys::fs::createUniqueFile(
          path + "-%%%%%%%%", descriptor, temporary, sys::fs::OF_None,
          sys::fs::owner_read | sys::fs::owner_write))
    return fail(code);
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << magic << toText(digest)
         << toText(BLAKE3::hash(arrayRefFromStringRef(object))) << object;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  if (!code)
    code = sys::fs::rename(temporary, path);
  if (code) {
    [[maybe_unused]] std::error_code left = sys::fs::remove(temporary);
    return fail(code);
  }
  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizeBytes = byteLimit;
  pruneCache(directory, policy);
}
