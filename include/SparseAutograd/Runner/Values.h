//===- Values.h - arguments and results of entries --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between what a person writes (numbers, files) and what an entry takes (the C
// ABI of Runtime.h), as its manifest describes it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNNER_VALUES_H
#define SPARSEAUTOGRAD_RUNNER_VALUES_H

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Write.h"
#include "SparseAutograd/Runner/SparseStorage.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <utility>

namespace sparse_autograd {

/// What the manifest says of an argument or a result.
struct ValueType {
  std::string name;
  io::ElementType elementType = io::ElementType::F64;
  /// The manifest's word for the element type (`index` is an i64).
  std::string elementTypeName;
  /// Nothing for a scalar; dynamic extents are -1.
  std::optional<llvm::SmallVector<int64_t>> shape;
  /// The argument that this one is the mask of; empty if none.
  std::string maskOf;
  /// Of a number, its value where none is given, as text; empty if there is no
  /// such value.
  std::string defaultText;
  /// Of a sparse tensor.
  std::optional<SparseEncoding> encoding;

  /// Reads an element of the manifest's list of arguments or results.
  static llvm::Expected<ValueType> parse(const llvm::json::Object &description);
  /// Reads one of an entry's lists: `key` is "arguments" or "results".
  static llvm::Expected<std::vector<ValueType>>
  parseAll(const llvm::json::Object &entry, llvm::StringRef key);

  /// The type as MLIR writes it: f64, tensor<?x8xf64>.
  std::string str() const;
};

/// The semantics of a floating element type; null for another.
const llvm::fltSemantics *getSemantics(io::ElementType type);

/// An argument or a result in the form of the C ABI, with its storage.
///
/// The elements of a sparse one are its stored values, explicit zeros included.
class Value {
public:
  /// A place for a result of `type`.
  explicit Value(ValueType type);
  Value(Value &&other);
  Value &operator=(Value &&) = delete;
  /// Releases the buffers of a result.
  ~Value();

  /// An argument from a number.
  static llvm::Expected<Value> fromNumber(ValueType type, llvm::StringRef text);
  /// An argument from an array, whose extents must fit. Text is converted to
  /// the type of the argument, and so is a type that this one widens
  /// (io::convertElements); another one is an error.
  static llvm::Expected<Value> fromArray(ValueType type, io::DenseArray array,
                                         llvm::StringRef source);

  /// An argument, a scalar or a dense tensor, from an array that is known to
  /// fit.
  static Value fromElements(ValueType type, io::DenseArray array);
  /// A sparse argument from coordinates, which must fit. Its values are
  /// converted to those of its type (io::convertValues).
  static llvm::Expected<Value> fromCoordinates(ValueType type,
                                               io::CoordinateTensor tensor,
                                               llvm::StringRef source);
  /// A sparse argument of these components, which have the types that its
  /// encoding gives them; whether they fit each other is not looked at.
  static Value fromComponents(ValueType type, llvm::ArrayRef<int64_t> extents,
                              std::vector<io::DenseArray> components);
  /// An argument of the type `type` that has the extents of this value and, if
  /// it is sparse, its pattern, but other elements. The types differ in nothing
  /// but their names, and in the type of the elements.
  llvm::Expected<Value> withElements(ValueType type,
                                     io::DenseArray elements) const;

  const ValueType &getType() const { return type; }
  bool isSparse() const { return type.encoding.has_value(); }
  /// The extents; none of a scalar.
  llvm::ArrayRef<int64_t> getExtents() const;
  /// What the entry is given.
  void *getPointer() { return words.data(); }

  /// A value that is not sparse as an array of its own, row-major.
  llvm::Expected<io::DenseArray> toArray() const;
  /// The stored entries of a sparse value; an error if it breaks an invariant
  /// of its encoding.
  llvm::Expected<io::CoordinateTensor> toCoordinates() const;
  /// The elements as an array of their own; those of a sparse value are in the
  /// order of its storage.
  llvm::Expected<io::DenseArray> getElements() const;
  /// How many values a sparse value stores, and the bytes of all its
  /// components.
  std::pair<int64_t, int64_t> countStored() const;
  /// The components of a sparse value, each an array of its own.
  llvm::Expected<std::vector<io::DenseArray>> getComponents() const;
  /// Whether a sparse value has the pattern of another of its type.
  llvm::Expected<bool> hasPatternOf(const Value &other) const;
  /// The file of a value, which is there once it is committed (io/Write.h); the
  /// extension decides on the form.
  io::PreparedFile prepareFile(llvm::StringRef path) const;
  /// A result as text: a number, or the elements of a tensor in brackets, those
  /// of a matrix with a line for each row; of a large tensor only type and
  /// extents. Of a sparse one the extents, how many
  /// values are stored, and the first of them.
  llvm::Expected<std::string> toText() const;

private:
  ValueType type;
  /// A scalar, a memref descriptor, or those of the components of a sparse
  /// tensor and its extents.
  llvm::SmallVector<int64_t> words;
  /// The elements of an argument, or its components.
  std::vector<io::DenseArray> arrays;
  bool isResult;
};

/// The arguments of an entry from the texts that name them: a number for a
/// scalar, else a file (Read.h). Of a file for a sparse argument all that is
/// stored is stored again, and of a dense array what is not zero. An argument
/// that is the mask of another one is taken from that one's file unless it is
/// given itself.
///
/// `given` maps names, and arg0, arg1, ..., to texts. Fails, with the remedy,
/// for a missing or an unknown name, a number that the type does not hold, a
/// file that cannot be read, an array that does not fit.
///
/// An argument that is not given and has a default (sparse_autograd.default) is
/// that. Else `makeDefault`, if given, is asked for it, by its position; it may
/// have nothing to give.
llvm::Expected<std::vector<Value>> bindArguments(
    llvm::ArrayRef<ValueType> types, const llvm::StringMap<std::string> &given,
    llvm::function_ref<std::optional<io::DenseArray>(size_t)> makeDefault = {});

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_RUNNER_VALUES_H
