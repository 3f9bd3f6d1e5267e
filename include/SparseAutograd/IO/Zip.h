//===- Zip.h - Zip files, as .npz uses them ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_ZIP_H
#define SPARSEAUTOGRAD_IO_ZIP_H

#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace sparse_autograd::io {

/// One member of a zip file, in the order of the central directory.
struct ZipMember {
  std::string name; ///< never used as a path
  uint64_t compressedBytes = 0;
  uint64_t expandedBytes = 0;
  uint64_t dataOffset = 0; ///< of the member's bytes in the file
  uint32_t crc = 0;
  bool isDeflated = false;
};

/// Whether the bytes begin as a zip file does.
bool isZip(llvm::StringRef bytes);

/// Reads the directory of a zip file (APPNOTE 6.3, stored and deflated members,
/// zip64), and checks it whole: every member lies in the file, agrees with its
/// local header, overlaps no other and has a name of its own. Encrypted and
/// multi-disk files are refused.
llvm::Expected<std::vector<ZipMember>>
readZipDirectory(llvm::StringRef bytes, llvm::StringRef file,
                 const SizeLimits &limits);

/// The bytes of one member, expanded, their checksum verified.
llvm::Expected<AlignedBuffer> readZipMember(llvm::StringRef bytes,
                                            const ZipMember &member,
                                            llvm::StringRef file,
                                            const SizeLimits &limits);

/// A member to be written.
struct ZipInput {
  std::string name;
  /// Its bytes are those of the pieces in order; not owned.
  std::vector<llvm::StringRef> pieces;
};

/// Writes a zip file of stored members, with zip64 records, dated 1980-01-01 so
/// that equal members make equal files.
void writeZip(llvm::raw_ostream &stream, llvm::ArrayRef<ZipInput> members);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_ZIP_H
