//===- ScratchFile.cpp - Files for another program --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/ScratchFile.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace sparse_autograd::io;

Expected<std::unique_ptr<ScratchFile>> ScratchFile::create(StringRef suffix,
                                                           StringRef contents) {
  constexpr StringLiteral remedy =
      "check the folder of temporary files (TMPDIR) and its free space";
  SmallString<128> path;
  int descriptor = -1;
  if (std::error_code code = sys::fs::createTemporaryFile(
          "sparse-autograd", suffix, descriptor, path))
    return fileError("a temporary file", "cannot be made: " + code.message(),
                     remedy);
  sys::RemoveFileOnSignal(path);
  std::unique_ptr<ScratchFile> file(new ScratchFile());
  file->path = path.str().str();
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  if (code)
    return fileError(path, "cannot be written: " + code.message(), remedy);
  return file;
}

ScratchFile::~ScratchFile() {
  (void)sys::fs::remove(path);
  sys::DontRemoveFileOnSignal(path);
}
