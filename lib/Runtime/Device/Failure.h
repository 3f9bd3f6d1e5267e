//===- Failure.h - How calls of a device fail -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that can fail returns a SparseAutogradStatus and leaves the reason
// as the last error of the thread. The outermost one, which holds nothing with
// a destructor, raises it or returns it. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_FAILURE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_FAILURE_H

#include "CPU/ThreadState.h"

namespace sparse_autograd {
namespace runtime {

/// Sets the last error of the thread to a text as of printf, and returns
/// `status`.
[[gnu::format(printf, 2, 3)]] int32_t fail(int32_t status, const char *format,
                                           ...);

/// Fails because the host has no memory.
int32_t failHostMemory();

/// Keeps the last error as it is, for calls whose failure is of no interest.
class KeptError {
public:
  KeptError();
  ~KeptError();
  KeptError(const KeptError &) = delete;
  KeptError &operator=(const KeptError &) = delete;

private:
  int32_t status;
  char message[messageCapacity];
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_FAILURE_H
