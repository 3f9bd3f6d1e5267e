//===- Devices.h - Which devices are open -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choice of a device, the devices that are open, and their streams.
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICES_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICES_H

#include "DeviceInterface.h"

namespace sparse_autograd {
namespace runtime {

/// Whether this is the child of a process that had opened a device: then the
/// driver must not be called, and no lock be taken, which another thread of the
/// parent may have held.
bool isForkedChild();

/// Fails in such a child.
int32_t checkNotForked();

/// A stream of the device that this thread has chosen, for an entry, which
/// keeps the device open until it gives the stream back.
int32_t acquireStream(Stream *&stream);
void releaseStream(Stream *stream);

/// Has all devices closed, at the end of the process, before what a library
/// that a device has loaded by now does there.
void closeDevicesBeforeLibraries();

/// Waits for a stream of this thread.
int32_t waitFor(Stream &stream);

/// Waits for everything that was begun on a device.
int32_t waitForAll(Device &device);

/// The device that this thread has chosen, kept open while this lives.
class DeviceUse {
public:
  DeviceUse() = default;
  ~DeviceUse();
  DeviceUse(const DeviceUse &) = delete;
  DeviceUse &operator=(const DeviceUse &) = delete;

  int32_t open();
  Device &get() { return *device; }

private:
  Device *device = nullptr;
};

/// Keeps devices from being opened and closed while this lives.
class DevicesLock {
public:
  DevicesLock();
  ~DevicesLock();
  DevicesLock(const DevicesLock &) = delete;
  DevicesLock &operator=(const DevicesLock &) = delete;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICES_H
