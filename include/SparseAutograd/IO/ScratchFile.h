//===- ScratchFile.h - Files for another program ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_SCRATCHFILE_H
#define SPARSEAUTOGRAD_IO_SCRATCHFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace sparse_autograd::io {

/// A file in the folder of temporary ones, which a linker or an assembler reads
/// or writes. It is removed with this object, and by a signal that ends the
/// process.
class ScratchFile {
public:
  /// Makes a file whose name ends with `suffix` and that holds `contents`.
  static llvm::Expected<std::unique_ptr<ScratchFile>>
  create(llvm::StringRef suffix, llvm::StringRef contents = "");
  ~ScratchFile();

  llvm::StringRef getPath() const { return path; }

private:
  ScratchFile() = default;

  std::string path;
};

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_SCRATCHFILE_H
