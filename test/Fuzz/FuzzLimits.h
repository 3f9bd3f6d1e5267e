//===- FuzzLimits.h - What a fuzzed file may ask for ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_FUZZ_FUZZLIMITS_H
#define SPARSEAUTOGRAD_TEST_FUZZ_FUZZLIMITS_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <cstdlib>

namespace sparse_autograd::io {

/// Small, so that most runs are fast, and so that asking for more than a limit
/// shows as running out of memory (-malloc_limit_mb).
inline SizeLimits makeFuzzLimits() {
  SizeLimits limits;
  limits.expandedBytes = 1 << 20;
  limits.arrayBytes = 1 << 20;
  limits.members = 64;
  return limits;
}

/// Ends the run unless a condition that every reader promises holds.
inline void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A diagnostic is one line that names the file and the remedy.
inline void checkMessage(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  llvm::StringRef text(message);
  require(text.starts_with("f:") && text.contains("; ") &&
          !text.contains('\n') && text.size() < 4096);
}

/// Sorted, unique and in range, with one value an entry.
inline void checkMatrix(const CoordinateMatrix &matrix) {
  size_t count = matrix.rowIndices.size();
  require(matrix.columnIndices.size() == count &&
          matrix.values.size() + matrix.integers.size() ==
              (matrix.isPattern ? 0 : count));
  for (size_t i = 0; i < count; ++i) {
    int64_t row = matrix.rowIndices[i], column = matrix.columnIndices[i];
    require(row >= 0 && row < matrix.rows && column >= 0 &&
            column < matrix.columns);
    require(i == 0 || matrix.rowIndices[i - 1] < row ||
            (matrix.rowIndices[i - 1] == row &&
             matrix.columnIndices[i - 1] < column));
  }
}

/// As checkMatrix, for any rank.
inline void checkTensor(const CoordinateTensor &tensor) {
  int64_t count = tensor.getNumEntries();
  size_t rank = tensor.getRank();
  require(rank > 0 && tensor.coordinates.size() == count * rank &&
          tensor.isInferred.size() == rank);
  require(tensor.values.data.size() ==
          (tensor.isPattern ? 0 : count * getByteWidth(tensor.values.type)));
  for (int64_t i = 0; i < count; ++i) {
    llvm::ArrayRef<int64_t> at = tensor.getCoordinates(i);
    for (size_t dim = 0; dim < rank; ++dim)
      require(at[dim] >= 0 && at[dim] < tensor.shape[dim]);
    require(i == 0 ||
            std::lexicographical_compare(tensor.getCoordinates(i - 1).begin(),
                                         tensor.getCoordinates(i - 1).end(),
                                         at.begin(), at.end()));
  }
}

/// As many bytes as the shape says.
inline void checkArray(const DenseArray &array) {
  require(array.data.size() ==
          uint64_t(array.getNumElements()) * getByteWidth(array.type));
}

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_TEST_FUZZ_FUZZLIMITS_H
