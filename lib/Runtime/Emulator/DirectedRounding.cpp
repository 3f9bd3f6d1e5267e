//===- DirectedRounding.cpp - Rounding in a direction -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With the rounding mode of the processor, which is changed here only. Operands
// and results are volatile, so that the compiler computes nothing before or
// after that.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <cfenv>
#include <cmath>

using namespace sparse_autograd::emulator;

template <typename T>
static T compute(int32_t operation, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  switch (operation) {
  case SPARSE_AUTOGRAD_ADD:
    result = x + y;
    break;
  case SPARSE_AUTOGRAD_MULTIPLY:
    result = x * y;
    break;
  case SPARSE_AUTOGRAD_DIVIDE:
    result = x / y;
    break;
  case SPARSE_AUTOGRAD_FMA:
    result = std::fma(T(x), T(y), T(z));
    break;
  default:
    result = std::sqrt(T(x));
    break;
  }
  return result;
}

template <typename T>
static T computeRounded(int32_t operation, int32_t rounding, T a, T b, T c) {
  static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  Block &block = Block::getCurrent();
  if (operation < 0 || operation > SPARSE_AUTOGRAD_SQUARE_ROOT ||
      rounding < 0 || rounding > SPARSE_AUTOGRAD_ROUND_TO_ZERO)
    block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               nullptr, "computes operation %d rounded in direction %d",
               operation, rounding);
  int before = std::fegetround();
  std::fesetround(modes[rounding]);
  T result = compute(operation, a, b, c);
  std::fesetround(before);
  return result;
}

float sparseAutogradEmulateRoundedF32(int32_t operation, int32_t rounding,
                                      float a, float b, float c) {
  return computeRounded(operation, rounding, a, b, c);
}

double sparseAutogradEmulateRoundedF64(int32_t operation, int32_t rounding,
                                       double a, double b, double c) {
  return computeRounded(operation, rounding, a, b, c);
}
