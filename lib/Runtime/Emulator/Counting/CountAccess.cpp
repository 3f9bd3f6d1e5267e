//===- CountAccess.cpp - What the counter is told of ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The null hook of counting: what a block does only if there is a counter.
//
//===----------------------------------------------------------------------===//

#include "Counter.h"
#include "Emulator/Block.h"

using namespace sparse_autograd::emulator;

void Block::countAccess(const Thread &thread, uintptr_t address, size_t bytes,
                        int32_t kind, const char *where, bool isPastL1) {
  CountedAccess access;
  access.bytes = static_cast<uint32_t>(bytes);
  access.kind = kind;
  access.where = where ? where : "";
  // Atomic loads and stores of the code are none of a GPU's.
  access.isPastL1 = isPastL1;
  auto stack = reinterpret_cast<uintptr_t>(thread.context.stack);
  if (isNearShared(address)) {
    access.space = SPARSE_AUTOGRAD_SPACE_SHARED;
    access.address = address - reinterpret_cast<uintptr_t>(shared);
  } else if (const Region *region = launch.memory->find(address, bytes)) {
    // Constants are in a cache of their own.
    if (region->isConstant)
      return;
    access.space = SPARSE_AUTOGRAD_SPACE_GLOBAL;
    access.address = region->countedAddress + (address - region->begin);
  } else if (address - stack < thread.context.stackBytes) {
    access.space = SPARSE_AUTOGRAD_SPACE_LOCAL;
  } else {
    // A parameter.
    return;
  }
  launch.counter->access(thread.index, access);
}

void sparseAutogradCountBasicBlock(
    const SparseAutogradEmulatedBasicBlock *basicBlock) {
  Block &block = Block::getCurrent();
  if (Counter *counter = block.getLaunch().counter)
    counter->enter(block.getThread().index, *basicBlock);
}
