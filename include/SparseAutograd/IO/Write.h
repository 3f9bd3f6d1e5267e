//===- Write.h - Writing results --------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_WRITE_H
#define SPARSEAUTOGRAD_IO_WRITE_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/SparseNpz.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace sparse_autograd::io {

/// Writes an array to a `.npy` file, or to a `.mtx` file when it is a matrix;
/// the extension decides, another is an error. As with all writers, a further
/// extension `.gz` compresses the file, and it appears whole or not at all
/// (OutputFile).
llvm::Error writeDense(llvm::StringRef path, const DenseArray &array);

/// Writes a sparse matrix to a `.mtx` file; another extension is an error.
llvm::Error writeCoordinates(llvm::StringRef path,
                             const CoordinateMatrix &matrix);

/// Writes a sparse tensor; the extension decides:
///
/// * .tns, of any rank;
/// * .mtx, or .smtx (the pattern only), or .csv, a table of triplets that count
///   from 0 (read again, it has no empty rows or columns), of rank 2;
/// * .npz, the arrays of scipy.sparse.save_npz in the given layout; coo for any
///   rank but 2;
/// * .npy, the dense array, zero where nothing is stored.
llvm::Error writeSparse(llvm::StringRef path, const CoordinateTensor &tensor,
                        SparseLayout layout, const SizeLimits &limits = {});

/// An array and the name that it has in a .npz file.
struct NamedArray {
  std::string name;
  const DenseArray *array;
};

/// Writes arrays to a `.npz` file. Names must differ, be not empty, and hold no
/// control characters, slashes or backslashes.
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NamedArray> arrays);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_WRITE_H
