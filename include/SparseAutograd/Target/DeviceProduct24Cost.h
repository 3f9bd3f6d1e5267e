//===- DeviceProduct24Cost.h - 2:4 products of a device ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of the time of a product with a 2:4 matrix on a GPU, by the bytes
// that it moves and the multiplications that it takes. It ranks the ways to
// compute a product; its times were compared with no GPU. Includes nothing of
// LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_DEVICEPRODUCT24COST_H
#define SPARSEAUTOGRAD_TARGET_DEVICEPRODUCT24COST_H

#include "SparseAutograd/Target/GPUMachine.h"

namespace sparse_autograd {

/// The extents of the tiles that tensor cores compute, of which large ones are
/// taken if there are so many, and the terms of a strip of both factors.
struct DeviceTiles {
  int64_t large = 128, small = 64, leastLarge = 128, strip = 64;
};
inline constexpr DeviceTiles deviceTiles;

/// `batch` products of a 2:4 matrix of m x k elements and a dense one of k x n.
struct DeviceProduct24 {
  int64_t batch, m, n, k;
  /// Of an element of the factors, and of one of the result.
  int64_t factorBytes, resultBytes;
  /// Whether loops visit all that a row stores, one after the other, which
  /// lanes of a warp share; they share the two terms of a group otherwise.
  bool areRowsShared;
};

/// Seconds of each way: tiles by sparse tensor cores (f16 and bf16), the matrix
/// expanded and dense tiles, and loops over what is stored.
struct DeviceProduct24Cost {
  double tiles, dense, loops;
};

/// The model for a product with `machine`.
class DeviceProduct24Model {
public:
  constexpr DeviceProduct24Model(const GPUMachine &machine,
                                 const DeviceProduct24 &product)
      : machine(machine), product(product) {}

  constexpr DeviceProduct24Cost estimate() const {
    return {estimateTiles(/*isStructured=*/true),
            estimateExpansion() + estimateTiles(/*isStructured=*/false),
            estimateLoops()};
  }

private:
  static constexpr double max(double a, double b) { return a < b ? b : a; }
  static constexpr int64_t ceilDiv(int64_t a, int64_t b) {
    return (a + b - 1) / b;
  }
  constexpr double getCycles() const { return machine.gigahertz * 1e9; }
  constexpr double getDramRate() const {
    return machine.dramGigabytes * 1e9 * GPUMachine::dramEfficiency;
  }
  /// Bytes of the matrix for each term of a row: a half of the values, and four
  /// bits for four terms.
  constexpr double getStoredBytes() const {
    return static_cast<double>(product.factorBytes) / 2 + 1. / 8;
  }
  constexpr double count(int64_t a, int64_t b) const {
    return static_cast<double>(product.batch) * static_cast<double>(a) *
           static_cast<double>(b);
  }

  /// Seconds in which so many instructions of a warp are issued.
  constexpr double issue(double instructions) const {
    return instructions /
           (static_cast<double>(machine.multiprocessors) *
            static_cast<double>(machine.schedulers) * getCycles());
  }

  constexpr double estimateExpansion() const {
    // For an element, as the emulator counts: the two of a group are shared by
    // lanes of a warp, of which most have nothing to do.
    constexpr double instructions = 9;
    double bytes = getStoredBytes() + static_cast<double>(product.factorBytes);
    double elements = count(product.m, product.k);
    return GPUMachine::launchSeconds + max(elements * bytes / getDramRate(),
                                           issue(elements * instructions));
  }

  /// Waves of blocks, each as long as the slowest of what a tile takes: the
  /// multiplications, the reads of shared memory by warps of 64 x 32 elements
  /// (or 32 x 32), and those of the L2.
  constexpr double estimateTiles(bool isStructured) const {
    auto countTiles = [&](int64_t extent) {
      return product.batch * ceilDiv(product.m, extent) *
             ceilDiv(product.n, extent);
    };
    bool isLarge = countTiles(deviceTiles.large) >= deviceTiles.leastLarge;
    int64_t extent = isLarge ? deviceTiles.large : deviceTiles.small;
    int64_t waves = ceilDiv(countTiles(extent), machine.multiprocessors);
    auto side = static_cast<double>(extent);
    auto strips = static_cast<double>(ceilDiv(product.k, deviceTiles.strip));
    double terms = strips * static_cast<double>(deviceTiles.strip);
    auto bytes = static_cast<double>(product.factorBytes);
    double stored = isStructured ? getStoredBytes() : bytes;

    bool isNarrow = product.factorBytes < 4;
    int64_t macsOfCycle = isNarrow                   ? machine.tensorMacsF16
                          : product.factorBytes == 4 ? machine.float32Lanes
                                                     : machine.float64Lanes;
    double macs = side * side * terms * (isStructured ? 0.5 : 1);
    double multiplied = macs / static_cast<double>(macsOfCycle);
    // A warp has 32 columns, and 64 or 32 rows.
    constexpr double warpColumns = 32, bankBytes = 128;
    double warpRows = isLarge ? 64 : 32;
    double shared = side * side * terms *
                    (stored / warpColumns + bytes / warpRows) / bankBytes;
    double l2 = side * terms * (stored + bytes) / machine.l2BytesPerCycle;
    double cycles = max(max(multiplied, shared), l2);
    double moved =
        count(product.m, product.k) * stored +
        count(product.k, product.n) * bytes +
        count(product.m, product.n) * static_cast<double>(product.resultBytes);
    return GPUMachine::launchSeconds +
           max(static_cast<double>(waves) * cycles / getCycles(),
               moved / getDramRate());
  }

  /// A warp for each element of the result.
  constexpr double estimateLoops() const {
    // Of the warp for a stored term, as the emulator counts.
    double instructions = product.areRowsShared ? 1.2 : 20;
    double issued = issue(count(product.m, product.n) *
                          static_cast<double>(product.k) / 2 * instructions);
    double moved =
        count(product.m, product.k) * getStoredBytes() +
        count(product.k, product.n) * static_cast<double>(product.factorBytes);
    return GPUMachine::launchSeconds + max(issued, moved / getDramRate());
  }

  const GPUMachine &machine;
  const DeviceProduct24 &product;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_DEVICEPRODUCT24COST_H
