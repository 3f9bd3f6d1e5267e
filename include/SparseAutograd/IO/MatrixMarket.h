//===- MatrixMarket.h - The Matrix Market exchange format -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_MATRIXMARKET_H
#define SPARSEAUTOGRAD_IO_MATRIXMARKET_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <variant>

namespace sparse_autograd::io {

/// Whether the bytes begin with the banner of a Matrix Market file.
bool isMatrixMarket(llvm::StringRef bytes);

/// Reads a Matrix Market file (Boisvert, Pozo, Remington, NISTIR 5935):
/// `coordinate` files of real, integer or pattern entries give a
/// CoordinateMatrix, `array` files a DenseArray of F64, or of I64 for integers.
/// Symmetric and skew-symmetric files are expanded to the full matrix; an entry
/// may stand in either triangle, but not in both. Complex and hermitian files
/// are refused.
llvm::Expected<std::variant<CoordinateMatrix, DenseArray>>
parseMatrixMarket(llvm::StringRef text, llvm::StringRef file,
                  Duplicates duplicates, const SizeLimits &limits);

/// Writes `matrix real | pattern general` by coordinates, values so that they
/// are read back bit for bit (but for the payload of a NaN).
void writeMatrixMarket(llvm::raw_ostream &stream,
                       const CoordinateMatrix &matrix);

/// Writes a matrix as `array real | integer general`; an error unless the array
/// has two dimensions.
llvm::Error writeMatrixMarket(llvm::raw_ostream &stream,
                              const DenseArray &array, llvm::StringRef file);

/// Writes a tensor of rank 2 as `coordinate real | integer | pattern general`;
/// an error for another rank, or for values that would be read as others
/// (checkHeldByText).
llvm::Error writeMatrixMarket(llvm::raw_ostream &stream,
                              const CoordinateTensor &tensor,
                              llvm::StringRef file);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_MATRIXMARKET_H
