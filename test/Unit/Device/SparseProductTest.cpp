//===- SparseProductTest.cpp - Products with a sparse matrix by cuSPARSE --===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with small whole numbers, so that every sum is exact, by the fake
// library and, one by one, here.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <limits>
#include <thread>

namespace {

class SparseProducts : public DeviceTest {
protected:
  Variable library{"SPARSE_AUTOGRAD_CUSPARSE", FAKE_DRIVER_PATH};
};
using SparseProductsDeathTest = SparseProducts;

class SparseProductFailures : public SparseProducts,
                              public testing::WithParamInterface<int> {};

/// A dense matrix on the host.
template <typename T>
struct Matrix {
  int64_t rows, columns, rowStride, columnStride;
  std::vector<T> numbers;

  Matrix(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride)
      : rows(rows), columns(columns), rowStride(rowStride),
        columnStride(columnStride) {
    int64_t last = (rows - 1) * rowStride + (columns - 1) * columnStride;
    for (int64_t i = 0; i <= last; ++i)
      numbers.push_back(static_cast<T>((i * 5 + 1) % 7 - 3));
    if (numbers.empty())
      numbers.push_back(0);
  }
  T &at(int64_t i, int64_t j) {
    return numbers[i * rowStride + j * columnStride];
  }
};

/// A product of one kind, its operands, and what has become of it.
template <typename T>
struct Product {
  bool isSampled;
  /// The matrix: 4 x 5, with an empty row.
  std::vector<int64_t> positions = {0, 2, 2, 5, 6};
  std::vector<int64_t> coordinates = {1, 4, 0, 1, 3, 2};
  std::vector<T> values = {1, -2, 3, 4, -5, 6};
  int64_t rows = 4, columns = 5;
  Matrix<T> x, y;
  double alpha = 1, beta = 1;
  int32_t element =
      sizeof(T) == 4 ? SPARSE_AUTOGRAD_TENSOR_F32 : SPARSE_AUTOGRAD_TENSOR_F64;
  int32_t index = SPARSE_AUTOGRAD_TENSOR_I64;
  std::vector<T> expected;
  int32_t status = -1, done = -1;

  /// Of `extent` columns of x; matrices by rows, or by columns.
  Product(bool isSampled, int64_t extent, bool xByColumns = false,
          bool yByColumns = false)
      : isSampled(isSampled), x(makeMatrix(4, extent, xByColumns)),
        y(isSampled ? makeMatrix(extent, 5, yByColumns)
                    : makeMatrix(5, extent, yByColumns)) {}

  static Matrix<T> makeMatrix(int64_t rows, int64_t columns, bool byColumns) {
    return Matrix<T>(rows, columns, byColumns ? 1 : columns,
                     byColumns ? rows : 1);
  }
  std::vector<T> &getResult() { return isSampled ? values : x.numbers; }
  void prepare();
  void run();
  testing::AssertionResult isDone();
  testing::AssertionResult isLeft();
};

} // namespace

template <typename T>
void Product<T>::prepare() {
  std::vector<T> before = getResult();
  auto update = [&](T &place, double sum) {
    place = static_cast<T>(alpha * sum + beta * static_cast<double>(place));
  };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; !isSampled && j < x.columns; ++j) {
      double sum = 0;
      for (int64_t p = positions[i]; p < positions[i + 1]; ++p)
        sum += values[p] * y.at(coordinates[p], j);
      update(x.at(i, j), sum);
    }
  for (int64_t i = 0; isSampled && i < rows; ++i)
    for (int64_t p = positions[i]; p < positions[i + 1]; ++p) {
      double sum = 0;
      for (int64_t k = 0; k < x.columns; ++k)
        sum += x.at(i, k) * y.at(k, coordinates[p]);
      update(values[p], sum);
    }
  expected = getResult();
  getResult() = before;
}

template <typename T>
void Product<T>::run() {
  auto bytesOf = [](const auto &numbers) {
    return static_cast<int64_t>(numbers.size() * sizeof(numbers[0]));
  };
  auto copyIn = [&](const auto &numbers) {
    auto size = bytesOf(numbers);
    void *address = sparseAutogradDeviceAllocate(size);
    sparseAutogradDeviceCopyIn(address, numbers.data(), size);
    return address;
  };
  auto copyInIndices = [&](const std::vector<int64_t> &numbers) {
    if (index == SPARSE_AUTOGRAD_TENSOR_I32)
      return copyIn(std::vector<int32_t>(numbers.begin(), numbers.end()));
    return copyIn(numbers);
  };
  status = runEntry([&] {
    void *addresses[] = {copyInIndices(positions), copyInIndices(coordinates),
                         copyIn(values), copyIn(x.numbers), copyIn(y.numbers)};
    auto call = [&](auto *function) {
      done = function(element, index, rows, columns,
                      static_cast<int64_t>(values.size()), addresses[0],
                      addresses[1], addresses[2], x.columns, alpha,
                      addresses[4], y.rowStride, y.columnStride, beta,
                      addresses[3], x.rowStride, x.columnStride);
    };
    if (isSampled)
      call(&sparseAutogradDeviceSampleProduct);
    else
      call(&sparseAutogradDeviceMultiplySparse);
    sparseAutogradDeviceCopyOut(
        getResult().data(), addresses[isSampled ? 2 : 3], bytesOf(getResult()));
    for (void *address : addresses)
      sparseAutogradDeviceDeallocate(address);
  });
}

template <typename T>
testing::AssertionResult Product<T>::isDone() {
  prepare();
  run();
  if (status)
    return testing::AssertionFailure() << lastError();
  if (done != 1)
    return testing::AssertionFailure() << "not done";
  if (getResult() != expected)
    return testing::AssertionFailure()
           << testing::PrintToString(getResult()) << " instead of "
           << testing::PrintToString(expected);
  return testing::AssertionSuccess();
}

/// Whether it is left to the program, and nothing has happened.
template <typename T>
testing::AssertionResult Product<T>::isLeft() {
  std::vector<T> before = getResult();
  run();
  if (status)
    return testing::AssertionFailure() << lastError();
  if (done != 0 || getResult() != before ||
      deviceCounters().libraryProducts != 0)
    return testing::AssertionFailure() << "it was done";
  return testing::AssertionSuccess();
}

TEST_F(SparseProducts, WithIndicesOf32Bits) {
  for (bool isSampled : {false, true}) {
    Product<float> product(isSampled, 3);
    product.index = SPARSE_AUTOGRAD_TENSOR_I32;
    EXPECT_TRUE(product.isDone());
  }
}

TEST_F(SparseProducts, WithAMatrixByRowsOrByColumns) {
  for (int64_t extent : {1, 2, 6})
    for (bool yByColumns : {false, true}) {
      EXPECT_TRUE(Product<float>(false, extent, false, yByColumns).isDone());
      EXPECT_TRUE(Product<double>(false, extent, false, yByColumns).isDone());
    }
  EXPECT_EQ(deviceCounters().libraryProducts, 12);
  EXPECT_EQ(deviceCounters().launches, 0);
}

TEST_F(SparseProducts, Sampled) {
  for (int64_t extent : {1, 2, 6})
    for (bool xByColumns : {false, true})
      for (bool yByColumns : {false, true}) {
        EXPECT_TRUE(
            Product<float>(true, extent, xByColumns, yByColumns).isDone());
        EXPECT_TRUE(
            Product<double>(true, extent, xByColumns, yByColumns).isDone());
      }
}

TEST_F(SparseProducts, Scaled) {
  for (bool isSampled : {false, true}) {
    Product<float> product(isSampled, 3);
    product.alpha = -1;
    product.beta = 2;
    EXPECT_TRUE(product.isDone());
    // What is overwritten is not read.
    Product<double> overwritten(isSampled, 3);
    overwritten.alpha = 3;
    overwritten.beta = 0;
    overwritten.prepare();
    for (double &number : overwritten.getResult())
      number = std::numeric_limits<double>::quiet_NaN();
    overwritten.run();
    EXPECT_EQ(overwritten.getResult(), overwritten.expected);
  }
}

TEST_F(SparseProducts, WithPartsOfMatrices) {
  Product<float> product(false, 3);
  product.x = Matrix<float>(4, 3, 8, 1);
  product.y = Matrix<float>(5, 3, 4, 1);
  EXPECT_TRUE(product.isDone());
}

TEST_F(SparseProducts, UseMemoryOfTheStream) {
  fake_driver::settings().workspaceBytes = 4096;
  EXPECT_TRUE(Product<float>(false, 3).isDone());
  EXPECT_TRUE(Product<float>(true, 3).isDone());
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 2);
  EXPECT_EQ(deviceCounters().allocations, 10);
  EXPECT_EQ(fake_driver::countCalls("cuMemAllocFromPoolAsync"), 12);
  EXPECT_EQ(fake_driver::countCalls("cusparseCreate"), 1);
  fake_driver::settings().workspaceBytes = 2 << 20;
  Product<float> large(false, 3);
  large.run();
  EXPECT_EQ(large.status, SPARSE_AUTOGRAD_OUT_OF_MEMORY);
}

TEST_F(SparseProducts, InSeveralThreads) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(Product<float>(number % 2, 3).isDone());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(deviceCounters().libraryProducts, 80);
}

TEST_F(SparseProducts, AreLeftWithoutTheLibrary) {
  Variable none("SPARSE_AUTOGRAD_CUSPARSE", "none");
  EXPECT_TRUE(Product<float>(false, 3).isLeft());
  EXPECT_EQ(fake_driver::countCalls("cusparseCreate"), 0);
}

TEST_F(SparseProducts, AreLeftOnTheEmulatedDevice) {
  ASSERT_EQ(sparseAutogradSetThreadDevice("emulated"), 0);
  EXPECT_TRUE(Product<float>(true, 3).isLeft());
  ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
}

TEST_F(SparseProducts, AreLeftIfTheLibraryHasNone) {
  fake_driver::settings().hasProducts = false;
  EXPECT_TRUE(Product<float>(false, 3).isLeft());
  EXPECT_TRUE(Product<float>(true, 3).isLeft());
}

TEST_F(SparseProducts, AreLeftForOtherOperands) {
  // What is written is not transposed.
  EXPECT_TRUE(Product<float>(false, 3, /*xByColumns=*/true).isLeft());
  Product<float> spread(false, 3);
  spread.y = Matrix<float>(5, 3, 6, 2);
  EXPECT_TRUE(spread.isLeft());
  Product<float> overlapping(true, 3);
  overlapping.x = Matrix<float>(4, 3, 2, 1);
  EXPECT_TRUE(overlapping.isLeft());
  Product<float> narrow(false, 3);
  narrow.element = SPARSE_AUTOGRAD_TENSOR_F16;
  EXPECT_TRUE(narrow.isLeft());
  // Nothing stored, and no rows.
  Product<float> empty(false, 3);
  empty.positions = {0, 0, 0, 0, 0};
  empty.values = {};
  EXPECT_TRUE(empty.isLeft());
  Product<float> none(true, 3);
  none.rows = 0;
  EXPECT_TRUE(none.isLeft());
}

TEST_F(SparseProducts, NameWhatIsWrong) {
  auto getError = [](Product<float> product, int32_t expected) {
    product.run();
    EXPECT_EQ(product.status, expected);
    return lastError();
  };
  Product<float> overflowed(false, 3);
  overflowed.rows = -1;
  EXPECT_THAT(getError(overflowed, SPARSE_AUTOGRAD_INVALID_ARGUMENT),
              testing::HasSubstr("with an extent of -1"));
  fake_driver::failCall("cusparseCreate", 1, 1);
  EXPECT_EQ(getError({false, 3}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
            "starting cuSPARSE on Fake GPU 0: cusparseCreate: "
            "CUSPARSE_STATUS_NOT_INITIALIZED (text of the library): the driver "
            "may be older than the library; SPARSE_AUTOGRAD_CUSPARSE=none "
            "goes without");
  fake_driver::failCall("cusparseSpMM", 1, 6);
  EXPECT_THAT(getError({false, 3}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
              testing::HasSubstr("a product of 4 x 5 and 5 x 3 with 6 stored "
                                 "(f32): cusparseSpMM: CUSPARSE_STATUS_"
                                 "EXECUTION_FAILED (text of the library): if"));
  fake_driver::failCall("cusparseSDDMM", 1, 2);
  EXPECT_EQ(
      getError({true, 3}, SPARSE_AUTOGRAD_OUT_OF_MEMORY),
      "a sampled product of 4 x 3 and 3 x 5 with 6 stored (f32): "
      "cusparseSDDMM: CUSPARSE_STATUS_ALLOC_FAILED (text of the library)");
  fake_driver::failCall("cusparseSpMM", 1, 4);
  EXPECT_THAT(getError({false, 3}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
              testing::HasSubstr("take a later one"));
  fake_driver::failCall("cusparseSpMM", 1, 7);
  EXPECT_THAT(getError({false, 3}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
              testing::HasSubstr("SPARSE_AUTOGRAD_CUSPARSE=none"));
}

TEST_F(SparseProducts, WithALibraryOfSomethingElse) {
  Variable wrong("SPARSE_AUTOGRAD_CUSPARSE", INCOMPLETE_DRIVER_PATH);
  Product<float> product(false, 3);
  product.run();
  EXPECT_EQ(product.status, SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("cuSPARSE ("));
  EXPECT_THAT(lastError(),
              testing::HasSubstr("has no function cusparseGetErrorName"));
}

TEST_P(SparseProductFailures, OfEachCall) {
  for (bool isSampled : {false, true})
    failEachCall(GetParam(), [&] { return Product<float>(isSampled, 3); });
}

// A mistake, no memory, what is not supported, and a fault of a kernel.
INSTANTIATE_TEST_SUITE_P(Codes, SparseProductFailures,
                         testing::Values(1, 2, 10, 700));

static void multiplyAndExit() {
  Variable dense("SPARSE_AUTOGRAD_CUBLASLT", FAKE_DRIVER_PATH);
  if (!Product<float>(false, 3).isDone())
    _exit(98);
  // Another library, loaded later.
  int32_t done = 0;
  runEntry([&] {
    SparseAutogradContractionLoop one = {1, 0, 0, 0};
    void *x = sparseAutogradDeviceAllocate(4);
    done = sparseAutogradDeviceContract(SPARSE_AUTOGRAD_TENSOR_F32,
                                        SPARSE_AUTOGRAD_TENSOR_F32, 1, &one, 1,
                                        x, x, 0, x);
    sparseAutogradDeviceDeallocate(x);
  });
  if (!done)
    _exit(98);
  fake_driver::demandNothingAliveAtExit();
  std::exit(0);
}

// Before the destructors of the libraries.
TEST_F(SparseProductsDeathTest, EverythingIsReleasedAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(multiplyAndExit(), testing::ExitedWithCode(0), "");
}
