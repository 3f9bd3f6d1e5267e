//===- GPUMachine.h - Caches and rates of GPUs ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Machine descriptions for counted kernels (docs/emulator.md, "Tune a kernel
// without a GPU"): what the caches of a product hold and what its parts do in a
// cycle. The emulator's counter, in the runtime, reads them by name, and
// TargetInfo.cpp takes the limits of a chip from here: this header includes
// nothing of LLVM.
//
// Sources: data sheets and architecture white papers of the products, and the
// CUDA C++ Programming Guide for the limits. Bandwidths of the L2 cache and
// latencies are not published by the vendor; they are rounded estimates without
// a source, and the weakest numbers here.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_GPUMACHINE_H
#define SPARSEAUTOGRAD_TARGET_GPUMACHINE_H

#include <cstddef>
#include <cstdint>

namespace sparse_autograd {

/// A product with a GPU.
struct GPUMachine {
  const char *name; ///< of the product, as `--count` takes it
  const char *chip; ///< as LLVM calls it, without the letter of its features
  int64_t multiprocessors;
  double gigahertz; ///< at which the data sheet states its rates

  // Limits of a multiprocessor.
  int64_t warps;
  int64_t blocks;
  int64_t registers;   ///< of 32 bits
  int64_t sharedBytes; ///< that blocks may have of the first cache

  // Caches: sectored, with least-recently-used replacement.
  int64_t firstCacheBytes;  ///< of a multiprocessor, with its shared memory
  int64_t sharedCacheBytes; ///< L2, of the device
  double dramGigabytes;     ///< a second, of the data sheet
  double l2Gigabytes;       ///< a second
  double l2BytesPerCycle;   ///< that one multiprocessor takes of it

  // Of a multiprocessor in a cycle: warp instructions, and multiplications with
  // an addition.
  int64_t schedulers;
  int64_t float32Lanes;
  int64_t float64Lanes;
  int64_t specialLanes;
  int64_t integerLanes;
  int64_t tensorMacsF16; ///< of f16 and bf16 with sums of f32; tf32: half

  // Latencies in cycles.
  int64_t l1Latency;
  int64_t l2Latency;
  int64_t dramLatency;
  int64_t sharedLatency;

  // The same of all.
  static constexpr int64_t lineBytes = 128;
  static constexpr int64_t sectorBytes = 32;
  static constexpr int64_t cacheWays = 16;
  /// Of shared memory that the system keeps for itself in each block, and the
  /// steps in which it and registers are handed out.
  static constexpr int64_t reservedSharedBytes = 1024;
  static constexpr int64_t registerUnit = 256;
  /// The part of the bandwidth of DRAM that a copy reaches.
  static constexpr double dramEfficiency = 0.92;
  /// Seconds between the begins of two launches that have nothing to do.
  static constexpr double launchSeconds = 2.5e-6;
};

inline constexpr GPUMachine gpuMachines[] = {{"h100",
                                              "sm_90",
                                              132,
                                              1.83,
                                              64,
                                              32,
                                              65536,
                                              int64_t(228) << 10,
                                              int64_t(256) << 10,
                                              int64_t(50) << 20,
                                              3352,
                                              5600,
                                              64,
                                              4,
                                              128,
                                              64,
                                              16,
                                              64,
                                              2048,
                                              33,
                                              260,
                                              620,
                                              29},
                                             {"h200",
                                              "sm_90",
                                              132,
                                              1.83,
                                              64,
                                              32,
                                              65536,
                                              int64_t(228) << 10,
                                              int64_t(256) << 10,
                                              int64_t(50) << 20,
                                              4800,
                                              5600,
                                              64,
                                              4,
                                              128,
                                              64,
                                              16,
                                              64,
                                              2048,
                                              33,
                                              260,
                                              620,
                                              29},
                                             {"a100",
                                              "sm_80",
                                              108,
                                              1.41,
                                              64,
                                              32,
                                              65536,
                                              int64_t(164) << 10,
                                              int64_t(192) << 10,
                                              int64_t(40) << 20,
                                              2039,
                                              4500,
                                              64,
                                              4,
                                              64,
                                              32,
                                              16,
                                              64,
                                              1024,
                                              33,
                                              250,
                                              560,
                                              29},
                                             {"rtx3090",
                                              "sm_86",
                                              82,
                                              1.695,
                                              48,
                                              16,
                                              65536,
                                              int64_t(100) << 10,
                                              int64_t(128) << 10,
                                              int64_t(6) << 20,
                                              936,
                                              2100,
                                              64,
                                              4,
                                              128,
                                              2,
                                              16,
                                              64,
                                              256,
                                              33,
                                              230,
                                              520,
                                              29},
                                             {"rtx4090",
                                              "sm_89",
                                              128,
                                              2.52,
                                              48,
                                              24,
                                              65536,
                                              int64_t(100) << 10,
                                              int64_t(128) << 10,
                                              int64_t(72) << 20,
                                              1008,
                                              5000,
                                              64,
                                              4,
                                              128,
                                              2,
                                              16,
                                              64,
                                              256,
                                              33,
                                              270,
                                              600,
                                              29}};

/// The record of a product, or null.
constexpr const GPUMachine *findGPUMachine(const char *name, size_t length) {
  for (const GPUMachine &machine : gpuMachines) {
    const char *other = machine.name;
    size_t i = 0;
    while (i < length && other[i] == name[i] && other[i])
      ++i;
    if (i == length && !other[i])
      return &machine;
  }
  return nullptr;
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_GPUMACHINE_H
