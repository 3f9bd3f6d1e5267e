//===- Images.h - Modules of kernels that are loaded ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels by their image and name. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_IMAGES_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_IMAGES_H

#include "DeviceInterface.h"

namespace sparse_autograd {
namespace runtime {

/// The kernel of an image on a device, which must be kept open. Loads the image
/// if nobody has.
int32_t getKernel(Device &device, const SparseAutogradImage &image,
                  const char *name, Kernel *&kernel);

/// Unloads all images from a device that has nothing to do. The lock of the
/// devices is held.
void unloadImagesOf(Device &device);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_IMAGES_H
