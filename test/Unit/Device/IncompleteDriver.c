//===- IncompleteDriver.c - A driver of long ago ------------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <stdlib.h>

/// All that this library has. A version of 0 is a call that fails.
__attribute__((visibility("default"))) int cuDriverGetVersion(int *version) {
  const char *text = getenv("INCOMPLETE_DRIVER_VERSION");
  *version = text ? atoi(text) : 0;
  return *version == 0;
}
