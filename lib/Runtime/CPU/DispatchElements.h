//===- DispatchElements.h - Integers of the size of elements ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of the runtime that move elements, whatever these are, take their
// size in bytes. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DISPATCHELEMENTS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DISPATCHELEMENTS_H

#include "SparseAutograd/Runtime/CompilerABI.h"

namespace sparse_autograd {
namespace runtime {

/// Calls `function` with a null pointer to the first of the integers `T`,
/// `More` that has `bytes` bytes; raises SPARSE_AUTOGRAD_INVALID_ARGUMENT if
/// none has.
template <typename T, typename... More, typename Function>
auto dispatchElements(int64_t bytes, const Function &function) {
  if (bytes == static_cast<int64_t>(sizeof(T)))
    return function(static_cast<T *>(nullptr));
  if constexpr (sizeof...(More) != 0)
    return dispatchElements<More...>(bytes, function);
  else
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "this operation takes no elements of {} bytes", 1, &bytes);
}

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DISPATCHELEMENTS_H
