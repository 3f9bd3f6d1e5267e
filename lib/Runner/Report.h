//===- Report.h - what a run cost -------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_REPORT_H
#define SPARSEAUTOGRAD_LIB_RUNNER_REPORT_H

#include "SparseAutograd/Runner/Runner.h"
#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/Runtime/Device.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <optional>

namespace sparse_autograd {

/// Times of compilation and calls, the counters of the runtime, and how much
/// sparse arguments and results store.
class Report {
public:
  /// Runs `compile`, which is one compilation or a part of it.
  template <typename Function>
  auto timeCompilation(Function compile) {
    auto start = std::chrono::steady_clock::now();
    auto result = compile();
    compileSeconds += secondsSince(start);
    return result;
  }

  /// Runs `call`, one call of the entry.
  template <typename Function>
  auto timeCall(Function call) {
    auto start = std::chrono::steady_clock::now();
    auto result = call();
    callSeconds.push_back(secondsSince(start));
    return result;
  }

  /// Counts what the sparse ones among arguments or results store: their values
  /// and the bytes of all their components.
  void addStorage(llvm::ArrayRef<Value> values);

  /// Adds what the runtime has done on devices until now.
  void addDevice() { sparseAutogradGetDeviceCounters(&device.emplace()); }

  void write(llvm::raw_ostream &stream, ReportFormat format) const;

private:
  static double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

  /// What one sparse argument or result stores.
  struct Storage {
    std::string name;
    int64_t values = 0;
    int64_t bytes = 0;
  };

  double compileSeconds = 0;
  std::vector<double> callSeconds;
  std::vector<Storage> storage;
  std::optional<SparseAutogradDeviceCounters> device;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_REPORT_H
