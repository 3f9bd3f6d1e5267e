//===- Fiber.h - Stacks and switches between them ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fiber is a function with a stack of its own that runs until it switches to
// another one, on the same thread of the operating system. Internal to the
// emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FIBER_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

// Where there is no switch of our own. Tests may ask for it.
#if !defined(__x86_64__) && !defined(__aarch64__) &&                           \
    !defined(SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT)
#define SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT
#endif
#ifdef SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT
#include <ucontext.h>
#endif

namespace sparse_autograd {
namespace emulator {

/// Where a fiber, or the thread that runs fibers, goes on.
struct Context {
#ifdef SPARSE_AUTOGRAD_FIBERS_BY_UCONTEXT
  ucontext_t context;
#else
  void *stackPointer = nullptr;
#endif
  /// For the address sanitizer, which must know of every stack.
  const void *stack = nullptr;
  size_t stackBytes = 0;
  void *fakeStack = nullptr;
};

/// Makes `context` one that calls `entry` on the stack. `entry` must not
/// return. What was on the stack is dropped.
void prepare(Context &context, char *stack, size_t bytes, void (*entry)());

/// Goes on with `to`, until something switches to `from`.
void switchContext(Context &from, Context &to);

/// As switchContext, for a fiber that nothing will switch to any more.
[[noreturn]] void leave(Context &from, Context &to);

/// The first thing that the entry of a fiber does; `caller` is where the first
/// one was switched to from.
void enter(Context &self, Context &caller);

/// Equal stacks in one piece of memory, each above a page that may not be
/// touched.
class Stacks {
public:
  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();

  /// Whether there is memory for so many.
  bool reserve(size_t count, size_t bytes);
  char *get(size_t index) const { return memory + index * pitch + pageBytes; }
  size_t getBytes() const { return pitch - pageBytes; }

private:
  void release();

  char *memory = nullptr;
  size_t count = 0;
  size_t pitch = 0;
  size_t pageBytes = 0;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FIBER_H
