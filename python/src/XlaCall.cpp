//===- XlaCall.cpp - entries as custom calls of XLA -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XlaCall.h"
#include "SparseAutograd/Runtime/Call.h"
#include "XlaAbi.h"
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace nb = nanobind;
using namespace xla_abi;

namespace {
/// An entry, and how its values are handed over.
struct Target {
  SparseAutogradEntry entry;
  std::vector<XlaValue> arguments, results;
};

/// Entries by their numbers. XLA's executables name these, not addresses: one
/// that comes from another process finds nothing, in place of other code.
struct Targets {
  std::mutex mutex;
  std::unordered_map<int64_t, std::unique_ptr<Target>> all;
};

/// Reasons to refuse a call.
struct Problem {
  ErrorCode code;
  std::string message;
};
} // namespace

static Targets &getTargets() {
  // XLA's threads may outlive what is destroyed at the end of the process.
  static auto *targets = new Targets;
  return *targets;
}

void addXlaEntry(int64_t id, SparseAutogradEntry entry,
                 std::vector<XlaValue> arguments,
                 std::vector<XlaValue> results) {
  Targets &targets = getTargets();
  std::lock_guard<std::mutex> lock(targets.mutex);
  targets.all[id] = std::make_unique<Target>(
      Target{entry, std::move(arguments), std::move(results)});
}

static const Target &findTarget(int64_t id) {
  Targets &targets = getTargets();
  std::lock_guard<std::mutex> lock(targets.mutex);
  auto found = targets.all.find(id);
  if (found == targets.all.end())
    throw Problem{
        ErrorCode::NotFound,
        "the function was compiled by another process: trace it again"};
  return *found->second;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static const void *findAttribute(const Attributes &attributes, const char *name,
                                 int type) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const Span &other = *attributes.names[i];
    if (attributes.types[i] == type && other.length == std::strlen(name) &&
        std::memcmp(other.data, name, other.length) == 0)
      return attributes.values[i];
  }
  throw Problem{ErrorCode::InvalidArgument,
                std::string("the attribute '") + name + "' is missing"};
}

static int64_t getNumber(const Attributes &attributes, const char *name) {
  auto *scalar = static_cast<const Scalar *>(
      findAttribute(attributes, name, scalarAttribute));
  if (scalar->type != S64)
    throw Problem{ErrorCode::InvalidArgument, "an attribute is no int64"};
  return *static_cast<const int64_t *>(scalar->value);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Takes the buffers of a call one after the other.
class BufferReader {
public:
  explicit BufferReader(const Values &values) : values(values) {}
  const Buffer &next() {
    if (position == values.size || values.types[position] != bufferValue)
      throw Problem{ErrorCode::InvalidArgument,
                    "the call has other buffers than the function"};
    return *static_cast<const Buffer *>(values.values[position++]);
  }
  void finish() const {
    if (position != values.size)
      throw Problem{ErrorCode::InvalidArgument,
                    "the call has more buffers than the function"};
  }

private:
  const Values &values;
  int64_t position = 0;
};

/// Descriptors of the values of a call, which stay where they are.
class Descriptors {
public:
  /// Begins the words of another value.
  void begin() { lists.push_back(std::make_unique<std::vector<int64_t>>()); }
  void add(int64_t word) { lists.back()->push_back(word); }
  void addPointer(const void *pointer) {
    add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)));
  }
  /// A list of `size` elements.
  void addList(const void *data, int64_t size, int64_t stride = 1) {
    add(0);
    addPointer(data);
    for (int64_t word : {int64_t(0), size, stride})
      add(word);
  }
  /// A tensor in row-major order.
  void addDense(const Buffer &buffer) {
    add(0);
    addPointer(buffer.data);
    add(0);
    for (int64_t i = 0; i < buffer.rank; ++i)
      add(buffer.dims[i]);
    int64_t stride = 1;
    std::vector<int64_t> strides(buffer.rank);
    for (int64_t i = buffer.rank; i-- > 0; stride *= buffer.dims[i])
      strides[i] = stride;
    for (int64_t word : strides)
      add(word);
  }
  void *get() { return lists.back()->data(); }

private:
  std::vector<std::unique_ptr<std::vector<int64_t>>> lists;
};
} // namespace

static int64_t getIndexBytes(const Buffer &buffer) {
  switch (buffer.type) {
  case S32:
  case U32:
    return 4;
  case S64:
  case U64:
    return 8;
  }
  throw Problem{ErrorCode::InvalidArgument,
                "indices of another width than 32 or 64 bits"};
}

/// Describes a sparse matrix or tensor. `positions` is room for those of COO.
static void addSparse(Descriptors &words, XlaValue kind, BufferReader &buffers,
                      const int64_t *extents, int64_t rank,
                      std::vector<std::unique_ptr<int64_t[]>> &positions) {
  const Buffer &values = buffers.next(), &indices = buffers.next();
  int64_t count = values.dims[0];
  if (kind == XlaValue::CSR) {
    const Buffer &starts = buffers.next();
    words.addList(starts.data, starts.dims[0]);
    words.addList(indices.data, indices.dims[0]);
  } else {
    // One list of all elements, from 0, in the width of the coordinates.
    int64_t bytes = getIndexBytes(indices);
    positions.push_back(std::make_unique<int64_t[]>(2));
    auto *bounds = reinterpret_cast<char *>(positions.back().get());
    std::memcpy(bounds + bytes, &count, bytes);
    words.addList(bounds, 2);
    for (int64_t dim = 0; dim < rank; ++dim)
      words.addList(static_cast<const char *>(indices.data) + dim * bytes,
                    count, rank);
  }
  words.addList(values.data, count);
  for (int64_t dim = 0; dim < rank; ++dim)
    words.add(extents[dim]);
}

static void call(const CallFrame &frame) {
  const Target &target = findTarget(getNumber(frame.attributes, "id"));
  // For each sparse argument its rank and its extents.
  const auto &list = *static_cast<const Array *>(
      findAttribute(frame.attributes, "extents", arrayAttribute));
  auto *extents = static_cast<const int64_t *>(list.data);
  const int64_t *end = extents + list.size;
  BufferReader given(frame.arguments), wanted(frame.results);
  Descriptors words;
  std::vector<std::unique_ptr<int64_t[]>> positions;
  std::vector<void *> arguments, results;
  for (XlaValue kind : target.arguments) {
    if (kind == XlaValue::Number) {
      arguments.push_back(given.next().data);
      continue;
    }
    words.begin();
    if (kind == XlaValue::Dense) {
      words.addDense(given.next());
    } else {
      if (extents == end || end - extents <= *extents)
        throw Problem{ErrorCode::InvalidArgument, "extents are missing"};
      int64_t rank = *extents++;
      addSparse(words, kind, given, extents, rank, positions);
      extents += rank;
    }
    arguments.push_back(words.get());
  }
  given.finish();
  for (XlaValue kind : target.results) {
    const Buffer &buffer = wanted.next();
    if (kind == XlaValue::Number) {
      results.push_back(buffer.data);
      continue;
    }
    words.begin();
    words.addDense(buffer);
    results.push_back(words.get());
  }
  wanted.finish();
  // An entry of nothing takes pointers to nothing, which are not null.
  arguments.reserve(1);
  results.reserve(1);
  std::vector<int32_t> forms(target.results.size() + 1,
                             SPARSE_AUTOGRAD_RESULT_DESTINATION);
  SparseAutogradCall all = {static_cast<int64_t>(target.arguments.size()),
                            static_cast<int64_t>(target.results.size()),
                            arguments.data(),
                            results.data(),
                            nullptr,
                            forms.data()};
  int32_t status = sparseAutogradCall(target.entry, &all);
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    return;
  std::string message = sparseAutogradLastError();
  if (status == SPARSE_AUTOGRAD_CANCELLED) {
    // What a handler of log lines has raised; XLA has its own exception.
    nb::gil_scoped_acquire acquire;
    PyErr_Clear();
  }
  throw Problem{
      status == SPARSE_AUTOGRAD_CANCELLED       ? ErrorCode::Cancelled
      : status == SPARSE_AUTOGRAD_OUT_OF_MEMORY ? ErrorCode::ResourceExhausted
      : status == SPARSE_AUTOGRAD_OUT_OF_RANGE  ? ErrorCode::OutOfRange
      : status == SPARSE_AUTOGRAD_INVALID_ARGUMENT ? ErrorCode::InvalidArgument
                                                   : ErrorCode::Internal,
      message};
}

/// The handler: what XLA calls to learn its version, and for each call.
static Error *handle(CallFrame *frame) noexcept {
  if (Extension *first = frame->extensions;
      first && first->type == metadataExtension) {
    Metadata &metadata =
        *reinterpret_cast<MetadataExtension *>(first)->metadata;
    // Of what later minor versions add nothing is used.
    metadata.version.major = majorVersion;
    metadata.version.minor = frame->api->version.major == majorVersion
                                 ? frame->api->version.minor
                                 : 0;
    metadata.traits = 0;
    return nullptr;
  }
  if (frame->stage != executeStage)
    return nullptr;
  Problem problem;
  try {
    call(*frame);
    return nullptr;
  } catch (Problem &thrown) {
    problem = std::move(thrown);
  } catch (const std::exception &error) {
    problem.code = ErrorCode::ResourceExhausted;
  }
  ErrorArguments arguments = {sizeof(ErrorArguments), nullptr,
                              problem.message.empty() ? "out of memory"
                                                      : problem.message.c_str(),
                              problem.code};
  return frame->api->createError(&arguments);
}

nb::capsule getXlaHandler() {
  return nb::capsule(reinterpret_cast<void *>(&handle),
                     "xla._CUSTOM_CALL_TARGET");
}
