//===- Library.h - code that was compiled ahead of time ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared object of sparse-compile, loaded into this process: its manifest and
// its entries.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CAPI_LIBRARY_H
#define SPARSEAUTOGRAD_LIB_CAPI_LIBRARY_H

#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>

namespace sparse_autograd::capi {

class Library {
public:
  /// Fails if the file is no shared object of sparse-compile, or was compiled
  /// for another version of the runtime.
  static llvm::Expected<std::unique_ptr<Library>> open(llvm::StringRef path);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  const llvm::json::Object &getManifest() const { return manifest; }
  /// The entry of the public function `name`; an error that lists those that
  /// there are, if there is none.
  llvm::Expected<SparseAutogradEntry> lookup(llvm::StringRef name) const;

private:
  explicit Library(void *handle) : handle(handle) {}
  /// Reads the manifest and finds all entries.
  llvm::Error read(llvm::StringRef path);

  void *handle;
  llvm::json::Object manifest;
  llvm::StringMap<SparseAutogradEntry> entries;
};

} // namespace sparse_autograd::capi

#endif // SPARSEAUTOGRAD_LIB_CAPI_LIBRARY_H
