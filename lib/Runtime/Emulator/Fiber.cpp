//===- Fiber.cpp - Stacks and switches between them -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPARSE_AUTOGRAD_ASAN
#endif
#endif
#ifdef SPARSE_AUTOGRAD_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// The switch itself
//===----------------------------------------------------------------------===//

// Saves what a call must preserve on the stack, exchanges the stacks, and
// restores it. Neither kernels nor the emulator change the control words of the
// floating-point units.

#if defined(SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT)

// The C library's.

#elif defined(__x86_64__)

extern "C" void sparseAutogradSwitchStack(void **from, void *to);
asm(R"(
  .text
  .globl sparseAutogradSwitchStack
  .hidden sparseAutogradSwitchStack
  .type sparseAutogradSwitchStack, @function
sparseAutogradSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size sparseAutogradSwitchStack, . - sparseAutogradSwitchStack
)");

/// A stack from which the switch returns to `entry`.
static void *prepareStack(char *end, void (*entry)()) {
  void **top = reinterpret_cast<void **>(end);
  // As after a call, which leaves the stack at 8 modulo 16. What unwinds it
  // ends here.
  *--top = nullptr;
  *--top = reinterpret_cast<void *>(entry);
  for (int saved = 0; saved < 6; ++saved)
    *--top = nullptr;
  return top;
}

#elif defined(__aarch64__)

extern "C" void sparseAutogradSwitchStack(void **from, void *to);
asm(R"(
  .text
  .globl sparseAutogradSwitchStack
  .hidden sparseAutogradSwitchStack
  .type sparseAutogradSwitchStack, %function
sparseAutogradSwitchStack:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
  .size sparseAutogradSwitchStack, . - sparseAutogradSwitchStack
)");

static void *prepareStack(char *end, void (*entry)()) {
  void **top = reinterpret_cast<void **>(end) - 20;
  for (int saved = 0; saved < 20; ++saved)
    top[saved] = nullptr;
  // x30, where the switch returns to.
  top[1] = reinterpret_cast<void *>(entry);
  return top;
}

#endif

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

namespace sparse_autograd {
namespace emulator {

void prepare(Context &context, char *stack, size_t bytes, void (*entry)()) {
#ifdef SPARSE_AUTOGRAD_ASAN
  // The frames of a fiber that was dropped have not been left.
  __asan_unpoison_memory_region(stack, bytes);
#endif
  context.stack = stack;
  context.stackBytes = bytes;
  context.fakeStack = nullptr;
#ifdef SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT
  getcontext(&context.context);
  context.context.uc_stack.ss_sp = stack;
  context.context.uc_stack.ss_size = bytes;
  context.context.uc_link = nullptr;
  makecontext(&context.context, entry, 0);
#else
  context.stackPointer = prepareStack(stack + bytes, entry);
#endif
}

static void exchange(Context &from, Context &to) {
#ifdef SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT
  swapcontext(&from.context, &to.context);
#else
  sparseAutogradSwitchStack(&from.stackPointer, to.stackPointer);
#endif
}

void switchContext(Context &from, Context &to) {
#ifdef SPARSE_AUTOGRAD_ASAN
  __sanitizer_start_switch_fiber(&from.fakeStack, to.stack, to.stackBytes);
#endif
  exchange(from, to);
#ifdef SPARSE_AUTOGRAD_ASAN
  __sanitizer_finish_switch_fiber(from.fakeStack, nullptr, nullptr);
#endif
}

void leave(Context &from, Context &to) {
#ifdef SPARSE_AUTOGRAD_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.stack, to.stackBytes);
#endif
  exchange(from, to);
  // Nothing switches back.
  std::abort();
}

void enter(Context &self, Context &caller) {
#ifdef SPARSE_AUTOGRAD_ASAN
  const void *stack;
  size_t stackBytes;
  __sanitizer_finish_switch_fiber(self.fakeStack, &stack, &stackBytes);
  // Of the first fiber, what it comes from is the caller, whose stack is only
  // known from here; the others come from another fiber.
  if (!caller.stack) {
    caller.stack = stack;
    caller.stackBytes = stackBytes;
  }
#else
  (void)self;
  (void)caller;
#endif
}

} // namespace emulator
} // namespace sparse_autograd

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

Stacks::~Stacks() { release(); }

void Stacks::release() {
  if (memory)
    munmap(memory, count * pitch + pageBytes);
  memory = nullptr;
  count = 0;
}

bool Stacks::reserve(size_t newCount, size_t bytes) {
  pageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t newPitch = (bytes + pageBytes - 1) / pageBytes * pageBytes + pageBytes;
  if (newCount <= count && newPitch == pitch)
    return true;
  release();
  pitch = newPitch;
  // Pages that no fiber touches cost nothing. One more page guards the end.
  void *mapped =
      mmap(nullptr, newCount * pitch + pageBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  memory = static_cast<char *>(mapped);
  count = newCount;
  for (size_t i = 0; i <= count; ++i)
    if (mprotect(memory + i * pitch, pageBytes, PROT_NONE) != 0) {
      release();
      return false;
    }
  return true;
}
