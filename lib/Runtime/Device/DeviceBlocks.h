//===- DeviceBlocks.h - Memory of devices that is in use --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which blocks of device memory are alive, by their addresses, and which frame
// owns them. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEBLOCKS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEBLOCKS_H

#include "CPU/ThreadState.h"

namespace sparse_autograd {
namespace runtime {

/// Allocates from the device of the frame's stream, for the frame.
int32_t allocateDeviceBlock(Frame &frame, int64_t bytes, void *&address);

/// Releases in the order of the stream. A block that is not alive is an error.
int32_t deallocateDeviceBlock(Stream &stream, void *address);

/// Releases all that a frame owns, in the order of its stream, as far as the
/// device lets it, and returns how many blocks it were.
int64_t deallocateDeviceBlocks(Frame &frame);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEBLOCKS_H
