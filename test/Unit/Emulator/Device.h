//===- Device.h - Kernels written by hand -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An emulator with buffers, and what kernels that tests write need. A kernel is
// a lambda without captures that takes its parameters; it keeps nothing that
// owns memory on the stack, since its frame is dropped when a fault is found.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_EMULATOR_DEVICE_H
#define SPARSEAUTOGRAD_TEST_UNIT_EMULATOR_DEVICE_H

#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#define SPARSE_AUTOGRAD_STRING_OF(text) #text
#define SPARSE_AUTOGRAD_STRING(text) SPARSE_AUTOGRAD_STRING_OF(text)
/// Where a kernel is: another pointer in each line.
#define HERE "line " SPARSE_AUTOGRAD_STRING(__LINE__)

//===----------------------------------------------------------------------===//
// For kernels
//===----------------------------------------------------------------------===//

inline int32_t threadId() {
  return static_cast<int32_t>(
      sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_TID_X));
}
inline int32_t blockId() {
  return static_cast<int32_t>(
      sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_CTAID_X));
}
template <typename T>
T *shared() {
  return static_cast<T *>(sparseAutogradEmulateSharedMemory());
}
template <typename T>
T load(const T *from, const char *where = nullptr) {
  sparseAutogradEmulateAccess(from, sizeof(T), alignof(T), SPARSE_AUTOGRAD_LOAD,
                              where);
  return *from;
}
template <typename T>
void store(T *to, T value, const char *where = nullptr) {
  sparseAutogradEmulateAccess(to, sizeof(T), alignof(T), SPARSE_AUTOGRAD_STORE,
                              where);
  *to = value;
}
template <typename T>
T atomicAdd(T *to, T value, const char *where = nullptr) {
  sparseAutogradEmulateAccess(to, sizeof(T), alignof(T), SPARSE_AUTOGRAD_ATOMIC,
                              where);
  T old = *to;
  *to += value;
  return old;
}
/// __syncthreads
inline void barrier(const char *where = nullptr) {
  sparseAutogradEmulateBarrier(0, -1, /*isAligned=*/1, where);
}
inline float shuffle(int32_t kind, uint32_t mask, float value, uint32_t lane,
                     uint32_t clamp = 31, const char *where = nullptr) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = sparseAutogradEmulateShuffle(kind, mask, bits, lane, clamp, nullptr,
                                      where);
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

//===----------------------------------------------------------------------===//
// For the host
//===----------------------------------------------------------------------===//

inline SparseAutogradEmulatorOptions withSeed(uint64_t seed) {
  SparseAutogradEmulatorOptions options;
  sparseAutogradEmulatorGetDefaultOptions(&options);
  options.seed = seed;
  return options;
}

class Device {
public:
  explicit Device(uint64_t seed = 0) : Device(withSeed(seed)) {}
  explicit Device(const SparseAutogradEmulatorOptions &options)
      : emulator(sparseAutogradEmulatorCreate(&options)) {}
  ~Device() { sparseAutogradEmulatorDestroy(emulator); }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  template <typename T>
  T *allocate(const std::vector<T> &values) {
    void *buffer =
        sparseAutogradEmulatorAllocate(emulator, values.size() * sizeof(T));
    std::copy(values.begin(), values.end(), static_cast<T *>(buffer));
    sparseAutogradEmulatorMarkWritten(emulator, buffer,
                                      values.size() * sizeof(T));
    return static_cast<T *>(buffer);
  }

  /// Launches a kernel with a one-dimensional grid; returns the status.
  template <typename Kernel, typename... Parameters>
  int32_t launch(Kernel kernel, int64_t blocks, int64_t threads,
                 int64_t sharedBytes, Parameters... parameters) {
    SparseAutogradEmulatorLaunch launch = {
        {blocks, 1, 1}, {threads, 1, 1}, sharedBytes};
    return launchWith(kernel, launch, parameters...);
  }
  template <typename Kernel, typename... Parameters>
  int32_t launchWith(Kernel kernel, const SparseAutogradEmulatorLaunch &launch,
                     Parameters... parameters) {
    SparseAutogradEmulatorKernel description = {};
    description.name = "k";
    description.function = kernel;
    description.parameterCount = sizeof...(parameters);
    void *pointers[] = {&parameters..., nullptr};
    return sparseAutogradEmulatorLaunch(emulator, &description, &launch,
                                        pointers);
  }

  const SparseAutogradEmulatorReport &report() const {
    return *sparseAutogradEmulatorGetReport(emulator);
  }
  std::string message() const { return report().message; }
  SparseAutogradEmulatorCounters counters() const {
    SparseAutogradEmulatorCounters counters;
    sparseAutogradEmulatorGetCounters(emulator, &counters);
    return counters;
  }
  SparseAutogradEmulator *get() const { return emulator; }

private:
  SparseAutogradEmulator *emulator;
};

/// Parameter i of a kernel.
template <typename T>
T parameter(void **parameters, int i) {
  return *static_cast<T *>(parameters[i]);
}

/// Expects that a launch has failed with a fault, and what its report says.
#define EXPECT_FAULT(device, call, expectedFault, text)                        \
  do {                                                                         \
    EXPECT_NE(call, SPARSE_AUTOGRAD_SUCCESS);                                  \
    EXPECT_EQ((device).report().fault, expectedFault);                         \
    EXPECT_THAT((device).message(), testing::HasSubstr(text));                 \
  } while (false)

/// The seeds that tests run with: the plain order, and some others.
inline std::vector<uint64_t> someSeeds() { return {0, 1, 2, 3, 4, 5}; }

#endif // SPARSEAUTOGRAD_TEST_UNIT_EMULATOR_DEVICE_H
