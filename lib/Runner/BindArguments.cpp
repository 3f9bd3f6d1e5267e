//===- BindArguments.cpp - arguments from numbers and files ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/Runner/Values.h"

using namespace sparse_autograd;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::function_ref;
using llvm::StringMap;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Binds the arguments of one entry; each file is read once.
class ArgumentBinder {
public:
  using MakeDefault = function_ref<std::optional<io::DenseArray>(size_t)>;

  ArgumentBinder(ArrayRef<ValueType> types, const StringMap<std::string> &given,
                 MakeDefault makeDefault)
      : types(types), given(given), makeDefault(makeDefault) {}

  Expected<std::vector<Value>> bind();

private:
  Error checkNames() const;
  /// What was given for argument `index`, by its name or as arg<index>.
  const std::string *find(size_t index) const;
  Expected<Value> bindOne(size_t index);
  Expected<Value> bindMask(size_t index);
  Expected<Value> fromFile(const ValueType &type, StringRef path);

  ArrayRef<ValueType> types;
  const StringMap<std::string> &given;
  MakeDefault makeDefault;
};
} // namespace

const std::string *ArgumentBinder::find(size_t index) const {
  auto it = given.find(types[index].name);
  if (it == given.end())
    it = given.find(("arg" + Twine(index)).str());
  return it == given.end() ? nullptr : &it->second;
}

Error ArgumentBinder::checkNames() const {
  for (const auto &entry : given) {
    bool known = false;
    for (size_t index = 0; index < types.size(); ++index)
      known |= entry.first() == types[index].name ||
               entry.first() == ("arg" + Twine(index)).str();
    if (known)
      continue;
    std::string names;
    for (const ValueType &type : types)
      names += (names.empty() ? "" : ", ") + type.name;
    return createStringError(
        "there is no argument '" + entry.first() +
        "'; the entry takes: " + (names.empty() ? "none" : names));
  }
  return Error::success();
}

Expected<Value> ArgumentBinder::fromFile(const ValueType &type,
                                         StringRef path) {
  if (type.encoding) {
    Expected<io::CoordinateTensor> tensor = io::readSparse(path);
    if (!tensor)
      return tensor.takeError();
    return Value::fromCoordinates(type, std::move(*tensor), path);
  }
  Expected<io::AnyFile> file = io::readAny(path);
  if (!file)
    return file.takeError();
  if (auto *array = std::get_if<io::DenseArray>(&*file))
    return Value::fromArray(type, std::move(*array), path);
  if (auto *tensor = std::get_if<io::CoordinateTensor>(&*file))
    return Value::fromCoordinates(type, std::move(*tensor), path);
  Expected<io::CoordinateTensor> tensor =
      io::toTensor(std::get<io::TripletTable>(*file).matrix, {}, path);
  if (!tensor)
    return tensor.takeError();
  return Value::fromCoordinates(type, std::move(*tensor), path);
}

Expected<Value> ArgumentBinder::bindMask(size_t index) {
  const ValueType &type = types[index];
  for (size_t other = 0; other < types.size(); ++other) {
    if (types[other].name != type.maskOf)
      continue;
    const std::string *text = find(other);
    if (!text)
      break;
    Expected<io::AnyFile> file = io::readAny(*text);
    if (!file)
      return file.takeError();
    if (auto *tensor = std::get_if<io::CoordinateTensor>(&*file)) {
      // What is stored is present, whatever its value.
      tensor->isPattern = true;
      return Value::fromCoordinates(type, std::move(*tensor), *text);
    }
    if (std::holds_alternative<io::DenseArray>(*file))
      return createStringError(Twine(*text) +
                               ": holds a dense array, which does not say "
                               "where '" +
                               type.maskOf + "' is present; give '" +
                               type.name + "' as well");
    return fromFile(type, *text);
  }
  return createStringError("argument '" + type.name + "' (" + type.str() +
                           "), the mask of '" + type.maskOf +
                           "', is missing; give one of them with --arg");
}

Expected<Value> ArgumentBinder::bindOne(size_t index) {
  const ValueType &type = types[index];
  const std::string *text = find(index);
  if (!text && !type.maskOf.empty())
    return bindMask(index);
  if (!text && !type.defaultText.empty())
    return Value::fromNumber(type, type.defaultText);
  if (!text && makeDefault)
    if (std::optional<io::DenseArray> array = makeDefault(index))
      return Value::fromElements(type, std::move(*array));
  if (!text)
    return createStringError(
        "argument '" + type.name + "' (" + type.str() +
        ") is missing; give it with --arg " + type.name + "=" +
        (type.shape && !type.shape->empty() ? "FILE" : "NUMBER"));
  if (!type.shape)
    return Value::fromNumber(type, *text);
  if (type.shape->empty()) {
    Expected<Value> number = Value::fromNumber(type, *text);
    if (number)
      return number;
    llvm::consumeError(number.takeError());
  }
  return fromFile(type, *text);
}

Expected<std::vector<Value>> ArgumentBinder::bind() {
  if (Error error = checkNames())
    return std::move(error);
  std::vector<Value> values;
  values.reserve(types.size());
  for (size_t index = 0; index < types.size(); ++index) {
    Expected<Value> value = bindOne(index);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
}

Expected<std::vector<Value>> sparse_autograd::bindArguments(
    ArrayRef<ValueType> types, const StringMap<std::string> &given,
    function_ref<std::optional<io::DenseArray>(size_t)> makeDefault) {
  return ArgumentBinder(types, given, makeDefault).bind();
}
