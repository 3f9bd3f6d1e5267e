//===- DenseArray.cpp - Dense arrays in memory ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace sparse_autograd::io;

unsigned sparse_autograd::io::getByteWidth(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I8:
  case ElementType::U8:
    return 1;
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::U64:
  case ElementType::F64:
    return 8;
  }
  llvm_unreachable("every element type is listed");
}

bool sparse_autograd::io::isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F32 || type == ElementType::F64;
}

StringRef sparse_autograd::io::getTypeName(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::U8:
    return "ui8";
  case ElementType::U16:
    return "ui16";
  case ElementType::U32:
    return "ui32";
  case ElementType::U64:
    return "ui64";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  }
  llvm_unreachable("every element type is listed");
}

AlignedBuffer::~AlignedBuffer() { std::free(bytes); }

std::optional<AlignedBuffer> AlignedBuffer::allocate(size_t size) {
  AlignedBuffer buffer;
  if (!buffer.resize(size))
    return std::nullopt;
  std::memset(buffer.bytes, 0, size);
  return buffer;
}

bool AlignedBuffer::resize(size_t newSize) {
  if (newSize > capacity || !bytes) {
    if (newSize > std::numeric_limits<size_t>::max() / 2)
      return false;
    // The smallest buffer has one unit, so that its address is never null.
    size_t newCapacity = alignTo(std::max<size_t>(newSize, 1), alignment);
    void *fresh = std::aligned_alloc(alignment, newCapacity);
    if (!fresh)
      return false;
    if (count)
      std::memcpy(fresh, bytes, count);
    std::free(bytes);
    bytes = static_cast<char *>(fresh);
    capacity = newCapacity;
  }
  count = newSize;
  return true;
}

int64_t DenseArray::getNumElements() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

std::optional<uint64_t>
sparse_autograd::io::getByteSize(ElementType type, ArrayRef<int64_t> shape) {
  uint64_t bytes = getByteWidth(type);
  bool isEmpty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      isEmpty = true;
      continue;
    }
    bool overflows = false;
    bytes = SaturatingMultiply<uint64_t>(bytes, extent, &overflows);
    if (overflows || bytes > uint64_t(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
  }
  return isEmpty ? 0 : bytes;
}

Expected<DenseArray>
sparse_autograd::io::makeDenseArray(StringRef file, ElementType type,
                                    ArrayRef<int64_t> shape,
                                    const SizeLimits &limits) {
  if (shape.size() > limits.rank)
    return fileError(file,
                     "the array has " + Twine(shape.size()) +
                         " dimensions, more than the limit of " +
                         Twine(limits.rank),
                     "store it with fewer dimensions");
  std::optional<uint64_t> size = getByteSize(type, shape);
  if (!size || *size > limits.arrayBytes)
    return fileError(file,
                     (size ? "a dense array of " + Twine(*size)
                           : Twine("a dense array of more than 2^63")) +
                         " bytes exceeds the limit of " +
                         Twine(limits.arrayBytes),
                     "use a smaller or a sparse one, or raise the limit");
  std::optional<AlignedBuffer> data = AlignedBuffer::allocate(*size);
  if (!data)
    return fileError(file, "no memory for " + Twine(*size) + " bytes",
                     "use a smaller array or a machine with more memory");
  DenseArray array;
  array.type = type;
  array.shape.assign(shape.begin(), shape.end());
  array.data = std::move(*data);
  return array;
}

template <typename T>
static T load(const DenseArray &array, int64_t index) {
  T value;
  std::memcpy(&value, array.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Widens a 16-bit float, which no type of the language names.
static double widen(const fltSemantics &semantics, uint16_t bits) {
  APFloat value(semantics, APInt(16, bits));
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

double sparse_autograd::io::getAsDouble(const DenseArray &array,
                                        int64_t index) {
  switch (array.type) {
  case ElementType::Bool:
  case ElementType::U8:
    return load<uint8_t>(array, index);
  case ElementType::I8:
    return load<int8_t>(array, index);
  case ElementType::I16:
    return load<int16_t>(array, index);
  case ElementType::U16:
    return load<uint16_t>(array, index);
  case ElementType::I32:
    return load<int32_t>(array, index);
  case ElementType::U32:
    return load<uint32_t>(array, index);
  case ElementType::I64:
    return static_cast<double>(load<int64_t>(array, index));
  case ElementType::U64:
    return static_cast<double>(load<uint64_t>(array, index));
  case ElementType::F16:
    return widen(APFloat::IEEEhalf(), load<uint16_t>(array, index));
  case ElementType::BF16:
    return widen(APFloat::BFloat(), load<uint16_t>(array, index));
  case ElementType::F32:
    return load<float>(array, index);
  case ElementType::F64:
    return load<double>(array, index);
  }
  llvm_unreachable("every element type is listed");
}
