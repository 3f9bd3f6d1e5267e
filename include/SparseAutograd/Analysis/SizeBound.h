//===- SizeBound.h - what numbers of a function are at most -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upper bounds of the numbers by which a function on buffers allocates, in what
// its arguments store and their extents: extents, arithmetic with them, entries
// that loops over lists count, and elements of levels that are stored anew.
// Asked by MemoryBound. No such number is taken to be negative.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SIZEBOUND_H
#define SPARSEAUTOGRAD_ANALYSIS_SIZEBOUND_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sparse_autograd {

/// What an argument of a function on buffers is of the argument `number` of the
/// program: its elements, a list of its storage, or an extent.
struct EntryArgument {
  enum Kind { Dense, Scalar, Positions, Coordinates, Values, Extent };
  Kind kind = Scalar;
  unsigned number = 0;
  /// Of an extent the dimension, of positions and coordinates the number among
  /// the lists.
  unsigned index = 0;
  /// Whether each element of a list of positions or coordinates, or of the
  /// level that positions tell, has a stored value at least.
  bool hasValues = false;
};

/// A sum of products: how often each product is in it, by its sorted factors.
class SizeBound {
public:
  using Product = std::vector<std::string>;

  SizeBound() = default;
  explicit SizeBound(int64_t number) {
    if (number != 0)
      terms[{}] = number;
  }
  explicit SizeBound(std::string name) { terms[{std::move(name)}] = 1; }

  SizeBound operator+(const SizeBound &other) const;
  SizeBound operator-(const SizeBound &other) const;
  SizeBound operator*(const SizeBound &other) const;
  /// Term by term the larger one, which both are at most.
  SizeBound max(const SizeBound &other) const;
  bool isAtMost(const SizeBound &other) const;
  /// With `other` in the place of each factor of that name.
  SizeBound replace(llvm::StringRef name, const SizeBound &other) const;
  bool operator==(const SizeBound &other) const { return terms == other.terms; }

  const std::map<Product, int64_t> &getTerms() const { return terms; }

private:
  std::map<Product, int64_t> terms;
};

/// Bounds numbers of one function.
class SizeBounds {
public:
  SizeBounds(mlir::func::FuncOp function,
             llvm::ArrayRef<EntryArgument> arguments);

  /// What `value`, an index, is at most; nothing if that is not known.
  std::optional<SizeBound> get(mlir::Value value);
  /// What the extent of a buffer is at most.
  std::optional<SizeBound> getExtent(mlir::Value buffer, int64_t dim);
  /// The bytes of a buffer that is allocated.
  std::optional<SizeBound> getBytes(mlir::Value buffer);

  /// The name of the length of a list of positions or coordinates.
  static std::string getListName(const EntryArgument &list);

private:
  SizeBound name(std::string text);
  std::optional<SizeBound> getOfResult(mlir::OpResult result);
  /// Elements of a level of a tensor that is stored anew.
  std::optional<SizeBound> getElementCount(mlir::Value counts,
                                           mlir::Value level);
  /// All that is added to elements of a buffer of counters, which start at 0
  /// and may be added up in place, before `load` reads one of them.
  std::optional<SizeBound> countIncreases(mlir::memref::LoadOp load);
  /// Adds what `next` is more than `carried` to `total`, each time that the
  /// innermost of `loops` is iterated.
  bool addIncrease(mlir::Value next, mlir::Value carried,
                   llvm::SmallVectorImpl<mlir::scf::ForOp> &loops,
                   SizeBound &total);
  /// How often the innermost of `loops` is iterated.
  std::optional<SizeBound> countVisits(llvm::ArrayRef<mlir::scf::ForOp> loops);
  /// Where a loop is over the elements of parents in a list of positions, the
  /// number of the first position; null if it is not.
  mlir::Value getSegments(mlir::scf::ForOp loop);
  /// All elements in the segments of `loop`.
  std::optional<SizeBound> countEntries(mlir::scf::ForOp loop);
  const EntryArgument *getArgument(mlir::Value value);

  mlir::func::FuncOp function;
  llvm::ArrayRef<EntryArgument> arguments;
  /// Extents that are asserted to be another.
  std::map<std::string, std::string> equal;
  /// Of results that were asked for; nothing while one is computed.
  llvm::DenseMap<mlir::Value, std::optional<SizeBound>> bounds;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SIZEBOUND_H
