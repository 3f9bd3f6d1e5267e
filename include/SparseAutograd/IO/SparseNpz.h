//===- SparseNpz.h - Sparse matrices in .npz files --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_SPARSENPZ_H
#define SPARSEAUTOGRAD_IO_SPARSENPZ_H

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/Zip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sparse_autograd::io {

/// Whether a .npz file holds the parts of a sparse tensor called `name`: the
/// arrays NAME_indptr and NAME_indices, or NAME_row and NAME_col, or
/// NAME_coords. Without a name the parts are called indptr, indices, ..., as in
/// a file of scipy.sparse.save_npz.
bool hasSparseParts(llvm::ArrayRef<ZipMember> members, llvm::StringRef name);

/// Reads these parts, and those of NAME_data, NAME_shape and NAME_format that
/// are there. Without data the tensor is a pattern; without a shape, extents
/// that do not follow from the length of indptr are inferred; without a format
/// it is csr or coo. Indices may be in any order. Of bsr each element of a
/// block is an entry, zeros too.
llvm::Expected<CoordinateTensor>
readSparseParts(llvm::StringRef bytes, llvm::ArrayRef<ZipMember> members,
                llvm::StringRef name, llvm::StringRef file,
                Duplicates duplicates, const SizeLimits &limits);

/// How a sparse tensor is laid out in a .npz file, in SciPy's terms.
struct SparseLayout {
  enum Kind { Csr, Csc, Coo, Bsr };

  // Implicit: most kinds need no more.
  SparseLayout(Kind kind = Coo) : kind(kind) {}
  SparseLayout(int64_t blockRows, int64_t blockColumns)
      : kind(Bsr), block{blockRows, blockColumns} {}

  Kind kind;
  /// Of Bsr, the rows and columns of a block.
  std::array<int64_t, 2> block = {1, 1};
};

/// The arrays of a tensor as scipy.sparse.save_npz stores them, and the name of
/// the layout, which NumPy keeps as text: the one that is asked for, or coo if
/// the rank is not 2 or the extents are no multiples of those of a block.
struct SparseParts {
  std::vector<std::pair<std::string, DenseArray>> arrays;
  llvm::StringRef layout;
};
llvm::Expected<SparseParts> makeSparseParts(const CoordinateTensor &tensor,
                                            SparseLayout layout,
                                            const SizeLimits &limits,
                                            llvm::StringRef file);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_SPARSENPZ_H
