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
#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/IO/SparseNpz.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace sparse_autograd::io {

/// A file that is complete but for its name (OutputFile::commit).
using PreparedFile = llvm::Expected<std::unique_ptr<OutputFile>>;

/// Makes a file of an array; the extension decides:
///
/// * .npy, any array but one of bf16, which NumPy does not have;
/// * .mtx, a matrix;
/// * .tns, an array of one or more dimensions, all its elements as entries.
///
/// As with all writers, a further extension `.gz` compresses the file, and what
/// its reader would not read as the same numbers, of the same extents, is an
/// error that names a format that can hold it.
PreparedFile prepareDense(llvm::StringRef path, const DenseArray &array,
                          const SizeLimits &limits = {});

/// Makes a file of a sparse tensor; the extension decides:
///
/// * .tns, of any rank;
/// * .mtx, of rank 2;
/// * .smtx, of rank 2, a pattern or values that are all 1;
/// * .csv, of rank 2, a table of triplets that count from 0: each row and
///   column has an entry, since what a table names are the rows and columns
///   that it has, and the values are finite;
/// * .npz, the arrays of scipy.sparse.save_npz in the given layout; coo for any
///   rank but 2;
/// * .npy, the dense array, zero where nothing is stored.
///
/// Text does not hold a stored false: in a file of numbers what is stored is
/// there, and a mask is true of it.
PreparedFile prepareSparse(llvm::StringRef path, const CoordinateTensor &tensor,
                           const SparseLayout &layout,
                           const SizeLimits &limits = {});

/// As prepareDense and prepareSparse; the file appears whole or not at all.
llvm::Error writeDense(llvm::StringRef path, const DenseArray &array);
llvm::Error writeSparse(llvm::StringRef path, const CoordinateTensor &tensor,
                        const SparseLayout &layout,
                        const SizeLimits &limits = {});

/// Writes a sparse matrix to a `.mtx` file; another extension is an error.
llvm::Error writeCoordinates(llvm::StringRef path,
                             const CoordinateMatrix &matrix);

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
