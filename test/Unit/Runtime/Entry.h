//===- Entry.h - Entries and loops out of lambdas ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_ENTRY_H
#define SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_ENTRY_H

#include "SparseAutograd/Runtime/CompilerABI.h"

#include <type_traits>

/// Runs `body()` as compiled code under a guard. A body that raises holds
/// nothing with a destructor, as compiled code does not.
template <typename Body>
int32_t runEntry(Body &&body) {
  void *arguments[] = {&body};
  return sparseAutogradGuard(
      [](void *const *arguments, void *const *) {
        (*static_cast<std::remove_reference_t<Body> *>(arguments[0]))();
      },
      arguments, nullptr);
}

/// Runs `body(begin, end)` over the chunks.
template <typename Body>
void parallelFor(int64_t count, int64_t grain, Body &&body) {
  sparseAutogradParallelFor(
      count, grain,
      [](void *environment, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<Body> *>(environment))(begin,
                                                                     end);
      },
      &body);
}

inline SparseAutogradCounters counters() {
  SparseAutogradCounters result;
  sparseAutogradGetCounters(&result);
  return result;
}

/// A setting of the number of threads that ends with its scope.
struct ThreadCount {
  explicit ThreadCount(int32_t threads) {
    sparseAutogradSetThreadCount(threads);
  }
  ~ThreadCount() { sparseAutogradSetThreadCount(0); }
};

#endif // SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_ENTRY_H
