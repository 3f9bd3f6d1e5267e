//===- TargetInfo.h - numbers of processors and chips -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place with numbers of a machine that loops and kernels are planned
// by: a record of the CPU, and one of each kind of GPU. Cost models, passes and
// the defaults of their options read them.
//
// The generic records are no machine's. What fixes an order of summation
// (blocks of rows, chunks, partial sums) and what is chosen by caches comes
// from these alone, so that the bits of a result are the same on every machine
// and for every `--cpu`. Vectors and registers are those of the processor that
// the module is compiled for.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_TARGETINFO_H
#define SPARSEAUTOGRAD_TARGET_TARGETINFO_H

#include "SparseAutograd/Target/CPUInfo.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace sparse_autograd {

/// The processor that the module around `op` is compiled for: that of its
/// attribute `llvm.target`, which `--sparse-autograd-attach-cpu` sets, else the
/// generic one. Vectors and registers are the processor's, caches the generic
/// ones: what differs never changes a bit of a result.
CPUInfo getCPU(mlir::Operation *op);

/// A kind of GPU.
struct GPUInfo {
  /// As LLVM calls it, without the letter of its own features: "sm_90".
  llvm::StringLiteral chip;
  int64_t multiprocessors;
  /// The warps that a multiprocessor has at once, and the threads of a warp.
  int64_t warps, warpSize;
  /// Of a multiprocessor: registers of 32 bits, and bytes of shared memory.
  int64_t registers, sharedBytes;
  /// The bytes of shared memory that a block has without asking for more.
  int64_t staticSharedBytes;
  /// The bytes that one instruction of a thread accesses at most.
  int64_t accessBytes = 16;

  /// The warps that keep the device busy: half of those that it has at once.
  constexpr int64_t getBusyWarps() const { return multiprocessors * warps / 2; }

  /// The registers that a thread may have if `blocks` of `threads` threads
  /// are to fit a multiprocessor.
  constexpr int64_t getRegistersOfThread(int64_t blocks,
                                         int64_t threads) const {
    return registers / (blocks * threads);
  }
};

/// A large GPU with the least chip that kernels are made for: what kernels are
/// planned by, as one kernel is compiled for several chips.
inline constexpr GPUInfo genericGPU = {/*chip=*/"sm_80",
                                       /*multiprocessors=*/128,
                                       /*warps=*/64,
                                       /*warpSize=*/32,
                                       /*registers=*/int64_t(64) << 10,
                                       /*sharedBytes=*/int64_t(164) << 10,
                                       /*staticSharedBytes=*/int64_t(48) << 10};

/// The record of `chip`, such as "sm_90a"; null of a chip that has none. The
/// multiprocessors are those of the largest product: A100 (sm_80), H100 and
/// H200 (sm_90), B200 (sm_100).
const GPUInfo *findGPU(llvm::StringRef chip);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_TARGETINFO_H
