//===- RandomNumbers.h - reproducible random numbers ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_RANDOMNUMBERS_H
#define SPARSEAUTOGRAD_LIB_RUNNER_RANDOMNUMBERS_H

#include <cmath>
#include <cstdint>
#include <random>

namespace sparse_autograd {

/// A sequence of random numbers that its seed determines, whatever the standard
/// library: the standard leaves its distributions open.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : engine(seed) {}

  /// The next number of a normal distribution of mean 0 and variance 1, by the
  /// transform of Box and Muller. It is finite.
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

private:
  /// In (0, 1).
  double uniform() {
    return (static_cast<double>(engine() >> 12) + 0.5) * 0x1p-52;
  }

  std::mt19937_64 engine;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_RANDOMNUMBERS_H
