//===- OutputFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_OUTPUTFILE_H
#define SPARSEAUTOGRAD_IO_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace sparse_autograd::io {

/// A file under construction: what is written goes to a temporary file in the
/// same folder, which `commit` renames to the final name. Unless committed, it
/// is removed, also by a signal that ends the process (SIGINT, SIGTERM, SIGHUP
/// and what a crash raises). The file's permissions are those of the file that
/// it replaces, else read and write for all, less the umask.
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

  /// Commits all of the files or, after an error, none: what one replaced is
  /// there again. Two files of one name are an error.
  static llvm::Error
  commitAll(llvm::ArrayRef<std::unique_ptr<OutputFile>> files);

private:
  OutputFile() = default;
  void discard();
  /// Writes what is buffered to the disk; the name stays the temporary one.
  llvm::Error finish();
  /// Gives the finished file its name; what is replaced stays there as `backup`
  /// if that is asked for and the file system has links.
  llvm::Error rename(bool keepsOld);
  /// Takes the name away again.
  void undo();
  void dropBackup();

  std::string path;
  std::string target;
  std::string temporary;
  /// Another name of the file that was replaced; empty if there is none.
  std::string backup;
  bool isReplacing = false;
  int descriptor = -1;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

/// Writes what the standard output streams of LLVM and of C have buffered. An
/// error, with which both streams are done, if it cannot be written, now or
/// before: the disk is full, nothing reads the pipe.
llvm::Error flushStandardOutput();

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_OUTPUTFILE_H
