//===- DenseArray.h - Dense arrays in memory --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_DENSEARRAY_H
#define SPARSEAUTOGRAD_IO_DENSEARRAY_H

#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace sparse_autograd::io {

/// The type of one element of a dense array.
enum class ElementType {
  Bool, ///< one byte, 0 or 1
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,  ///< IEEE binary16
  BF16, ///< the upper half of an IEEE binary32
  F32,
  F64
};

/// Bytes of one element.
unsigned getByteWidth(ElementType type);

/// Whether the type is one of floating numbers.
bool isFloat(ElementType type);

/// The name of a type in MLIR's spelling: i1 for Bool, ui8 for U8, f32, ...
llvm::StringRef getTypeName(ElementType type);

/// A byte buffer aligned to 64 bytes, owned, movable, never copied by accident.
class AlignedBuffer {
public:
  static constexpr size_t alignment = 64;

  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) { swap(other); }
  AlignedBuffer &operator=(AlignedBuffer &&other) {
    swap(other);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer &) = delete;
  AlignedBuffer &operator=(const AlignedBuffer &) = delete;
  ~AlignedBuffer();

  /// A zeroed buffer of `size` bytes, or nothing when memory has run out.
  static std::optional<AlignedBuffer> allocate(size_t size);

  /// Changes the size, keeping the bytes that both sizes hold; the value of new
  /// bytes is unspecified. False, with the buffer unchanged, when memory has
  /// run out.
  [[nodiscard]] bool resize(size_t newSize);

  char *data() { return bytes; }
  const char *data() const { return bytes; }
  size_t size() const { return count; }
  llvm::StringRef str() const { return {bytes, count}; }

  /// Gives the bytes to the caller, who releases them with `free`.
  char *release() {
    count = capacity = 0;
    return std::exchange(bytes, nullptr);
  }

private:
  void swap(AlignedBuffer &other) {
    std::swap(bytes, other.bytes);
    std::swap(count, other.count);
    std::swap(capacity, other.capacity);
  }

  char *bytes = nullptr;
  size_t count = 0;
  size_t capacity = 0;
};

/// A dense array: `data` holds the elements row-major (the last dimension
/// contiguous) in the byte order of this machine, without padding.
struct DenseArray {
  ElementType type = ElementType::F64;
  llvm::SmallVector<int64_t> shape;
  AlignedBuffer data;
  /// The numbers were text, which has no type of its own: whoever needs another
  /// type than this one may round them (ConvertElements.h).
  bool isText = false;

  int64_t getNumElements() const;

  /// The elements as `T`, which must have the width of `type`.
  template <typename T>
  llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(data.data()), data.size() / sizeof(T)};
  }
  template <typename T>
  llvm::MutableArrayRef<T> as() {
    return {reinterpret_cast<T *>(data.data()), data.size() / sizeof(T)};
  }
};

/// The bytes of an array of `shape`, or nothing when they do not fit 63 bits
/// or a dimension is negative. An extent of 0 makes 0, but the other extents
/// must still fit: code that computes strides relies on it.
std::optional<uint64_t> getByteSize(ElementType type,
                                    llvm::ArrayRef<int64_t> shape);

/// A zeroed array; an error when it would exceed `limits` or memory has run
/// out. `file` is the name for the diagnostic.
llvm::Expected<DenseArray> makeDenseArray(llvm::StringRef file,
                                          ElementType type,
                                          llvm::ArrayRef<int64_t> shape,
                                          const SizeLimits &limits);

/// Element `index` (row-major) as an f64: exact for every type but I64 and U64,
/// whose values are rounded to nearest beyond 2^53.
double getAsDouble(const DenseArray &array, int64_t index);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_DENSEARRAY_H
