//===- KernelTest.cpp - programs with kernels, on the emulator ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "SparseAutograd/Runtime/Device.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>

using testing::ElementsAre;
using testing::HasSubstr;

static constexpr char passes[] =
    "gpu.module(sparse-autograd-kernel-to-nvvm),"
    "sparse-autograd-kernel-to-object{bitcode=sm_80},"
    "sparse-autograd-launch-to-runtime,sparse-autograd-emit-entries,"
    "sparse-autograd-program-to-llvm,reconcile-unrealized-casts";

/// What the manifest has of a function from an array and a number to an array.
static std::string describe(llvm::StringRef name) {
  std::string array = R"("element_type":"f32","name":"result","shape":[null])";
  return (R"({"name":")" + name + R"(","symbol":"_sparse_autograd_entry_)" +
          name + R"(","arguments":[{)" + array +
          R"(},{"element_type":"f32","name":"factor"}],"results":[{)" + array +
          "}]}")
      .str();
}

/// A program with a function `@<kernel>_all` for each of the kernels of a
/// module `@kernels`: it runs the kernel on a copy of an array, in two blocks
/// of 32 threads.
static std::string makeProgram(llvm::ArrayRef<llvm::StringRef> kernels,
                               llvm::StringRef code) {
  std::string functions, entries;
  for (llvm::StringRef kernel : kernels) {
    functions += (R"mlir(
    func.func @)mlir" +
                  kernel + R"mlir(_all(%x: memref<?xf32>, %factor: f32)
        -> memref<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %d = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
      memref.copy %x, %d : memref<?xf32> to memref<?xf32, #gpu.address_space<global>>
      gpu.launch_func @kernels::@)mlir" +
                  kernel + R"mlir(
          blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
          args(%d : memref<?xf32, #gpu.address_space<global>>, %factor : f32)
      %y = memref.alloc(%n) : memref<?xf32>
      memref.copy %d, %y : memref<?xf32, #gpu.address_space<global>> to memref<?xf32>
      memref.dealloc %d : memref<?xf32, #gpu.address_space<global>>
      return %y : memref<?xf32>
    })mlir")
                     .str();
    entries += (entries.empty() ? "" : ",") + describe((kernel + "_all").str());
  }
  std::string manifest = "{\"version\":1,\"runtime_version\":" +
                         std::to_string(SPARSE_AUTOGRAD_RUNTIME_VERSION) +
                         ",\"entries\":[" + entries + "]}";
  std::string quoted;
  for (char c : manifest)
    quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  return "module attributes {gpu.container_module, sparse_autograd.manifest = "
         "\"" +
         quoted + "\"} { gpu.module @kernels {" + code.str() + "}" + functions +
         "}";
}

/// x[i] *= factor: where there is an i, and for all threads.
static constexpr char scale[] = R"mlir(
    gpu.func @scale(%x: memref<?xf32, #gpu.address_space<global>>, %factor: f32)
        kernel {
      %c0 = arith.constant 0 : index
      %i = gpu.global_id x
      %n = memref.dim %x, %c0 : memref<?xf32, #gpu.address_space<global>>
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
        %p = arith.mulf %v, %factor : f32
        memref.store %p, %x[%i] : memref<?xf32, #gpu.address_space<global>>
      }
      gpu.return
    }
    gpu.func @unguarded(%x: memref<?xf32, #gpu.address_space<global>>, %factor: f32)
        kernel {
      %i = gpu.global_id x
      %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
      %p = arith.mulf %v, %factor : f32
      memref.store %p, %x[%i] : memref<?xf32, #gpu.address_space<global>>
      gpu.return
    })mlir";

namespace {
class Kernel : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sparseAutogradSetDevice("emulated"), SPARSE_AUTOGRAD_SUCCESS);
    sparseAutogradResetDeviceCounters();
  }
  void TearDown() override {
    EXPECT_EQ(getCounters().abandonedBlocks, 0);
    EXPECT_EQ(sparseAutogradCloseDevices(), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(sparseAutogradSetDevice(nullptr), SPARSE_AUTOGRAD_SUCCESS);
  }
  static SparseAutogradDeviceCounters getCounters() {
    SparseAutogradDeviceCounters counters;
    sparseAutogradGetDeviceCounters(&counters);
    return counters;
  }
  /// Calls `entry` with {1, 2, 3} and 2.
  static int32_t call(const sparse_autograd::ExecutionEngine &engine,
                      llvm::StringRef name, Result<float> &result) {
    Array<float> x({3}, {1, 2, 3});
    float factor = 2;
    auto entry = cantFail(engine.lookup(name));
    void *arguments[] = {x.getDescriptor(), &factor};
    void *results[] = {result.getDescriptor()};
    return entry(arguments, results);
  }
};

TEST_F(Kernel, runsOnTheEmulator) {
  Program program(makeProgram({"scale"}, scale), passes);
  ASSERT_TRUE(program.engine) << program.error;
  for (int64_t step = 1; step <= 3; ++step) {
    Result<float> y(1);
    ASSERT_EQ(call(*program.engine, "scale_all", y), SPARSE_AUTOGRAD_SUCCESS)
        << sparseAutogradLastError();
    EXPECT_THAT(y.toVector(), ElementsAre(2, 4, 6));
    EXPECT_EQ(getCounters().launches, step);
  }
  EXPECT_EQ(getCounters().loads, 1);
  EXPECT_EQ(getCounters().bytesCopiedIn, 36);
}

// Two modules may have kernels of the same name.
TEST_F(Kernel, isItsModulesOwn) {
  std::string source = makeProgram({"scale", "shift"}, scale);
  llvm::StringRef other = "@kernels::@shift";
  source.replace(source.find(other), other.size(), "@others::@scale");
  std::string shift =
      llvm::StringRef(scale).split("gpu.func @unguarded").first.str();
  shift.replace(shift.find("mulf"), 4, "addf");
  source.insert(source.find("func.func"), "gpu.module @others {" + shift + "}");
  Program program(source, passes);
  ASSERT_TRUE(program.engine) << program.error;
  Result<float> y(1), z(1);
  ASSERT_EQ(call(*program.engine, "scale_all", y), SPARSE_AUTOGRAD_SUCCESS)
      << sparseAutogradLastError();
  EXPECT_THAT(y.toVector(), ElementsAre(2, 4, 6));
  ASSERT_EQ(call(*program.engine, "shift_all", z), SPARSE_AUTOGRAD_SUCCESS)
      << sparseAutogradLastError();
  EXPECT_THAT(z.toVector(), ElementsAre(3, 4, 5));
  EXPECT_EQ(getCounters().loads, 2);
}

// An object file shows its entries, its manifest and its images, and needs the
// runtime alone, beside memcpy.
TEST_F(Kernel, isInTheObjectOfItsProgram) {
  Program program(makeProgram({"scale"}, scale), passes);
  ASSERT_TRUE(program.module) << program.error;
  auto buffer =
      llvm::cantFail(sparse_autograd::compileToObject(*program.module));
  auto object = llvm::cantFail(
      llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef()));
  std::vector<std::string> defined;
  for (const llvm::object::SymbolRef &symbol : object->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    std::string name = llvm::cantFail(symbol.getName()).str();
    if (flags & llvm::object::SymbolRef::SF_Undefined)
      EXPECT_THAT(name, testing::AnyOf(testing::StartsWith("sparseAutograd"),
                                       "memcpy", ""));
    else if (flags & llvm::object::SymbolRef::SF_Global)
      defined.push_back(name);
  }
  EXPECT_THAT(defined,
              testing::UnorderedElementsAre("_sparse_autograd_entry_scale_all",
                                            "sparse_autograd_images",
                                            "sparse_autograd_manifest"));
}

// The optimizer of the host takes away none of the checks: a load and a store
// in each of the kernels.
TEST_F(Kernel, staysInstrumentedWhenOptimized) {
  Program program(makeProgram({"scale"}, scale), passes);
  ASSERT_TRUE(program.engine) << program.error;
  EXPECT_EQ(llvm::StringRef(program.optimizedIR)
                .count("call void @sparseAutogradEmulateAccess("),
            4u)
      << program.optimizedIR;
}

TEST_F(Kernel, reportsWhatItDoesWrong) {
  Program program(makeProgram({"scale", "unguarded"}, scale), passes);
  ASSERT_TRUE(program.engine) << program.error;
  Result<float> y(1), z(1);
  EXPECT_EQ(call(*program.engine, "unguarded_all", y),
            SPARSE_AUTOGRAD_OUT_OF_RANGE);
  EXPECT_THAT(sparseAutogradLastError(),
              HasSubstr("kernel 'unguarded', block"));
  EXPECT_FALSE(y.isWritten());
  // The device goes on.
  EXPECT_EQ(call(*program.engine, "scale_all", z), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_THAT(z.toVector(), ElementsAre(2, 4, 6));
}

TEST_F(Kernel, isUnloadedWithItsEngine) {
  for (int64_t step = 1; step <= 2; ++step) {
    Program program(makeProgram({"scale"}, scale), passes);
    ASSERT_TRUE(program.engine) << program.error;
    Result<float> y(1);
    ASSERT_EQ(call(*program.engine, "scale_all", y), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(getCounters().loads, step);
  }
  // Reads all images that are loaded: not those whose code is gone.
  EXPECT_EQ(sparseAutogradCloseDevices(), SPARSE_AUTOGRAD_SUCCESS);
}

TEST_F(Kernel, isRefusedIfTheEmulatorHasNotWhatItUses) {
  Program program(makeProgram({"assembly"}, R"mlir(
    gpu.func @assembly(%x: memref<?xf32, #gpu.address_space<global>>, %factor: f32)
        kernel {
      llvm.inline_asm has_side_effects "wait;", "" : () -> ()
      gpu.return
    })mlir"),
                  passes);
  EXPECT_FALSE(program.engine);
  EXPECT_THAT(
      program.error,
      HasSubstr("the emulator cannot execute this code: inline assembly "
                "is not emulated [@assembly:1: "));
}

TEST_F(Kernel, isRefusedIfItIsNoBitcode) {
  static constexpr char code[] = R"mlir(
    llvm.mlir.global external constant @made() : !llvm.array<32 x i8>
    llvm.mlir.global internal constant @code("text")
        {section = "sparse_autograd.emulated.made"} : !llvm.array<4 x i8>)mlir";
  EXPECT_THAT(Program(code, "reconcile-unrealized-casts").error,
              HasSubstr("file doesn't start with bitcode header"));
  std::string dangling(code);
  dangling.replace(dangling.rfind(".made"), 5, ".code");
  EXPECT_THAT(Program(dangling, "reconcile-unrealized-casts").error,
              HasSubstr("'code', which is to be made of bitcode, must be "
                        "declared, and not defined"));
}

TEST_F(Kernel, isForOtherDevicesWithoutBitcode) {
  std::string withoutBitcode(passes);
  withoutBitcode.replace(withoutBitcode.find("bitcode"), 7, "ptx");
  Program program(makeProgram({"scale"}, scale), withoutBitcode);
  ASSERT_TRUE(program.engine) << program.error;
  Result<float> y(1);
  EXPECT_NE(call(*program.engine, "scale_all", y), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_THAT(sparseAutogradLastError(),
              HasSubstr("kernel 'scale' was not compiled for the emulator"));
}

} // namespace
