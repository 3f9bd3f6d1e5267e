//===- CoordinateTensor.h - Sparse tensors by coordinates -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_COORDINATETENSOR_H
#define SPARSEAUTOGRAD_IO_COORDINATETENSOR_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace sparse_autograd::io {

/// A tensor of any rank by the coordinates of its stored entries, which are in
/// lexicographic order, each at most once; explicit zeros are kept. Coordinates
/// count from 0 and are in range.
struct CoordinateTensor {
  llvm::SmallVector<int64_t> shape;
  /// The dimensions whose extent the file does not tell: `shape` then has the
  /// least that holds the entries.
  llvm::SmallVector<bool> isInferred;
  /// A row for each entry, with a column for each dimension.
  std::vector<int64_t> coordinates;
  /// One value an entry, of any type; none in a pattern.
  DenseArray values;
  bool isPattern = false;

  size_t getRank() const { return shape.size(); }
  int64_t getNumEntries() const {
    return shape.empty()
               ? 0
               : static_cast<int64_t>(coordinates.size() / shape.size());
  }
  llvm::ArrayRef<int64_t> getCoordinates(int64_t entry) const {
    return llvm::ArrayRef(coordinates).slice(entry * getRank(), getRank());
  }
};

/// The matrix as a tensor of f64.
llvm::Expected<CoordinateTensor> toTensor(const CoordinateMatrix &matrix,
                                          const SizeLimits &limits,
                                          llvm::StringRef name);

/// A tensor of rank 2 as a matrix; an error for another rank, or for an integer
/// that an f64 cannot hold.
llvm::Expected<CoordinateMatrix> toMatrix(const CoordinateTensor &tensor,
                                          llvm::StringRef name);

/// The elements of an array that are not zero. A NaN is stored, -0.0 is not.
llvm::Expected<CoordinateTensor> collectNonzeros(const DenseArray &array,
                                                 const SizeLimits &limits,
                                                 llvm::StringRef name);

/// Brings entries into order. Of a coordinate that is there more than once,
/// either the values are summed, in f64 and in the order of the entries, or it
/// is an error, which `refuse` makes of the two entries.
llvm::Error sortEntries(
    CoordinateTensor &tensor, Duplicates duplicates, const SizeLimits &limits,
    llvm::StringRef name,
    llvm::function_ref<llvm::Error(int64_t first, int64_t second)> refuse);

/// The values of the entries as `type`: signed integers, or floats. Floats are
/// rounded to nearest. A number that `type` cannot hold is an error: too large,
/// or no integer where one is needed. A pattern gives ones. As i1, values that
/// are not i1 themselves give true: what is stored is there.
llvm::Expected<DenseArray> convertValues(const CoordinateTensor &tensor,
                                         ElementType type,
                                         const SizeLimits &limits,
                                         llvm::StringRef name);

/// The values, converted as above, in a dense array, zero where nothing is
/// stored.
llvm::Expected<DenseArray> expandTensor(const CoordinateTensor &tensor,
                                        ElementType type,
                                        const SizeLimits &limits,
                                        llvm::StringRef name);

/// "(1, 5)", each number plus `base`.
std::string formatCoordinates(llvm::ArrayRef<int64_t> coordinates,
                              int64_t base = 0);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_COORDINATETENSOR_H
