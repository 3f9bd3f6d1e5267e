//===- LogTest.cpp - Progress lines -----------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <string>
#include <vector>

namespace {
struct Item {
  const char *name;
  int8_t kind;
  SparseAutogradLogValue value;
};

Item number(const char *name, int64_t value) {
  Item item = {name, SPARSE_AUTOGRAD_LOG_INTEGER, {}};
  item.value.integer = value;
  return item;
}

Item number(const char *name, double value) {
  Item item = {name, SPARSE_AUTOGRAD_LOG_FLOAT, {}};
  item.value.floating = value;
  return item;
}

int32_t log(const std::vector<Item> &items) {
  std::vector<const char *> names;
  std::vector<int8_t> kinds;
  std::vector<SparseAutogradLogValue> values;
  for (const Item &item : items) {
    names.push_back(item.name);
    kinds.push_back(item.kind);
    values.push_back(item.value);
  }
  return runEntry([&] {
    sparseAutogradLog(static_cast<int64_t>(items.size()), names.data(),
                      kinds.data(), values.data());
  });
}

std::string printed(const std::vector<Item> &items) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(log(items), SPARSE_AUTOGRAD_SUCCESS);
  return testing::internal::GetCapturedStdout();
}
} // namespace

TEST(Log, DefaultLine) {
  EXPECT_EQ(printed({number("epoch", int64_t(12)), number("train RMSE", 0.8123),
                     number("held-out RMSE", 0.8812345678)}),
            "epoch 12  train RMSE 0.8123  held-out RMSE 0.881235\n");
  EXPECT_EQ(printed({}), "\n");
}

TEST(Log, SpecialValues) {
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(printed({number("a", infinity), number("b", -infinity),
                     number("c", nan), number("d", -nan), number("e", -0.0),
                     number("f", 1e300), number("g", INT64_MIN)}),
            "a inf  b -inf  c nan  d nan  e -0  f 1e+300  g "
            "-9223372036854775808\n");
}

TEST(Log, Precision) {
  sparseAutogradSetLogPrecision(17);
  EXPECT_EQ(printed({number("x", 0.1)}), "x 0.10000000000000001\n");
  sparseAutogradSetLogPrecision(100);
  EXPECT_EQ(printed({number("x", 0.1)}), "x 0.10000000000000001\n");
  sparseAutogradSetLogPrecision(0);
  EXPECT_EQ(printed({number("x", 0.16)}), "x 0.2\n");
  sparseAutogradSetLogPrecision(6);
}

TEST(Log, LocaleHasNoInfluence) {
  if (!std::setlocale(LC_NUMERIC, "de_DE.UTF-8") &&
      !std::setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  std::string line = printed({number("x", 0.5)});
  std::setlocale(LC_NUMERIC, "C");
  EXPECT_EQ(line, "x 0.5\n");
}

TEST(Log, HandlerReceivesTheRecord) {
  std::vector<std::string> seen;
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *record, void *userData) -> int32_t {
        auto &seen = *static_cast<std::vector<std::string> *>(userData);
        for (int64_t i = 0; i < record->count; ++i)
          seen.push_back(std::string(record->names[i]) + "=" +
                         (record->kinds[i] == SPARSE_AUTOGRAD_LOG_INTEGER
                              ? std::to_string(record->values[i].integer)
                              : std::to_string(record->values[i].floating)));
        return SPARSE_AUTOGRAD_SUCCESS;
      },
      &seen);
  EXPECT_EQ(printed({number("epoch", int64_t(3)), number("loss", 0.25)}), "");
  sparseAutogradSetLogHandler(nullptr, nullptr);
  EXPECT_EQ(seen, (std::vector<std::string>{"epoch=3", "loss=0.250000"}));
  EXPECT_EQ(printed({number("epoch", int64_t(4))}), "epoch 4\n");
}

TEST(Log, HandlerStopsTheEntry) {
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *, void *) -> int32_t {
        return SPARSE_AUTOGRAD_CANCELLED;
      },
      nullptr);
  EXPECT_EQ(log({number("epoch", int64_t(1))}), SPARSE_AUTOGRAD_CANCELLED);
  EXPECT_STREQ(sparseAutogradLastError(), "stopped by the log handler");
  sparseAutogradSetLogHandler(nullptr, nullptr);
}

TEST(Log, HandlerCallsAnEntry) {
  int32_t inner = -1;
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *, void *userData) -> int32_t {
        *static_cast<int32_t *>(userData) = runEntry([] {
          sparseAutogradAllocate(10);
          sparseAutogradRaise(3, "inner");
        });
        return SPARSE_AUTOGRAD_SUCCESS;
      },
      &inner);
  EXPECT_EQ(log({number("epoch", int64_t(1))}), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(inner, 3);
  sparseAutogradSetLogHandler(nullptr, nullptr);
}
