//===- Npy.h - NumPy's .npy format ------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_NPY_H
#define SPARSEAUTOGRAD_IO_NPY_H

#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace sparse_autograd::io {

/// Whether the bytes begin as a .npy file does.
bool isNpy(llvm::StringRef bytes);

/// Reads an array in NumPy's .npy format, versions 1 to 3 (numpy.lib.format):
/// bool, i1 to i8, u1 to u8, f2, f4 and f8, either byte order, C or Fortran
/// order; the result is row-major in this machine's byte order. Objects,
/// structured, complex, text and date types are refused. The file must hold
/// exactly what its header says. The header is parsed as data, never evaluated.
llvm::Expected<DenseArray> parseNpy(llvm::StringRef bytes, llvm::StringRef file,
                                    const SizeLimits &limits);

/// Reads an array that is one short text, such as the name of a format: bytes
/// (S) or characters (U). What is not ASCII comes out as a question mark.
llvm::Expected<std::string> parseNpyText(llvm::StringRef bytes,
                                         llvm::StringRef file,
                                         const SizeLimits &limits);

/// The header of a version 1 file for the array: magic, length and dictionary,
/// a multiple of 64 bytes long. BF16, which NumPy does not have, is an error.
llvm::Expected<std::string> makeNpyHeader(const DenseArray &array,
                                          llvm::StringRef file);

/// A file that holds one text, of ASCII, as bytes.
std::string makeNpyText(llvm::StringRef text);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_NPY_H
