//===- Call.h - a call of an entry, in guarded memory -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of an entry through its C ABI: every array, descriptor and list of
// pointers ends where a page begins that cannot be accessed, so that a read or
// a write beyond it ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_TOOLS_FUZZENTRIES_CALL_H
#define SPARSEAUTOGRAD_TEST_TOOLS_FUZZENTRIES_CALL_H

#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/Runtime/Call.h"
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

using Random = std::mt19937_64;

/// A number from 0 to `count` - 1.
inline uint64_t draw(Random &random, uint64_t count) {
  return count < 2 ? 0 : random() % count;
}

/// Blocks that are used for one call after the other.
class GuardedMemory {
public:
  /// Bytes that end where the block does.
  char *place(const void *bytes, size_t size);
  /// Makes all blocks free.
  void reset() { used = 0; }
  /// Whether all blocks hold what was placed in them.
  bool isUnchanged() const;
  /// What is in the blocks now is what was placed in them.
  void accept();

private:
  struct Block {
    char *end;
    std::string placed;
  };
  std::vector<Block> blocks;
  size_t used = 0;
};

/// An array that a descriptor describes.
struct Array {
  int64_t word; ///< where its descriptor begins, in the words of the argument
  int64_t rank;
  int64_t elementBytes;
  bool isBoolean;
  char *data; ///< the address of element 0
  int64_t count;

  int64_t pointerWord() const { return word + 1; }
  int64_t offsetWord() const { return word + 2; }
  int64_t sizeWord(int64_t dim) const { return word + 3 + dim; }
  int64_t strideWord(int64_t dim) const { return word + 3 + rank + dim; }
};

struct Argument {
  sparse_autograd::ValueType type;
  std::vector<int64_t> words; ///< scalar, descriptor, or those of storage
  std::vector<Array> arrays;  ///< none of a scalar
  /// Where the extents of a sparse argument begin.
  int64_t shapeWord = 0;

  bool isScalar() const { return !type.shape; }
  bool isSparse() const { return type.encoding.has_value(); }
};

/// What is passed: changed before the call, or not.
struct Call {
  std::vector<Argument> arguments;
  std::vector<sparse_autograd::ValueType> results;
  /// Bytes by which a pointer is moved; null where there is no number.
  using Pointer = std::optional<int64_t>;
  std::vector<Pointer> toArguments, toResults;
  Pointer argumentArray = 0, resultArray = 0;

  /// What goes through sparseAutogradCall; without it the entry is called.
  struct Form {
    int64_t moreArguments = 0, moreResults = 0;
    std::vector<int32_t> results;
    /// Of each destination: what is added to an extent, and whether it is the
    /// memory of an argument.
    int64_t moreExtent = 0;
    bool isArgument = false;
    /// Bytes by which destinations are not aligned to a line.
    int64_t misalignment = 0;
    /// Whether sparse arguments have patterns, and these are of other lists.
    bool hasPatterns = false, hasOtherPatterns = false;
  };
  std::optional<Form> form;
  /// The words of the results of the right call, which say their extents.
  std::vector<std::vector<int64_t>> rightResults;
};

/// What came of a call.
struct Outcome {
  int32_t status;
  std::string message;
  /// The bytes of all results, one after the other.
  std::string results;
  /// What must not have happened, or nothing.
  std::string problem;
  /// The words of the results that are tensors.
  std::vector<std::vector<int64_t>> words;
};

/// A right call with random arguments, whose arrays are in `memory`.
Call makeCall(const std::vector<sparse_autograd::ValueType> &arguments,
              const std::vector<sparse_autograd::ValueType> &results,
              GuardedMemory &memory, Random &random);

Outcome perform(SparseAutogradEntry entry, const Call &call,
                GuardedMemory &memory);

/// What an entry does with a call that was changed.
enum class Verdict {
  Same,    ///< as without the change, in any bit
  Refused, ///< SPARSE_AUTOGRAD_INVALID_ARGUMENT
  Any      ///< it succeeds or fails
};

/// A change of a call.
struct Mutation {
  const char *name;
  /// Applies it somewhere; nothing if the call has no place for it.
  std::optional<Verdict> (*apply)(Call &call, Random &random);
  /// Whether another change may make memory smaller than it says.
  bool isAlone;
};

llvm::ArrayRef<Mutation> getMutations();

} // namespace fuzz

#endif // SPARSEAUTOGRAD_TEST_TOOLS_FUZZENTRIES_CALL_H
