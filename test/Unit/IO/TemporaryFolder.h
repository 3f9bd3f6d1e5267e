//===- TemporaryFolder.h - A folder for the files of one test ----*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_IO_TEMPORARYFOLDER_H
#define SPARSEAUTOGRAD_TEST_UNIT_IO_TEMPORARYFOLDER_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace sparse_autograd::io {

/// A new folder, removed with what is in it at the end of the test.
class TemporaryFolder {
public:
  TemporaryFolder() {
    (void)llvm::sys::fs::createUniqueDirectory("sparse-autograd-io", path);
  }
  ~TemporaryFolder() { (void)llvm::sys::fs::remove_directories(path); }

  std::string getPath(const llvm::Twine &name) const {
    return (path + "/" + name).str();
  }

  /// Writes a file and returns its path.
  std::string write(const llvm::Twine &name, llvm::StringRef content) const {
    std::string file = getPath(name);
    std::error_code code;
    llvm::raw_fd_ostream stream(file, code);
    stream << content;
    return file;
  }

  /// The names of what is in the folder.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(path, code), end;
         it != end && !code; it.increment(code))
      names.push_back(it->path().substr(path.size() + 1));
    llvm::sort(names);
    return names;
  }

private:
  llvm::SmallString<128> path;
};

/// The text of an error; empty for a success.
inline std::string getMessage(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : std::string();
}

/// The text of the error that stands in place of a value.
template <typename T>
std::string getMessage(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_TEST_UNIT_IO_TEMPORARYFOLDER_H
