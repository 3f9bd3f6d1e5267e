//===- LocalMemory.cpp - Variables on the stack of a thread -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of its stack a thread may access its variables, and nothing between them.
// Only the thread itself may: that is why no race is looked for.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

using namespace sparse_autograd::emulator;

void Block::beginLocal(uintptr_t variable, size_t bytes, const char *where) {
  Thread &self = getThread();
  LocalVariable local;
  local.begin = variable;
  local.bytes = bytes;
  local.where = where;
  self.locals.push_back(local);
  if (!launch.options->detectUnwritten)
    return;
  size_t pitch = self.context.stackBytes;
  if (localPitch != pitch || localCapacity < threadCount * pitch) {
    localPitch = pitch;
    localCapacity = threadCount * pitch;
    localWritten.begin(localCapacity, /*areWritten=*/false);
  }
  localWritten.unmark(self.index * pitch + variable -
                          reinterpret_cast<uintptr_t>(self.context.stack),
                      bytes);
}

void Block::accessLocal(const Thread &thread, uintptr_t variable,
                        uintptr_t address, size_t bytes, int32_t kind,
                        const char *where) {
  // The variable, or the nearest one.
  const LocalVariable *found = nullptr;
  uintptr_t least = UINTPTR_MAX;
  for (size_t i = thread.locals.size(); i-- > 0;) {
    const LocalVariable &local = thread.locals[i];
    uintptr_t distance = address < local.begin ? local.begin - address
                         : address - local.begin < local.bytes
                             ? 0
                             : address - local.begin - local.bytes + 1;
    if (variable ? local.begin != variable : distance >= least)
      continue;
    found = &local;
    least = distance;
    if (variable || distance == 0)
      break;
  }
  const char *verb = getVerb(kind);
  if (!found)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
         "%s %zu bytes of its local memory, where no variable is", verb, bytes);
  auto offset = static_cast<long long>(address - found->begin);
  if (least != 0 || bytes > found->bytes - (address - found->begin))
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
         "%s %zu bytes at offset %lld of a local variable of %zu bytes%s%s%s",
         verb, bytes, offset, found->bytes, found->where ? " [" : "",
         found->where ? found->where : "", found->where ? "]" : "");
  if (!launch.options->detectUnwritten)
    return;
  size_t place = thread.index * localPitch + address -
                 reinterpret_cast<uintptr_t>(thread.context.stack);
  if (isWrite(kind))
    return localWritten.mark(place, bytes);
  size_t first = localWritten.findUnwritten(place, bytes);
  if (first != place + bytes)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, where,
         "%s %zu bytes at offset %lld of a local variable of %zu bytes%s%s%s, "
         "of which it has not written byte %zu",
         verb, bytes, offset, found->bytes, found->where ? " [" : "",
         found->where ? found->where : "", found->where ? "]" : "",
         first - place + static_cast<size_t>(offset));
}

void Block::checkStack(size_t bytes, const char *where) {
  Thread &self = getThread();
  auto top = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  size_t left = top - reinterpret_cast<uintptr_t>(self.context.stack);
  if (left >= ownStackBytes && left - ownStackBytes >= bytes)
    return;
  fail(
      self, SPARSE_AUTOGRAD_EMULATOR_STACK_OVERFLOW, where,
      "has used up its stack of %zu bytes: functions call themselves too deep, "
      "or a variable is too large (the option stackBytes says how far they "
      "may)",
      self.context.stackBytes - ownStackBytes);
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateLocal(void *variable, int64_t bytes,
                                const char *where) {
  Block &block = Block::getCurrent();
  block.step(where);
  block.beginLocal(reinterpret_cast<uintptr_t>(variable),
                   static_cast<size_t>(bytes), where);
}

void sparseAutogradEmulateLocalAccess(const void *variable, const void *address,
                                      int64_t bytes, int64_t alignment,
                                      int32_t kind, const char *where) {
  Block &block = Block::getCurrent();
  block.step(where);
  if (!bytes)
    return;
  auto place = reinterpret_cast<uintptr_t>(address);
  block.checkAlignment(block.getThread(), place, static_cast<size_t>(alignment),
                       kind, where);
  block.accessLocal(block.getThread(), reinterpret_cast<uintptr_t>(variable),
                    place, static_cast<size_t>(bytes), kind, where);
  block.count(block.getThread(), place, static_cast<size_t>(bytes), kind,
              where);
}

int32_t sparseAutogradEmulateBeginFrame(void) {
  return static_cast<int32_t>(Block::getCurrent().getThread().locals.size());
}

void sparseAutogradEmulateEndFrame(int32_t frame) {
  Block::getCurrent().getThread().locals.resize(static_cast<size_t>(frame));
}

void sparseAutogradEmulateStack(int64_t bytes, const char *where) {
  Block &block = Block::getCurrent();
  block.step(where);
  block.checkStack(static_cast<size_t>(bytes), where);
}

void sparseAutogradEmulateDivision(int32_t isOverflow, const char *where) {
  Block &block = Block::getCurrent();
  block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_DIVISION,
             where, "%s",
             isOverflow ? "divides the least integer by -1, which overflows"
                        : "divides an integer by zero");
}
