//===- FusedRowsTest.cpp - forward and backward over rows in one loop -----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each masked operation over the rows of a matrix, with its gradient, at sizes
// on both sides of every vector, block and chunk, against a reference in double
// precision that follows docs/semantics.md; and the same bits on any number of
// threads.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What is known of one row: its value and the gradient of that, times `ct`.
struct Row {
  double value;
  std::vector<double> gradient;
};

/// Bits tell apart what compares equal: two zeros.
std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits;
  for (float value : values)
    bits.push_back(llvm::bit_cast<uint32_t>(value));
  return bits;
}

/// Calls `f`, on one thread and on more, which have to give the same bits.
/// Leaves `values` and `gradients` empty if a call fails.
void callOnThreads(Program &program, Array<float> &x, Array<uint8_t> &mask,
                   Array<float> &ct, unsigned valueRank,
                   std::vector<float> &values, std::vector<float> &gradients) {
  for (int32_t threads : {1, 2, 3}) {
    sparseAutogradSetThreadCount(threads);
    Result<float> value(valueRank), gradient(2);
    int32_t status = program.call(
        "f", {x.getDescriptor(), mask.getDescriptor(), ct.getDescriptor()},
        {value.getDescriptor(), gradient.getDescriptor()});
    sparseAutogradSetThreadCount(0);
    ASSERT_EQ(status, 0) << sparseAutogradLastError();
    if (threads == 1) {
      values = value.toVector();
      gradients = gradient.toVector();
      continue;
    }
    EXPECT_EQ(bitsOf(value.toVector()), bitsOf(values));
    EXPECT_EQ(bitsOf(gradient.toVector()), bitsOf(gradients));
  }
}

using Reference = std::function<Row(const std::vector<double> &x,
                                    const std::vector<bool> &m, double ct)>;

Row meanOf(const std::vector<double> &x, const std::vector<bool> &m,
           double ct) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (m[i]) {
      sum += x[i];
      ++count;
    }
  Row row = {count ? sum / count : 0, std::vector<double>(x.size(), 0)};
  for (size_t i = 0; i < x.size(); ++i)
    if (m[i])
      row.gradient[i] = ct / count;
  return row;
}

/// The largest element of a row without NaN.
double maximum(const std::vector<double> &x, const std::vector<bool> &m) {
  double largest = -infinity;
  for (size_t i = 0; i < x.size(); ++i)
    if (m[i] && x[i] > largest)
      largest = x[i];
  return largest;
}

Row maxOf(const std::vector<double> &x, const std::vector<bool> &m, double ct) {
  double largest = maximum(x, m);
  bool hasNaN = false;
  for (size_t i = 0; i < x.size(); ++i)
    hasNaN |= m[i] && std::isnan(x[i]);
  auto isTie = [&](size_t i) {
    return m[i] && (hasNaN ? std::isnan(x[i]) : x[i] == largest);
  };
  int64_t ties = 0;
  for (size_t i = 0; i < x.size(); ++i)
    ties += isTie(i);
  Row row = {hasNaN ? std::nan("") : largest, std::vector<double>(x.size(), 0)};
  for (size_t i = 0; i < x.size(); ++i)
    if (isTie(i))
      row.gradient[i] = ct / ties;
  return row;
}

Row minOf(const std::vector<double> &x, const std::vector<bool> &m, double ct) {
  std::vector<double> negative(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    negative[i] = -x[i];
  Row row = maxOf(negative, m, ct);
  row.value = -row.value;
  return row;
}

Row logSumExpOf(const std::vector<double> &x, const std::vector<bool> &m,
                double ct) {
  double largest = maximum(x, m);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (m[i])
      sum += std::exp(x[i] - largest);
  Row row = {largest == -infinity ? -infinity : largest + std::log(sum),
             std::vector<double>(x.size(), 0)};
  for (size_t i = 0; i < x.size(); ++i)
    if (m[i])
      row.gradient[i] = ct * std::exp(x[i] - row.value);
  return row;
}

struct Shape {
  int64_t rows, columns;
};

/// Nothing, one, a vector and its neighbours, rows that fill a block alone and
/// ones of which it holds many.
constexpr Shape shapes[] = {
    {0, 0},    {0, 5},    {5, 0},    {1, 1},    {1, 2},    {2, 1},
    {3, 3},    {4, 5},    {7, 8},    {8, 7},    {31, 32},  {33, 31},
    {1, 127},  {5, 128},  {129, 3},  {64, 64},  {3, 1000}, {1030, 4},
    {2050, 2}, {2, 4095}, {3, 4096}, {2, 4097}, {1, 9000}};

Array<float> makeValues(Shape shape, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  Array<float> values({shape.rows, shape.columns});
  for (int64_t i = 0; i < values.count(); ++i)
    // Few different values, so that there are ties.
    values[i] = std::round(8 * normal(generator)) / 8;
  return values;
}

Array<uint8_t> makeMask(Shape shape, double density, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::bernoulli_distribution selected(density);
  Array<uint8_t> mask({shape.rows, shape.columns});
  for (int64_t i = 0; i < mask.count(); ++i)
    mask[i] = selected(generator);
  return mask;
}

void expectClose(double got, double wanted, double terms) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << got;
    return;
  }
  if (std::isinf(wanted)) {
    EXPECT_EQ(got, wanted);
    return;
  }
  // A sum of `terms` roundings of f32 and a few of the operations around it.
  double bound = (terms + 8) * std::ldexp(1.0, -23);
  EXPECT_LE(std::abs(got - wanted), bound * std::max(1.0, std::abs(wanted)));
}

class FusedRows
    : public testing::TestWithParam<std::tuple<const char *, Reference, bool>> {
protected:
  static std::string getSource(std::string kind) {
    std::string source = R"mlir(
      func.func private @rows(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?xf32> {
        %r = sparse_autograd.masked_reduce KIND %x, %m dims = [1]
            : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
        return %r : tensor<?xf32>
      }
      func.func @f(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %ct: tensor<?xf32>)
          -> (tensor<?xf32>, tensor<?x?xf32>) {
        %r, %dx = sparse_autograd.vjp @rows(%x, %m) cotangents(%ct) {wrt = [0]}
            : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?xf32>)
              -> (tensor<?xf32>, tensor<?x?xf32>)
        return %r, %dx : tensor<?xf32>, tensor<?x?xf32>
      })mlir";
    return source.replace(source.find("KIND"), 4, kind);
  }
};

TEST_P(FusedRows, matchesReference) {
  auto [kind, reference, takesNaN] = GetParam();
  Program program(getSource(kind));
  ASSERT_EQ(program.error, "");
  uint64_t seed = 1;
  for (Shape shape : shapes)
    for (double density : {0.0, 0.01, 0.5, 1.0}) {
      SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns
                                      << ", density " << density);
      Array<float> x = makeValues(shape, ++seed);
      Array<uint8_t> mask = makeMask(shape, density, ++seed);
      // What is masked out is poison; a few selected NaN where the reference
      // knows what they give.
      for (int64_t i = 0; i < x.count(); ++i)
        if (!mask[i])
          x[i] = i % 2 ? std::nanf("") : HUGE_VALF;
        else if (takesNaN && i % 997 == 5)
          x[i] = std::copysign(std::nanf(""), i % 2 ? 1.f : -1.f);
      Array<float> ct({shape.rows});
      for (int64_t i = 0; i < shape.rows; ++i)
        ct[i] = 1 + i % 3;

      std::vector<float> values, gradients;
      callOnThreads(program, x, mask, ct, /*valueRank=*/1, values, gradients);
      ASSERT_EQ(static_cast<int64_t>(values.size()), shape.rows);
      ASSERT_EQ(static_cast<int64_t>(gradients.size()), x.count());
      for (int64_t row = 0; row < shape.rows; ++row) {
        std::vector<double> elements(shape.columns);
        std::vector<bool> selected(shape.columns);
        for (int64_t i = 0; i < shape.columns; ++i) {
          elements[i] = x[row * shape.columns + i];
          selected[i] = mask[row * shape.columns + i];
        }
        Row wanted = reference(elements, selected, ct[row]);
        expectClose(values[row], wanted.value, shape.columns);
        for (int64_t i = 0; i < shape.columns; ++i) {
          float got = gradients[row * shape.columns + i];
          if (selected[i])
            expectClose(got, wanted.gradient[i], shape.columns);
          else
            EXPECT_EQ(got, 0.0f) << "at an element that is masked out";
        }
        ASSERT_FALSE(HasFailure()) << "row " << row;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FusedRows,
    testing::Values(std::tuple("mean", Reference(meanOf), false),
                    std::tuple("max", Reference(maxOf), true),
                    std::tuple("min", Reference(minOf), true),
                    std::tuple("logsumexp", Reference(logSumExpOf), false)),
    [](const auto &info) { return std::string(std::get<0>(info.param)); });

TEST(FusedSoftmax, matchesReference) {
  Program program(R"mlir(
    func.func private @rows(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
      %y = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
      return %y : tensor<?x?xf32>
    }
    func.func @f(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %ct: tensor<?x?xf32>)
        -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %y, %dx = sparse_autograd.vjp @rows(%x, %m) cotangents(%ct) {wrt = [0]}
          : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?x?xf32>)
            -> (tensor<?x?xf32>, tensor<?x?xf32>)
      return %y, %dx : tensor<?x?xf32>, tensor<?x?xf32>
    })mlir");
  ASSERT_EQ(program.error, "");
  uint64_t seed = 1;
  for (Shape shape : shapes)
    for (double density : {0.0, 0.01, 0.5, 1.0}) {
      SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns
                                      << ", density " << density);
      Array<float> x = makeValues(shape, ++seed),
                   ct = makeValues(shape, ++seed);
      Array<uint8_t> mask = makeMask(shape, density, ++seed);
      for (int64_t i = 0; i < x.count(); ++i)
        if (!mask[i])
          x[i] = ct[i] = i % 2 ? std::nanf("") : HUGE_VALF;
      std::vector<float> y, dx;
      callOnThreads(program, x, mask, ct, /*valueRank=*/2, y, dx);
      ASSERT_EQ(static_cast<int64_t>(y.size()), x.count());
      ASSERT_EQ(static_cast<int64_t>(dx.size()), x.count());
      for (int64_t row = 0; row < shape.rows; ++row) {
        int64_t begin = row * shape.columns, end = begin + shape.columns;
        double largest = -infinity, sum = 0, dot = 0;
        for (int64_t i = begin; i < end; ++i)
          if (mask[i])
            largest = std::max<double>(largest, x[i]);
        for (int64_t i = begin; i < end; ++i)
          if (mask[i])
            sum += std::exp(x[i] - largest);
        for (int64_t i = begin; i < end; ++i)
          if (mask[i])
            dot += std::exp(x[i] - largest) / sum * ct[i];
        for (int64_t i = begin; i < end; ++i) {
          if (!mask[i]) {
            EXPECT_EQ(y[i], 0.0f);
            EXPECT_EQ(dx[i], 0.0f);
            continue;
          }
          double wanted = std::exp(x[i] - largest) / sum;
          expectClose(y[i], wanted, shape.columns);
          expectClose(dx[i], wanted * (ct[i] - dot), 4 * shape.columns);
        }
        ASSERT_FALSE(HasFailure()) << "row " << row;
      }
    }
}

} // namespace
