//===- DeviceLibrary.h - A library of NVIDIA's on a device ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DEVICELIBRARY_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DEVICELIBRARY_H

#include "Libraries.h"

#include <cstddef>
#include <functional>

namespace sparse_autograd {
namespace runtime {

class CudaDevice;
struct Stream;

/// A library that a device may have, and its handle there, which the first call
/// makes.
class DeviceLibrary {
public:
  /// `name` is the library's, in messages.
  DeviceLibrary(CudaDevice &device, const char *name)
      : device(device), name(name) {}
  DeviceLibrary(const DeviceLibrary &) = delete;
  DeviceLibrary &operator=(const DeviceLibrary &) = delete;

protected:
  /// Who derives closes.
  ~DeviceLibrary() = default;

  /// Loads the library and makes the handle, if that has not been tried. That
  /// there is no library is no failure. Returns a SparseAutogradStatus, and has
  /// said why if it fails; the next call tries again.
  int32_t open();
  bool isOpen() const { return state == State::Open; }
  /// Destroys the handle, if there is one.
  void close();

  /// Calls `run` with `bytes` bytes of the device, or null if these are none,
  /// and releases them behind it in the order of the stream. Returns the
  /// status.
  int32_t withWorkspace(Stream &stream, size_t bytes,
                        const std::function<int32_t(void *)> &run);

  /// Loads the library, if it is there.
  virtual int32_t load(bool &isPresent) = 0;
  /// Make and destroy the handle, in the context of the device. A status is the
  /// library's, 0 if all is well; of another one there is no handle.
  virtual int createHandle() = 0;
  virtual void destroyHandle() = 0;
  /// What the library says of a status of createHandle.
  virtual cuda::LibraryError describeCreation(int status) = 0;

  CudaDevice &device;

private:
  const char *name;
  /// Open: there is a handle.
  enum class State { Unknown, Absent, Open } state = State::Unknown;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DEVICELIBRARY_H
