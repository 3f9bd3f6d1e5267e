//===- Frame.cpp - Guarded calls and errors ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sparseAutogradGuard, sparseAutogradRaise and the state of a thread.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "Stream.h"
#include "ThreadState.h"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sparse_autograd {
namespace runtime {

ThreadState &threadState() {
  static thread_local ThreadState state;
  return state;
}

void setLastError(int32_t status, const char *message) {
  ThreadState &state = threadState();
  state.status = status ? status : SPARSE_AUTOGRAD_RUNTIME_ERROR;
  if (!message)
    message = "";
  size_t length = strnlen(message, messageCapacity);
  if (length == messageCapacity) {
    --length;
    // Not in the middle of a UTF-8 sequence.
    while (length && (message[length] & 0xC0) == 0x80)
      --length;
  }
  // The message may be the last error itself.
  std::memmove(state.message, message, length);
  state.message[length] = '\0';
}

// Not inlined: a function that calls setjmp must not lend its locals to others.
__attribute__((noinline)) bool runProtected(void (*callee)(void *context),
                                            void *context) {
  JumpTarget target;
  target.previous = threadState().target;
  if (setjmp(target.buffer) == 0) {
    threadState().target = &target;
    callee(context);
    threadState().target = target.previous;
    return true;
  }
  // `target` has not changed since setjmp, so its value is defined here.
  threadState().target = target.previous;
  return false;
}

static std::atomic<int64_t> entryCalls{0};

int64_t entryCallCount() { return entryCalls.load(std::memory_order_relaxed); }

void resetEntryCallCount() { entryCalls.store(0, std::memory_order_relaxed); }

namespace {
/// A call of a body, as runProtected takes it.
struct Call {
  void (*body)(void *const *, void *const *);
  void *const *arguments;
  void *const *results;
};
} // namespace

static void runBody(void *context) {
  Call *call = static_cast<Call *>(context);
  call->body(call->arguments, call->results);
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

uint32_t sparseAutogradRuntimeVersion(void) {
  return SPARSE_AUTOGRAD_RUNTIME_VERSION;
}

const char *sparseAutogradLastError(void) { return threadState().message; }

int32_t sparseAutogradGuard(void (*body)(void *const *, void *const *),
                            void *const *arguments, void *const *results) {
  entryCalls.fetch_add(1, std::memory_order_relaxed);
  ThreadState &state = threadState();
  Frame frame;
  frame.parent = state.frame;
  if (!frame.parent)
    state.times = {};
  // Of this call and no other: a guard below it, in a log handler, has none.
  if (state.call && state.call->arguments == arguments &&
      state.call->results == results)
    frame.call = state.call;
  state.call = nullptr;
  state.frame = &frame;
  Call call = {body, arguments, results};
  bool succeeded = runProtected(runBody, &call);
  state.frame = frame.parent;
  finishStreams();
  // First: the device may still copy from blocks of the host.
  if (frame.stream)
    endDeviceUse(frame, succeeded);
  if (succeeded) {
    detachBlocks(frame);
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  releaseBlocks(frame);
  return state.status;
}

void sparseAutogradRaise(int32_t status, const char *message) {
  setLastError(status, message);
  ThreadState &state = threadState();
  if (!state.target) {
    std::fprintf(stderr,
                 "sparse-autograd runtime: an error was raised outside of any "
                 "entry: %s\n",
                 state.message);
    std::fflush(stderr);
    std::_Exit(70);
  }
  std::longjmp(state.target->buffer, 1);
}

void sparseAutogradRaiseWithValues(int32_t status, const char *message,
                                   int64_t count, const int64_t *values) {
  char text[messageCapacity];
  char *out = text;
  char *end = text + messageCapacity - 1;
  const char *in = message ? message : "";
  for (int64_t next = 0; *in && out != end;) {
    if (in[0] == '{' && in[1] == '}' && next < count) {
      std::to_chars_result result = std::to_chars(out, end, values[next]);
      if (result.ec != std::errc())
        break;
      out = result.ptr;
      in += 2;
      ++next;
    } else {
      *out++ = *in++;
    }
  }
  *out = '\0';
  sparseAutogradRaise(status, text);
}
