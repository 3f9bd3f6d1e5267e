//===- Read.h - Reading any supported file ----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_READ_H
#define SPARSEAUTOGRAD_IO_READ_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/Csv.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <variant>
#include <vector>

namespace sparse_autograd::io {

struct ReadOptions {
  Duplicates duplicates = Duplicates::Refuse;
  CsvOptions csv;
  SizeLimits limits;
};

/// What a file holds: a sparse matrix, a dense array, or a sparse tensor with
/// values of any type (.tns, .npz).
using AnyFile = std::variant<TripletTable, DenseArray, CoordinateTensor>;

/// Reads `path`, or `path:member` of a .npz file: the format is known by the
/// content (.npy, .npz, .mtx), else by the extension (.smtx, .csv, .tns); gzip
/// is expanded. Matrices come with the ids of their rows and columns when they
/// have any (.csv), with empty tables otherwise.
///
/// The member of a .npz file is an array, with or without `.npy`, or, if there
/// is none of that name, the sparse tensor whose parts are NAME_indptr,
/// NAME_indices and so on (SparseNpz.h). Without a name it is the only array,
/// or the tensor whose parts are indptr, indices and so on, as
/// scipy.sparse.save_npz names them.
llvm::Expected<AnyFile> readAny(llvm::StringRef path,
                                const ReadOptions &options = {});

/// As readAny; a sparse file is expanded to a dense F64 array, zero where
/// nothing is stored.
llvm::Expected<DenseArray> readDense(llvm::StringRef path,
                                     const ReadOptions &options = {});

/// As readAny; a dense file is an error, and so is a tensor that is no matrix.
llvm::Expected<TripletTable> readCoordinates(llvm::StringRef path,
                                             const ReadOptions &options = {});

/// As readAny; of a dense array, the elements that are not zero.
llvm::Expected<CoordinateTensor> readSparse(llvm::StringRef path,
                                            const ReadOptions &options = {});

/// The names of the arrays in a .npz file, without `.npy`, in its order.
llvm::Expected<std::vector<std::string>>
listMembers(llvm::StringRef path, const SizeLimits &limits = {});

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_READ_H
