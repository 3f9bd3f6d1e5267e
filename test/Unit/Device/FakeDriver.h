//===- FakeDriver.h - A driver without a GPU --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the functions of libcuda.so.1 that the runtime calls.
// The memory of its GPUs is that of the host, kernels are functions of the
// test, and everything is done at once, but the fault of a kernel, which is
// found when the host waits. It knows what is alive, and reports what the
// driver would not forgive: a call without the context, a handle that is not
// alive, an address that is not allocated.
//
// It has the functions of cuBLASLt and cuSPARSE as well (FakeCuBlasLt.cpp,
// FakeCuSparse.cpp), in the same manner.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKEDRIVER_H
#define SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKEDRIVER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#define FAKE_DRIVER_EXPORT __attribute__((visibility("default")))

namespace fake_driver {

/// What the GPUs are.
struct Settings {
  int version = 13000;
  int gpus = 2;
  int major = 9;
  int minor = 0;
  size_t memory = 1 << 20;
  bool hasPools = true;
  /// Whether every call says that the driver has been shut down.
  bool isGone = false;
  /// Whether libraries know how to compute products, and what memory they need.
  bool hasProducts = true;
  size_t workspaceBytes = 0;
};

struct Launch {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamicSharedBytes;
  void **parameters;
};

/// Back to the beginning: nothing alive, counted or to fail.
FAKE_DRIVER_EXPORT void reset();

FAKE_DRIVER_EXPORT Settings &settings();

/// A kernel, which modules name. It returns 0 or the code of its fault.
FAKE_DRIVER_EXPORT void defineKernel(const std::string &name,
                                     std::function<int(const Launch &)> kernel,
                                     int staticSharedBytes = 0);

/// Has the n-th call of a function from now on fail; n = 1 is the next. The
/// function "" is any.
FAKE_DRIVER_EXPORT void failCall(const std::string &function, int n, int code);

/// Whether the failure has been used.
FAKE_DRIVER_EXPORT bool hasFailed();

/// How often a function has been called.
FAKE_DRIVER_EXPORT int countCalls(const std::string &function);

/// How often all of them have been called.
FAKE_DRIVER_EXPORT int countAllCalls();

/// What was called wrongly.
FAKE_DRIVER_EXPORT std::vector<std::string> getViolations();

/// What is alive: "stream", "module", "memory of 8 bytes".
FAKE_DRIVER_EXPORT std::vector<std::string> getAlive();

/// The release thresholds of the pools that are alive.
FAKE_DRIVER_EXPORT std::vector<uint64_t> getPoolLimits();

/// How many contexts this thread has pushed and not popped.
FAKE_DRIVER_EXPORT int getContextDepth();

/// Has the process end with code 97 if something was called wrongly, and with
/// 99 if something is alive, when the library is unloaded, at its end.
FAKE_DRIVER_EXPORT void demandNothingAliveAtExit();

//===----------------------------------------------------------------------===//
// For libraries on top of the driver
//===----------------------------------------------------------------------===//

/// Counts a call of a function, and returns the failure that is due, or 0. A
/// function that needs a context is called wrongly without one.
int beginCall(const std::string &function, bool needsContext);

void reportViolation(const std::string &function, const std::string &what);

bool isAllocated(const void *address, size_t bytes);
bool isStream(void *stream);

/// Makes something of `bytes` zero bytes that is alive under a name.
void *createHandle(const char *name, size_t bytes);
bool isHandle(void *handle, const char *name);
void destroyHandle(void *handle);

} // namespace fake_driver

#endif // SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKEDRIVER_H
