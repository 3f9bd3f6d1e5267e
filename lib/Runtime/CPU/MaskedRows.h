//===- MaskedRows.h - rows without what a mask leaves out -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sparseAutogradCompressRow and sparseAutogradExpandRow do, by the
// instructions that a processor has. All of them write the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_MASKEDROWS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_MASKEDROWS_H

#include <cstdint>

namespace sparse_autograd {
namespace runtime {

enum class VectorInstructions { none, avx2, avx512 };

/// The best that this processor has.
VectorInstructions getVectorInstructions();

/// sparseAutogradCompressRow by `instructions`, which the processor has.
int64_t compressRow(VectorInstructions instructions, void *destination,
                    const void *source, const uint8_t *mask, int64_t count,
                    int64_t elementBytes);

/// sparseAutogradExpandRow by `instructions`, which the processor has; past the
/// caches if `isLarge`.
void expandRow(VectorInstructions instructions, void *destination,
               const void *source, const uint8_t *mask, int64_t count,
               int64_t elementBytes, bool isLarge);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_MASKEDROWS_H
