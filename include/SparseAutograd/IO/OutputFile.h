//===- OutputFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_OUTPUTFILE_H
#define SPARSEAUTOGRAD_IO_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace sparse_autograd::io {

/// A file under construction: what is written goes to a temporary file in the
/// same folder, which `commit` renames to the final name. Unless committed, it
/// is removed. The file's permissions are those of the file that it replaces,
/// else read and write for all, less the umask.
class OutputFile {
public:
  /// Starts a file that will be `path`. Only a regular file is replaced, never
  /// a directory, device or FIFO; a symbolic link is followed.
  static llvm::Expected<std::unique_ptr<OutputFile>>
  create(llvm::StringRef path);
  ~OutputFile();

  llvm::raw_ostream &getStream() { return *stream; }

  /// Writes what is buffered to the disk and gives the file its name.
  llvm::Error commit();

private:
  OutputFile() = default;
  void discard();

  std::string path;
  std::string target;
  std::string temporary;
  int descriptor = -1;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_OUTPUTFILE_H
