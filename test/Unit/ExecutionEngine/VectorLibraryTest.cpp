//===- VectorLibraryTest.cpp - calls of the vector library ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler refuses code that calls a function of libmvec as its target
// cannot: what it never makes of a program is written by hand here.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "SparseAutograd/Registration.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)
namespace {

/// Compiles a call of the function `name` on vectors of f32; returns why it
/// cannot be, or nothing.
std::string compileCall(llvm::StringRef name, int64_t lanes,
                        llvm::StringRef cpu, llvm::StringRef features = {},
                        llvm::StringRef attributes = {}) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  std::string vector = "vector<" + std::to_string(lanes) + "xf32>";
  std::string source = llvm::formatv(R"mlir(
    llvm.func @{0}({1}) -> {1}
    llvm.func @_sparse_autograd_entry_f(%x: !llvm.ptr) attributes {{{2}} {{
      %0 = llvm.load %x : !llvm.ptr -> {1}
      %1 = llvm.call @{0}(%0) : ({1}) -> {1}
      llvm.store %1, %x : {1}, !llvm.ptr
      llvm.return
    })mlir",
                                     name, vector, attributes);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  if (!module)
    return "does not parse";
  sparse_autograd::CompileOptions options;
  options.cpu = cpu.str();
  options.features = features.str();
  auto object = sparse_autograd::compileToObject(*module, options);
  return object ? "" : llvm::toString(object.takeError());
}

TEST(VectorLibrary, callsThatTheTargetCanMake) {
  EXPECT_EQ(compileCall("_ZGVbN4v_tanhf", 4, "x86-64"), "");
  EXPECT_EQ(compileCall("_ZGVdN8v_tanhf", 8, "haswell"), "");
  EXPECT_EQ(compileCall("_ZGVdN8v_tanhf", 8, "x86-64", "+avx2"), "");
  EXPECT_EQ(compileCall("_ZGVeN16v_tanhf", 16, "skylake-avx512"), "");
}

TEST(VectorLibrary, callsThatItCannot) {
  EXPECT_EQ(compileCall("_ZGVdN8v_tanhf", 8, "x86-64"),
            "'_sparse_autograd_entry_f' calls '_ZGVdN8v_tanhf', whose vectors "
            "are those of another processor than 'x86-64' with the features it "
            "is compiled for");
  // Registers of 256 bits, but not the instructions.
  EXPECT_NE(compileCall("_ZGVdN8v_tanhf", 8, "sandybridge"), "");
  EXPECT_NE(compileCall("_ZGVdN8v_tanhf", 8, "haswell", "-avx2"), "");
  EXPECT_NE(compileCall("_ZGVeN16v_tanhf", 16, "haswell"), "");
  EXPECT_NE(compileCall("_ZGVeN16v_tanhf", 16, "skylake-avx512", "-avx512f"),
            "");
  // Vectors in two registers each.
  EXPECT_NE(compileCall("_ZGVbN4v_tanhf", 8, "x86-64"), "");
  EXPECT_NE(compileCall("_ZGVcN8v_tanhf", 8, "sandybridge"), "");
}

TEST(VectorLibrary, functionsOfAnotherTarget) {
  // What a function says of its own target does not count.
  llvm::StringRef wide =
      R"(passthrough = [["target-cpu", "skylake-avx512"], ["target-features", "+avx512f"]])";
  EXPECT_NE(compileCall("_ZGVeN16v_tanhf", 16, "haswell", "", wide), "");
  EXPECT_EQ(compileCall("_ZGVeN16v_tanhf", 16, "skylake-avx512", "", wide), "");
  // Nor does a width of vectors, for which they would be split.
  llvm::StringRef narrow =
      R"(passthrough = [["min-legal-vector-width", "256"], ["prefer-vector-width", "256"]])";
  EXPECT_EQ(compileCall("_ZGVeN16v_tanhf", 16, "skylake-avx512", "", narrow),
            "");
}

} // namespace
#endif
