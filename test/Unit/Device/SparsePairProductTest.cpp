//===- SparsePairProductTest.cpp - Products of sparse matrices by cuSPARSE ===//
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

#include <map>
#include <thread>

namespace {

class SparsePairProducts : public DeviceTest {
protected:
  Variable library{"SPARSE_AUTOGRAD_CUSPARSE", FAKE_DRIVER_PATH};
};

class SparsePairProductFailures : public SparsePairProducts,
                                  public testing::WithParamInterface<int> {};

/// A sparse matrix on the host.
template <typename T>
struct Matrix {
  std::vector<int64_t> positions, coordinates;
  std::vector<T> values;

  bool operator==(const Matrix &other) const {
    return positions == other.positions && coordinates == other.coordinates &&
           values == other.values;
  }
};

/// A product, its operands, and what has become of it.
template <typename T>
struct Product {
  /// 3 x 4 with an empty row, and 4 x 5. Sums cancel in the first row, and one
  /// factor is a zero.
  Matrix<T> a = {{0, 2, 2, 5}, {1, 3, 0, 1, 2}, {1, -2, 0, 4, -5}};
  Matrix<T> b = {{0, 1, 4, 4, 6}, {4, 0, 2, 3, 2, 4}, {3, 2, 4, 7, 2, 6}};
  int64_t rows = 3, inner = 4, columns = 5;
  int32_t element =
      sizeof(T) == 4 ? SPARSE_AUTOGRAD_TENSOR_F32 : SPARSE_AUTOGRAD_TENSOR_F64;
  int32_t index = SPARSE_AUTOGRAD_TENSOR_I64;
  /// Called between the two calls.
  void (*between)() = nullptr;
  bool isEnded = true;
  Matrix<T> result, expected;
  int32_t status = -1, done = -1;

  const Matrix<T> &getResult() const { return result; }
  void prepare();
  void run();
  testing::AssertionResult isDone();
  testing::AssertionResult isLeft();
};

} // namespace

template <typename T>
void Product<T>::prepare() {
  expected = {{0}, {}, {}};
  for (int64_t i = 0; i < rows; ++i) {
    std::map<int64_t, T> row;
    for (int64_t p = a.positions[i]; p < a.positions[i + 1]; ++p)
      for (int64_t k = a.coordinates[p], q = b.positions[k];
           q < b.positions[k + 1]; ++q)
        row[b.coordinates[q]] += a.values[p] * b.values[q];
    for (auto [column, number] : row) {
      expected.coordinates.push_back(column);
      expected.values.push_back(number);
    }
    expected.positions.push_back(
        static_cast<int64_t>(expected.coordinates.size()));
  }
}

template <typename T>
void Product<T>::run() {
  bool isNarrow = index == SPARSE_AUTOGRAD_TENSOR_I32;
  int64_t indexBytes = isNarrow ? 4 : 8;
  std::vector<int32_t> narrow;
  auto copyIn = [](const void *numbers, size_t bytes) {
    void *address = sparseAutogradDeviceAllocate(static_cast<int64_t>(bytes));
    sparseAutogradDeviceCopyIn(address, numbers, static_cast<int64_t>(bytes));
    return address;
  };
  auto copyInIndices = [&](const std::vector<int64_t> &numbers) {
    if (!isNarrow)
      return copyIn(numbers.data(), numbers.size() * 8);
    narrow.assign(numbers.begin(), numbers.end());
    return copyIn(narrow.data(), narrow.size() * 4);
  };
  auto copyOutIndices = [&](std::vector<int64_t> &numbers, void *address) {
    void *to = numbers.data();
    if (isNarrow) {
      narrow.resize(numbers.size());
      to = narrow.data();
    }
    sparseAutogradDeviceCopyOut(
        to, address, indexBytes * static_cast<int64_t>(numbers.size()));
    if (isNarrow)
      numbers.assign(narrow.begin(), narrow.end());
  };
  auto countOf = [](const Matrix<T> &matrix) {
    return static_cast<int64_t>(matrix.coordinates.size());
  };
  result = {};
  status = runEntry([&] {
    void *operands[6];
    void **next = operands;
    for (const Matrix<T> *matrix : {&a, &b}) {
      *next++ = copyInIndices(matrix->positions);
      *next++ = copyInIndices(matrix->coordinates);
      *next++ =
          copyIn(matrix->values.data(), matrix->values.size() * sizeof(T));
    }
    int64_t stored = sparseAutogradDeviceBeginSparseProduct(
        element, index, rows, inner, columns, countOf(a), operands[0],
        operands[1], operands[2], countOf(b), operands[3], operands[4],
        operands[5]);
    done = stored >= 0;
    if (between)
      between();
    if (done && isEnded) {
      auto valueBytes = static_cast<int64_t>(sizeof(T)) * stored;
      void *lists[] = {sparseAutogradDeviceAllocate(indexBytes * (rows + 1)),
                       sparseAutogradDeviceAllocate(indexBytes * stored),
                       sparseAutogradDeviceAllocate(valueBytes)};
      sparseAutogradDeviceEndSparseProduct(lists[0], lists[1], lists[2]);
      result.positions.resize(rows + 1);
      result.coordinates.resize(stored);
      result.values.resize(stored);
      copyOutIndices(result.positions, lists[0]);
      copyOutIndices(result.coordinates, lists[1]);
      sparseAutogradDeviceCopyOut(result.values.data(), lists[2], valueBytes);
      for (void *list : lists)
        sparseAutogradDeviceDeallocate(list);
    }
    for (void *operand : operands)
      sparseAutogradDeviceDeallocate(operand);
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
  if (!(result == expected))
    return testing::AssertionFailure()
           << testing::PrintToString(result.coordinates) << " "
           << testing::PrintToString(result.values) << " instead of "
           << testing::PrintToString(expected.coordinates) << " "
           << testing::PrintToString(expected.values);
  return testing::AssertionSuccess();
}

/// Whether it is left to the program, and nothing has happened.
template <typename T>
testing::AssertionResult Product<T>::isLeft() {
  run();
  if (status)
    return testing::AssertionFailure() << lastError();
  if (done != 0 || deviceCounters().libraryProducts != 0)
    return testing::AssertionFailure() << "it was done";
  return testing::AssertionSuccess();
}

TEST_F(SparsePairProducts, OfBothTypesAndIndices) {
  for (int32_t index :
       {SPARSE_AUTOGRAD_TENSOR_I32, SPARSE_AUTOGRAD_TENSOR_I64}) {
    Product<float> single;
    single.index = index;
    EXPECT_TRUE(single.isDone());
    // Zeros are stored.
    EXPECT_THAT(single.expected.values, testing::Contains(0));
    Product<double> wide;
    wide.index = index;
    EXPECT_TRUE(wide.isDone());
  }
  EXPECT_EQ(deviceCounters().libraryProducts, 4);
  EXPECT_EQ(deviceCounters().launches, 0);
}

TEST_F(SparsePairProducts, UseMemoryOfTheStream) {
  fake_driver::settings().workspaceBytes = 4096;
  EXPECT_TRUE(Product<float>().isDone());
  EXPECT_EQ(deviceCounters().allocations, 9);
  // Its positions, and the memory of two steps.
  EXPECT_EQ(fake_driver::countCalls("cuMemAllocFromPoolAsync"), 12);
  fake_driver::settings().workspaceBytes = 2 << 20;
  Product<float> large;
  large.run();
  EXPECT_EQ(large.status, SPARSE_AUTOGRAD_OUT_OF_MEMORY);
}

TEST_F(SparsePairProducts, InSeveralThreads) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([] {
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(Product<float>().isDone());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(deviceCounters().libraryProducts, 80);
}

TEST_F(SparsePairProducts, AreLeftWithoutTheLibrary) {
  Variable none("SPARSE_AUTOGRAD_CUSPARSE", "none");
  EXPECT_TRUE(Product<float>().isLeft());
  EXPECT_EQ(fake_driver::countCalls("cusparseCreate"), 0);
}

TEST_F(SparsePairProducts, AreLeftOnTheEmulatedDevice) {
  ASSERT_EQ(sparseAutogradSetThreadDevice("emulated"), 0);
  EXPECT_TRUE(Product<float>().isLeft());
  ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
}

TEST_F(SparsePairProducts, AreLeftIfTheLibraryHasNone) {
  // Not supported, or with too many terms; known at any step.
  for (int code : {10, 11})
    for (const char *function :
         {"cusparseSpGEMM_workEstimation", "cusparseSpGEMM_compute"})
      for (int n : {1, 2}) {
        fake_driver::failCall(function, n, code);
        EXPECT_TRUE(Product<float>().isLeft());
        EXPECT_TRUE(fake_driver::hasFailed());
      }
  fake_driver::settings().hasProducts = false;
  EXPECT_TRUE(Product<double>().isLeft());
}

TEST_F(SparsePairProducts, AreLeftForOtherOperands) {
  Product<float> narrow;
  narrow.element = SPARSE_AUTOGRAD_TENSOR_F16;
  EXPECT_TRUE(narrow.isLeft());
  Product<float> indices;
  indices.index = SPARSE_AUTOGRAD_TENSOR_U32;
  EXPECT_TRUE(indices.isLeft());
  Product<float> large;
  large.index = SPARSE_AUTOGRAD_TENSOR_I32;
  large.columns = int64_t(1) << 31;
  EXPECT_TRUE(large.isLeft());
  Product<float> none;
  none.rows = 0;
  EXPECT_TRUE(none.isLeft());
  for (Matrix<float> Product<float>::*matrix :
       {&Product<float>::a, &Product<float>::b}) {
    Product<float> empty;
    std::vector<int64_t> &positions = (empty.*matrix).positions;
    empty.*matrix = {std::vector<int64_t>(positions.size()), {}, {}};
    EXPECT_TRUE(empty.isLeft());
  }
  // An empty row is all that is read of b.
  Product<float> apart;
  apart.a = {{0, 1, 1, 2}, {2, 2}, {3, 4}};
  EXPECT_TRUE(apart.isLeft());
}

TEST_F(SparsePairProducts, EndWithTheirEntry) {
  fake_driver::settings().workspaceBytes = 4096;
  Product<float> product;
  product.isEnded = false;
  product.run();
  EXPECT_EQ(product.status, 0);
  EXPECT_EQ(deviceCounters().libraryProducts, 0);
  // By an error, which stays the last one.
  product.between = [] { sparseAutogradDeviceAllocate(-1); };
  product.run();
  EXPECT_EQ(product.status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_THAT(lastError(), testing::HasSubstr("an allocation of -1 bytes"));
  EXPECT_TRUE(Product<float>().isDone());
}

TEST_F(SparsePairProducts, NameWhatIsWrong) {
  auto getError = [](Product<float> product, int32_t expected) {
    product.run();
    EXPECT_EQ(product.status, expected);
    return lastError();
  };
  Product<float> overflowed;
  overflowed.inner = -1;
  EXPECT_THAT(getError(overflowed, SPARSE_AUTOGRAD_INVALID_ARGUMENT),
              testing::HasSubstr("with an extent of -1"));
  Product<float> twice;
  twice.between = [] {
    sparseAutogradDeviceBeginSparseProduct(
        SPARSE_AUTOGRAD_TENSOR_F32, SPARSE_AUTOGRAD_TENSOR_I64, 1, 1, 1, 1,
        nullptr, nullptr, nullptr, 1, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(getError(twice, SPARSE_AUTOGRAD_INVALID_ARGUMENT),
            "a product of sparse matrices was begun before the last one was "
            "ended");
  Product<float> ended;
  ended.between = [] {
    sparseAutogradDeviceEndSparseProduct(nullptr, nullptr, nullptr);
  };
  ended.rows = 0;
  EXPECT_EQ(getError(ended, SPARSE_AUTOGRAD_INVALID_ARGUMENT),
            "a product of sparse matrices was ended that was not begun");
  fake_driver::failCall("cusparseSpGEMM_compute", 2, 6);
  EXPECT_THAT(getError({}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
              testing::HasSubstr(
                  "a product of 3 x 4 with 5 stored and 4 x 5 with 6 stored "
                  "(f32): cusparseSpGEMM_compute: CUSPARSE_STATUS_"
                  "EXECUTION_FAILED (text of the library): if"));
  fake_driver::failCall("cusparseSpGEMM_workEstimation", 1, 2);
  EXPECT_EQ(getError({}, SPARSE_AUTOGRAD_OUT_OF_MEMORY),
            "a product of 3 x 4 with 5 stored and 4 x 5 with 6 stored (f32): "
            "cusparseSpGEMM_workEstimation: CUSPARSE_STATUS_ALLOC_FAILED "
            "(text of the library)");
  // It is too late to leave it.
  fake_driver::failCall("cusparseSpGEMM_copy", 1, 10);
  EXPECT_THAT(getError({}, SPARSE_AUTOGRAD_RUNTIME_ERROR),
              testing::HasSubstr("SPARSE_AUTOGRAD_CUSPARSE=none"));
}

TEST_P(SparsePairProductFailures, OfEachCall) {
  failEachCall(GetParam(), [] { return Product<float>(); });
}

// A mistake, no memory, what is not supported, and a fault of a kernel.
INSTANTIATE_TEST_SUITE_P(Codes, SparsePairProductFailures,
                         testing::Values(1, 2, 10, 700));
