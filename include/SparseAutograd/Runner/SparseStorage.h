//===- SparseStorage.h - sparse arguments and results -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between coordinates and the storage of Runtime.h, as an encoding in the
// manifest describes it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNNER_SPARSESTORAGE_H
#define SPARSEAUTOGRAD_RUNNER_SPARSESTORAGE_H

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/SparseNpz.h"
#include "SparseAutograd/Runtime/LevelFormats.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace sparse_autograd {

/// A level of an encoding.
struct SparseLevel {
  LevelKind kind;
  /// The dimension whose coordinate it has, or part of it.
  int64_t dimension = 0;
  /// Of a part, the extent of a block: the coordinate divided by it, or the
  /// remainder. 0: the whole coordinate.
  int64_t block = 0;
  bool isRemainder = false;
};

/// How a sparse tensor is stored, as the manifest says it.
struct SparseEncoding {
  llvm::SmallVector<SparseLevel> levels;
  /// I8 to I64, which are read without a sign; `index` is I64.
  io::ElementType positionType = io::ElementType::I64;
  io::ElementType coordinateType = io::ElementType::I64;
  /// Of positions and coordinates, as the manifest has them.
  std::string positionTypeName, coordinateTypeName;

  /// Reads the encoding of the value `name`, a tensor of `rank` dimensions.
  static llvm::Expected<SparseEncoding>
  parse(const llvm::json::Object &description, size_t rank,
        llvm::StringRef name);

  /// The type of the coordinates of a level that lists them.
  io::ElementType getCoordinateType(const SparseLevel &level) const {
    return level.kind.format->isPacked() ? io::ElementType::I8 : coordinateType;
  }
  llvm::SmallVector<int64_t> getFormats() const;
  /// The extents of the levels of a tensor of `shape`.
  llvm::SmallVector<int64_t> getExtents(llvm::ArrayRef<int64_t> shape) const;
  /// The types of the components of storage, in order.
  llvm::SmallVector<io::ElementType>
  getComponentTypes(io::ElementType elementType) const;
  /// How SciPy would lay out a matrix that is stored in this way.
  io::SparseLayout getLayout() const;
  /// The encoding as MLIR writes it.
  std::string str(size_t rank) const;
};

/// Stores a tensor; the result is the components, in order. The extents of the
/// tensor are those that it has in the program. `name` is what an error is
/// about: a number that the encoding cannot hold, more memory than there is.
llvm::Expected<std::vector<io::DenseArray>>
buildStorage(const SparseEncoding &encoding, io::ElementType elementType,
             const io::CoordinateTensor &tensor, llvm::StringRef name);

/// The stored elements of a sparse argument or result, of which `words` are the
/// words of the C ABI, explicit zeros included. Storage that breaks an
/// invariant is an error about `name`.
llvm::Expected<io::CoordinateTensor> readStorage(const SparseEncoding &encoding,
                                                 io::ElementType elementType,
                                                 llvm::ArrayRef<int64_t> words,
                                                 llvm::StringRef name);

/// The coordinates of the value in each place, a number for each dimension; -1
/// where a block goes beyond the extents, or nothing is stored. The storage is
/// valid.
std::vector<int64_t>
getValueCoordinates(const SparseEncoding &encoding,
                    llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<io::DenseArray> components);

/// Copies the components out of `words`; those from outside must have been
/// checked.
llvm::Expected<std::vector<io::DenseArray>>
copyComponents(const SparseEncoding &encoding, io::ElementType elementType,
               llvm::ArrayRef<int64_t> words, llvm::StringRef name);

/// An error unless the storage is valid.
llvm::Error checkStorage(const SparseEncoding &encoding,
                         llvm::ArrayRef<int64_t> words, llvm::StringRef name);

/// How many words the C ABI has for a component.
inline constexpr size_t wordsPerComponent = 5;

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_RUNNER_SPARSESTORAGE_H
