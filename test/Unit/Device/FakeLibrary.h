//===- FakeLibrary.h - What fake libraries of CUDA share --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls on top of the fake driver, and elements by their cudaDataType.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKELIBRARY_H
#define SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKELIBRARY_H

#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>

namespace fake_driver {

/// A call of a library.
struct LibraryCall {
  const char *function;
  int code;

  explicit LibraryCall(const char *function, bool needsContext = false)
      : function(function), code(beginCall(function, needsContext)) {
    demand(!hasEnded, "the library has ended");
  }

  void demand(bool condition, const char *what) const {
    if (!condition)
      reportViolation(function, what);
  }
  void demandHandle(void *handle, const char *name) const {
    demand(isHandle(handle, name), "it is not alive");
  }
  /// Destroys a handle, even if the call fails.
  int destroy(void *handle, const char *name) const {
    demandHandle(handle, name);
    destroyHandle(handle);
    return code;
  }
  /// Has the library end as the destructors of its variables do, which were
  /// registered when it was loaded.
  static void endAtExit() {
    static bool isRegistered = false;
    if (!isRegistered)
      std::atexit([] { hasEnded = true; });
    isRegistered = true;
  }

  static inline bool hasEnded = false;
};

inline int64_t getElementBytes(int type) {
  return type == 0 ? 4 : type == 1 ? 8 : 2;
}

inline double loadElement(const void *address, int type) {
  auto read = [&](auto value) {
    std::memcpy(&value, address, sizeof(value));
    return value;
  };
  switch (type) {
  case 0:
    return read(float());
  case 1:
    return read(double());
  case 2:
    return static_cast<double>(read(_Float16()));
  default:
    uint32_t bits = uint32_t(read(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
}

inline void storeElement(void *address, int type, double number) {
  auto write = [&](auto value) { std::memcpy(address, &value, sizeof(value)); };
  switch (type) {
  case 0:
    return write(static_cast<float>(number));
  case 1:
    return write(number);
  case 2:
    return write(static_cast<_Float16>(number));
  default:
    // Exact numbers only.
    auto value = static_cast<float>(number);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return write(static_cast<uint16_t>(bits >> 16));
  }
}

} // namespace fake_driver

#endif // SPARSEAUTOGRAD_TEST_UNIT_DEVICE_FAKELIBRARY_H
