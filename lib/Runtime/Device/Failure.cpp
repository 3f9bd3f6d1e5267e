//===- Failure.cpp - How calls of a device fail -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last error of a thread, from a format.
//
//===----------------------------------------------------------------------===//

#include "Failure.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace sparse_autograd {
namespace runtime {

int32_t fail(int32_t status, const char *format, ...) {
  // Longer than a message, so that it is setLastError that cuts it.
  char text[messageCapacity + 8];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  setLastError(status, text);
  return status;
}

int32_t failHostMemory() {
  return fail(SPARSE_AUTOGRAD_OUT_OF_MEMORY,
              "out of memory: the system refused what the runtime needs to "
              "keep account of a device");
}

KeptError::KeptError() {
  const ThreadState &state = threadState();
  status = state.status;
  std::memcpy(message, state.message, messageCapacity);
}

KeptError::~KeptError() {
  ThreadState &state = threadState();
  state.status = status;
  std::memcpy(state.message, message, messageCapacity);
}

} // namespace runtime
} // namespace sparse_autograd
