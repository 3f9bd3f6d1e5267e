//===- Headers.c - The headers of the device in C11 ---------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/Device.h"
#include "SparseAutograd/Runtime/DeviceABI.h"

static void *slot;
static const char text[] = "kernels: scale";
static const SparseAutogradCode codes[] = {{SPARSE_AUTOGRAD_CODE_PTX, 80,
                                            SPARSE_AUTOGRAD_CODE_PORTABLE, 0,
                                            text, sizeof(text), 0}};
static const SparseAutogradImage image = {SPARSE_AUTOGRAD_DEVICE_ABI_VERSION, 1,
                                          codes, &slot};

static void body(void *const *arguments, void *const *results) {
  const SparseAutogradMemRef1 *from = arguments[0];
  SparseAutogradMemRef1 *to = results[0];
  int64_t size = from->sizes[0];
  int64_t bytes = size * (int64_t)sizeof(double);
  double *data = sparseAutogradAllocate(bytes);
  void *x = sparseAutogradDeviceAllocate(bytes);
  sparseAutogradDeviceCopyIn(x, (const double *)from->aligned + from->offset,
                             bytes);
  void *parameters[] = {&x, &size};
  sparseAutogradDeviceLaunch(&image, "scale", 1, 1, 1, 32, 1, 1, 0, 2,
                             parameters);
  sparseAutogradDeviceCopyOut(data, x, bytes);
  sparseAutogradDeviceDeallocate(x);
  to->allocated = to->aligned = data;
  to->offset = 0;
  to->sizes[0] = size;
  to->strides[0] = 1;
}

/// An entry and the end of a shared object as the compiler emits them.
int32_t doubleOnDeviceInC(void *const *arguments, void *const *results) {
  return sparseAutogradGuard(body, arguments, results);
}

void unloadProgramInC(void) { sparseAutogradUnloadImage(&image); }
