//===- Accesses.cpp - Accesses of memory ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd::emulator;

const char *sparse_autograd::emulator::getVerb(int32_t kind) {
  switch (kind) {
  case SPARSE_AUTOGRAD_LOAD:
    return "reads";
  case SPARSE_AUTOGRAD_STORE:
    return "writes";
  case SPARSE_AUTOGRAD_ATOMIC_STORE:
    return "atomically writes";
  default:
    return "atomically updates";
  }
}

static const char *getPastVerb(int32_t kind) {
  switch (kind) {
  case SPARSE_AUTOGRAD_LOAD:
    return "read";
  case SPARSE_AUTOGRAD_STORE:
    return "wrote";
  default:
    return "atomically updated";
  }
}

Access Block::makeAccess(uint32_t agent, int32_t kind,
                         const char *where) const {
  Access access;
  access.epoch = clocks.getEpoch();
  access.block = number;
  access.clock = clocks.getClock(agent);
  access.thread = static_cast<uint16_t>(agent);
  // Two atomic operations do not race, whatever they do.
  access.kind = static_cast<uint16_t>(
      kind == SPARSE_AUTOGRAD_ATOMIC_STORE ? SPARSE_AUTOGRAD_ATOMIC : kind);
  access.where = where;
  return access;
}

void Block::orderShared(const Thread &thread, size_t offset, size_t bytes,
                        int32_t kind, const char *where, bool isKept) {
  if (!launch.options->detectRaces)
    return;
  if (const Access *earlier =
          sharedShadow.record(makeAccess(thread.index, kind, where), offset,
                              bytes, firstEpoch, clocks, isKept))
    reportRace(thread, *earlier, offset, bytes, kind, where, "shared memory");
}

void Block::reportRace(const Thread &thread, const Access &earlier,
                       size_t offset, size_t bytes, int32_t kind,
                       const char *where, const char *place) {
  // The work of an agent has the place where a thread asked for it.
  bool isOfThread = earlier.thread < threadCount;
  const Thread &other = threads[isOfThread ? earlier.thread : 0];
  uint32_t otherBlock[3];
  getBlockId(earlier.block, otherBlock);
  bool isOtherBlock = earlier.block != number;
  if (!isOfThread)
    fail(
        thread, SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, where,
        "%s %zu bytes at offset %zu of %s, which %s%s%s%s, and this thread has "
        "not waited for %s",
        getVerb(kind), bytes, offset, place,
        earlier.kind == SPARSE_AUTOGRAD_STORE ? "an asynchronous copy wrote"
                                              : "a wgmma read",
        earlier.where ? " [" : "", earlier.where ? earlier.where : "",
        earlier.where ? "]" : "",
        earlier.kind == SPARSE_AUTOGRAD_STORE ? "its mbarrier" : "that");
  const char *reason =
      isOtherBlock ? "blocks are not ordered" : "no barrier is between them";
  char of[64] = "";
  if (isOtherBlock)
    std::snprintf(of, sizeof(of), " of block (%u, %u, %u)", otherBlock[0],
                  otherBlock[1], otherBlock[2]);
  fail(
      thread, SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, where,
      "%s %zu bytes at offset %zu of %s, which thread (%u, %u, %u)%s %s%s%s%s, "
      "and %s",
      getVerb(kind), bytes, offset, place, other.id[0], other.id[1],
      other.id[2], of, getPastVerb(earlier.kind), earlier.where ? " [" : "",
      earlier.where ? earlier.where : "", earlier.where ? "]" : "", reason);
}

void Block::checkAlignment(const Thread &thread, uintptr_t address,
                           size_t alignment, int32_t kind, const char *where) {
  if (alignment > 1 && address % alignment != 0)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, where,
         "%s address 0x%zx, which is not aligned to %zu bytes", getVerb(kind),
         static_cast<size_t>(address), alignment);
}

size_t Block::checkShared(const Thread &thread, uintptr_t address, size_t bytes,
                          int32_t kind, const char *where) {
  uintptr_t begin = reinterpret_cast<uintptr_t>(shared);
  size_t offset = address - begin;
  if (address < begin || offset > launch.sharedBytes ||
      bytes > launch.sharedBytes - offset)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
         "%s %zu bytes at offset %lld of shared memory, of which the block has "
         "%zu bytes",
         getVerb(kind), bytes, static_cast<long long>(address - begin),
         launch.sharedBytes);
  return offset;
}

void Block::noteWrite(uint32_t thread, size_t offset, size_t bytes) {
  std::fill(&sharedWrites[offset / 4],
            &sharedWrites[(offset + bytes - 1) / 4] + 1,
            GenericWrite{steps, thread});
}

void Block::accessShared(const Thread &thread, uintptr_t address, size_t bytes,
                         int32_t kind, const char *where, bool isKept) {
  size_t offset = checkShared(thread, address, bytes, kind, where);
  uint8_t *states = &sharedStates[offset];
  for (size_t i = 0; i < bytes; ++i) {
    if (states[i] & Pending)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, where,
           "%s %zu bytes at offset %zu of shared memory, which a %s writes "
           "that has not been waited for",
           getVerb(kind), bytes, offset,
           states[i] & OfBulkCopy ? "cp.async.bulk" : "cp.async");
    if (states[i] & OfMbarrier)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
           "%s %zu bytes at offset %zu of shared memory, where an mbarrier is",
           getVerb(kind), bytes, offset);
    if (isWrite(kind))
      states[i] |= Written;
    else if (!(states[i] & Written))
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, where,
           "%s %zu bytes at offset %zu of shared memory, of which no thread "
           "has written byte %zu",
           getVerb(kind), bytes, offset, offset + i);
  }
  if (kind != SPARSE_AUTOGRAD_LOAD) {
    for (size_t i = offset / 16; i <= (offset + bytes - 1) / 16; ++i)
      if (sharedReaders[i])
        reportReader(thread, offset, bytes, kind, where);
    noteWrite(thread.index, offset, bytes);
  }
  orderShared(thread, offset, bytes, kind, where, isKept);
}

void Block::reportOutside(const Thread &thread, uintptr_t address, size_t bytes,
                          int32_t kind, const char *where) {
  char place[160] = "in no buffer";
  for (uint32_t i = 0; i < threadCount; ++i)
    if (address - reinterpret_cast<uintptr_t>(threads[i].context.stack) <
        threads[i].context.stackBytes) {
      char owner[64];
      std::snprintf(owner, sizeof(owner), "thread (%u, %u, %u)",
                    threads[i].id[0], threads[i].id[1], threads[i].id[2]);
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
           "%s %zu bytes at address 0x%zx, in the local memory of %s",
           getVerb(kind), bytes, static_cast<size_t>(address), owner);
    }
  // Which buffer was meant: one in which it begins, or the nearest one.
  const Region *before = launch.memory->findBefore(address);
  const Region *after = launch.memory->findAfter(address);
  if (before && after && address >= before->getEnd() &&
      after->begin - address < address - before->getEnd())
    before = nullptr;
  constexpr uintptr_t near = uintptr_t(1) << 20;
  auto describe = [&](const Region &region, const char *relation,
                      uintptr_t distance) {
    std::snprintf(place, sizeof(place), "%zu bytes %s a %s%s%s%s of %zu bytes",
                  static_cast<size_t>(distance), relation,
                  region.name ? "variable" : "buffer", region.name ? " '" : "",
                  region.name ? region.name : "", region.name ? "'" : "",
                  region.bytes);
  };
  if (before && address < before->getEnd())
    describe(*before, "from the begin of", address - before->begin);
  else if (before && address - before->getEnd() < near)
    describe(*before, "behind the end of", address - before->getEnd());
  else if (after && after->begin - address < near)
    describe(*after, "before the begin of", after->begin - address);
  fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
       "%s %zu bytes at address 0x%zx, %s", getVerb(kind), bytes,
       static_cast<size_t>(address), place);
}

void Block::accessGlobal(const Thread &thread, uintptr_t address, size_t bytes,
                         int32_t kind, const char *where) {
  Region *region = launch.memory->find(address, bytes);
  if (!region) {
    uintptr_t stack = reinterpret_cast<uintptr_t>(thread.context.stack);
    if (isParameter(address, bytes) && kind == SPARSE_AUTOGRAD_LOAD)
      return;
    if (address - stack >= thread.context.stackBytes)
      reportOutside(thread, address, bytes, kind, where);
    return accessLocal(thread, /*variable=*/0, address, bytes, kind, where);
  }
  if (region->isConstant) {
    if (kind != SPARSE_AUTOGRAD_LOAD)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, where,
           "%s %zu bytes of the constant '%s'", getVerb(kind), bytes,
           region->name);
    return;
  }
  if (!stores.empty())
    checkStores(thread, address, bytes, kind, where);
  size_t offset = address - region->begin;
  if (isWrite(kind))
    region->written.mark(offset, bytes);
  else if (size_t first = region->written.findUnwritten(offset, bytes);
           first != offset + bytes)
    fail(
        thread, SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, where,
        "%s %zu bytes at offset %zu of a buffer of %zu bytes, of which nothing "
        "has written byte %zu",
        getVerb(kind), bytes, offset, region->bytes, first);
  if (!launch.options->detectRaces)
    return;
  const Access *earlier =
      region->shadow.record(makeAccess(thread.index, kind, where), offset,
                            bytes, launch.firstEpoch, clocks);
  if (!earlier)
    return;
  char place[128];
  std::snprintf(place, sizeof(place), "a %s%s%s%s of %zu bytes",
                region->name ? "variable" : "buffer", region->name ? " '" : "",
                region->name ? region->name : "", region->name ? "'" : "",
                region->bytes);
  reportRace(thread, *earlier, offset, bytes, kind, where, place);
}

void Block::access(uintptr_t address, size_t bytes, size_t alignment,
                   int32_t kind, const char *where) {
  step(where);
  if (!bytes)
    return;
  Thread &self = getThread();
  checkAlignment(self, address, alignment, kind, where);
  if (isNearShared(address))
    accessShared(self, address, bytes, kind, where);
  else
    accessGlobal(self, address, bytes, kind, where);
  count(self, address, bytes, kind, where);
}

int32_t Block::getSpace(uintptr_t address) const {
  if (isNearShared(address))
    return SPARSE_AUTOGRAD_SPACE_SHARED;
  const Thread &self = threads[running];
  if (address - reinterpret_cast<uintptr_t>(self.context.stack) <
      self.context.stackBytes)
    return SPARSE_AUTOGRAD_SPACE_LOCAL;
  const Region *region = launch.memory->find(address, 1);
  if (!region)
    return SPARSE_AUTOGRAD_SPACE_NONE;
  return region->isConstant ? SPARSE_AUTOGRAD_SPACE_CONSTANT
                            : SPARSE_AUTOGRAD_SPACE_GLOBAL;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Block::beginCopy(const PendingCopy &copy) {
  Thread &self = getThread();
  uintptr_t to = reinterpret_cast<uintptr_t>(copy.shared);
  uintptr_t from = reinterpret_cast<uintptr_t>(copy.global);
  step(copy.where);
  checkAlignment(self, to, copy.bytes, SPARSE_AUTOGRAD_STORE, copy.where);
  checkAlignment(self, from, copy.bytes, SPARSE_AUTOGRAD_LOAD, copy.where);
  if (copy.sourceBytes)
    accessGlobal(self, from, copy.sourceBytes, SPARSE_AUTOGRAD_LOAD,
                 copy.where);
  accessShared(self, to, copy.bytes, SPARSE_AUTOGRAD_STORE, copy.where);
  // Those of 16 bytes go by L2 alone (.cg).
  if (copy.sourceBytes)
    count(self, from, copy.sourceBytes, SPARSE_AUTOGRAD_LOAD, copy.where,
          /*isPastL1=*/copy.bytes == 16);
  std::memset(&sharedStates[copy.shared - shared], Pending, copy.bytes);
  self.copies.push_back(copy);
  self.copies.back().group = self.copyGroup;
  self.copies.back().number = self.copyCount++;
}

void Block::perform(const PendingCopy &copy) {
  std::memset(&sharedStates[copy.shared - shared], Written, copy.bytes);
  if (copy.sourceBytes)
    std::memcpy(copy.shared, copy.global, copy.sourceBytes);
  std::memset(copy.shared + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
}

void Block::finishCopies(Thread &thread, uint32_t endGroup) {
  size_t kept = 0;
  for (const PendingCopy &copy : thread.copies) {
    if (copy.group >= endGroup) {
      thread.copies[kept++] = copy;
      continue;
    }
    perform(copy);
    // The write is one of now: whoever reads must be ordered after the wait.
    accessShared(thread, reinterpret_cast<uintptr_t>(copy.shared), copy.bytes,
                 SPARSE_AUTOGRAD_STORE, copy.where);
  }
  thread.copies.resize(kept);
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateAccess(const void *address, int64_t bytes,
                                 int64_t alignment, int32_t kind,
                                 const char *where) {
  Block::getCurrent().access(reinterpret_cast<uintptr_t>(address),
                             static_cast<size_t>(bytes),
                             static_cast<size_t>(alignment), kind, where);
}

void *sparseAutogradEmulateSharedMemory(void) {
  return Block::getCurrent().getShared();
}

int32_t sparseAutogradEmulateSpace(const void *address) {
  return Block::getCurrent().getSpace(reinterpret_cast<uintptr_t>(address));
}

void sparseAutogradEmulateStep(const char *where) {
  Block::getCurrent().passTime(where);
}

void sparseAutogradEmulateCopyAsync(void *shared, const void *global,
                                    int32_t bytes, int32_t sourceBytes,
                                    const char *where) {
  Block &block = Block::getCurrent();
  if ((bytes != 4 && bytes != 8 && bytes != 16) || sourceBytes < 0 ||
      sourceBytes > bytes)
    block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               where, "copies %d of %d bytes with cp.async", sourceBytes,
               bytes);
  PendingCopy copy = {};
  copy.shared = static_cast<char *>(shared);
  copy.global = static_cast<const char *>(global);
  copy.bytes = static_cast<uint32_t>(bytes);
  copy.sourceBytes = static_cast<uint32_t>(sourceBytes);
  copy.where = where;
  block.beginCopy(copy);
}

void sparseAutogradEmulateCommitGroup(void) {
  ++Block::getCurrent().getThread().copyGroup;
}

void sparseAutogradEmulateWaitGroup(int32_t groups, const char *where) {
  Block &block = Block::getCurrent();
  block.step(where);
  Thread &self = block.getThread();
  if (groups < 0)
    block.fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
               "waits for all but %d groups of cp.async", groups);
  uint32_t kept = static_cast<uint32_t>(groups);
  if (self.copyGroup > kept)
    block.finishCopies(self, self.copyGroup - kept);
}

void sparseAutogradEmulateWaitAll(const char *where) {
  Block &block = Block::getCurrent();
  block.step(where);
  block.finishCopies(block.getThread(), UINT32_MAX);
}
