//===- Report.cpp - What went wrong, as text --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <cinttypes>
#include <cstdio>

using namespace sparse_autograd::emulator;

/// The status that an entry returns for a fault.
static int32_t getStatus(int32_t fault) {
  switch (fault) {
  case SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH:
  case SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT:
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  case SPARSE_AUTOGRAD_EMULATOR_OUT_OF_MEMORY:
    return SPARSE_AUTOGRAD_OUT_OF_MEMORY;
  case SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS:
    return SPARSE_AUTOGRAD_OUT_OF_RANGE;
  default:
    return SPARSE_AUTOGRAD_RUNTIME_ERROR;
  }
}

namespace {
/// Text in a buffer; what does not fit is cut off.
class Text {
public:
  Text(char *buffer, size_t size) : buffer(buffer), size(size) {
    buffer[0] = '\0';
  }
  __attribute__((format(printf, 2, 3))) void append(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    appendArguments(format, arguments);
    va_end(arguments);
  }
  void appendArguments(const char *format, va_list arguments) {
    int count =
        std::vsnprintf(buffer + length, size - length, format, arguments);
    if (count < 0)
      return;
    length += static_cast<size_t>(count);
    if (length >= size)
      length = size - 1;
  }

private:
  char *buffer;
  size_t size;
  size_t length = 0;
};
} // namespace

void sparse_autograd::emulator::writeReport(
    SparseAutogradEmulatorReport &report, int32_t fault, uint64_t seed,
    const char *kernel, const char *format, va_list arguments) {
  report.fault = fault;
  report.status = getStatus(fault);
  report.seed = seed;
  for (int i = 0; i < 3; ++i)
    report.block[i] = report.thread[i] = -1;
  Text text(report.message, sizeof(report.message));
  if (kernel)
    text.append("kernel '%s': ", kernel);
  text.appendArguments(format, arguments);
}

void Block::describeThread(const Thread &thread, char *buffer,
                           size_t size) const {
  Text text(buffer, size);
  text.append("thread (%u, %u, %u) ", thread.id[0], thread.id[1], thread.id[2]);
  switch (thread.state) {
  case Thread::State::Ended:
    text.append("has ended");
    return;
  case Thread::State::Ready:
    text.append("is ready to run");
    return;
  case Thread::State::AtBarrier:
    text.append("waits in %s of barrier %d", thread.operation, thread.barrier);
    break;
  case Thread::State::AtMbarrier:
    text.append("waits in %s for phase %llu of the mbarrier at offset %d of "
                "shared memory",
                thread.operation, static_cast<unsigned long long>(thread.phase),
                thread.barrier);
    break;
  case Thread::State::InWarpgroup:
    text.append("waits in %s for the other warps of its warpgroup",
                thread.operation);
    break;
  case Thread::State::InWarp:
    text.append("waits in %s with mask 0x%08x", thread.operation,
                thread.call->mask);
    break;
  case Thread::State::InActiveMask:
    text.append("waits in %s", thread.operation);
    break;
  }
  if (thread.where)
    text.append(" [%s]", thread.where);
}

void Block::setReport(const Thread &thread, int32_t fault, const char *where,
                      const char *format, va_list arguments) {
  SparseAutogradEmulatorReport &report = *launch.report;
  report.fault = fault;
  report.status = getStatus(fault);
  report.seed = launch.options->seed;
  for (int i = 0; i < 3; ++i) {
    report.block[i] = id[i];
    report.thread[i] = thread.id[i];
  }
  Text text(report.message, sizeof(report.message));
  text.append("kernel '%s', block (%u, %u, %u), thread (%u, %u, %u) ",
              launch.kernel->name, id[0], id[1], id[2], thread.id[0],
              thread.id[1], thread.id[2]);
  text.appendArguments(format, arguments);
  if (where)
    text.append(", at [%s]", where);
  text.append(" (seed %" PRIu64 ")", launch.options->seed);
  hasFault = true;
}

void Block::fail(const Thread &thread, int32_t fault, const char *where,
                 const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  setReport(thread, fault, where, format, arguments);
  va_end(arguments);
  leave(getThread().context, scheduler);
}

void Block::reportWaiting(const Thread &thread, int32_t fault,
                          const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  setReport(thread, fault, thread.where, format, arguments);
  va_end(arguments);
}

/// A thread that has not come to where `waiting` waits; one that waits
/// elsewhere says more than one that has ended.
const Thread *Block::findMissing(const Thread &waiting) const {
  const Thread *missing = nullptr;
  for (uint32_t i = 0; i < threadCount; ++i) {
    const Thread &other = threads[i];
    bool isThere = false;
    if (waiting.state == Thread::State::AtBarrier)
      isThere = other.arrivedAt >> waiting.barrier & 1;
    else
      isThere = other.getWarp() != waiting.getWarp() ||
                !(waiting.call->mask >> other.getLane() & 1) ||
                other.state == Thread::State::Ended || &other == &waiting ||
                (other.call && other.call->operation == waiting.operation &&
                 other.call->mask == waiting.call->mask);
    if (isThere)
      continue;
    if (!missing || (missing->state == Thread::State::Ended &&
                     other.state != Thread::State::Ended))
      missing = &other;
  }
  return missing;
}

void Block::reportDeadlock() {
  const Thread *waiting = nullptr;
  for (uint32_t i = 0; i < threadCount; ++i) {
    const Thread &thread = threads[i];
    if (thread.state == Thread::State::Ended)
      continue;
    // What an mbarrier waits for says most.
    auto getRank = [](const Thread &thread) {
      return thread.state == Thread::State::InWarpgroup  ? 3
             : thread.state == Thread::State::AtMbarrier ? 2
             : thread.state == Thread::State::AtBarrier  ? 1
                                                         : 0;
    };
    if (!waiting || getRank(thread) > getRank(*waiting))
      waiting = &thread;
  }
  if (waiting->state == Thread::State::InWarpgroup) {
    uint32_t warp = waiting->getWarp() / warpsOfGroup * warpsOfGroup;
    while (products[warp].issued >= waiting->phase)
      ++warp;
    char text[256];
    describeThread(threads[warp * warpSize], text, sizeof(text));
    reportWaiting(*waiting, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
                  "waits in %s for %llu products, of which warp %u of its "
                  "warpgroup has executed %u, but %s",
                  waiting->operation,
                  static_cast<unsigned long long>(waiting->phase),
                  warp % warpsOfGroup, products[warp].issued, text);
    return;
  }
  if (waiting->state == Thread::State::AtMbarrier) {
    // There is one: nobody invalidates what a thread waits at.
    char state[192];
    describeMbarrier(*findMbarrier(static_cast<uint32_t>(waiting->barrier)),
                     state, sizeof(state));
    reportWaiting(*waiting, SPARSE_AUTOGRAD_EMULATOR_HANG,
                  "waits in %s for phase %llu of the mbarrier at offset %d of "
                  "shared memory, %s, and no thread can run",
                  waiting->operation,
                  static_cast<unsigned long long>(waiting->phase),
                  waiting->barrier, state);
    return;
  }
  const Thread *missing = findMissing(*waiting);
  char text[256] = "nobody is missing";
  if (missing)
    describeThread(*missing, text, sizeof(text));
  if (waiting->state == Thread::State::AtBarrier) {
    const Barrier &barrier = barriers[waiting->barrier];
    reportWaiting(*waiting, SPARSE_AUTOGRAD_EMULATOR_MISSING_AT_BARRIER,
                  "waits in %s of barrier %d, at which %zu of %u threads have "
                  "arrived, but %s",
                  waiting->operation, waiting->barrier, barrier.arrived.size(),
                  barrier.expected, text);
    return;
  }
  reportWaiting(*waiting, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
                "waits in %s with mask 0x%08x, but %s", waiting->operation,
                waiting->call->mask, text);
}
