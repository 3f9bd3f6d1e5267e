//===- NarrowFloats.h - Conversions of f16, bf16 and tf32 -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On bits, since not every compiler has the types. Internal to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_NARROWFLOATS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_NARROWFLOATS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace sparse_autograd {
namespace emulator {

inline double convertF32(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline double convertBF16(uint16_t bits) {
  return convertF32(uint32_t(bits) << 16);
}

/// The tensor cores ignore the last 13 bits of an f32.
inline double convertTF32(uint32_t bits) {
  return convertF32(bits & ~uint32_t(0x1FFF));
}

inline double convertF16(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? std::nan("") : double(INFINITY))
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -value : value;
}

/// Rounded to the nearest f16, ties to even.
inline uint16_t roundToF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return 0x7FFF;
  // What rounds to 2^16.
  if (magnitude >= 65520)
    return sign | 0x7C00;
  // The exponent of the last bit: that of the least normal number at least.
  int exponent =
      magnitude < std::ldexp(1, -14) ? -24 : std::ilogb(magnitude) - 10;
  // At most 2^11, which carries into the exponent, as it should.
  auto scaled =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -exponent)));
  if (exponent == -24)
    return sign | static_cast<uint16_t>(scaled);
  return sign | static_cast<uint16_t>(((exponent + 24) << 10) + scaled);
}

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_NARROWFLOATS_H
