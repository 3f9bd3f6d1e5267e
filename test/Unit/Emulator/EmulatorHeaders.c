//===- EmulatorHeaders.c - The emulator's headers in C11 ----------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"

/// Doubles the numbers of a buffer, one in each thread.
static void doubleNumber(void **parameters) {
  double *numbers = *(double **)parameters[0];
  double *number =
      numbers + sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_TID_X);
  sparseAutogradEmulateAccess(number, 8, 8, SPARSE_AUTOGRAD_LOAD, "load");
  double value = *number;
  sparseAutogradEmulateAccess(number, 8, 8, SPARSE_AUTOGRAD_STORE, "store");
  *number = 2 * value;
}

const SparseAutogradEmulatorKernel doubleInC = {"doubleInC", doubleNumber, 1, 0,
                                                0,           {0, 0, 0},    0};
