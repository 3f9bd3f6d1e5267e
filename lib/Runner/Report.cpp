//===- Report.cpp - what a run cost ---------------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/JustInTime/JustInTime.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>

using namespace sparse_autograd;

/// The value that a share of `sorted` does not exceed.
static double quantile(const std::vector<double> &sorted, double share) {
  if (sorted.empty())
    return 0;
  size_t index = static_cast<size_t>(share * (sorted.size() - 1) + 0.5);
  return sorted[index];
}

void Report::addStorage(llvm::ArrayRef<Value> values) {
  for (const Value &value : values) {
    if (!value.isSparse())
      continue;
    auto [count, bytes] = value.countStored();
    storage.push_back({value.getType().name, count, bytes});
  }
}

void Report::write(llvm::raw_ostream &stream, ReportFormat format) const {
  if (format == ReportFormat::None)
    return;
  SparseAutogradCounters counters;
  sparseAutogradGetCounters(&counters);
  std::vector<double> sorted(callSeconds);
  std::sort(sorted.begin(), sorted.end());
  llvm::json::Object report{
      {"compilations",
       static_cast<int64_t>(ExecutionEngine::getCompilationCount())},
      {"cache_hits", static_cast<int64_t>(getCacheHitCount())},
      {"compile_seconds", compileSeconds},
      {"calls", static_cast<int64_t>(sorted.size())},
      {"call_seconds_median", quantile(sorted, 0.5)},
      {"call_seconds_p99", quantile(sorted, 0.99)},
      {"allocations", counters.allocations},
      {"allocated_bytes", counters.allocatedBytes},
      {"peak_live_bytes", counters.peakLiveBytes},
      {"live_blocks", counters.liveBlocks},
      {"pool_hits", counters.poolHits},
      {"parallel_regions", counters.parallelRegions},
      {"threads", sparseAutogradGetThreadCount()}};
  if (!storage.empty()) {
    llvm::json::Array stored;
    for (const Storage &tensor : storage)
      stored.push_back(llvm::json::Object{{"name", tensor.name},
                                          {"values", tensor.values},
                                          {"bytes", tensor.bytes}});
    report["stored"] = std::move(stored);
  }
  if (device)
    report["device"] =
        llvm::json::Object{{"launches", device->launches},
                           {"library_products", device->libraryProducts},
                           {"bytes_copied_in", device->bytesCopiedIn},
                           {"bytes_copied_out", device->bytesCopiedOut},
                           {"waits", device->waits},
                           {"peak_live_bytes", device->peakLiveBytes}};
  if (format == ReportFormat::Json) {
    stream << llvm::json::Value(std::move(report)) << "\n";
    return;
  }
  stream << llvm::formatv("compilations {0}, cache hits {1}, {2:f3} s\n",
                          ExecutionEngine::getCompilationCount(),
                          getCacheHitCount(), compileSeconds)
         << llvm::formatv("calls {0}, median {1:f6} s, p99 {2:f6} s\n",
                          sorted.size(), quantile(sorted, 0.5),
                          quantile(sorted, 0.99))
         << llvm::formatv("allocations {0}, {1} bytes, peak {2} bytes\n",
                          counters.allocations, counters.allocatedBytes,
                          counters.peakLiveBytes);
  if (device)
    stream << llvm::formatv("device: launches {0}, library products {1}, "
                            "copied {2} bytes in, {3} bytes out, waits {4}, "
                            "peak {5} bytes\n",
                            device->launches, device->libraryProducts,
                            device->bytesCopiedIn, device->bytesCopiedOut,
                            device->waits, device->peakLiveBytes);
  for (const Storage &tensor : storage)
    stream << llvm::formatv("{0} stores {1} values in {2} bytes\n", tensor.name,
                            tensor.values, tensor.bytes);
}
