//===- ProductTest.cpp - Products of matrices by cuBLASLt -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contractions with small whole numbers, so that every sum is exact, by the
// fake library and, loop by loop, here.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <limits>
#include <thread>

namespace {

using Loop = SparseAutogradContractionLoop;
using Loops = std::vector<Loop>;

class Products : public DeviceTest {
protected:
  Variable library{"SPARSE_AUTOGRAD_CUBLASLT", FAKE_DRIVER_PATH};
};
using ProductsDeathTest = Products;

class ProductFailures : public Products,
                        public testing::WithParamInterface<int> {};

template <typename T>
struct Element;
template <>
struct Element<float> {
  static constexpr int32_t kind = SPARSE_AUTOGRAD_TENSOR_F32;
};
template <>
struct Element<double> {
  static constexpr int32_t kind = SPARSE_AUTOGRAD_TENSOR_F64;
};
template <>
struct Element<_Float16> {
  static constexpr int32_t kind = SPARSE_AUTOGRAD_TENSOR_F16;
};

/// A contraction, its operands on the host, and what has become of it.
template <typename Factor, typename Result = Factor>
struct Contraction {
  Loops loops;
  double alpha = 1, beta = 1;
  /// Elements before the first of each operand.
  int64_t offsets[3] = {};
  std::vector<Factor> a, b;
  std::vector<Result> c, expected;
  int32_t done = -1;
  int32_t status = -1;

  explicit Contraction(Loops loops, double alpha = 1, double beta = 1)
      : loops(std::move(loops)), alpha(alpha), beta(beta) {}

  std::vector<Result> &getResult() { return c; }
  void prepare();
  void run();
  /// Whether the library has computed it, to the bit.
  testing::AssertionResult isDone();
};

} // namespace

/// The elements that an operand has, up to the last one.
static int64_t getSize(const Loops &loops, int64_t Loop::*stride) {
  int64_t last = 0;
  for (const Loop &loop : loops)
    last += (loop.extent - 1) * loop.*stride;
  return last < 0 ? 1 : last + 1;
}

/// Calls `visit` with the elements of a, b and c in each iteration.
template <typename Visit>
static void forEachIteration(const Loops &loops, Visit visit, size_t level = 0,
                             int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  if (level == loops.size())
    return visit(a, b, c);
  const Loop &loop = loops[level];
  for (int64_t i = 0; i < loop.extent; ++i)
    forEachIteration(loops, visit, level + 1, a + i * loop.aStride,
                     b + i * loop.bStride, c + i * loop.cStride);
}

template <typename Factor, typename Result>
void Contraction<Factor, Result>::prepare() {
  auto fill = [](auto &numbers, int64_t size, int64_t step) {
    for (int64_t i = 0; i < size; ++i)
      numbers.push_back(static_cast<float>((i * step + 1) % 7 - 3));
  };
  fill(a, offsets[0] + getSize(loops, &Loop::aStride), 3);
  fill(b, offsets[1] + getSize(loops, &Loop::bStride), 5);
  fill(c, offsets[2] + getSize(loops, &Loop::cStride), 2);
  std::vector<double> sums(c.size());
  std::vector<bool> written(c.size());
  forEachIteration(loops, [&](int64_t i, int64_t j, int64_t k) {
    k += offsets[2];
    sums[k] += static_cast<double>(a[offsets[0] + i]) *
               static_cast<double>(b[offsets[1] + j]);
    written[k] = true;
  });
  expected = c;
  for (size_t i = 0; i < c.size(); ++i)
    if (written[i])
      expected[i] = static_cast<Result>(alpha * sums[i] +
                                        beta * static_cast<double>(c[i]));
}

template <typename Factor, typename Result>
void Contraction<Factor, Result>::run() {
  auto bytesOf = [](const auto &numbers) {
    return static_cast<int64_t>(numbers.size() * sizeof(numbers[0]));
  };
  status = runEntry([&] {
    auto *onDeviceA =
        static_cast<Factor *>(sparseAutogradDeviceAllocate(bytesOf(a)));
    auto *onDeviceB =
        static_cast<Factor *>(sparseAutogradDeviceAllocate(bytesOf(b)));
    auto *onDeviceC =
        static_cast<Result *>(sparseAutogradDeviceAllocate(bytesOf(c)));
    sparseAutogradDeviceCopyIn(onDeviceA, a.data(), bytesOf(a));
    sparseAutogradDeviceCopyIn(onDeviceB, b.data(), bytesOf(b));
    sparseAutogradDeviceCopyIn(onDeviceC, c.data(), bytesOf(c));
    done = sparseAutogradDeviceContract(
        Element<Factor>::kind, Element<Result>::kind,
        static_cast<int64_t>(loops.size()), loops.data(), alpha,
        onDeviceA + offsets[0], onDeviceB + offsets[1], beta,
        onDeviceC + offsets[2]);
    sparseAutogradDeviceCopyOut(c.data(), onDeviceC, bytesOf(c));
    sparseAutogradDeviceDeallocate(onDeviceA);
    sparseAutogradDeviceDeallocate(onDeviceB);
    sparseAutogradDeviceDeallocate(onDeviceC);
  });
}

template <typename Factor, typename Result>
testing::AssertionResult Contraction<Factor, Result>::isDone() {
  prepare();
  run();
  if (status)
    return testing::AssertionFailure() << lastError();
  if (done != 1)
    return testing::AssertionFailure() << "not done";
  for (size_t i = 0; i < c.size(); ++i)
    if (c[i] != expected[i])
      return testing::AssertionFailure()
             << "element " << i << " is " << static_cast<double>(c[i])
             << ", not " << static_cast<double>(expected[i]);
  return testing::AssertionSuccess();
}

/// Whether it is left to the program, and nothing has happened.
template <typename Factor, typename Result = Factor>
static testing::AssertionResult isLeft(Loops loops) {
  Contraction<Factor, Result> contraction(std::move(loops));
  contraction.prepare();
  std::vector<Result> before = contraction.c;
  contraction.run();
  if (contraction.status)
    return testing::AssertionFailure() << lastError();
  if (contraction.done != 0 || contraction.c != before ||
      deviceCounters().libraryProducts != 0)
    return testing::AssertionFailure() << "it was done";
  return testing::AssertionSuccess();
}

/// The loops of matrices without gaps, each by rows or, transposed, by columns.
static Loops product(int64_t m, int64_t n, int64_t k, bool aTransposed = false,
                     bool bTransposed = false, bool cTransposed = false) {
  return {{m, aTransposed ? 1 : k, 0, cTransposed ? 1 : n},
          {n, 0, bTransposed ? k : 1, cTransposed ? m : 1},
          {k, aTransposed ? m : 1, bTransposed ? 1 : n, 0}};
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

TEST_F(Products, OfMatricesByRowsAndByColumns) {
  for (int order = 0; order < 8; ++order) {
    SCOPED_TRACE(order);
    for (auto [m, n, k] :
         {std::tuple(3, 4, 5), std::tuple(7, 2, 3), std::tuple(1, 4, 5),
          std::tuple(3, 1, 5), std::tuple(3, 4, 1), std::tuple(1, 1, 6),
          std::tuple(1, 1, 1)}) {
      Loops loops = product(m, n, k, order & 1, order & 2, order & 4);
      EXPECT_TRUE(Contraction<float>(loops).isDone()) << m << n << k;
      EXPECT_TRUE(Contraction<double>(loops).isDone()) << m << n << k;
    }
  }
  EXPECT_GT(deviceCounters().libraryProducts, 0);
  EXPECT_EQ(deviceCounters().launches, 0);
}

TEST_F(Products, OfNarrowNumbers) {
  EXPECT_TRUE((Contraction<_Float16, float>(product(3, 4, 5)).isDone()));
}

TEST_F(Products, Scaled) {
  EXPECT_TRUE(Contraction<float>(product(3, 4, 5), -2, 1).isDone());
  EXPECT_TRUE(Contraction<double>(product(3, 4, 5), 0.5, -1).isDone());
  // What is overwritten is not read.
  Contraction<float> overwritten(product(3, 4, 5), 3, 0);
  overwritten.prepare();
  for (float &number : overwritten.c)
    number = std::numeric_limits<float>::quiet_NaN();
  overwritten.run();
  EXPECT_EQ(overwritten.c, overwritten.expected);
}

TEST_F(Products, OfPartsOfMatrices) {
  // Rows and columns of larger ones.
  Contraction<float> parts({{3, 9, 0, 7}, {4, 0, 1, 1}, {5, 1, 8, 0}});
  parts.offsets[0] = 1;
  parts.offsets[1] = 2;
  parts.offsets[2] = 3;
  EXPECT_TRUE(parts.isDone());
}

TEST_F(Products, OfManyMatrices) {
  // One after another, with the same right factor for all, and the heads of
  // attention: two loops that no operand has as one.
  EXPECT_TRUE(Contraction<float>(
                  {{6, 15, 20, 12}, {3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}})
                  .isDone());
  EXPECT_EQ(fake_driver::countCalls("cublasLtMatmul"), 1);
  // batch 2, heads 3, queries 4, keys 5, depth 6: q[b, s, h, d].
  EXPECT_TRUE(Contraction<float>({{2, 72, 90, 60},
                                  {3, 6, 6, 20},
                                  {4, 18, 0, 5},
                                  {5, 0, 18, 1},
                                  {6, 1, 1, 0}})
                  .isDone());
  EXPECT_EQ(fake_driver::countCalls("cublasLtMatmul"), 3);
  EXPECT_EQ(deviceCounters().libraryProducts, 2);
}

TEST_F(Products, OfLoopsThatAreOne) {
  // x[b, s, k] w[k, n]: the rows of all batches are rows of one matrix, in any
  // order of the loops.
  Loops loops = {{2, 15, 0, 12}, {3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Contraction<double>(loops).isDone());
    std::rotate(loops.begin(), loops.begin() + 1, loops.end());
  }
  // So are sums over two lists of terms, and three loops of batches.
  EXPECT_TRUE(Contraction<double>(
                  {{3, 6, 0, 4}, {4, 0, 1, 1}, {2, 3, 12, 0}, {3, 1, 4, 0}})
                  .isDone());
  EXPECT_TRUE(Contraction<double>({{2, 36, 36, 24},
                                   {3, 12, 12, 8},
                                   {2, 6, 6, 4},
                                   {2, 3, 0, 2},
                                   {2, 0, 1, 1},
                                   {3, 1, 2, 0}})
                  .isDone());
  EXPECT_EQ(fake_driver::countCalls("cublasLtMatmul"), 6);
  // Rows that are not those of one matrix.
  EXPECT_TRUE(Contraction<double>(
                  {{2, 20, 0, 12}, {3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}})
                  .isDone());
}

TEST_F(Products, UseMemoryOfTheStream) {
  fake_driver::settings().workspaceBytes = 4096;
  EXPECT_TRUE(Contraction<float>(product(3, 4, 5)).isDone());
  EXPECT_EQ(fake_driver::countCalls("cuMemAllocFromPoolAsync"), 4);
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 1);
  // It is the library's, not a tensor of the program.
  EXPECT_EQ(deviceCounters().allocations, 3);
  fake_driver::settings().workspaceBytes = 2 << 20;
  Contraction<float> large(product(4, 4, 5));
  large.prepare();
  large.run();
  EXPECT_EQ(large.status, SPARSE_AUTOGRAD_OUT_OF_MEMORY);
}

TEST_F(Products, AskTheLibraryOnce) {
  auto asked = [] {
    return fake_driver::countCalls("cublasLtMatmulAlgoGetHeuristic");
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(Contraction<float>(product(3, 4, 5)).isDone());
  EXPECT_EQ(asked(), 1);
  EXPECT_TRUE(Contraction<double>(product(3, 4, 5)).isDone());
  EXPECT_EQ(asked(), 2);
  // Another alignment is another product.
  Contraction<float> shifted(product(3, 4, 5));
  shifted.offsets[0] = 1;
  EXPECT_TRUE(shifted.isDone());
  EXPECT_EQ(asked(), 3);
  // There may be more forms than are kept.
  for (int64_t k = 1; k <= 600; ++k)
    ASSERT_TRUE(Contraction<float>(product(2, 2, k)).isDone()) << k;
  size_t layouts = 0;
  for (const std::string &alive : fake_driver::getAlive())
    layouts += alive == "layout";
  EXPECT_LE(layouts, 3u * 256);
  EXPECT_GE(layouts, 3u * 128);
  EXPECT_EQ(fake_driver::countCalls("cublasLtCreate"), 1);
}

TEST_F(Products, InSeveralThreads) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (int64_t k = 1; k <= 20; ++k)
        EXPECT_TRUE(Contraction<float>(product(2 + number % 2, 3, k)).isDone());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(deviceCounters().libraryProducts, 80);
}

TEST_F(Products, OfEachDevice) {
  for (const char *device : {"cuda:0", "cuda:1", "cuda:0"}) {
    ASSERT_EQ(sparseAutogradSetThreadDevice(device), 0);
    EXPECT_TRUE(Contraction<float>(product(3, 4, 5)).isDone());
  }
  ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
  EXPECT_EQ(fake_driver::countCalls("cublasLtCreate"), 2);
}

//===----------------------------------------------------------------------===//
// What is left to the program
//===----------------------------------------------------------------------===//

TEST_F(Products, WithoutTheLibrary) {
  Variable none("SPARSE_AUTOGRAD_CUBLASLT", "none");
  EXPECT_TRUE(isLeft<float>(product(3, 4, 5)));
  EXPECT_EQ(fake_driver::countCalls("cublasLtCreate"), 0);
}

TEST_F(Products, OnTheEmulatedDevice) {
  ASSERT_EQ(sparseAutogradSetThreadDevice("emulated"), 0);
  EXPECT_TRUE(isLeft<float>(product(3, 4, 5)));
  ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
}

TEST_F(Products, ThatTheLibraryHasNot) {
  fake_driver::settings().hasProducts = false;
  EXPECT_TRUE(isLeft<float>(product(3, 4, 5)));
  EXPECT_TRUE(isLeft<float>(product(3, 4, 5)));
  EXPECT_EQ(fake_driver::countCalls("cublasLtMatmulAlgoGetHeuristic"), 1);
}

TEST_F(Products, OfOtherTypes) {
  EXPECT_TRUE((isLeft<float, double>(product(3, 4, 5))));
  EXPECT_TRUE((isLeft<double, float>(product(3, 4, 5))));
  EXPECT_TRUE((isLeft<float, _Float16>(product(3, 4, 5))));
  EXPECT_TRUE((isLeft<_Float16, double>(product(3, 4, 5))));
  EXPECT_TRUE((isLeft<_Float16>(product(3, 4, 5))));
}

TEST_F(Products, OfOtherLayouts) {
  // Every second element of a row: of a, of b, of c.
  EXPECT_TRUE(isLeft<float>({{3, 10, 0, 4}, {4, 0, 1, 1}, {5, 2, 4, 0}}));
  EXPECT_TRUE(isLeft<float>({{3, 5, 0, 4}, {4, 0, 2, 1}, {5, 1, 8, 0}}));
  EXPECT_TRUE(isLeft<float>({{3, 5, 0, 8}, {4, 0, 1, 2}, {5, 1, 4, 0}}));
  // Windows that overlap.
  EXPECT_TRUE(isLeft<float>({{3, 2, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}}));
}

TEST_F(Products, OfOtherLoops) {
  // Two lists of terms, a sum of one factor, a factor of one element for all.
  EXPECT_TRUE(isLeft<float>(
      {{3, 30, 0, 4}, {4, 0, 1, 1}, {2, 7, 12, 0}, {3, 1, 4, 0}}));
  EXPECT_TRUE(
      isLeft<float>({{3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}, {2, 15, 0, 0}}));
  EXPECT_TRUE(
      isLeft<float>({{3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}, {2, 0, 0, 12}}));
  // More loops than any program has.
  Loops many = product(2, 2, 2);
  for (int64_t i = 0; i < 9; ++i)
    many.push_back({2, 4 + i, 5 + 3 * i, 4 + i});
  EXPECT_TRUE(isLeft<float>(many));
}

TEST_F(Products, OfNothing) {
  EXPECT_TRUE(isLeft<float>(product(3, 4, 0)));
  EXPECT_TRUE(isLeft<float>(product(0, 4, 5)));
  EXPECT_EQ(fake_driver::countCalls("cublasLtCreate"), 0);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(Products, WithAnExtentThatOverflowed) {
  int32_t status = runEntry([] {
    Loop loop = {-1, 1, 1, 0};
    sparseAutogradDeviceContract(SPARSE_AUTOGRAD_TENSOR_F32,
                                 SPARSE_AUTOGRAD_TENSOR_F32, 1, &loop, 1,
                                 nullptr, nullptr, 1, nullptr);
  });
  EXPECT_EQ(status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "a product of matrices on the device with an extent "
                         "of -1: the size of a tensor overflowed");
}

/// The error of a product that fails.
static std::string getError(int32_t expected = SPARSE_AUTOGRAD_RUNTIME_ERROR) {
  Contraction<float> contraction(product(3, 4, 5));
  contraction.prepare();
  contraction.run();
  EXPECT_EQ(contraction.status, expected);
  return lastError();
}

TEST_F(Products, WithALibraryThatIsNotThere) {
  Variable wrong("SPARSE_AUTOGRAD_CUBLASLT", "/nowhere/libcublasLt.so.13");
  std::string error = getError();
  EXPECT_THAT(error,
              testing::HasSubstr("cuBLASLt cannot be loaded: /nowhere/"));
  EXPECT_THAT(error, testing::HasSubstr("SPARSE_AUTOGRAD_CUBLASLT says where"));
}

TEST_F(Products, WithALibraryOfSomethingElse) {
  Variable wrong("SPARSE_AUTOGRAD_CUBLASLT", INCOMPLETE_DRIVER_PATH);
  EXPECT_THAT(getError(),
              testing::HasSubstr("has no function cublasLtGetStatusName: is it "
                                 "the library of CUDA 12 or 13?"));
}

TEST_F(Products, NameTheCallThatFails) {
  fake_driver::failCall("cublasLtCreate", 1, 1);
  EXPECT_EQ(getError(),
            "starting cuBLASLt on Fake GPU 0: cublasLtCreate: "
            "CUBLAS_STATUS_NOT_INITIALIZED (?): the driver may be older than "
            "the library; SPARSE_AUTOGRAD_CUBLASLT=none goes without");
  fake_driver::failCall("cublasLtMatmul", 1, 13);
  EXPECT_EQ(getError(),
            "1 product of matrices of 4 x 5 and 5 x 3 (f32): cublasLtMatmul: "
            "CUBLAS_STATUS_EXECUTION_FAILED (text of the library): if a "
            "kernel launched before has failed, CUDA_LAUNCH_BLOCKING=1 shows "
            "which");
  fake_driver::failCall("cublasLtMatmul", 1, 3);
  EXPECT_EQ(getError(SPARSE_AUTOGRAD_OUT_OF_MEMORY),
            "1 product of matrices of 4 x 5 and 5 x 3 (f32): cublasLtMatmul: "
            "CUBLAS_STATUS_ALLOC_FAILED (text of the library)");
  fake_driver::failCall("cublasLtMatmul", 1, 15);
  EXPECT_THAT(getError(), testing::HasSubstr("SPARSE_AUTOGRAD_CUBLASLT=none"));
  fake_driver::failCall("cublasLtMatmul", 1, 8);
  EXPECT_THAT(getError(), testing::HasSubstr("take a later one"));
}

// A fault of a kernel is found later, and the product before it is named.
TEST_F(Products, AreNamedByAFaultFoundLater) {
  Image image("kernels: stray");
  int32_t status = runEntry([&] {
    launch(image, "stray");
    Loop one = {1, 0, 0, 0};
    void *x = sparseAutogradDeviceAllocate(4);
    sparseAutogradDeviceContract(SPARSE_AUTOGRAD_TENSOR_F32,
                                 SPARSE_AUTOGRAD_TENSOR_F32, 1, &one, 1, x, x,
                                 0, x);
    float number;
    sparseAutogradDeviceCopyOut(&number, x, 4);
  });
  EXPECT_EQ(status, SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("of which the last was 'matrix "
                                              "product of a library'"));
}

TEST_P(ProductFailures, OfEachCall) {
  // A batch, so that everything is set.
  failEachCall(GetParam(), [] {
    return Contraction<float>(
        {{2, 15, 20, 12}, {3, 5, 0, 4}, {4, 0, 1, 1}, {5, 1, 4, 0}});
  });
}

// A mistake, no memory, what is not supported, and a fault of a kernel.
INSTANTIATE_TEST_SUITE_P(Codes, ProductFailures,
                         testing::Values(1, 2, 15, 700));

static void multiplyAndExit() {
  if (!Contraction<float>(product(3, 4, 5)).isDone())
    _exit(98);
  fake_driver::demandNothingAliveAtExit();
  std::exit(0);
}

// Before the destructors of the library.
TEST_F(ProductsDeathTest, EverythingIsReleasedAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(multiplyAndExit(), testing::ExitedWithCode(0), "");
}
