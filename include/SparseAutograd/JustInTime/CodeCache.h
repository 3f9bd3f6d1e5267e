//===- CodeCache.h - machine code kept on disk --------------------*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Object files of compiled programs in a folder that processes share, each
// under a digest of all that it depends on. An entry appears whole or not at
// all, whatever number of processes store it. Reading never fails: what is not
// exactly what was stored is said, and as if it was not there.
//
// Entries are loaded and run, with all rights of the process, so that those of
// other users are not read.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_JUSTINTIME_CODECACHE_H
#define SPARSEAUTOGRAD_JUSTINTIME_CODECACHE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>

namespace sparse_autograd {

/// What an entry depends on, as a digest.
class CodeKey {
public:
  /// Adds a part; parts are told apart by their order.
  void add(llvm::StringRef part);
  void add(uint64_t number) { add(std::to_string(number)); }
  llvm::BLAKE3Result<> getDigest() const;

private:
  mutable llvm::BLAKE3 hasher;
};

class CodeCache {
public:
  /// Receives what is wrong with an entry, or with the folder; the program is
  /// compiled then.
  using Log = llvm::function_ref<void(const llvm::Twine &)>;

  /// The bytes of all entries, unless SPARSE_AUTOGRAD_CACHE_BYTES says
  /// otherwise.
  static constexpr uint64_t defaultByteLimit = uint64_t(1) << 30;

  /// A cache in `directory`, which is made when something is stored. The
  /// entries that were not used for the longest time go when they have more
  /// than `byteLimit` bytes together.
  explicit CodeCache(llvm::StringRef directory,
                     uint64_t byteLimit = defaultByteLimit)
      : directory(directory), byteLimit(byteLimit) {}

  /// The cache that `choice` names: a folder; "off", none; or "default": the
  /// folder or "off" of SPARSE_AUTOGRAD_CACHE, else `sparse-autograd` in the
  /// user's folder for caches (XDG_CACHE_HOME, else ~/.cache), none if there is
  /// none.
  static std::optional<CodeCache> open(llvm::StringRef choice, Log log);

  /// The object file that was stored under `key`; null if there is none.
  std::unique_ptr<llvm::MemoryBuffer> find(const CodeKey &key, Log log) const;

  /// Stores an object file, and removes what is beyond the limit.
  void store(const CodeKey &key, llvm::StringRef object, Log log) const;

private:
  llvm::SmallString<128> getPath(const llvm::BLAKE3Result<> &digest) const;

  std::string directory;
  uint64_t byteLimit;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_JUSTINTIME_CODECACHE_H
