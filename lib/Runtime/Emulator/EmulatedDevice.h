//===- EmulatedDevice.h - The emulator as a device --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_EMULATEDDEVICE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_EMULATEDDEVICE_H

#include "Device/DeviceInterface.h"

namespace sparse_autograd {
namespace runtime {

/// Opens an emulated GPU. The number is the seed of the order of threads; 0
/// stands for the default, see sparseAutogradEmulatorGetDefaultOptions.
int32_t openEmulatedDevice(int32_t number, std::unique_ptr<Device> &device);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_EMULATEDDEVICE_H
