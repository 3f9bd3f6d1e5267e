//===- ProgramTest.cpp - compiled programs give the right numbers ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <cmath>
#include <gtest/gtest.h>

namespace {

/// Values that are exact in float, so that sums have no rounding error up to
/// 2^24 and any order of summation gives the same.
template <typename T>
Array<T> makeArray(std::vector<int64_t> shape, int64_t seed) {
  Array<T> array(shape);
  uint64_t state = 0x9e3779b97f4a7c15ull * (seed + 1);
  for (int64_t i = 0; i < array.count(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    array[i] = static_cast<T>(static_cast<int64_t>(state >> 60) - 8);
  }
  return array;
}

Array<uint8_t> makeMask(std::vector<int64_t> shape, int64_t seed) {
  Array<float> numbers = makeArray<float>(shape, seed);
  Array<uint8_t> mask(shape);
  for (int64_t i = 0; i < mask.count(); ++i)
    mask[i] = numbers[i] > 0;
  return mask;
}

TEST(Program, matmulBiasReluRowSum) {
  Program program(R"mlir(
    func.func @layer(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?xf32>)
        -> (tensor<?x?xf32>, tensor<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %m = tensor.dim %x, %c0 : tensor<?x?xf32>
      %n = tensor.dim %w, %c1 : tensor<?x?xf32>
      %e = tensor.empty(%m, %n) : tensor<?x?xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
      %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>)
                         outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
              affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}
          ins(%p, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %s = arith.addf %a, %c : f32
        %r = arith.maximumf %s, %zero : f32
        linalg.yield %r : f32
      } -> tensor<?x?xf32>
      %re = tensor.empty(%m) : tensor<?xf32>
      %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
      %sum = linalg.reduce ins(%y : tensor<?x?xf32>) outs(%rf : tensor<?xf32>)
          dimensions = [1] (%in: f32, %acc: f32) {
        %s = arith.addf %in, %acc : f32
        linalg.yield %s : f32
      }
      return %y, %sum : tensor<?x?xf32>, tensor<?xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  for (auto [m, k, n] : {std::array<int64_t, 3>{3, 4, 5},
                         {129, 33, 65},
                         {0, 3, 4},
                         {3, 0, 4},
                         {3, 4, 0},
                         {1, 1, 1}}) {
    Array<float> x = makeArray<float>({m, k}, 1);
    Array<float> w = makeArray<float>({k, n}, 2);
    Array<float> b = makeArray<float>({n}, 3);
    Result<float> y(2), sum(1);
    ASSERT_EQ(
        program.call("layer",
                     {x.getDescriptor(), w.getDescriptor(), b.getDescriptor()},
                     {y.getDescriptor(), sum.getDescriptor()}),
        0)
        << sparseAutogradLastError();
    ASSERT_EQ(y.size(0), m);
    ASSERT_EQ(y.size(1), n);
    for (int64_t i = 0; i < m; ++i) {
      float total = 0;
      for (int64_t j = 0; j < n; ++j) {
        float value = b[j];
        for (int64_t l = 0; l < k; ++l)
          value += x[i * k + l] * w[l * n + j];
        value = std::max(value, 0.0f);
        ASSERT_EQ(y[i * n + j], value) << i << ", " << j;
        total += value;
      }
      ASSERT_EQ(sum[i], total) << i;
    }
  }
}

/// A function @name: the sums and the numbers of the selected elements for each
/// index of the dimension `kept`.
std::string sumsFor(const std::string &name, unsigned kept) {
  std::string map = kept == 0 ? "#i" : "#j";
  std::string iterators =
      kept == 0 ? R"("parallel", "reduction")" : R"("reduction", "parallel")";
  return "func.func @" + name + R"mlir((%x: tensor<?x?xf64>, %m: tensor<?x?xi1>)
      -> (tensor<?xf64>, tensor<?xi64>) {
    %kept = arith.constant )mlir" +
         std::to_string(kept) + R"mlir( : index
    %zero = arith.constant 0.0 : f64
    %none = arith.constant 0 : i64
    %d = tensor.dim %x, %kept : tensor<?x?xf64>
    %e = tensor.empty(%d) : tensor<?xf64>
    %ei = tensor.empty(%d) : tensor<?xi64>
    %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<?xi64>) -> tensor<?xi64>
    %s, %n = linalg.generic {indexing_maps = [#ij, #ij, )mlir" +
         map + ", " + map + "], iterator_types = [" + iterators + R"mlir(]}
        ins(%x, %m : tensor<?x?xf64>, tensor<?x?xi1>)
        outs(%f, %fi : tensor<?xf64>, tensor<?xi64>) {
    ^bb0(%a: f64, %b: i1, %s: f64, %n: i64):
      %t = arith.addf %s, %a : f64
      %u = arith.select %b, %t, %s : f64
      %o = arith.extui %b : i1 to i64
      %p = arith.addi %n, %o : i64
      linalg.yield %u, %p : f64, i64
    } -> (tensor<?xf64>, tensor<?xi64>)
    return %s, %n : tensor<?xf64>, tensor<?xi64>
  }
)mlir";
}

/// The sum and the number of the selected elements: of all, of rows, of
/// columns.
const std::string maskedSums = R"mlir(
  #ij = affine_map<(i, j) -> (i, j)>
  #i = affine_map<(i, j) -> (i)>
  #j = affine_map<(i, j) -> (j)>
  #all = affine_map<(i, j) -> ()>
  func.func @full(%x: tensor<?x?xf64>, %m: tensor<?x?xi1>) -> (f64, i64) {
    %zero = arith.constant dense<0.0> : tensor<f64>
    %none = arith.constant dense<0> : tensor<i64>
    %s, %n = linalg.generic {indexing_maps = [#ij, #ij, #all, #all],
        iterator_types = ["reduction", "reduction"]}
        ins(%x, %m : tensor<?x?xf64>, tensor<?x?xi1>)
        outs(%zero, %none : tensor<f64>, tensor<i64>) {
    ^bb0(%a: f64, %b: i1, %s: f64, %n: i64):
      %t = arith.addf %s, %a : f64
      %u = arith.select %b, %t, %s : f64
      %o = arith.extui %b : i1 to i64
      %p = arith.addi %n, %o : i64
      linalg.yield %u, %p : f64, i64
    } -> (tensor<f64>, tensor<i64>)
    %0 = tensor.extract %s[] : tensor<f64>
    %1 = tensor.extract %n[] : tensor<i64>
    return %0, %1 : f64, i64
  }
)mlir" + sumsFor("rows", 0) + sumsFor("columns", 1);

TEST(Program, maskedSums) {
  Program program(maskedSums);
  ASSERT_TRUE(program.engine) << program.error;
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{0, 0},
                               {1, 1},
                               {7, 5},
                               {33, 129},
                               {5, 0},
                               {0, 5},
                               {1000, 301},
                               {70000, 3},
                               {2, 70000}}) {
    Array<double> x = makeArray<double>({rows, columns}, 4);
    Array<uint8_t> mask = makeMask({rows, columns}, 5);
    std::vector<double> rowSums(rows), columnSums(columns);
    std::vector<int64_t> rowCounts(rows), columnCounts(columns);
    double total = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        if (!mask[i * columns + j]) {
          // What is not selected must not matter.
          x[i * columns + j] = NAN;
          continue;
        }
        rowSums[i] += x[i * columns + j];
        columnSums[j] += x[i * columns + j];
        total += x[i * columns + j];
        ++rowCounts[i], ++columnCounts[j], ++count;
      }
    double fullSum = -1;
    int64_t fullCount = -1;
    ASSERT_EQ(program.call("full", {x.getDescriptor(), mask.getDescriptor()},
                           {&fullSum, &fullCount}),
              0)
        << sparseAutogradLastError();
    EXPECT_EQ(fullSum, total);
    EXPECT_EQ(fullCount, count);
    {
      Result<double> sums(1);
      Result<int64_t> counts(1);
      ASSERT_EQ(program.call("rows", {x.getDescriptor(), mask.getDescriptor()},
                             {sums.getDescriptor(), counts.getDescriptor()}),
                0);
      EXPECT_EQ(sums.toVector(), rowSums);
      EXPECT_EQ(counts.toVector(), rowCounts);
    }
    {
      Result<double> sums(1);
      Result<int64_t> counts(1);
      ASSERT_EQ(program.call("columns",
                             {x.getDescriptor(), mask.getDescriptor()},
                             {sums.getDescriptor(), counts.getDescriptor()}),
                0);
      EXPECT_EQ(sums.toVector(), columnSums);
      EXPECT_EQ(counts.toVector(), columnCounts);
    }
  }
}

TEST(Program, sameBitsForAnyThreadCount) {
  Program program(maskedSums);
  ASSERT_TRUE(program.engine) << program.error;
  int64_t rows = 999, columns = 777;
  Array<double> x({rows, columns});
  for (int64_t i = 0; i < x.count(); ++i)
    x[i] = std::sin(static_cast<double>(i));
  Array<uint8_t> mask = makeMask({rows, columns}, 6);
  std::vector<double> fulls;
  std::vector<std::vector<double>> allRows, allColumns;
  for (int threads : {1, 2, 3, 8}) {
    sparseAutogradSetThreadCount(threads);
    double sum = 0;
    int64_t count = 0;
    ASSERT_EQ(program.call("full", {x.getDescriptor(), mask.getDescriptor()},
                           {&sum, &count}),
              0);
    fulls.push_back(sum);
    for (auto [name, all] :
         {std::pair("rows", &allRows), std::pair("columns", &allColumns)}) {
      Result<double> sums(1);
      Result<int64_t> counts(1);
      ASSERT_EQ(program.call(name, {x.getDescriptor(), mask.getDescriptor()},
                             {sums.getDescriptor(), counts.getDescriptor()}),
                0);
      all->push_back(sums.toVector());
    }
  }
  sparseAutogradSetThreadCount(0);
  for (size_t i = 1; i < fulls.size(); ++i) {
    EXPECT_EQ(fulls[i], fulls[0]);
    EXPECT_EQ(allRows[i], allRows[0]);
    EXPECT_EQ(allColumns[i], allColumns[0]);
  }
  // The loops did run on several threads.
  SparseAutogradCounters counters;
  sparseAutogradGetCounters(&counters);
  EXPECT_GT(counters.parallelRegions, 0);
}

TEST(Program, trainingLoop) {
  // x <- x - 0.5 (x - t), n times: x = t + 2^-n (x0 - t).
  Program program(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @train(%x0: tensor<?xf64>, %t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %half = arith.constant 0.5 : f64
      %d = tensor.dim %x0, %c0 : tensor<?xf64>
      %e = tensor.empty(%d) : tensor<?xf64>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0) -> tensor<?xf64> {
        %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%x, %t : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) {
        ^bb0(%a: f64, %b: f64, %o: f64):
          %0 = arith.subf %a, %b : f64
          linalg.yield %0 : f64
        } -> tensor<?xf64>
        %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
            ins(%x, %g : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?xf64>) {
        ^bb0(%a: f64, %b: f64, %o: f64):
          %0 = arith.mulf %b, %half : f64
          %1 = arith.subf %a, %0 : f64
          linalg.yield %1 : f64
        } -> tensor<?xf64>
        scf.yield %y : tensor<?xf64>
      }
      return %r : tensor<?xf64>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  Array<double> x = makeArray<double>({1000}, 7),
                t = makeArray<double>({1000}, 8);
  std::vector<double> before = x.data;
  for (int64_t steps : {int64_t(0), int64_t(1), int64_t(20)}) {
    SparseAutogradCounters counters;
    sparseAutogradResetCounters();
    Result<double> result(1);
    ASSERT_EQ(program.call("train",
                           {x.getDescriptor(), t.getDescriptor(), &steps},
                           {result.getDescriptor()}),
              0);
    sparseAutogradGetCounters(&counters);
    for (int64_t i = 0; i < 1000; ++i)
      ASSERT_EQ(result[i], t[i] + std::ldexp(before[i] - t[i], -steps));
    EXPECT_EQ(x.data, before) << "an argument was written";
    EXPECT_EQ(counters.liveBlocks, 1);
    // Memory does not grow with the steps.
    EXPECT_LE(counters.peakLiveBytes, 4 * 1000 * 8);
  }
}

TEST(Program, resultsOwnTheirBuffers) {
  Program program(R"mlir(
    func.func @same(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<2xf32>) {
      %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %x, %x, %c : tensor<?xf32>, tensor<?xf32>, tensor<2xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  Array<float> x({3}, std::vector<float>{1, 2, 3});
  sparseAutogradResetCounters();
  {
    Result<float> a(1), b(1), c(1);
    ASSERT_EQ(
        program.call("same", {x.getDescriptor()},
                     {a.getDescriptor(), b.getDescriptor(), c.getDescriptor()}),
        0);
    EXPECT_EQ(a.toVector(), x.data);
    EXPECT_EQ(b.toVector(), x.data);
    EXPECT_EQ(c.toVector(), (std::vector<float>{1, 2}));
    SparseAutogradCounters counters;
    sparseAutogradGetCounters(&counters);
    EXPECT_EQ(counters.liveBlocks, 3);
  }
  SparseAutogradCounters counters;
  sparseAutogradGetCounters(&counters);
  EXPECT_EQ(counters.liveBlocks, 0);
}

TEST(Program, scalarsAndNames) {
  // Names of the C library are names like any other.
  Program program(R"mlir(
    func.func @exp(%a: f32, %b: i1, %c: i32, %d: index, %e: f64)
        -> (f32, i1, i32, index, f64) {
      %t = arith.constant true
      %nb = arith.xori %b, %t : i1
      %x = math.exp %e : f64
      return %a, %nb, %c, %d, %x : f32, i1, i32, index, f64
    }
    func.func @free(%a: f32) -> f32 {
      return %a : f32
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  float a = 1.5f, ra = 0;
  uint8_t b = 1, rb = 7;
  int32_t c = -3, rc = 0;
  int64_t d = 1ll << 40, rd = 0;
  double e = 1.0, re = 0;
  ASSERT_EQ(
      program.call("exp", {&a, &b, &c, &d, &e}, {&ra, &rb, &rc, &rd, &re}), 0);
  EXPECT_EQ(ra, a);
  EXPECT_EQ(rb, 0);
  EXPECT_EQ(rc, c);
  EXPECT_EQ(rd, d);
  EXPECT_NEAR(re, std::exp(1.0), 1e-15);
  EXPECT_EQ(program.call("free", {&a}, {&ra}), 0);
}

TEST(Program, elementaryFunctionsVectorize) {
  Program program(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%d) : tensor<?xf32>
      %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = math.exp %a : f32
        %1 = math.tanh %0 : f32
        linalg.yield %1 : f32
      } -> tensor<?xf32>
      return %y : tensor<?xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  // The exponential of f32 is no call.
  EXPECT_EQ(program.optimizedIR.find("expf"), std::string::npos);
  EXPECT_EQ(program.optimizedIR.find("llvm.exp."), std::string::npos);
#if defined(__x86_64__)
  EXPECT_NE(program.optimizedIR.find("v_tanhf"), std::string::npos);
#endif
  Array<float> x({70001});
  for (int64_t i = 0; i < x.count(); ++i)
    x[i] = static_cast<float>(i % 2000 - 1000) / 500;
  Result<float> y(1);
  ASSERT_EQ(program.call("f", {x.getDescriptor()}, {y.getDescriptor()}), 0);
  // 4 ulp of exp, of which tanh's derivative passes at most 0.45 on, and 4 ulp
  // of tanh.
  for (int64_t i = 0; i < x.count(); ++i) {
    double exact = std::tanh(std::exp(static_cast<double>(x[i])));
    ASSERT_NEAR(y[i], exact, 8 * 0x1p-23 * exact) << x[i];
  }
}

} // namespace
