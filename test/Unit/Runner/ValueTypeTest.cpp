//===- ValueTypeTest.cpp - what the manifest says of values ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/Values.h"

#include "gtest/gtest.h"

using namespace sparse_autograd;

static llvm::json::Object parseJSON(llvm::StringRef text) {
  return *llvm::cantFail(llvm::json::parse(text)).getAsObject();
}

TEST(ValueTypeTest, ReadsListOfValues) {
  auto entry = parseJSON(R"({"arguments": [
      {"name": "x", "element_type": "f32", "shape": [null, 8]},
      {"name": "m", "element_type": "i1", "shape": [], "mask_of": "x"},
      {"name": "n", "element_type": "index"}]})");
  auto types = llvm::cantFail(ValueType::parseAll(entry, "arguments"));
  ASSERT_EQ(types.size(), 3u);
  EXPECT_EQ(types[0].str(), "tensor<?x8xf32>");
  EXPECT_EQ(types[1].str(), "tensor<i1>");
  EXPECT_EQ(types[1].maskOf, "x");
  EXPECT_EQ(types[2].str(), "index");
  EXPECT_EQ(types[2].elementType, io::ElementType::I64);
  EXPECT_FALSE(types[2].shape);
}

static std::string getProblem(llvm::StringRef entry) {
  auto types = ValueType::parseAll(parseJSON(entry), "results");
  return types ? "none" : llvm::toString(types.takeError());
}

TEST(ValueTypeTest, RefusesWhatIsNoManifest) {
  EXPECT_EQ(getProblem(R"({"arguments": []})"),
            "the manifest's description of an entry has no 'results'");
  EXPECT_EQ(getProblem(R"({"results": [{"element_type": "f32"}]})"),
            "the manifest describes a value without a name or a type");
  EXPECT_EQ(getProblem(R"({"results": [7]})"),
            "the manifest describes a value without a name or a type");
  EXPECT_EQ(getProblem(R"({"results": [{"name": "y", "element_type": "f8"}]})"),
            "the manifest gives 'y' the unknown element type 'f8'");
}
