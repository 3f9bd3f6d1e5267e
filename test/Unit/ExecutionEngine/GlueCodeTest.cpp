//===- GlueCodeTest.cpp - which functions are between kernels -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlueCode.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace llvm;

static constexpr char declarations[] = R"(
declare ptr @sparseAutogradAllocate(i64)
declare void @sparseAutogradParallelFor(i64, i64, ptr, ptr)
declare void @body(i64)
)";

/// `count` times `line`, in which # is another number each time.
static std::string repeat(StringRef line, unsigned count) {
  std::string text;
  for (unsigned number = 0; number < count; ++number)
    for (char c : line.str() + "\n")
      text += c == '#' ? std::to_string(number) : std::string(1, c);
  return text;
}

static std::string allocate(unsigned count) {
  return repeat("%n# = add i64 %n, #\n"
                "%p# = call ptr @sparseAutogradAllocate(i64 %n#)",
                count);
}

/// A loop of `count` calls of `callee`, between allocations.
static std::string iterate(StringRef callee) {
  return allocate(300) + R"(
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  )" + callee.str() +
         R"(
  %next = add i64 %i, 1
  %goesOn = icmp slt i64 %next, %n
  br i1 %goesOn, label %loop, label %end
end:
)";
}

static bool isGlueCode(StringRef body) {
  LLVMContext context;
  SMDiagnostic error;
  std::string text =
      declarations +
      ("define void @f(i64 %n, float %x) {\n" + body + "ret void\n}\n").str();
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return false;
  }
  Function &function = *module->getFunction("f");
  bool isGlue = sparse_autograd::isGlueCode(function);
  sparse_autograd::leaveGlueCode(*module);
  EXPECT_EQ(function.hasFnAttribute(Attribute::OptimizeNone), isGlue);
  EXPECT_EQ(function.hasFnAttribute(Attribute::NoInline), isGlue);
  return isGlue;
}

TEST(GlueCodeTest, IsManyCalls) {
  EXPECT_TRUE(isGlueCode(allocate(300)));
  // Small functions are optimized in no time.
  EXPECT_FALSE(isGlueCode(allocate(100)));
}

TEST(GlueCodeTest, ComputesNoFloats) {
  std::string sums = repeat("%s# = fadd float %x, 1.0", 200);
  EXPECT_FALSE(isGlueCode(sums + repeat("%t# = fcmp olt float %x, %s#", 200)));
  EXPECT_FALSE(isGlueCode(sums + allocate(199)));
  EXPECT_TRUE(isGlueCode(sums + allocate(200)));
}

TEST(GlueCodeTest, LoopsOverKernels) {
  EXPECT_TRUE(isGlueCode(iterate("call void @sparseAutogradParallelFor(i64 %i, "
                                 "i64 1, ptr null, ptr null)")));
  // What is called may be inlined into the loop, and be a loop of vectors then.
  EXPECT_FALSE(isGlueCode(iterate("call void @body(i64 %i)")));
}
