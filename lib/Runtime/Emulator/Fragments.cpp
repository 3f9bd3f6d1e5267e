//===- Fragments.cpp - The parts of matrices that threads hold --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"
#include "NarrowFloats.h"

#include <cstring>

using namespace sparse_autograd::emulator;

double sparse_autograd::emulator::readElement(const char *from,
                                              Element element) {
  if (element == Element::F64) {
    double value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  if (isPair(element)) {
    uint16_t bits;
    std::memcpy(&bits, from, sizeof(bits));
    return element == Element::F16 ? convertF16(bits) : convertBF16(bits);
  }
  uint32_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return element == Element::TF32 ? convertTF32(bits) : convertF32(bits);
}

void sparse_autograd::emulator::writeElement(char *to, Element element,
                                             double value) {
  if (element == Element::F64) {
    std::memcpy(to, &value, sizeof(value));
  } else if (element == Element::F32) {
    float narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof(narrow));
  } else {
    uint16_t bits = roundToF16(value);
    std::memcpy(to, &bits, sizeof(bits));
  }
}

Place sparse_autograd::emulator::getPlaceInA(Element factors, uint32_t lane,
                                             uint32_t i) {
  uint32_t group = lane / 4;
  uint32_t place = lane % 4;
  if (factors == Element::F64)
    return {group, place};
  // Rows alternate between the halves of the matrix, register by register.
  if (isPair(factors))
    return {group + i / 2 % 2 * 8, place * 2 + i % 2 + i / 4 * 8};
  return {group + i % 2 * 8, place + i / 2 * 4};
}

uint32_t Metadata::getColumn(Block &block, const WarpCalls &calls, uint32_t row,
                             uint32_t stored) const {
  bool isTF32 = factors == Element::TF32;
  // Stored elements for which one register has the metadata.
  uint32_t perRegister = isTF32 ? 4 : 8;
  uint32_t lane = row % 8 * 4 + firstThread + stored / perRegister;
  uint32_t bits = words[lane] >> row / 8 * 16;
  uint32_t inRegister = stored % perRegister;
  const Thread &thread = block.getThreadOfWarp(lane);
  const WarpCall &call = *calls[lane];
  if (isTF32) {
    uint32_t nibble = bits >> inRegister * 4 & 15;
    if (nibble != 0x4 && nibble != 0xE)
      block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, call.where,
                 "gives %s the metadata 0x%x for the stored element %u of row "
                 "%u of its warp: for tf32 it is 0x4 or 0xe",
                 call.operation, nibble, stored, row);
    return stored * 2 + (nibble == 0xE);
  }
  uint32_t first = bits >> inRegister / 2 * 4 & 3;
  uint32_t second = bits >> (inRegister / 2 * 4 + 2) & 3;
  if (first == second || (isOrdered && first > second))
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, call.where,
               "gives %s the indices %u and %u for the group %u of row %u of "
               "its warp, which must %s",
               call.operation, first, second, stored / 2, row,
               isOrdered ? "increase" : "differ");
  return stored / 2 * 4 + (stored % 2 ? second : first);
}

void sparse_autograd::emulator::checkWholeWarp(Block &block,
                                               const WarpCalls &calls) {
  const WarpCall *some = nullptr;
  for (const WarpCall *call : calls)
    some = call ? call : some;
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    if (!calls[lane])
      block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
                 some->where,
                 "executes %s, which needs all threads of a warp, but there is "
                 "none in lane %u any more",
                 some->operation, lane);
}
