//===- WrittenBytes.cpp - Which bytes have been written ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrittenBytes.h"

#include <cstdlib>
#include <cstring>

using namespace sparse_autograd::emulator;

void WrittenBytes::Release::operator()(uint8_t *memory) const {
  std::free(memory);
}

void WrittenBytes::begin(size_t newBytes, bool areWritten) {
  bytes = newBytes;
  // Memory that is zero by itself takes no room until it is written to.
  states.reset(areWritten ? nullptr
                          : static_cast<uint8_t *>(std::calloc(bytes + 1, 1)));
}

void WrittenBytes::mark(size_t offset, size_t length) {
  if (!states)
    return;
  if (length == bytes)
    states.reset();
  else
    std::memset(states.get() + offset, 1, length);
}

void WrittenBytes::unmark(size_t offset, size_t length) {
  if (states)
    std::memset(states.get() + offset, 0, length);
}

void WrittenBytes::copy(size_t offset, const WrittenBytes &from,
                        size_t fromOffset, size_t length) {
  if (!from.states)
    return mark(offset, length);
  if (!states) {
    begin(bytes, /*areWritten=*/false);
    if (!states)
      return;
    std::memset(states.get(), 1, bytes);
  }
  std::memmove(states.get() + offset, from.states.get() + fromOffset, length);
}

size_t WrittenBytes::findUnwritten(size_t offset, size_t length) const {
  if (!states)
    return offset + length;
  const void *first = std::memchr(states.get() + offset, 0, length);
  return first ? static_cast<size_t>(static_cast<const uint8_t *>(first) -
                                     states.get())
               : offset + length;
}
