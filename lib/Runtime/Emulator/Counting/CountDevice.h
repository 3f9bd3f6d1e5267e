//===- CountDevice.h - Counts of the emulated device ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collection of the counts of all emulated devices of the process, whose
// streams end with each entry. Called by the device around each launch.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTDEVICE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTDEVICE_H

#include "SparseAutograd/Runtime/Emulator.h"

#include <string>

namespace sparse_autograd {
namespace emulator {

class Counter;

/// That of an emulator, or null.
Counter *getCounter(SparseAutogradEmulator *emulator);

/// That there is no such machine, and which ones there are.
std::string describeMachines(const char *machine);

/// Has an emulator count, or not, as sparseAutogradCountDevice says.
void prepareCounts(SparseAutogradEmulator *emulator);
/// Takes what an emulator has counted.
void collectCounts(SparseAutogradEmulator *emulator);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTDEVICE_H
