//===- WarpgroupGroups.cpp - Who waits for products of wgmma ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warps of a warpgroup wait for each other in wgmma.wait_group alone, and
// must execute the same.
//
// A product is computed when it is asked for. That it is not known to be done
// before it has been waited for is checked: what it reads of shared memory must
// stay, and who uses its registers says so (useProduct). A thread of any of the
// warps that has waited may tell others that the memory is free.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>

using namespace sparse_autograd::emulator;

static const char fenceName[] = "wgmma.fence";
static const char commitName[] = "wgmma.commit_group";
static const char waitName[] = "wgmma.wait_group";
static const char productName[] = "wgmma.mma_async";

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Block::startProduct(const Thread &thread,
                         const SparseAutogradEmulatedWarpgroupProduct &product,
                         const char *name, const char *where) {
  uint32_t warp = thread.getWarp();
  WarpProducts &state = products[warp];
  bool isChained = product.previous != 0;
  if (isChained) {
    auto previous = static_cast<uint32_t>(product.previous);
    const WarpgroupCall &call = groups[warp / warpsOfGroup].calls[previous - 1];
    bool isSameShape = call.type == product.type && call.n == product.n;
    if (!isSameShape && previous > state.completed)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT, where,
           "executes %s on the result of one of another shape or type%s%s%s, "
           "which has not been waited for",
           name, call.where ? " [" : "", call.where ? call.where : "",
           call.where ? "]" : "");
    isChained = isSameShape;
  }
  if (!state.isFenced && (!isChained || product.registersA))
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE, where,
         "executes %s on registers, without a %s after what wrote them", name,
         fenceName);
  // All four warps, one after the other, come by the same.
  WarpgroupCall own;
  own.where = where;
  own.type = product.type;
  own.n = product.n;
  own.descriptorA = product.registersA ? 0 : product.descriptorA;
  own.descriptorB = product.descriptorB;
  auto &calls = groups[warp / warpsOfGroup].calls;
  if (state.issued == calls.size()) {
    calls.push_back(own);
  } else {
    const WarpgroupCall &other = calls[state.issued];
    if (other.where != where)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, where,
           "executes %s, which all warps of a warpgroup must do at the same "
           "place, but another one has [%s]",
           name, other.where ? other.where : "");
    if (other.descriptorA != own.descriptorA ||
        other.descriptorB != own.descriptorB)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, where,
           "executes %s with descriptors that differ from those of another "
           "warp of the warpgroup",
           name);
  }
  ++state.issued;
}

void Block::wakeWarpgroup(uint32_t group) {
  uint32_t common = getCommonProducts(group);
  uint32_t first = group * warpsOfGroup * warpSize;
  for (uint32_t i = first; i < first + warpsOfGroup * warpSize; ++i)
    if (threads[i].state == Thread::State::InWarpgroup &&
        threads[i].phase <= common)
      makeReady(threads[i]);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Block::fenceProducts(const char *where) {
  WarpCall call(fenceName, where, nullptr);
  collect(call, [](Block &block, WarpCalls &) {
    block.products[block.getThread().getWarp()].isFenced = true;
  });
}

void Block::commitProducts(const char *where) {
  WarpCall call(commitName, where, nullptr);
  collect(call, [](Block &block, WarpCalls &) {
    WarpProducts &state = block.products[block.getThread().getWarp()];
    state.groupEnds.push_back(state.issued);
  });
}

void Block::waitForProducts(int32_t groupCount, const char *where) {
  if (groupCount < 0)
    fail(getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "waits for all but %d groups of %s", groupCount, productName);
  // A group is one of the warpgroup: no warp has it before all of them do.
  Thread &self = getThread();
  uint32_t group = self.getWarp() / warpsOfGroup;
  auto kept = static_cast<uint32_t>(groupCount);
  const std::vector<uint32_t> &ends = products[self.getWarp()].groupEnds;
  uint32_t target = ends.size() > kept ? ends[ends.size() - kept - 1] : 0;
  self.phase = target;
  step(where);
  while (target && getCommonProducts(group) < target)
    wait(Thread::State::InWarpgroup, waitName, where);
  WarpCall call(waitName, where, nullptr);
  call.uniform = target;
  collect(call, [](Block &block, WarpCalls &calls) {
    const Thread &thread = block.getThread();
    uint32_t warp = thread.getWarp();
    uint32_t group = warp / warpsOfGroup;
    uint32_t completed = 0;
    for (const WarpCall *call : calls)
      completed = call ? call->uniform : completed;
    WarpProducts &state = block.products[warp];
    if (completed <= state.completed)
      return;
    state.completed = completed;
    state.isFenced = false;
    block.completeProducts(group, completed);
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      if (calls[lane])
        block.clocks.learn(warp * warpSize + lane,
                           block.threadCount + mbarrierAgents + group,
                           block.groups[group].calls[completed - 1].clock);
  });
}

uint32_t Block::getCommonProducts(uint32_t group) const {
  uint32_t common = UINT32_MAX;
  for (uint32_t i = 0; i < warpsOfGroup; ++i)
    common = std::min(common, products[group * warpsOfGroup + i].issued);
  return common;
}

void Block::completeProducts(uint32_t group, uint32_t number) {
  uint32_t agent = threadCount + mbarrierAgents + group;
  std::vector<WarpgroupCall> &calls = groups[group].calls;
  if (calls[number - 1].isComplete)
    return;
  for (uint32_t i = 0; i < warpsOfGroup; ++i) {
    std::vector<AsyncRead> &reads = products[group * warpsOfGroup + i].reads;
    size_t count = 0;
    for (const AsyncRead &read : reads) {
      if (read.group > number) {
        reads[count++] = read;
        continue;
      }
      countReaders(read.offset, read.bytes, -1);
      // Whoever writes there must know of a wait.
      if (launch.options->detectRaces)
        sharedShadow.addRead(
            makeAccess(agent, SPARSE_AUTOGRAD_LOAD, read.where), read.offset,
            read.bytes);
    }
    reads.resize(count);
  }
  uint32_t clock = clocks.advance(agent);
  for (uint32_t i = number; i > 0 && !calls[i - 1].isComplete; --i) {
    calls[i - 1].isComplete = true;
    calls[i - 1].clock = clock;
  }
}

void Block::useProduct(uint32_t product, const char *where) {
  if (!product)
    return;
  step(where);
  Thread &self = getThread();
  const WarpProducts &state = products[self.getWarp()];
  if (product <= state.completed)
    return;
  const char *place =
      groups[self.getWarp() / warpsOfGroup].calls[product - 1].where;
  fail(self, SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT, where,
       "uses a result of %s%s%s%s, which has not been waited for", productName,
       place ? " [" : "", place ? place : "", place ? "]" : "");
}

void Block::checkProductsAtEnd(const Thread &thread) {
  const WarpProducts &state = products[thread.getWarp()];
  if (state.completed < state.issued)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT,
         groups[thread.getWarp() / warpsOfGroup].calls[state.issued - 1].where,
         "ends, but has not waited for its last %s", productName);
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateWarpgroupFence(const char *where) {
  Block::getCurrent().fenceProducts(where);
}

void sparseAutogradEmulateWarpgroupCommit(const char *where) {
  Block::getCurrent().commitProducts(where);
}

void sparseAutogradEmulateWarpgroupWait(int32_t groups, const char *where) {
  Block::getCurrent().waitForProducts(groups, where);
}

void sparseAutogradEmulateUseProduct(uint32_t product, const char *where) {
  Block::getCurrent().useProduct(product, where);
}
