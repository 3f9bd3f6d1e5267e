//===- Call.cpp - NumPy arrays as arguments and results of entries --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include <algorithm>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <tuple>
#include <vector>

namespace nb = nanobind;

namespace {
/// The buffers that a call borrows, with the arrays that they are of.
class Borrowed {
public:
  Borrowed() = default;
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;
  ~Borrowed() {
    for (auto &[buffer, array] : buffers)
      PyBuffer_Release(&buffer);
  }
  const Py_buffer &get(nb::handle array, int flags = PyBUF_STRIDES) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, flags) != 0)
      throw nb::python_error();
    buffers.push_back({buffer, array});
    return buffers.back().first;
  }
  /// The array whose elements begin at `data`; null if there is none.
  nb::handle find(const void *data) const {
    for (const auto &[buffer, array] : buffers)
      if (buffer.buf == data)
        return array;
    return nb::handle();
  }

private:
  std::vector<std::pair<Py_buffer, nb::handle>> buffers;
};
} // namespace

static int64_t toWord(const void *pointer) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer));
}

/// Adds the descriptor of an array.
static void describe(const Py_buffer &buffer, std::vector<int64_t> &words) {
  words.insert(words.end(), {0, toWord(buffer.buf), 0});
  words.insert(words.end(), buffer.shape, buffer.shape + buffer.ndim);
  for (int i = 0; i < buffer.ndim; ++i)
    words.push_back(buffer.strides[i] / buffer.itemsize);
}

/// The address of the elements of a descriptor, which begins at `words`.
static char *getData(const int64_t *words, nb::dlpack::dtype type) {
  return reinterpret_cast<char *>(words[1]) + words[2] * type.bits / 8;
}

/// An array of a descriptor, which begins at `words`, and which it owns.
static nb::object takeArray(const int64_t *words, nb::dlpack::dtype type,
                            size_t rank) {
  auto *allocated = reinterpret_cast<void *>(words[0]);
  nb::capsule owner(allocated,
                    [](void *buffer) noexcept { sparseAutogradFree(buffer); });
  std::vector<size_t> extents(words + 3, words + 3 + rank);
  nb::ndarray<nb::numpy> array(getData(words, type), rank, extents.data(),
                               owner, words + 3 + rank, type);
  return nb::cast(std::move(array), nb::rv_policy::reference);
}

/// An array of a descriptor of memory that `owner` has, for reading only.
static nb::object shareArray(const int64_t *words, nb::dlpack::dtype type,
                             size_t rank, nb::handle owner) {
  std::vector<size_t> extents(words + 3, words + 3 + rank);
  nb::ndarray<nb::numpy, nb::ro> array(getData(words, type), rank,
                                       extents.data(), owner, words + 3 + rank,
                                       type);
  return nb::cast(std::move(array), nb::rv_policy::reference);
}

nb::list takeDiagnostics(SparseAutogradDiagnostics *list) {
  nb::list texts;
  SparseAutogradDiagnostic d;
  for (int64_t i = 0;
       sparseAutogradDiagnosticsGet(list, i, &d) == SPARSE_AUTOGRAD_SUCCESS;
       ++i)
    texts.append(nb::make_tuple(d.severity, d.file, d.line, d.column,
                                nb::str(d.message)));
  sparseAutogradDiagnosticsDestroy(list);
  return texts;
}

namespace {
/// A place for a result.
struct Place {
  bool isNumber;
  std::vector<std::pair<nb::dlpack::dtype, size_t>> arrays;
  std::vector<int64_t> words;
  int32_t form;
  /// For each array None, or the one that its elements are written to; empty if
  /// that is none.
  std::vector<nb::object> destinations;
};
} // namespace

static Place makePlace(nb::handle description) {
  auto [isNumber, types, extents, form] =
      nb::cast<std::tuple<bool, nb::list, size_t, int32_t>>(description);
  Place place{isNumber, {}, {}, form, {}};
  size_t count = extents;
  for (nb::handle type : types) {
    auto [code, bits, rank] = nb::cast<std::tuple<int, int, size_t>>(type);
    place.arrays.push_back(
        {{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1}, rank});
    count += 3 + 2 * rank;
  }
  // A number takes a word at most.
  place.words.resize(isNumber ? 1 : count);
  return place;
}

/// Has the arrays of a place written to those of `destinations`.
static void setDestinations(Place &place, nb::handle destinations,
                            Borrowed &borrowed) {
  place.form = SPARSE_AUTOGRAD_RESULT_DESTINATION;
  int64_t *words = place.words.data();
  for (nb::handle destination : destinations) {
    size_t rank = place.arrays[place.destinations.size()].second;
    if (!destination.is_none()) {
      std::vector<int64_t> descriptor;
      describe(borrowed.get(destination, PyBUF_STRIDES | PyBUF_WRITABLE),
               descriptor);
      std::copy(descriptor.begin(), descriptor.end(), words);
    }
    place.destinations.push_back(nb::borrow(destination));
    words += 3 + 2 * rank;
  }
}

static nb::tuple takeResult(const Place &place, Borrowed &borrowed,
                            nb::handle arguments) {
  nb::list arrays, extents;
  if (place.isNumber) {
    // The number itself is in the place: a copy of it, as an array.
    auto *number = new int64_t(place.words[0]);
    nb::capsule owner(
        number, [](void *n) noexcept { delete static_cast<int64_t *>(n); });
    nb::ndarray<nb::numpy> array(number, 0, nullptr, owner, nullptr,
                                 place.arrays[0].first);
    arrays.append(nb::cast(std::move(array), nb::rv_policy::reference));
    return nb::make_tuple(arrays, extents);
  }
  const int64_t *words = place.words.data();
  for (auto [type, rank] : place.arrays) {
    size_t index = nb::len(arrays);
    if (!place.destinations.empty() && !place.destinations[index].is_none()) {
      arrays.append(place.destinations[index]);
    } else if (!words[0] && words[1]) {
      // Of an argument, or of a result that was taken before.
      nb::handle owner = borrowed.find(getData(words, type));
      arrays.append(
          shareArray(words, type, rank, owner.is_valid() ? owner : arguments));
    } else {
      arrays.append(takeArray(words, type, rank));
      // A later result may share it.
      borrowed.get(arrays[index]);
    }
    words += 3 + 2 * rank;
  }
  for (; words != place.words.data() + place.words.size(); ++words)
    extents.append(*words);
  return nb::make_tuple(arrays, extents);
}

nb::tuple callEntry(const SparseAutogradExecutable *executable,
                    const char *name, nb::list arguments, nb::list results,
                    nb::object destinations) {
  Borrowed borrowed;
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> argumentPointers, resultPointers;
  descriptors.reserve(arguments.size());
  for (nb::handle argument : arguments) {
    auto [arrays, extents] =
        nb::cast<std::tuple<nb::object, nb::object>>(argument);
    if (!nb::isinstance<nb::list>(arrays)) {
      argumentPointers.push_back(borrowed.get(arrays).buf);
      continue;
    }
    std::vector<int64_t> words;
    for (nb::handle array : arrays)
      describe(borrowed.get(array), words);
    if (!extents.is_none())
      for (nb::handle extent : extents)
        words.push_back(nb::cast<int64_t>(extent));
    descriptors.push_back(std::move(words));
    argumentPointers.push_back(descriptors.back().data());
  }
  std::vector<Place> places;
  for (nb::handle description : results)
    places.push_back(makePlace(description));
  if (!destinations.is_none())
    for (size_t i = 0; i < places.size(); ++i)
      if (nb::object given = destinations[i]; !given.is_none())
        setDestinations(places[i], given, borrowed);
  std::vector<int32_t> forms;
  for (Place &place : places) {
    resultPointers.push_back(place.words.data());
    forms.push_back(place.form);
  }
  SparseAutogradCall call = {static_cast<int64_t>(argumentPointers.size()),
                             static_cast<int64_t>(resultPointers.size()),
                             argumentPointers.data(),
                             resultPointers.data(),
                             nullptr,
                             forms.data()};
  int32_t status;
  SparseAutogradDiagnostics *diagnostics;
  SparseAutogradCallTimes times;
  {
    nb::gil_scoped_release release;
    status =
        sparseAutogradExecutableCallAs(executable, name, &call, &diagnostics);
    sparseAutogradGetCallTimes(&times);
  }
  // What a handler of log lines has raised.
  if (PyErr_Occurred()) {
    sparseAutogradDiagnosticsDestroy(diagnostics);
    throw nb::python_error();
  }
  nb::list values;
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    for (const Place &place : places)
      values.append(takeResult(place, borrowed, arguments));
  return nb::make_tuple(
      status, takeDiagnostics(diagnostics), values,
      nb::make_tuple(times.copy, times.check, times.accumulate));
}
