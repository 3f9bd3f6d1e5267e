//===- BulkCopies.cpp - Copies that are done by no thread -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk and cp.async.bulk.tensor. A copy is checked when a thread asks
// for it, as an access of that thread, and done at some later time. What it
// writes to shared memory is pending until a thread has waited for the
// mbarrier; what it reads there must stay until the thread has waited for the
// group.
//
// They belong to the asynchronous proxy: what a thread wrote must be fenced
// before, by who wrote it or by who asks (PTX ISA, "Proxies"). A copy into
// shared memory needs none for its reader.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace sparse_autograd::emulator;

static const char bulkName[] = "cp.async.bulk";
static const char tensorName[] = "cp.async.bulk.tensor";
static constexpr size_t bulkAlignment = 16;
/// Of a tile in shared memory.
static constexpr size_t tileAlignment = 128;

//===----------------------------------------------------------------------===//
// The asynchronous proxy
//===----------------------------------------------------------------------===//

bool Block::isFenced(uint32_t writer, int64_t when, const Thread &reader,
                     bool isMbarrier) const {
  const Thread &other = threads[writer];
  return other.proxyFence > when || reader.proxyFence > when ||
         (isMbarrier && (other.initFence > when || reader.initFence > when));
}

void Block::checkFenced(const Thread &thread, size_t offset, size_t bytes,
                        const char *name, const char *where) {
  for (size_t i = offset / 4; i <= (offset + bytes - 1) / 4; ++i) {
    const GenericWrite &write = sharedWrites[i];
    if (!write.step || isFenced(write.thread, write.step, thread, false))
      continue;
    const Thread &writer = threads[write.thread];
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE, where,
         "has %s read %zu bytes at offset %zu of shared memory, where thread "
         "(%u, %u, %u) has written byte %zu, and no fence.proxy.async is "
         "between them",
         name, bytes, offset, writer.id[0], writer.id[1], writer.id[2], i * 4);
  }
}

void Block::countReaders(size_t offset, size_t bytes, int32_t change) {
  for (size_t i = offset / bulkAlignment;
       i <= (offset + bytes - 1) / bulkAlignment; ++i)
    sharedReaders[i] = static_cast<uint16_t>(sharedReaders[i] + change);
}

void Block::reportReader(const Thread &thread, size_t offset, size_t bytes,
                         int32_t kind, const char *where) {
  const char *reader = "";
  for (uint32_t i = 0; i < threadCount; ++i)
    for (const AsyncRead &read : threads[i].reads)
      if (offset < read.offset + read.bytes && read.offset < offset + bytes)
        reader = read.where ? read.where : reader;
  for (const WarpProducts &state : products)
    for (const AsyncRead &read : state.reads)
      if (offset < read.offset + read.bytes && read.offset < offset + bytes)
        reader = read.where ? read.where : reader;
  fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, where,
       "%s %zu bytes at offset %zu of shared memory, which an asynchronous "
       "operation reads that has not been waited for%s%s%s",
       kind == SPARSE_AUTOGRAD_STORE ? "writes" : "atomically updates", bytes,
       offset, *reader ? " [" : "", reader, *reader ? "]" : "");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void Block::Release::operator()(char *memory) const { std::free(memory); }

const void *Block::getParameter(const void *parameter, size_t bytes) {
  for (const Parameter &known : parameters)
    if (known.source == parameter)
      return known.copy.get();
  size_t rounded = (bytes + tensorMapAlignment - 1) / tensorMapAlignment *
                   tensorMapAlignment;
  auto *copy =
      static_cast<char *>(std::aligned_alloc(tensorMapAlignment, rounded));
  if (!copy)
    fail(getThread(), SPARSE_AUTOGRAD_EMULATOR_OUT_OF_MEMORY, nullptr,
         "has a parameter of %zu bytes, for which there is no memory", bytes);
  std::memcpy(copy, parameter, bytes);
  Parameter known;
  known.source = parameter;
  known.copy.reset(copy);
  known.bytes = bytes;
  parameters.push_back(std::move(known));
  return copy;
}

bool Block::isParameter(uintptr_t address, size_t bytes) const {
  for (const Parameter &parameter : parameters) {
    auto begin = reinterpret_cast<uintptr_t>(parameter.copy.get());
    if (address >= begin && bytes <= parameter.bytes &&
        address - begin <= parameter.bytes - bytes)
      return true;
  }
  return false;
}

void Block::accessBuffer(const Thread &thread, const void *address,
                         size_t bytes, int32_t kind, const char *where) {
  // No local memory: only the thread itself has an address of that.
  auto begin = reinterpret_cast<uintptr_t>(address);
  if (!launch.memory->find(begin, bytes))
    reportOutside(thread, begin, bytes, kind, where);
  accessGlobal(thread, begin, bytes, kind, where);
  count(thread, begin, bytes, kind, where, /*isPastL1=*/true);
}

void Block::readTile(const void *map, int32_t rank, const int32_t *coordinates,
                     Tile &tile, const char *where) {
  Thread &self = getThread();
  auto address = reinterpret_cast<uintptr_t>(map);
  checkAlignment(self, address, tensorMapAlignment, SPARSE_AUTOGRAD_LOAD,
                 where);
  if (!isParameter(address, tensorMapBytes))
    accessBuffer(self, map, tensorMapBytes, SPARSE_AUTOGRAD_LOAD, where);
  if (!decodeTensorMap(map, tile.tiles))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "executes %s with a tensor map that is none", tensorName);
  if (tile.tiles.rank != rank)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "executes %s with %d coordinates and the map of a tensor of rank %d",
         tensorName, rank, tile.tiles.rank);
  for (int i = 0; coordinates && i < rank; ++i)
    tile.coordinates[i] = coordinates[i];
  tile.prepare();
}

void Block::accessTile(const Thread &thread, const Tile &tile, int32_t kind,
                       const char *where) {
  for (uint32_t row = 0; row < tile.getRows(); ++row) {
    int32_t begin, end;
    char *address;
    tile.getRow(row, begin, end, address);
    if (begin < end)
      accessBuffer(thread, address,
                   static_cast<size_t>(end - begin) * tile.elementBytes, kind,
                   where);
  }
}

void Block::beginLoad(AsyncOperation &operation, const void *object,
                      size_t alignment) {
  Thread &self = getThread();
  Mbarrier &barrier =
      getMbarrier(self, object, operation.name, operation.where);
  if (!isFenced(barrier.initThread, barrier.initStep, self, true))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE, operation.where,
         "executes %s with the mbarrier at offset %u of shared memory, which "
         "was initialised%s%s%s, and neither fence.mbarrier_init nor "
         "fence.proxy.async is between them",
         operation.name, barrier.offset, barrier.where ? " [" : "",
         barrier.where ? barrier.where : "", barrier.where ? "]" : "");
  auto to = reinterpret_cast<uintptr_t>(operation.shared);
  checkAlignment(self, to, alignment, SPARSE_AUTOGRAD_STORE, operation.where);
  accessShared(self, to, operation.bytes, SPARSE_AUTOGRAD_STORE,
               operation.where);
  size_t offset = static_cast<size_t>(operation.shared - shared);
  std::memset(&sharedStates[offset], Pending | OfBulkCopy, operation.bytes);
  std::fill_n(&sharedWrites[offset / 4], operation.bytes / 4, GenericWrite());
  hasBulkLoads = true;
  operation.barrier = barrier.offset;
  operation.thread = self.index;
  operations.push_back(operation);
}

void Block::beginStore(AsyncOperation &operation, size_t alignment) {
  Thread &self = getThread();
  auto from = reinterpret_cast<uintptr_t>(operation.shared);
  checkAlignment(self, from, alignment, SPARSE_AUTOGRAD_LOAD, operation.where);
  accessShared(self, from, operation.bytes, SPARSE_AUTOGRAD_LOAD,
               operation.where);
  size_t offset = static_cast<size_t>(operation.shared - shared);
  checkFenced(self, offset, operation.bytes, operation.name, operation.where);
  countReaders(offset, operation.bytes, 1);
  AsyncRead read;
  read.offset = offset;
  read.bytes = operation.bytes;
  read.group = self.bulkGroup;
  read.where = operation.where;
  self.reads.push_back(read);
  operation.group = self.bulkGroup;
  operation.thread = self.index;
  operations.push_back(operation);
  stores.push_back(operation);
}

void Block::checkStores(const Thread &thread, uintptr_t address, size_t bytes,
                        int32_t kind, const char *where) {
  auto overlaps = [&](const char *begin, size_t length) {
    auto other = reinterpret_cast<uintptr_t>(begin);
    return address < other + length && other < address + bytes;
  };
  for (const AsyncOperation &store : stores) {
    bool isPending = false;
    if (!store.tile.tiles.rank)
      isPending = overlaps(store.global, store.bytes);
    for (uint32_t row = 0; store.tile.tiles.rank && row < store.tile.getRows();
         ++row) {
      int32_t begin, end;
      char *place = nullptr;
      store.tile.getRow(row, begin, end, place);
      isPending |=
          begin < end && overlaps(place, static_cast<size_t>(end - begin) *
                                             store.tile.elementBytes);
    }
    if (isPending)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, where,
           "%s %zu bytes of global memory, which a %s writes that has not been "
           "waited for%s%s%s",
           kind == SPARSE_AUTOGRAD_LOAD ? "reads" : "writes", bytes, store.name,
           store.where ? " [" : "", store.where ? store.where : "",
           store.where ? "]" : "");
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void Block::copyBulk(void *to, const void *from, int32_t bytes,
                     const void *object, const char *where) {
  step(where);
  Thread &self = getThread();
  bool isLoad = object != nullptr;
  if (bytes <= 0 || bytes % int32_t(bulkAlignment))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "copies %d bytes with %s: multiples of 16 are possible", bytes,
         bulkName);
  AsyncOperation operation;
  operation.kind =
      isLoad ? AsyncOperation::Kind::Load : AsyncOperation::Kind::Store;
  operation.name = bulkName;
  operation.where = where;
  operation.bytes = static_cast<uint32_t>(bytes);
  operation.shared =
      static_cast<char *>(isLoad ? to : const_cast<void *>(from));
  operation.global =
      static_cast<char *>(isLoad ? const_cast<void *>(from) : to);
  int32_t kind = isLoad ? SPARSE_AUTOGRAD_LOAD : SPARSE_AUTOGRAD_STORE;
  checkAlignment(self, reinterpret_cast<uintptr_t>(operation.global),
                 bulkAlignment, kind, where);
  accessBuffer(self, operation.global, operation.bytes, kind, where);
  if (isLoad)
    beginLoad(operation, object, bulkAlignment);
  else
    beginStore(operation, bulkAlignment);
}

void Block::copyTile(void *place, const void *map, int32_t rank,
                     const int32_t *coordinates, const void *object,
                     const char *where) {
  step(where);
  bool isLoad = object != nullptr;
  AsyncOperation operation;
  operation.kind =
      isLoad ? AsyncOperation::Kind::Load : AsyncOperation::Kind::Store;
  operation.name = tensorName;
  operation.where = where;
  operation.shared = static_cast<char *>(place);
  readTile(map, rank, coordinates, operation.tile, where);
  uint64_t bytes = operation.tile.getBytes();
  checkShared(getThread(), reinterpret_cast<uintptr_t>(place), bytes,
              isLoad ? SPARSE_AUTOGRAD_STORE : SPARSE_AUTOGRAD_LOAD, where);
  operation.bytes = static_cast<uint32_t>(bytes);
  accessTile(getThread(), operation.tile,
             isLoad ? SPARSE_AUTOGRAD_LOAD : SPARSE_AUTOGRAD_STORE, where);
  if (isLoad)
    beginLoad(operation, object, tileAlignment);
  else
    beginStore(operation, tileAlignment);
}

void Block::prefetchTile(const void *map, int32_t rank, const char *where) {
  step(where);
  Tile tile;
  readTile(map, rank, nullptr, tile, where);
}

void Block::moveTile(const Tile &tile, char *place, bool isLoad) {
  auto base = static_cast<uint32_t>(place - shared);
  for (uint32_t row = 0; row < tile.getRows(); ++row) {
    int32_t begin, end;
    char *address = nullptr;
    tile.getRow(row, begin, end, address);
    for (int32_t i = 0; i < tile.extents[0]; ++i) {
      uint32_t offset = base + row * tile.rowBytes +
                        static_cast<uint32_t>(i) * tile.elementBytes;
      char *element = shared + swizzle(offset, tile.span);
      bool isInside = i >= begin && i < end;
      char *global =
          isInside ? address + int64_t(i - begin) * tile.elementBytes : nullptr;
      if (isInside && isLoad)
        std::memcpy(element, global, tile.elementBytes);
      else if (isInside)
        std::memcpy(global, element, tile.elementBytes);
      else if (isLoad)
        std::memset(element, 0, tile.elementBytes);
    }
  }
}

void Block::move(const AsyncOperation &operation) {
  bool isLoad = operation.kind == AsyncOperation::Kind::Load;
  if (operation.tile.tiles.rank)
    moveTile(operation.tile, operation.shared, isLoad);
  else if (isLoad)
    std::memcpy(operation.shared, operation.global, operation.bytes);
  else
    std::memcpy(operation.global, operation.shared, operation.bytes);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Block::waitForStores(int32_t groups, bool isRead, const char *where) {
  step(where);
  Thread &self = getThread();
  if (groups < 0)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "waits for all but %d groups of %s", groups, bulkName);
  auto kept = static_cast<uint32_t>(groups);
  if (self.bulkGroup <= kept)
    return;
  uint32_t endGroup = self.bulkGroup - kept;
  // What is waited for is done now, if it was not before.
  for (size_t i = 0; i < operations.size();) {
    const AsyncOperation &operation = operations[i];
    if (operation.kind != AsyncOperation::Kind::Store ||
        operation.thread != self.index || operation.group >= endGroup) {
      ++i;
      continue;
    }
    move(operation);
    operations.erase(operations.begin() + static_cast<ptrdiff_t>(i));
  }
  size_t count = 0;
  for (const AsyncRead &read : self.reads) {
    if (read.group >= endGroup) {
      self.reads[count++] = read;
      continue;
    }
    countReaders(read.offset, read.bytes, -1);
    // Whoever writes there must be ordered after the wait.
    accessShared(self, reinterpret_cast<uintptr_t>(shared + read.offset),
                 read.bytes, SPARSE_AUTOGRAD_LOAD, read.where);
  }
  self.reads.resize(count);
  if (isRead)
    return;
  // The writes are ones of now.
  for (size_t i = 0; i < stores.size();) {
    if (stores[i].thread != self.index || stores[i].group >= endGroup) {
      ++i;
      continue;
    }
    AsyncOperation done = stores[i];
    stores.erase(stores.begin() + static_cast<ptrdiff_t>(i));
    if (done.tile.tiles.rank)
      accessTile(self, done.tile, SPARSE_AUTOGRAD_STORE, done.where);
    else
      accessBuffer(self, done.global, done.bytes, SPARSE_AUTOGRAD_STORE,
                   done.where);
  }
}

void Block::checkEndOfThread(const Thread &thread) {
  if (!thread.reads.empty()) {
    const AsyncRead &read = thread.reads.front();
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, read.where,
         "ends, but %zu bytes at offset %zu of shared memory are read by an "
         "asynchronous operation that it has not waited for",
         read.bytes, read.offset);
  }
  if (liveCount > 1 || !hasBulkLoads)
    return;
  // The last thread of the block: shared memory ends with it.
  for (size_t i = 0; i < sharedStates.size(); ++i)
    if (sharedStates[i] & Pending && sharedStates[i] & OfBulkCopy)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, nullptr,
           "ends as the last one of the block, but nobody has waited for what "
           "%s writes to offset %zu of shared memory",
           bulkName, i);
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

const void *sparseAutogradEmulateParameter(const void *parameter,
                                           int64_t bytes) {
  return Block::getCurrent().getParameter(parameter,
                                          static_cast<size_t>(bytes));
}

void sparseAutogradEmulateBulkLoad(void *shared, const void *global,
                                   int32_t bytes, void *barrier,
                                   const char *where) {
  Block::getCurrent().copyBulk(shared, global, bytes, barrier, where);
}

void sparseAutogradEmulateBulkStore(void *global, const void *shared,
                                    int32_t bytes, const char *where) {
  Block::getCurrent().copyBulk(global, shared, bytes, nullptr, where);
}

void sparseAutogradEmulateTensorLoad(void *shared, const void *map,
                                     int32_t rank, const int32_t *coordinates,
                                     void *barrier, const char *where) {
  Block::getCurrent().copyTile(shared, map, rank, coordinates, barrier, where);
}

void sparseAutogradEmulateTensorStore(const void *map, int32_t rank,
                                      const int32_t *coordinates,
                                      const void *shared, const char *where) {
  Block::getCurrent().copyTile(const_cast<void *>(shared), map, rank,
                               coordinates, nullptr, where);
}

void sparseAutogradEmulateTensorPrefetch(const void *map, int32_t rank,
                                         const char *where) {
  Block::getCurrent().prefetchTile(map, rank, where);
}

void sparseAutogradEmulateBulkCommit(void) {
  ++Block::getCurrent().getThread().bulkGroup;
}

void sparseAutogradEmulateBulkWait(int32_t groups, int32_t isRead,
                                   const char *where) {
  Block::getCurrent().waitForStores(groups, isRead != 0, where);
}
