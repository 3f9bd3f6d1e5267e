//===- Csr.h - sparse matrices of benchmarks ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_BENCHMARK_CSR_H
#define SPARSEAUTOGRAD_BENCHMARK_CSR_H

#include <cstdint>

namespace loops {

/// A matrix in CSR, as loops written by hand take it.
struct Csr {
  int32_t rows, columns;
  const int32_t *positions, *coordinates;
  const float *values;
};

} // namespace loops

#endif // SPARSEAUTOGRAD_BENCHMARK_CSR_H
