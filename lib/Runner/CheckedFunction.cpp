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

/// An argument with other elements, which are rounded to those of its type.
static llvm::Expected<Value> replaceElements(const Value &value,
                                             const ValueType &type,
                                             llvm::ArrayRef<double> elements) {
  llvm::SmallVector<int64_t> shape(value.getExtents());
  if (value.isSparse())
    shape = {static_cast<int64_t>(elements.size())};
  return value.withElements(type, makeArray(type.elementType, shape, elements));
}

/// The elements of what has the type of `like`, or of what is like it, such as
/// its tangent: with the same extents, and the same pattern.
static llvm::Expected<Elements> readElements(const Value &value,
                                             const Value &like) {
  auto refuse = [&](llvm::StringRef what) {
    return llvm::createStringError("'" + value.getType().name +
                                   "' of the function or of a derivative has " +
                                   what + " than '" + like.getType().name +
                                   "'");
  };
  if (value.getExtents() != like.getExtents())
    return refuse("other extents");
  if (value.isSparse()) {
    llvm::Expected<bool> isSame = value.hasPatternOf(like);
    if (!isSame)
      return isSame.takeError();
    if (!*isSame)
      return refuse("another pattern");
  }
  llvm::Expected<io::DenseArray> array = value.getElements();
  if (!array)
    return array.takeError();
  return toElements(*array);
}

llvm::Expected<CheckedFunction::Places>
CheckedFunction::Places::find(const Value &value) {
  Places places;
  places.extents.assign(value.getExtents().begin(), value.getExtents().end());
  llvm::Expected<io::DenseArray> elements = value.getElements();
  if (!elements)
    return elements.takeError();
  places.count = static_cast<size_t>(elements->getNumElements());
  if (!value.isSparse())
    return places;
  // Of a result it is not known yet whether it is valid.
  if (llvm::Expected<io::CoordinateTensor> tensor = value.toCoordinates();
      !tensor)
    return tensor.takeError();
  llvm::Expected<std::vector<io::DenseArray>> components =
      value.getComponents();
  if (!components)
    return components.takeError();
  places.coordinates = getValueCoordinates(*value.getType().encoding,
                                           places.extents, *components);
  return places;
}

llvm::SmallVector<int64_t>
CheckedFunction::Places::getIndex(size_t element) const {
  llvm::SmallVector<int64_t> index(extents.size());
  if (coordinates) {
    llvm::copy(llvm::ArrayRef(*coordinates)
                   .slice(element * extents.size(), extents.size()),
               index.begin());
    return index;
  }
  for (size_t dim = extents.size(); dim-- > 0;) {
    index[dim] = static_cast<int64_t>(element) % extents[dim];
    element /= static_cast<size_t>(extents[dim]);
  }
  return index;
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
  llvm::Expected<std::vector<Value>> results =
      function.value.call(function.getPointers({}));
  if (!results)
    return results.takeError();
  for (Value &result : *results)
    function.results.push_back(std::move(result));
  for (size_t index : entries.arguments) {
    const Value &argument = function.arguments[index];
    llvm::Expected<Elements> elements = readElements(argument, argument);
    if (!elements)
      return elements.takeError();
    function.points.push_back(std::move(*elements));
    llvm::Expected<Places> places = Places::find(argument);
    if (!places)
      return places.takeError();
    function.argumentPlaces.push_back(std::move(*places));
  }
  for (size_t index : entries.results) {
    llvm::Expected<Places> places = Places::find(function.results[index]);
    if (!places)
      return places.takeError();
    function.resultPlaces.push_back(std::move(*places));
  }
  return function;
}

llvm::Expected<CheckedFunction>
CheckedFunction::createInF64(const ExecutionEngine &engine) const {
  llvm::Expected<Entry> entry = Entry::find(engine, value.name);
  if (!entry)
    return entry.takeError();
  std::vector<Value> widened;
  for (auto [argument, type] :
       llvm::zip_equal(arguments, entry->argumentTypes)) {
    llvm::Expected<io::DenseArray> elements = argument.getElements();
    if (!elements)
      return elements.takeError();
    if (type.elementType != argument.getType().elementType)
      elements =
          makeArray(type.elementType, elements->shape, toElements(*elements));
    llvm::Expected<Value> wide =
        argument.withElements(type, std::move(*elements));
    if (!wide)
      return wide.takeError();
    widened.push_back(std::move(*wide));
  }
  llvm::Expected<CheckedFunction> form =
      create(engine, value.name, entries, std::move(widened));
  if (!form)
    return form.takeError();
  for (auto [mine, other] : llvm::zip_equal(resultPlaces, form->resultPlaces))
    if (mine.count != other.count || mine.extents != other.extents)
      return llvm::createStringError("it returns something of another shape");
  return form;
}

std::pair<size_t, size_t> CheckedFunction::getRange(size_t result) const {
  size_t begin = 0;
  for (size_t i = 0; i < result; ++i)
    begin += resultPlaces[i].count;
  return {begin, begin + resultPlaces[result].count};
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

std::vector<void *>
CheckedFunction::getPointers(llvm::MutableArrayRef<Value> replacements) const {
  std::vector<void *> pointers;
  for (Value &other : arguments)
    pointers.push_back(other.getPointer());
  for (auto [index, replacement] : llvm::enumerate(replacements))
    pointers[entries.arguments[index]] = replacement.getPointer();
  return pointers;
}

Elements CheckedFunction::getPlace(size_t argument, const Elements &direction,
                                   double t) const {
  Elements place = points[argument];
  for (auto [element, step] : llvm::zip_equal(place, direction))
    if (step != 0)
      element += t * step;
  return toElements(makeArray(getArgumentType(argument).elementType,
                              {static_cast<int64_t>(place.size())}, place));
}

llvm::Expected<std::vector<Value>>
CheckedFunction::moved(llvm::ArrayRef<Elements> places) const {
  std::vector<Value> values;
  for (auto [argument, place] : llvm::enumerate(places)) {
    llvm::Expected<Value> value = replaceElements(
        getArgument(argument), getArgumentType(argument), place);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
}

llvm::Expected<Elements> CheckedFunction::evaluate(size_t argument,
                                                   const Elements &direction,
                                                   double t) const {
  std::vector<Elements> places = points;
  places[argument] = getPlace(argument, direction, t);
  llvm::Expected<std::vector<Value>> replacements = moved(places);
  if (!replacements)
    return replacements.takeError();
  llvm::Expected<std::vector<Value>> values =
      value.call(getPointers(*replacements));
  if (!values)
    return values.takeError();
  Elements all;
  for (size_t index : entries.results) {
    llvm::Expected<Elements> elements =
        readElements((*values)[index], results[index]);
    if (!elements)
      return elements.takeError();
    llvm::append_range(all, *elements);
  }
  return all;
}

llvm::Expected<Elements> CheckedFunction::pushForward(size_t argument,
                                                      const Elements &direction,
                                                      double t) const {
  std::vector<Elements> places = points;
  places[argument] = getPlace(argument, direction, t);
  return pushForwardAt(places, argument, direction);
}

llvm::Expected<Elements>
CheckedFunction::pushForwardAt(llvm::ArrayRef<Elements> places, size_t argument,
                               const Elements &tangent) const {
  llvm::Expected<std::vector<Value>> replacements = moved(places);
  if (!replacements)
    return replacements.takeError();
  std::vector<void *> pointers = getPointers(*replacements);
  std::vector<Value> tangents;
  for (size_t other = 0; other < points.size(); ++other) {
    Elements zero(points[other].size(), 0);
    llvm::Expected<Value> one =
        replaceElements(getArgument(other), getArgumentType(other),
                        other == argument ? tangent : zero);
    if (!one)
      return one.takeError();
    tangents.push_back(std::move(*one));
  }
  for (Value &one : tangents)
    pointers.push_back(one.getPointer());
  llvm::Expected<std::vector<Value>> pushed = jvp.call(pointers);
  if (!pushed)
    return pushed.takeError();
  Elements all;
  for (auto [result, one] : llvm::enumerate(*pushed)) {
    llvm::Expected<Elements> elements = readElements(one, getResult(result));
    if (!elements)
      return elements.takeError();
    llvm::append_range(all, *elements);
  }
  return all;
}

llvm::Expected<std::vector<Elements>>
CheckedFunction::pullBackAt(llvm::ArrayRef<Elements> places, size_t result,
                            const Elements &cotangent) const {
  llvm::Expected<std::vector<Value>> replacements = moved(places);
  if (!replacements)
    return replacements.takeError();
  std::vector<void *> pointers = getPointers(*replacements);
  std::vector<Value> cotangents;
  for (size_t other = 0; other < resultPlaces.size(); ++other) {
    Elements zero(resultPlaces[other].count, 0);
    llvm::Expected<Value> value =
        replaceElements(getResult(other), getResultType(other),
                        other == result ? cotangent : zero);
    if (!value)
      return value.takeError();
    cotangents.push_back(std::move(*value));
  }
  for (Value &value : cotangents)
    pointers.push_back(value.getPointer());
  llvm::Expected<std::vector<Value>> pulled = vjp.call(pointers);
  if (!pulled)
    return pulled.takeError();
  std::vector<Elements> gradients;
  for (auto [other, gradient] : llvm::enumerate(*pulled)) {
    llvm::Expected<Elements> elements =
        readElements(gradient, getArgument(other));
    if (!elements)
      return elements.takeError();
    gradients.push_back(std::move(*elements));
  }
  return gradients;
}
