//===- ConvertElements.cpp - Numbers of one type as another -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/ConvertElements.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace sparse_autograd::io;

static const fltSemantics *findSemantics(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return &APFloat::IEEEhalf();
  case ElementType::BF16:
    return &APFloat::BFloat();
  case ElementType::F32:
    return &APFloat::IEEEsingle();
  case ElementType::F64:
    return &APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

static bool isUnsigned(ElementType type) {
  return type == ElementType::U8 || type == ElementType::U16 ||
         type == ElementType::U32 || type == ElementType::U64;
}

bool sparse_autograd::io::isWidening(ElementType from, ElementType to) {
  if (from == to)
    return true;
  if (from == ElementType::Bool || to == ElementType::Bool)
    return false;
  const fltSemantics *source = findSemantics(from);
  const fltSemantics *target = findSemantics(to);
  if (source)
    return target && APFloat::isRepresentableBy(*source, *target);
  // The bits of the largest number, without a sign.
  unsigned digits = 8 * getByteWidth(from) - !isUnsigned(from);
  if (target)
    return digits <= APFloat::semanticsPrecision(*target);
  unsigned room = 8 * getByteWidth(to) - !isUnsigned(to);
  return digits <= room && (isUnsigned(from) || !isUnsigned(to));
}

namespace {

/// Why a number does not become another.
enum class Obstacle { None, Overflow, Inexact, NoInteger, NoFlag };

} // namespace

/// The bits of element `index` as a float of `semantics`.
static Obstacle toFloat(const DenseArray &array, int64_t index,
                        const fltSemantics &semantics, uint64_t &bits) {
  APFloat number(semantics);
  bool isInexact = false;
  if (array.type == ElementType::I64 || array.type == ElementType::U64) {
    // Integers are rounded once, too.
    APInt integer(64, array.as<uint64_t>()[index]);
    auto status = number.convertFromAPInt(
        integer, array.type == ElementType::I64, APFloat::rmNearestTiesToEven);
    if (number.isInfinity())
      return Obstacle::Overflow;
    isInexact = status != APFloat::opOK;
  } else {
    double value = getAsDouble(array, index);
    number = APFloat(value);
    number.convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
    if (number.isInfinity() && std::isfinite(value))
      return Obstacle::Overflow;
    // The payload of a NaN is no number.
    isInexact &= !std::isnan(value);
  }
  if (isInexact && !array.isText)
    return Obstacle::Inexact;
  bits = number.bitcastToAPInt().getZExtValue();
  return Obstacle::None;
}

/// The bits of element `index` as a signed integer of `width` bits.
static Obstacle toInteger(const DenseArray &array, int64_t index,
                          unsigned width, uint64_t &bits) {
  int64_t integer;
  if (array.type == ElementType::I64) {
    integer = array.as<int64_t>()[index];
  } else if (array.type == ElementType::U64) {
    integer = array.as<int64_t>()[index];
    if (integer < 0)
      return Obstacle::NoInteger;
  } else {
    double value = getAsDouble(array, index);
    // Also false for a NaN.
    if (!(value >= -0x1p63 && value < 0x1p63))
      return Obstacle::NoInteger;
    integer = static_cast<int64_t>(value);
    if (static_cast<double>(integer) != value)
      return Obstacle::NoInteger;
  }
  if (!isIntN(width, integer))
    return Obstacle::NoInteger;
  bits = static_cast<uint64_t>(integer);
  return Obstacle::None;
}

static Obstacle toFlag(const DenseArray &array, int64_t index, uint64_t &bits) {
  double value = getAsDouble(array, index);
  if (value != 0 && value != 1)
    return Obstacle::NoFlag;
  bits = value == 1;
  return Obstacle::None;
}

static Error refuse(Obstacle obstacle, ElementType type, StringRef what,
                    StringRef name) {
  StringRef wanted = getTypeName(type);
  switch (obstacle) {
  case Obstacle::None:
    return Error::success();
  case Obstacle::Overflow:
    return fileError(name, what + " overflows an " + wanted,
                     "use another element type");
  case Obstacle::Inexact:
    return fileError(name, what + " is not exact as an " + wanted,
                     "store the values as " + wanted + " if rounding is meant");
  case Obstacle::NoInteger:
    return fileError(name, what + " is no " + wanted,
                     "use another element type");
  case Obstacle::NoFlag:
    return fileError(name, what + " is neither 0 nor 1",
                     "store false and true, or 0 and 1");
  }
  llvm_unreachable("every obstacle is listed");
}

Expected<DenseArray> sparse_autograd::io::convertElements(
    const DenseArray &array, ElementType type, const SizeLimits &limits,
    StringRef name, function_ref<std::string(int64_t)> describe) {
  Expected<DenseArray> converted =
      makeDenseArray(name, type, array.shape, limits);
  if (!converted)
    return converted.takeError();
  converted->isText = array.isText;
  size_t width = getByteWidth(type);
  int64_t count = array.getNumElements();
  if (array.type == type) {
    if (count)
      std::memcpy(converted->data.data(), array.data.data(), count * width);
    return converted;
  }
  const fltSemantics *semantics = findSemantics(type);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    Obstacle obstacle = type == ElementType::Bool ? toFlag(array, i, bits)
                        : semantics ? toFloat(array, i, *semantics, bits)
                                    : toInteger(array, i, 8 * width, bits);
    if (obstacle != Obstacle::None)
      return refuse(obstacle, type, describe(i), name);
    // The low bytes come first on the machines that we compile for.
    std::memcpy(converted->data.data() + i * width, &bits, width);
  }
  return converted;
}
