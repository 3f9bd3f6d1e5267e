//===- CheckedFunction.h - a function and its derivatives in f64 -*- C++ -*-===/
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_CHECKEDFUNCTION_H
#define SPARSEAUTOGRAD_LIB_RUNNER_CHECKEDFUNCTION_H

#include "DerivativeEntries.h"
#include "Program.h"

namespace sparse_autograd {

/// The floating arguments, or results, of a function: elements as doubles.
using Elements = std::vector<double>;

/// A compiled function at a point, and its derivatives there. What goes in and
/// comes out are doubles; everything is computed in the types of the code.
/// The elements of a sparse argument or result are its stored values; the
/// pattern stays as it is.
class CheckedFunction {
public:
  /// `arguments` are those of `value`; they stay as they are.
  static llvm::Expected<CheckedFunction>
  create(const ExecutionEngine &engine, llvm::StringRef name,
         const DerivativeEntries &entries, std::vector<Value> arguments);

  /// The f64 form of the function at the same point, from code that has the
  /// same entries. Fails if it takes or returns something else.
  llvm::Expected<CheckedFunction>
  createInF64(const ExecutionEngine &engine) const;

  /// The floating arguments and results, in order.
  llvm::ArrayRef<size_t> getArguments() const { return entries.arguments; }
  llvm::ArrayRef<size_t> getResults() const { return entries.results; }
  const ValueType &getArgumentType(size_t argument) const {
    return value.argumentTypes[entries.arguments[argument]];
  }
  const ValueType &getResultType(size_t result) const {
    return value.resultTypes[entries.results[result]];
  }
  /// The elements of a floating argument at the point.
  const Elements &getPoint(size_t argument) const { return points[argument]; }
  /// The coordinates of an element of a floating argument.
  llvm::SmallVector<int64_t> getArgumentIndex(size_t argument,
                                              size_t element) const {
    return argumentPlaces[argument].getIndex(element);
  }
  /// The coordinates of an element of a floating result.
  llvm::SmallVector<int64_t> getResultIndex(size_t result,
                                            size_t element) const {
    return resultPlaces[result].getIndex(element);
  }
  /// Where the elements of a floating result are among all of them.
  std::pair<size_t, size_t> getRange(size_t result) const;
  /// The widest unit roundoff of the floating arguments and results.
  double getRoundoff() const;

  /// All floating results, one after the other, with `argument` at its point
  /// plus t times `direction`.
  llvm::Expected<Elements> evaluate(size_t argument, const Elements &direction,
                                    double t) const;
  /// The tangents of all floating results at that place, for the tangent
  /// `direction` of the argument.
  llvm::Expected<Elements>
  pushForward(size_t argument, const Elements &direction, double t) const;
  /// The cotangents of all floating arguments at the point for a cotangent of
  /// one result.
  llvm::Expected<std::vector<Elements>>
  pullBack(size_t result, const Elements &cotangent) const {
    return pullBackAt(points, result, cotangent);
  }

  /// The point of the argument plus t times `direction`, rounded to its type.
  Elements getPlace(size_t argument, const Elements &direction, double t) const;
  /// As pushForward and pullBack, with all floating arguments elsewhere.
  llvm::Expected<Elements> pushForwardAt(llvm::ArrayRef<Elements> places,
                                         size_t argument,
                                         const Elements &tangent) const;
  llvm::Expected<std::vector<Elements>>
  pullBackAt(llvm::ArrayRef<Elements> places, size_t result,
             const Elements &cotangent) const;

private:
  CheckedFunction(DerivativeEntries entries, std::vector<Value> arguments)
      : entries(std::move(entries)), arguments(std::move(arguments)) {}

  /// Where the elements of a value are.
  struct Places {
    size_t count = 0;
    llvm::SmallVector<int64_t> extents;
    /// Of a sparse value, the coordinates of each of its elements.
    std::optional<std::vector<int64_t>> coordinates;

    static llvm::Expected<Places> find(const Value &value);
    llvm::SmallVector<int64_t> getIndex(size_t element) const;
  };

  /// Pointers to the arguments, with others for the floating ones if given.
  std::vector<void *>
  getPointers(llvm::MutableArrayRef<Value> replacements) const;
  /// The floating arguments with these elements.
  llvm::Expected<std::vector<Value>>
  moved(llvm::ArrayRef<Elements> places) const;
  const Value &getArgument(size_t argument) const {
    return arguments[entries.arguments[argument]];
  }
  const Value &getResult(size_t result) const {
    return results[entries.results[result]];
  }

  Entry value, jvp, vjp;
  DerivativeEntries entries;
  mutable std::vector<Value> arguments;
  /// The results at the point.
  std::vector<Value> results;
  std::vector<Elements> points;
  std::vector<Places> argumentPlaces, resultPlaces;
};

/// An array of `shape` with the elements rounded to `type`.
io::DenseArray makeArray(io::ElementType type, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<double> elements);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_CHECKEDFUNCTION_H
