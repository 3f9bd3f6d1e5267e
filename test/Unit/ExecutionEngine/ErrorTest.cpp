//===- ErrorTest.cpp - errors of compiled programs ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "SparseAutograd/Registration.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include <array>

#include <gtest/gtest.h>

namespace {

const char *addition = R"mlir(
  func.func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%d) : tensor<?x4xf32>
    %0 = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>)
                    outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  })mlir";

TEST(Error, extentsThatDoNotFit) {
  Program program(addition);
  ASSERT_TRUE(program.engine) << program.error;
  Array<float> a({3, 4}), b({2, 4});
  Result<float> result(2);
  EXPECT_EQ(program.call("add", {a.getDescriptor(), b.getDescriptor()},
                         {result.getDescriptor()}),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  std::string message = sparseAutogradLastError();
  EXPECT_NE(message.find("program.mlir:6:"), std::string::npos) << message;
  EXPECT_NE(message.find("linalg.add"), std::string::npos) << message;
  EXPECT_FALSE(result.isWritten());
}

TEST(Error, argumentsThatDoNotFitTheirTypes) {
  Program program(addition);
  ASSERT_TRUE(program.engine) << program.error;
  Array<float> a({3, 4}), wrong({3, 5});
  Result<float> result(2);
  EXPECT_EQ(program.call("add", {a.getDescriptor(), wrong.getDescriptor()},
                         {result.getDescriptor()}),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "argument 'arg1': extent 1 must be 4");

  SparseAutogradMemRef2 strided = {
      wrong.data.data(), wrong.data.data(), 0, {3, 4}, {INT64_MAX / 2, 1}};
  EXPECT_EQ(program.call("add", {&strided, a.getDescriptor()},
                         {result.getDescriptor()}),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "the offset or a stride of an argument overflows");
  EXPECT_FALSE(result.isWritten());
}

/// Calls `add` with one of the pointers of a call in place of a right one.
struct PointerCall {
  Array<float> a = Array<float>({3, 4}), b = Array<float>({3, 4});
  Result<float> result = Result<float>(2);
  std::vector<void *> arguments = {a.getDescriptor(), b.getDescriptor()},
                      results = {result.getDescriptor()};

  int64_t *getWords(size_t argument) {
    return static_cast<int64_t *>(arguments[argument]);
  }
};

TEST(Error, pointersThatAreNullOrMisaligned) {
  Program program(addition);
  ASSERT_TRUE(program.engine) << program.error;
  auto entry = program.engine->lookup("add");
  ASSERT_TRUE(bool(entry));
  auto refuses = [&](auto change, const std::string &message) {
    PointerCall call;
    void *const *arguments = call.arguments.data();
    void *const *results = call.results.data();
    change(call, arguments, results);
    EXPECT_EQ((*entry)(arguments, results), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(sparseAutogradLastError(), message);
    EXPECT_FALSE(call.result.isWritten());
  };
  using Pointers = void *const *;
  auto shift = [](auto *pointer) {
    return reinterpret_cast<decltype(pointer)>(
        reinterpret_cast<intptr_t>(pointer) + 1);
  };
  refuses([](PointerCall &, Pointers &a, Pointers &) { a = nullptr; },
          "the array of pointers to arguments is null");
  refuses([&](PointerCall &, Pointers &a, Pointers &) { a = shift(a); },
          "the array of pointers to arguments is not aligned to 8 bytes");
  refuses([](PointerCall &, Pointers &, Pointers &r) { r = nullptr; },
          "the array of pointers to results is null");
  refuses(
      [](PointerCall &c, Pointers &, Pointers &) { c.arguments[1] = nullptr; },
      "argument 'arg1': the pointer to it is null");
  refuses([&](PointerCall &c, Pointers &,
              Pointers &) { c.arguments[0] = shift(c.arguments[0]); },
          "argument 'arg0': the pointer to it is not aligned to 8 bytes");
  refuses(
      [](PointerCall &c, Pointers &, Pointers &) { c.results[0] = nullptr; },
      "result 'result0': the pointer to it is null");
  refuses([&](PointerCall &c, Pointers &,
              Pointers &) { c.results[0] = shift(c.results[0]); },
          "result 'result0': the pointer to it is not aligned to 8 bytes");
  refuses([](PointerCall &c, Pointers &, Pointers &) { c.getWords(1)[1] = 0; },
          "argument 'arg1': the pointer to its elements is null");
  refuses([](PointerCall &c, Pointers &, Pointers &) { c.getWords(0)[1] += 2; },
          "argument 'arg0': the pointer to its elements is not aligned to 4 "
          "bytes");
}

TEST(Error, extentsWhoseProductOverflows) {
  Program program(R"mlir(
    func.func @sum(%x: tensor<?x?x?xf32>) -> tensor<f32> {
      %y = sparse_autograd.masked_reduce sum %x dims = [0, 1, 2]
          : tensor<?x?x?xf32> -> tensor<f32>
      return %y : tensor<f32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  float number = 1;
  constexpr int64_t large = int64_t(1) << 31;
  for (auto [i, j, k] : {std::array<int64_t, 3>{large, large, 1},
                         {1, large, large},
                         {int64_t(1) << 61, 1, 1},
                         {large, large, 0},
                         {0, INT64_MAX, 2}}) {
    SparseAutogradMemRef3 x = {
        &number, &number, 0, {i, j, k}, {int64_t(uint64_t(j) * k), k, 1}};
    Result<float> result(0);
    EXPECT_EQ(program.call("sum", {&x}, {result.getDescriptor()}),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT)
        << i << ", " << j << ", " << k;
    EXPECT_STREQ(sparseAutogradLastError(),
                 "argument 'arg0': the product of the extents overflows");
  }
}

TEST(Error, noneForTheStridesOfNoElements) {
  Program program(addition);
  ASSERT_TRUE(program.engine) << program.error;
  // MLIR, NumPy and PyTorch each have their own.
  for (auto [outer, inner] :
       {std::pair<int64_t, int64_t>{4, 1}, {0, 0}, {1, 1}, {-4, 7}}) {
    SparseAutogradMemRef2 empty = {nullptr, nullptr, 0, {0, 4}, {outer, inner}};
    Result<float> result(2);
    EXPECT_EQ(program.call("add", {&empty, &empty}, {result.getDescriptor()}),
              SPARSE_AUTOGRAD_SUCCESS)
        << sparseAutogradLastError();
    EXPECT_EQ(result.size(0), 0);
    EXPECT_EQ(result.size(1), 4);
  }
}

TEST(Error, outOfMemory) {
  Program program(R"mlir(
    func.func @make(%n: index) -> tensor<?x?xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n, %n) : tensor<?x?xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %f : tensor<?x?xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  sparseAutogradResetCounters();
  SparseAutogradCounters counters;
  sparseAutogradGetCounters(&counters);
  int64_t before = counters.liveBlocks;
  sparseAutogradSetMemoryLimit(1 << 20);
  Result<float> result(2);
  int64_t n = 1024;
  EXPECT_EQ(program.call("make", {&n}, {result.getDescriptor()}),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  sparseAutogradSetMemoryLimit(-1);
  // Bytes that overflow, once to 0 and once to a small number.
  for (int64_t extent :
       {int64_t(1) << 32, (int64_t(1) << 32) + 1, int64_t(-1)}) {
    EXPECT_EQ(program.call("make", {&extent}, {result.getDescriptor()}),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT)
        << extent;
  }
  EXPECT_FALSE(result.isWritten());
  sparseAutogradGetCounters(&counters);
  EXPECT_EQ(counters.liveBlocks, before);
}

TEST(Error, indexOutOfRange) {
  Program program(R"mlir(
    func.func @gather(%table: tensor<?xf32>, %indices: tensor<?xindex>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %indices, %c0 : tensor<?xindex>
      %e = tensor.empty(%d) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
          ins(%indices : tensor<?xindex>) outs(%e : tensor<?xf32>) {
      ^bb0(%i: index, %o: f32):
        %v = tensor.extract %table[%i] : tensor<?xf32>
        linalg.yield %v : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir");
  ASSERT_TRUE(program.engine) << program.error;
  Array<float> table({3}, std::vector<float>{1, 2, 3});
  Array<int64_t> indices({4}, std::vector<int64_t>{2, 0, 1, 2});
  {
    Result<float> result(1);
    ASSERT_EQ(program.call("gather",
                           {table.getDescriptor(), indices.getDescriptor()},
                           {result.getDescriptor()}),
              0)
        << sparseAutogradLastError();
    EXPECT_EQ(result.toVector(), (std::vector<float>{3, 1, 2, 3}));
  }
  for (int64_t wrong : {int64_t(3), int64_t(-1), INT64_MIN}) {
    indices[2] = wrong;
    Result<float> result(1);
    EXPECT_NE(program.call("gather",
                           {table.getDescriptor(), indices.getDescriptor()},
                           {result.getDescriptor()}),
              0);
    EXPECT_NE(std::string(sparseAutogradLastError()).find("tensor.extract"),
              std::string::npos)
        << sparseAutogradLastError();
    EXPECT_FALSE(result.isWritten());
  }
}

TEST(Error, symbolsOutsideTheList) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    llvm.func @system(!llvm.ptr) -> i32
    llvm.mlir.global external constant @sparse_autograd_manifest(
        "{\22version\22:1,\22runtime_version\22:1,\22entries\22:[{\22name\22:\22f\22,\22symbol\22:\22_sparse_autograd_entry_f\22}]}\00")
        : !llvm.array<95 x i8>
    llvm.func @_sparse_autograd_entry_f(%a: !llvm.ptr, %b: !llvm.ptr) -> i32 {
      %0 = llvm.call @system(%a) : (!llvm.ptr) -> i32
      llvm.return %0 : i32
    })mlir",
                                                        &context);
  ASSERT_TRUE(module);
  auto engine = sparse_autograd::ExecutionEngine::create(*module);
  ASSERT_FALSE(engine);
  std::string message = llvm::toString(engine.takeError());
  EXPECT_NE(message.find("system"), std::string::npos) << message;
}

/// Code for an earlier ABI says so, and is refused.
TEST(Error, earlierVersion) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    llvm.mlir.global external constant @sparse_autograd_manifest(
        "{\22version\22:1,\22runtime_version\22:1,\22entries\22:[]}\00")
        : !llvm.array<47 x i8>
    )mlir",
                                                        &context);
  ASSERT_TRUE(module);
  auto engine = sparse_autograd::ExecutionEngine::create(*module);
  ASSERT_FALSE(engine);
  EXPECT_EQ(llvm::toString(engine.takeError()),
            "the code was compiled for version 1 of the runtime, but this is "
            "version 2; compile it again");
}

TEST(Error, unknownEntryAndModule) {
  Program program(addition);
  ASSERT_TRUE(program.engine) << program.error;
  EXPECT_EQ(program.call("subtract", {}, {}), -1);
  EXPECT_EQ(program.error, "there is no entry 'subtract'; there are: add");

  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @f() { return }", &context);
  ASSERT_TRUE(module);
  auto engine = sparse_autograd::ExecutionEngine::create(*module);
  ASSERT_FALSE(engine);
  EXPECT_NE(llvm::toString(engine.takeError()).find("pipeline"),
            std::string::npos);

  sparse_autograd::CompileOptions options;
  options.cpu = "no-such-processor";
  auto object = sparse_autograd::compileToObject(*module, options);
  ASSERT_FALSE(object);
  EXPECT_NE(llvm::toString(object.takeError()).find("no-such-processor"),
            std::string::npos);
}

} // namespace
