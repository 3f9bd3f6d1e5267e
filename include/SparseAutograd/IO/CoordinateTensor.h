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

/// The matrix as a tensor of f64, or of i64 (`integers`).
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

/// All elements of an array, zeros too.
llvm::Expected<CoordinateTensor> collectElements(const DenseArray &array,
                                                 const SizeLimits &limits,
                                                 llvm::StringRef name);

/// Brings entries into order. Of a coordinate that is there more than once,
/// either the values are summed, in f64 and in the order of the entries, or it
/// is an error, which `refuse` makes of the two entries.
llvm::Error sortEntries(
    CoordinateTensor &tensor, Duplicates duplicates, const SizeLimits &limits,
    llvm::StringRef name,
    llvm::function_ref<llvm::Error(int64_t first, int64_t second)> refuse);

/// The values of the entries as `type`, as convertElements converts them. A
/// pattern gives ones. As i1, values that are not i1 themselves give true: what
/// is stored is there.
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

/// Whether an f64 holds an element exactly; false for some 64-bit integers.
bool isExactAsDouble(const DenseArray &array, int64_t index);

/// An error unless a file that has numbers as text, and no type, holds the
/// values: each i1 is true, and no integer is beyond the signed ones of 64 bits
/// or, in a format whose numbers are read as f64 (`asDoubles`), beyond these.
llvm::Error checkHeldByText(const CoordinateTensor &tensor, bool asDoubles,
                            llvm::StringRef file);

/// "the value at (1, 5) (counting from 0)".
std::string describeValue(const CoordinateTensor &tensor, int64_t entry);

/// "(1, 5)", each number plus `base`.
std::string formatCoordinates(llvm::ArrayRef<int64_t> coordinates,
                              int64_t base = 0);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_COORDINATETENSOR_H
