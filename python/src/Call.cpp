//===- Call.cpp - NumPy arrays as arguments and results of entries --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <tuple>
#include <vector>

namespace nb = nanobind;

namespace {
/// The buffers that a call borrows.
class Borrowed {
public:
  Borrowed() = default;
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;
  ~Borrowed() {
    for (Py_buffer &buffer : buffers)
      PyBuffer_Release(&buffer);
  }
  const Py_buffer &get(nb::handle array) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDES) != 0)
      throw nb::python_error();
    buffers.push_back(buffer);
    return buffers.back();
  }

private:
  std::vector<Py_buffer> buffers;
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

/// An array of a descriptor, which begins at `words`, and which it owns.
static nb::object takeArray(const int64_t *words, nb::dlpack::dtype type,
                            size_t rank) {
  auto *allocated = reinterpret_cast<void *>(words[0]);
  auto *data = reinterpret_cast<char *>(words[1]) + words[2] * type.bits / 8;
  nb::capsule owner(allocated,
                    [](void *buffer) noexcept { sparseAutogradFree(buffer); });
  std::vector<size_t> extents(words + 3, words + 3 + rank);
  nb::ndarray<nb::numpy> array(data, rank, extents.data(), owner,
                               words + 3 + rank, type);
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
};
} // namespace

static Place makePlace(nb::handle description) {
  auto [isNumber, types, extents] =
      nb::cast<std::tuple<bool, nb::list, size_t>>(description);
  Place place{isNumber, {}, {}};
  size_t count = extents;
  for (nb::handle type : types) {
    auto [code, bits, rank] = nb::cast<std::tuple<int, int, size_t>>(type);
    place.arrays.push_back(
        {{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1}, rank});
    count += 3 + 2 * rank;
  }
  place.words.resize(count);
  return place;
}

static nb::tuple takeResult(const Place &place) {
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
    arrays.append(takeArray(words, type, rank));
    words += 3 + 2 * rank;
  }
  for (; words != place.words.data() + place.words.size(); ++words)
    extents.append(*words);
  return nb::make_tuple(arrays, extents);
}

nb::tuple callEntry(const SparseAutogradExecutable *executable,
                    const char *name, nb::list arguments, nb::list results) {
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
  for (Place &place : places) {
    // A number takes a word at most.
    if (place.isNumber)
      place.words.assign(1, 0);
    resultPointers.push_back(place.words.data());
  }
  int32_t status;
  SparseAutogradDiagnostics *diagnostics;
  {
    nb::gil_scoped_release release;
    status = sparseAutogradExecutableCall(
        executable, name, argumentPointers.data(),
        static_cast<int64_t>(argumentPointers.size()), resultPointers.data(),
        static_cast<int64_t>(resultPointers.size()), &diagnostics);
  }
  // What a handler of log lines has raised.
  if (PyErr_Occurred()) {
    sparseAutogradDiagnosticsDestroy(diagnostics);
    throw nb::python_error();
  }
  nb::list values;
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    for (const Place &place : places)
      values.append(takeResult(place));
  return nb::make_tuple(status, takeDiagnostics(diagnostics), values);
}
