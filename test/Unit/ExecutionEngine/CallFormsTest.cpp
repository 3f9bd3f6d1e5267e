//===- CallFormsTest.cpp - calls of compiled code without copies *- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "SparseAutograd/Runtime/Call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace sparse_autograd;

namespace {

constexpr int32_t owned = SPARSE_AUTOGRAD_RESULT_OWNED;
constexpr int32_t shared = SPARSE_AUTOGRAD_RESULT_SHARED;
constexpr int32_t destination = SPARSE_AUTOGRAD_RESULT_DESTINATION;

const char spmm[] = R"mlir(
  #CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
  func.func @spmm(%a: tensor<?x?xf64, #CSR> {sparse_autograd.name = "a"},
                  %b: tensor<?x?xf64> {sparse_autograd.name = "b"})
      -> (tensor<?x?xf64> {sparse_autograd.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
    %n = tensor.dim %b, %c1 : tensor<?x?xf64>
    %z = arith.constant 0.0 : f64
    %e = tensor.empty(%m, %n) : tensor<?x?xf64>
    %i = linalg.fill ins(%z : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
    %y = linalg.matmul ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64>)
        outs(%i : tensor<?x?xf64>) -> tensor<?x?xf64>
    return %y : tensor<?x?xf64>
  }
  sparse_autograd.split_vjp @spmm as @forward, @backward {wrt = [0, 1]}
)mlir";

/// A matrix in CSR with `perRow` elements in each row.
struct CSR {
  CSR(int64_t rows, int64_t columns, int64_t perRow)
      : values(rows * perRow), rows(rows), columns(columns) {
    for (int64_t row = 0; row <= rows; ++row)
      positions.push_back(static_cast<int32_t>(row * perRow));
    for (int64_t i = 0; i < rows * perRow; ++i) {
      int64_t first = (i / perRow) % (columns / perRow);
      coordinates.push_back(
          static_cast<int32_t>(first + i % perRow * (columns / perRow)));
      values[i] = 1 + 0.25 * static_cast<double>(i % 7);
    }
    storage = {{{nullptr, positions.data(), 0, {rows + 1}, {1}},
                {nullptr, coordinates.data(), 0, {count()}, {1}},
                {nullptr, values.data(), 0, {count()}, {1}}},
               {rows, columns}};
  }
  CSR(const CSR &) = delete;
  int64_t count() const { return static_cast<int64_t>(values.size()); }

  std::vector<int32_t> positions, coordinates;
  std::vector<double> values;
  int64_t rows, columns;
  struct Storage {
    SparseAutogradMemRef1 lists[3];
    int64_t extents[2];
  } storage;
};

/// Numbers that differ from each other.
Array<double> makeArray(std::vector<int64_t> shape, double first) {
  Array<double> array(std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array[i] = std::sin(first + static_cast<double>(i));
  return array;
}

/// A call of an entry, and what it did to memory.
struct FormedCall {
  FormedCall(Program &program, llvm::StringRef name,
             std::vector<void *> arguments, std::vector<void *> results,
             std::vector<int32_t> forms,
             std::vector<const SparseAutogradPattern *> patterns = {}) {
    SparseAutogradCall call = {};
    call.argumentCount = static_cast<int64_t>(arguments.size());
    call.resultCount = static_cast<int64_t>(results.size());
    call.arguments = arguments.data();
    call.results = results.data();
    call.patterns = patterns.empty() ? nullptr : patterns.data();
    call.resultForms = forms.data();
    SparseAutogradEntry entry = llvm::cantFail(program.engine->lookup(name));
    sparseAutogradResetCounters();
    status = sparseAutogradCall(entry, &call);
    sparseAutogradGetCounters(&memory);
    sparseAutogradGetCallCounters(&copies);
  }
  int32_t status;
  SparseAutogradCounters memory;
  SparseAutogradCallCounters copies;
};

const llvm::json::Object &getValue(const Program &program,
                                   llvm::StringRef entry, llvm::StringRef key,
                                   size_t index) {
  for (const llvm::json::Value &value :
       *program.engine->getManifest().getArray("entries"))
    if (value.getAsObject()->getString("name") == entry)
      return *(*value.getAsObject()->getArray(key))[index].getAsObject();
  llvm::report_fatal_error("no such entry");
}

TEST(CallForms, manifestNamesThePair) {
  Program program(spmm);
  ASSERT_TRUE(program.engine) << program.error;
  const llvm::json::Array &pairs =
      *program.engine->getManifest().getArray("pairs");
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0],
            llvm::json::Value(llvm::json::Object{{"primal", "spmm"},
                                                 {"forward", "forward"},
                                                 {"backward", "backward"}}));
  for (size_t i : {0, 1}) {
    llvm::StringRef name = i ? "b" : "a";
    EXPECT_EQ(getValue(program, "forward", "results", 1 + i).getString("role"),
              "residual");
    EXPECT_EQ(getValue(program, "backward", "arguments", i).getString("role"),
              "residual");
    EXPECT_EQ(
        *getValue(program, "backward", "results", i).getString("gradient_of"),
        name);
  }
  EXPECT_EQ(
      *getValue(program, "backward", "arguments", 2).getString("cotangent_of"),
      "y");
  // What is shared: the residuals are the arguments, and the gradient of `a`
  // has the pattern of the residual.
  std::vector<std::string> same;
  for (size_t i : {1, 2})
    same.push_back(getValue(program, "forward", "results", i)
                       .getObject("same_as")
                       ->getString("argument")
                       ->str());
  std::sort(same.begin(), same.end());
  EXPECT_EQ(same, (std::vector<std::string>{"a", "b"}));
  const llvm::json::Object *pattern =
      getValue(program, "backward", "results", 0).getObject("pattern_of");
  ASSERT_TRUE(pattern);
  llvm::StringRef residual = *pattern->getString("argument");
  EXPECT_TRUE(residual.starts_with("residual")) << residual.str();
}

TEST(CallForms, forwardAllocatesTheResultAlone) {
  Program program(spmm);
  ASSERT_TRUE(program.engine) << program.error;
  CSR a(64, 48, 6);
  constexpr int64_t width = 16;
  Array<double> b = makeArray({48, width}, 1);
  // Owned, everything is a copy.
  {
    Result<double> y(2), residual(2);
    CSR::Storage kept = {};
    bool isFirst =
        getValue(program, "forward", "results", 1).getObject("encoding");
    std::vector<void *> results = {y.getDescriptor(), &kept,
                                   residual.getDescriptor()};
    if (!isFirst)
      std::swap(results[1], results[2]);
    FormedCall call(program, "forward", {&a.storage, b.getDescriptor()},
                    results, {owned, owned, owned});
    ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
    EXPECT_EQ(call.memory.liveBlocks, 5);
    EXPECT_EQ(call.memory.liveBytes,
              8 * (64 + 48) * width + 65 * 4 + a.count() * (4 + 8));
    EXPECT_EQ(residual.toVector(), b.data);
    for (SparseAutogradMemRef1 &list : kept.lists)
      EXPECT_EQ(sparseAutogradFree(list.allocated), 0);
  }
  Result<double> y(2);
  CSR::Storage kept = {};
  SparseAutogradMemRef2 residual = {};
  bool isFirst =
      getValue(program, "forward", "results", 1).getObject("encoding");
  std::vector<void *> results = {y.getDescriptor(), &kept, &residual};
  if (!isFirst)
    std::swap(results[1], results[2]);
  FormedCall call(program, "forward", {&a.storage, b.getDescriptor()}, results,
                  {shared, shared, shared});
  ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(call.memory.allocations, 1);
  EXPECT_EQ(call.memory.allocatedBytes, 8 * 64 * width);
  EXPECT_EQ(call.copies.copiedBytes, 0);
  EXPECT_EQ(std::memcmp(&kept, &a.storage, sizeof(kept)), 0);
  EXPECT_EQ(residual.allocated, nullptr);
  EXPECT_EQ(residual.aligned, b.data.data());

  // The gradients, with what they share; the cotangent is that of a sum.
  double one = 1;
  SparseAutogradMemRef2 cotangent = {nullptr, &one, 0, {64, width}, {0, 0}};
  CSR::Storage gradientOfA = {};
  Result<double> gradientOfB(2);
  std::vector<void *> arguments = {&kept, &residual, &cotangent};
  if (!isFirst)
    std::swap(arguments[0], arguments[1]);
  FormedCall backward(program, "backward", arguments,
                      {&gradientOfA, gradientOfB.getDescriptor()},
                      {shared, shared});
  ASSERT_EQ(backward.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(backward.memory.liveBlocks, 3); // and the result of the forward
  EXPECT_EQ(backward.memory.liveBytes,
            8 * 64 * width + 8 * a.count() + 8 * 48 * width);
  for (int list : {0, 1}) {
    EXPECT_EQ(gradientOfA.lists[list].aligned, a.storage.lists[list].aligned);
    EXPECT_EQ(gradientOfA.lists[list].allocated, nullptr);
  }
  EXPECT_EQ(gradientOfA.extents[0], 64);
  EXPECT_EQ(gradientOfA.extents[1], 48);
  auto *values = static_cast<double *>(gradientOfA.lists[2].aligned);
  for (int64_t i = 0; i < a.count(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += b[a.coordinates[i] * width + j];
    EXPECT_NEAR(values[i], sum, 1e-12);
  }
  sparseAutogradFree(gradientOfA.lists[2].allocated);
}

TEST(CallForms, destinationsCopyNothing) {
  Program program(spmm);
  ASSERT_TRUE(program.engine) << program.error;
  CSR a(64, 48, 6);
  constexpr int64_t width = 16;
  Array<double> b = makeArray({48, width}, 1);
  Result<double> expected(2);
  ASSERT_EQ(program.call("spmm", {&a.storage, b.getDescriptor()},
                         {expected.getDescriptor()}),
            0);
  alignas(64) static double memory[64 * width + 8];
  SparseAutogradEncoding encoding;
  SparseAutogradLevel levels[] = {{SPARSE_AUTOGRAD_LEVEL_DENSE, 0, 0, 0},
                                  {SPARSE_AUTOGRAD_LEVEL_COMPRESSED, 1, 0, 0}};
  encoding = {2, levels, 4, 4};
  SparseAutogradPattern *pattern = nullptr;
  ASSERT_EQ(sparseAutogradPatternCreate("a", &encoding, &a.storage,
                                        SPARSE_AUTOGRAD_BORROW, &pattern),
            0);
  for (int64_t offset : {0, 1}) {
    SparseAutogradMemRef2 y = {
        nullptr, memory, offset, {64, width}, {width, 1}};
    FormedCall call(program, "spmm", {&a.storage, b.getDescriptor()}, {&y},
                    {destination}, {pattern, nullptr});
    ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
    // Memory that is not aligned to a line is copied to.
    EXPECT_EQ(call.memory.allocations, offset);
    EXPECT_EQ(call.copies.copiedBytes, offset * 8 * 64 * width);
    EXPECT_EQ(call.copies.checkedBytes, 0);
    for (int64_t i = 0; i < 64 * width; ++i)
      ASSERT_EQ(memory[offset + i], expected[i]);
  }
  // Elements in a destination of other extents are nobody's.
  SparseAutogradMemRef2 y = {nullptr, memory, 0, {width, 64}, {64, 1}};
  EXPECT_EQ(FormedCall(program, "spmm", {&a.storage, b.getDescriptor()}, {&y},
                       {destination})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // A destination is no argument.
  y = {nullptr, b.data.data(), 0, {64, width}, {width, 1}};
  EXPECT_EQ(FormedCall(program, "spmm", {&a.storage, b.getDescriptor()}, {&y},
                       {destination})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // Nor are lists of a sparse one.
  y = {nullptr, a.values.data(), 0, {64, width}, {width, 1}};
  EXPECT_EQ(FormedCall(program, "spmm", {&a.storage, b.getDescriptor()}, {&y},
                       {destination})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // Another matrix has not the pattern.
  CSR other(64, 48, 6);
  y = {nullptr, memory, 0, {64, width}, {width, 1}};
  EXPECT_EQ(FormedCall(program, "spmm", {&other.storage, b.getDescriptor()},
                       {&y}, {destination}, {pattern, nullptr})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  sparseAutogradPatternDestroy(pattern);
}

/// A sparse gradient whose values are written where the caller wants them.
TEST(CallForms, destinationOfValues) {
  Program program(spmm);
  ASSERT_TRUE(program.engine) << program.error;
  CSR a(64, 48, 6);
  constexpr int64_t width = 16;
  Array<double> b = makeArray({48, width}, 1);
  Array<double> cotangent = makeArray({64, width}, 2);
  alignas(64) static double values[64 * 6], dense[48 * width];
  CSR::Storage gradientOfA = {};
  gradientOfA.lists[2] = {nullptr, values, 0, {a.count()}, {1}};
  SparseAutogradMemRef2 gradientOfB = {
      nullptr, dense, 0, {48, width}, {width, 1}};
  bool isFirst =
      getValue(program, "backward", "arguments", 0).getObject("encoding");
  std::vector<void *> arguments = {&a.storage, b.getDescriptor(),
                                   cotangent.getDescriptor()};
  if (!isFirst)
    std::swap(arguments[0], arguments[1]);
  FormedCall call(program, "backward", arguments, {&gradientOfA, &gradientOfB},
                  {destination, destination});
  ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(call.memory.liveBlocks, 0);
  EXPECT_EQ(call.copies.copiedBytes, 0);
  EXPECT_EQ(gradientOfA.lists[0].aligned, a.positions.data());
  EXPECT_EQ(gradientOfA.lists[1].aligned, a.coordinates.data());
  for (int64_t i = 0; i < a.count(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += cotangent[i / 6 * width + j] * b[a.coordinates[i] * width + j];
    EXPECT_NEAR(values[i], sum, 1e-12);
  }
}

TEST(CallForms, stridesAndSharedMasks) {
  Program program(R"mlir(
    func.func @f(%x: tensor<?x3xf32> {sparse_autograd.name = "x"}, %m: tensor<?x3xi1> {sparse_autograd.name = "m"})
        -> (tensor<?x3xf32>, tensor<?x3xi1>, tensor<?x3xf32>) {
      %y = math.absf %x : tensor<?x3xf32>
      return %y, %m, %y : tensor<?x3xf32>, tensor<?x3xi1>, tensor<?x3xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  EXPECT_EQ(*getValue(program, "f", "results", 1)
                 .getObject("same_as")
                 ->getString("argument"),
            "m");
  EXPECT_EQ(*getValue(program, "f", "results", 2)
                 .getObject("same_as")
                 ->getString("result"),
            "result0");
  // Transposed, and any byte for true.
  float numbers[6] = {-1, -2, -3, -4, -5, -6};
  uint8_t bytes[6] = {0, 2, 255, 1, 0, 128};
  SparseAutogradMemRef2 x = {nullptr, numbers, 0, {2, 3}, {1, 2}};
  SparseAutogradMemRef2 m = {nullptr, bytes, 0, {2, 3}, {1, 2}};
  {
    Result<float> y(2), z(2);
    Result<uint8_t> n(2);
    FormedCall call(program, "f", {&x, &m},
                    {y.getDescriptor(), n.getDescriptor(), z.getDescriptor()},
                    {owned, owned, owned});
    ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
    EXPECT_EQ(y.toVector(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(z.toVector(), y.toVector());
    EXPECT_EQ(n.toVector(), (std::vector<uint8_t>{0, 1, 0, 1, 1, 1}));
    EXPECT_EQ(call.memory.liveBlocks, 3);
  }
  Result<float> y(2);
  SparseAutogradMemRef2 n = {}, z = {};
  FormedCall call(program, "f", {&x, &m}, {y.getDescriptor(), &n, &z},
                  {owned, shared, shared});
  ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(call.memory.liveBlocks, 1);
  EXPECT_EQ(n.aligned, bytes);
  EXPECT_EQ(n.strides[1], 2);
  EXPECT_EQ(reinterpret_cast<int64_t>(z.aligned),
            static_cast<int64_t *>(y.getDescriptor())[1]);
  EXPECT_EQ(z.allocated, nullptr);
}

/// Compiled so, entries validate nothing, and the manifest says it.
TEST(CallForms, unchecked) {
  Program program(spmm, "sparse-autograd{unchecked-storage=true}");
  ASSERT_TRUE(program.engine) << program.error;
  for (const llvm::json::Value &entry :
       *program.engine->getManifest().getArray("entries"))
    EXPECT_EQ(entry.getAsObject()->getBoolean("unchecked"), true);
  CSR a(64, 48, 6);
  constexpr int64_t width = 16;
  Array<double> b = makeArray({48, width}, 1);
  Result<double> y(2);
  FormedCall call(program, "spmm", {&a.storage, b.getDescriptor()},
                  {y.getDescriptor()}, {owned});
  ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(call.copies.checkedBytes, 0);
  for (int64_t j = 0; j < width; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < 6; ++i)
      sum += a.values[i] * b[a.coordinates[i] * width + j];
    EXPECT_NEAR(y[j], sum, 1e-12);
  }
  // Pointers are checked still.
  a.storage.lists[1].aligned = nullptr;
  EXPECT_EQ(FormedCall(program, "spmm", {&a.storage, b.getDescriptor()},
                       {y.getDescriptor()}, {owned})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

/// Coordinates of COO as an array of pairs: two lists with a stride.
TEST(CallForms, arrayOfStructs) {
  Program program(R"mlir(
    #COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 64, crdWidth = 32}>
    func.func @f(%a: tensor<?x?xf64, #COO> {sparse_autograd.name = "a"})
        -> (tensor<?x?xf64>, tensor<?x?xf64, #COO>) {
      %d = sparse_tensor.convert %a : tensor<?x?xf64, #COO> to tensor<?x?xf64>
      %n = arith.negf %a : tensor<?x?xf64, #COO>
      return %d, %n : tensor<?x?xf64>, tensor<?x?xf64, #COO>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  int64_t positions[2] = {0, 3};
  int32_t pairs[6] = {0, 1, 0, 2, 1, 0};
  double values[6] = {1, -1, 2, -1, 3, -1};
  struct Storage {
    SparseAutogradMemRef1 lists[4];
    int64_t extents[2];
  } a = {{{nullptr, positions, 0, {2}, {1}},
          {nullptr, pairs, 0, {3}, {2}},
          {nullptr, pairs, 1, {3}, {2}},
          {nullptr, values, 0, {3}, {2}}},
         {2, 3}},
    negative = {};
  Result<double> dense(2);
  FormedCall call(program, "f", {&a}, {dense.getDescriptor(), &negative},
                  {owned, shared});
  ASSERT_EQ(call.status, 0) << sparseAutogradLastError();
  EXPECT_EQ(dense.toVector(), (std::vector<double>{0, 1, 2, 3, 0, 0}));
  // What is copied is what has a stride.
  EXPECT_EQ(call.copies.copiedBytes, 2 * 3 * 4 + 3 * 8);
  EXPECT_EQ(call.memory.liveBlocks, 2);
  for (int list : {1, 2}) {
    EXPECT_EQ(negative.lists[list].aligned, pairs);
    EXPECT_EQ(negative.lists[list].strides[0], 2);
  }
  auto *negated = static_cast<double *>(negative.lists[3].aligned);
  EXPECT_EQ(std::vector<double>(negated, negated + 3),
            (std::vector<double>{-1, -2, -3}));
  sparseAutogradFree(negative.lists[3].allocated);
  std::swap(pairs[2], pairs[4]);
  EXPECT_EQ(FormedCall(program, "f", {&a}, {dense.getDescriptor(), &negative},
                       {owned, owned})
                .status,
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

} // namespace
