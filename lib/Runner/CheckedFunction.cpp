//===- CheckedFunction.cpp - a function and its derivatives in f64 --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckedFunction.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

using namespace sparse_autograd;

io::DenseArray sparse_autograd::makeArray(io::ElementType type,
                                          llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<double> elements) {
  io::DenseArray array =
      llvm::cantFail(io::makeDenseArray("argument", type, shape, {}));
  if (type == io::ElementType::F64) {
    llvm::copy(elements, array.as<double>().begin());
  } else if (type == io::ElementType::F32) {
    llvm::transform(elements, array.as<float>().begin(),
                    [](double x) { return static_cast<float>(x); });
  } else {
    for (auto [element, place] :
         llvm::zip_equal(elements, array.as<uint16_t>())) {
      llvm::APFloat number(element);
      bool losesInfo;
      number.convert(*getSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                     &losesInfo);
      place = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
    }
  }
  return array;
}

static Elements toElements(const io::DenseArray &array) {
  Elements elements(array.getNumElements());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = io::getAsDouble(array, static_cast<int64_t>(i));
  return elements;
}

/// Appends the elements of `values` to one list.
static llvm::Expected<Elements>
concatenate(llvm::MutableArrayRef<Value> values) {
  Elements all;
  for (Value &value : values) {
    llvm::Expected<io::DenseArray> array = value.toArray();
    if (!array)
      return array.takeError();
    llvm::append_range(all, toElements(*array));
  }
  return all;
}

llvm::Expected<CheckedFunction>
CheckedFunction::create(const ExecutionEngine &engine, llvm::StringRef name,
                        const DerivativeEntries &entries,
                        std::vector<Value> arguments) {
  CheckedFunction function(entries, std::move(arguments));
  for (auto [place, symbol] : {std::pair(&function.value, name.str()),
                               std::pair(&function.jvp, entries.jvp),
                               std::pair(&function.vjp, entries.vjp)}) {
    llvm::Expected<Entry> entry = Entry::find(engine, symbol);
    if (!entry)
      return entry.takeError();
    *place = std::move(*entry);
  }
  for (size_t index : entries.arguments) {
    llvm::Expected<io::DenseArray> array = function.arguments[index].toArray();
    if (!array)
      return array.takeError();
    function.points.push_back(toElements(*array));
    function.pointExtents.push_back(array->shape);
  }
  llvm::Expected<std::vector<Value>> results =
      function.value.call(function.getPointers(0, nullptr));
  if (!results)
    return results.takeError();
  for (size_t index : entries.results) {
    llvm::Expected<io::DenseArray> array = (*results)[index].toArray();
    if (!array)
      return array.takeError();
    function.resultExtents.push_back(array->shape);
  }
  return function;
}

static size_t countElements(llvm::ArrayRef<int64_t> extents) {
  size_t count = 1;
  for (int64_t extent : extents)
    count *= static_cast<size_t>(extent);
  return count;
}

std::pair<size_t, size_t> CheckedFunction::getRange(size_t result) const {
  size_t begin = 0;
  for (size_t i = 0; i < result; ++i)
    begin += countElements(resultExtents[i]);
  return {begin, begin + countElements(resultExtents[result])};
}

double CheckedFunction::getRoundoff() const {
  unsigned precision = 53;
  auto include = [&](const ValueType &type) {
    precision = std::min(precision, llvm::APFloat::semanticsPrecision(
                                        *getSemantics(type.elementType)));
  };
  for (size_t index : entries.arguments)
    include(value.argumentTypes[index]);
  for (size_t index : entries.results)
    include(value.resultTypes[index]);
  return std::ldexp(1, -static_cast<int>(precision));
}

std::vector<void *> CheckedFunction::getPointers(size_t argument,
                                                 Value *replacement) const {
  std::vector<void *> pointers;
  for (Value &other : arguments)
    pointers.push_back(other.getPointer());
  if (replacement)
    pointers[entries.arguments[argument]] = replacement->getPointer();
  return pointers;
}

Value CheckedFunction::moved(size_t argument, const Elements &direction,
                             double t) const {
  Elements place = points[argument];
  for (auto [element, step] : llvm::zip_equal(place, direction))
    if (step != 0)
      element += t * step;
  const ValueType &type = getArgumentType(argument);
  return Value::fromElements(
      type, makeArray(type.elementType, pointExtents[argument], place));
}

llvm::Expected<Elements> CheckedFunction::evaluate(size_t argument,
                                                   const Elements &direction,
                                                   double t) const {
  Value place = moved(argument, direction, t);
  llvm::Expected<std::vector<Value>> results =
      value.call(getPointers(argument, &place));
  if (!results)
    return results.takeError();
  Elements all;
  for (size_t index : entries.results) {
    llvm::Expected<Elements> elements =
        concatenate(llvm::MutableArrayRef(*results).slice(index, 1));
    if (!elements)
      return elements.takeError();
    llvm::append_range(all, *elements);
  }
  return all;
}

llvm::Expected<Elements> CheckedFunction::pushForward(size_t argument,
                                                      const Elements &direction,
                                                      double t) const {
  Value place = moved(argument, direction, t);
  std::vector<void *> pointers = getPointers(argument, &place);
  std::vector<Value> tangents;
  for (size_t other = 0; other < points.size(); ++other) {
    const ValueType &type = getArgumentType(other);
    Elements zero(points[other].size(), 0);
    tangents.push_back(Value::fromElements(
        type, makeArray(type.elementType, pointExtents[other],
                        other == argument ? direction : zero)));
  }
  for (Value &tangent : tangents)
    pointers.push_back(tangent.getPointer());
  llvm::Expected<std::vector<Value>> results = jvp.call(pointers);
  if (!results)
    return results.takeError();
  return concatenate(*results);
}

llvm::Expected<std::vector<Elements>>
CheckedFunction::pullBack(size_t result, const Elements &cotangent) const {
  std::vector<void *> pointers = getPointers(0, nullptr);
  std::vector<Value> cotangents;
  for (size_t other = 0; other < resultExtents.size(); ++other) {
    const ValueType &type = getResultType(other);
    Elements zero(countElements(resultExtents[other]), 0);
    cotangents.push_back(Value::fromElements(
        type, makeArray(type.elementType, resultExtents[other],
                        other == result ? cotangent : zero)));
  }
  for (Value &value : cotangents)
    pointers.push_back(value.getPointer());
  llvm::Expected<std::vector<Value>> results = vjp.call(pointers);
  if (!results)
    return results.takeError();
  std::vector<Elements> gradients;
  for (Value &value : *results) {
    llvm::Expected<io::DenseArray> array = value.toArray();
    if (!array)
      return array.takeError();
    gradients.push_back(toElements(*array));
  }
  return gradients;
}
