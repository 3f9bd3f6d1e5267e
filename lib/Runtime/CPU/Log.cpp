//===- Log.cpp - Progress lines ---------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sparseAutogradLog and the default handler.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "ThreadState.h"

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>

namespace sparse_autograd {
namespace runtime {

static std::mutex handlerLock;
static SparseAutogradLogHandler currentHandler = nullptr;
static void *currentUserData = nullptr;
static std::atomic<int32_t> significantDigits{6};

/// Writes one number. std::to_chars, unlike printf, ignores the locale.
static void printValue(std::FILE *file, int8_t kind,
                       SparseAutogradLogValue value) {
  char text[64];
  std::to_chars_result result = {text, std::errc()};
  if (kind == SPARSE_AUTOGRAD_LOG_INTEGER)
    result = std::to_chars(text, text + sizeof(text), value.integer);
  else if (std::isnan(value.floating))
    // The sign of a NaN says nothing.
    result.ptr = text + std::snprintf(text, sizeof(text), "nan");
  else
    result = std::to_chars(text, text + sizeof(text), value.floating,
                           std::chars_format::general,
                           significantDigits.load(std::memory_order_relaxed));
  std::fwrite(text, 1, result.ptr - text, file);
}

/// The default handler: `epoch 12  train RMSE 0.8123`.
static void printRecord(const SparseAutogradLogRecord &record) {
  std::FILE *file = stdout;
  // Lines of two threads do not mix.
  flockfile(file);
  for (int64_t i = 0; i < record.count; ++i) {
    if (i)
      std::fputs("  ", file);
    std::fputs(record.names[i], file);
    std::fputc(' ', file);
    printValue(file, record.kinds[i], record.values[i]);
  }
  std::fputc('\n', file);
  std::fflush(file);
  funlockfile(file);
}

static int32_t handleRecord(const SparseAutogradLogRecord &record) {
  SparseAutogradLogHandler handler = nullptr;
  void *userData = nullptr;
  {
    std::lock_guard<std::mutex> guard(handlerLock);
    handler = currentHandler;
    userData = currentUserData;
  }
  if (handler)
    return handler(&record, userData);
  printRecord(record);
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

void sparseAutogradSetLogHandler(SparseAutogradLogHandler handler,
                                 void *userData) {
  std::lock_guard<std::mutex> guard(handlerLock);
  currentHandler = handler;
  currentUserData = handler ? userData : nullptr;
}

void sparseAutogradSetLogPrecision(int32_t digits) {
  if (digits < 1)
    digits = 1;
  if (digits > 17)
    digits = 17;
  significantDigits.store(digits, std::memory_order_relaxed);
}

void sparseAutogradLog(int64_t count, const char *const *names,
                       const int8_t *kinds,
                       const SparseAutogradLogValue *values) {
  SparseAutogradLogRecord record = {count, names, kinds, values};
  int32_t status = handleRecord(record);
  if (status)
    sparseAutogradRaise(status, "stopped by the log handler");
}
