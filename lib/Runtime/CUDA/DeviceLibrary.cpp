//===- DeviceLibrary.cpp - A library of NVIDIA's on a device ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceLibrary.h"
#include "CudaDevice.h"
#include "Device/Devices.h"
#include "Device/Failure.h"

namespace sparse_autograd {
namespace runtime {

void DeviceLibrary::close() {
  if (!isOpen())
    return;
  (void)device.inContext([&] {
    destroyHandle();
    return cuda::success;
  });
  state = State::Unknown;
}

int32_t DeviceLibrary::open() {
  if (state != State::Unknown)
    return SPARSE_AUTOGRAD_SUCCESS;
  bool isPresent = false;
  if (int32_t status = load(isPresent))
    return status;
  if (!isPresent) {
    state = State::Absent;
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  int code = 0;
  cuda::Result result = device.inContext([&] {
    code = createHandle();
    if (code == 0)
      state = State::Open;
    return cuda::success;
  });
  if (result) {
    close();
    return device.failCall(result, "", "starting %s", name);
  }
  if (code)
    return cuda::failLibraryCall(describeCreation(code), "starting %s on %s",
                                 name, device.getProperties().name);
  closeDevicesBeforeLibraries();
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t
DeviceLibrary::withWorkspace(Stream &stream, size_t bytes,
                             const std::function<int32_t(void *)> &run) {
  if (bytes == 0)
    return run(nullptr);
  void *workspace = nullptr;
  if (int32_t status =
          device.allocate(stream, static_cast<int64_t>(bytes), workspace))
    return status;
  if (int32_t status = run(workspace)) {
    KeptError kept;
    (void)device.deallocate(stream, workspace);
    return status;
  }
  return device.deallocate(stream, workspace);
}

} // namespace runtime
} // namespace sparse_autograd
